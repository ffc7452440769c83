"""Pages of what the code offers: names, config keys, commands and columns."""
