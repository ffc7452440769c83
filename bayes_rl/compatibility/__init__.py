"""What other libraries expect of us, and what we expect of their versions."""
