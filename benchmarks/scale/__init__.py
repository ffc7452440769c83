"""What a run of many processes does in a second: measured here, simulated for more."""
