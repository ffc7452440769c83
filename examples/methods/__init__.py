"""What the programs train, each in the words of its layers."""
