"""Settings: their schema, their YAML files, and what is typed."""
