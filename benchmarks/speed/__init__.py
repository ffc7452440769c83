"""Speed and memory, as ratios and shares of limits measured in the same run."""
