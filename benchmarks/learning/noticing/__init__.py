"""Whether a run notices a change of its task, and foresees what it will score."""
