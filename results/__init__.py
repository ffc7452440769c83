"""What was measured; made by `python -m results`."""
