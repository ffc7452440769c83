"""How well the layers predict: a page of the files that examples leave."""
