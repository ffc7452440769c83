"""One run over many processes: a replay server, actors that collect, one that learns."""
