"""Episodes: collected, stored, replayed, and scored."""
