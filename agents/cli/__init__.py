"""What a person asks for: a module a command; its words are read in `parsing`."""
