"""Simulations: what an environment is put around, from a library or of our own."""
