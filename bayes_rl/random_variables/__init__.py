"""Distributions with drawn values: traced by name, pushed through reversible layers."""
