"""What a model knows, and what it says that it knows.

Unless something else is said, a `model` is an `agents.planet.model.world_model.WorldModel`,
an episode is as `agents.episodes.layout` has it, and a `seed` is [2].
"""
