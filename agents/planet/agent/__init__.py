"""The agent: made from a config, acting and learning."""
