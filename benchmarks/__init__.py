"""Programs that make results/: a room for speed, for scale and for learning."""
