"""The training loop, and what is measured beside it."""
