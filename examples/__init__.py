"""What each family of layers is worth, on data that is made or ships in a package."""
