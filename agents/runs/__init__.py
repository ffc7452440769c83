"""A run is a folder: its config, records and checkpoints."""
