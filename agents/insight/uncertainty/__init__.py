"""Whether the uncertainty of a model is worth anything; how its intervals are mended."""
