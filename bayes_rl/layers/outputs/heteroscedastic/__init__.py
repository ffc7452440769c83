"""Classifiers whose logits have noise that depends on the input."""
