"""Convolutions with a posterior over their kernel."""
