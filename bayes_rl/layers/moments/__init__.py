"""Layers that work with moments of their outputs instead of, or beside, drawn kernels."""
