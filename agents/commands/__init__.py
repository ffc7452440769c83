"""What a person types: a module a command."""
