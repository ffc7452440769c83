"""Attention over sequences, and embeddings that make sequences of images."""
