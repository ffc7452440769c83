"""Layers with an inverse and a log determinant, and what is built of them."""
