"""Episodes: collected, stored, replayed, and scored.

Words that this room and those above share:

config       `agents.runs.config.schema.Train`
agent        `agents.planet.agent.planet_agent.PlaNetAgent`
environment  batched TF-Agents `PyEnvironment`, see `envs.load_many`
episode      dict of arrays, see `layout.py`
store        `agents.episodes.store.EpisodeStore`
"""
