"""Posteriors and conformal sets beside those of other libraries, number by number."""
