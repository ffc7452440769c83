"""Bijections of sequences of categories."""
