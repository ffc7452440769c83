"""What a model knows, and what it says that it knows."""
