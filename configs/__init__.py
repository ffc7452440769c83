"""YAML files: train.yaml, its groups and the presets under experiment/."""
