"""The world model, which knows nothing of TF-Agents or of configs of runs."""
