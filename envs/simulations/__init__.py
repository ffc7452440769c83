"""Simulations: what an environment is put around, from a library or of our own."""

# Environment steps of an episode of every DeepMind Control task, before action repeat.
TIME_LIMIT = 1000

# Environment steps of an episode of the tasks `fake` and `fake_ending`.
FAKE_TIME_LIMIT = 20
