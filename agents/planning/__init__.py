"""Planners, and what they imagine."""
