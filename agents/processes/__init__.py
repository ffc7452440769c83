"""Processes of this machine: how they are started, watched and brought back."""
