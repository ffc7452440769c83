"""What a person types; nothing here imports TensorFlow, or says what a command does."""
