"""The page of the suite: our standing beside published scores."""
