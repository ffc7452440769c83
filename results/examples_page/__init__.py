"""What the layers are worth: a page of the files that examples leave."""
