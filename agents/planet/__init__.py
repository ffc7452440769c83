"""Bayesian PlaNet, the algorithm: it knows nothing of runs, episodes or commands.

model/     the world model: networks, latent dynamics, what is uncertain about them
planning/  plans, and what the model imagines for them
explore/   how imagined rollouts become the score of a plan
value/     what a plan is worth beyond its last step
agent/     all of it as a TF-Agents agent: its policy, its gradient steps

Words that all rooms share:

model     `agents.planet.model.world_model.WorldModel`
latent    `agents.planet.model.rssm.Latent`, whose features are F numbers
settings  the part of a config, `agents.runs.config.schema`, that has the keys
batch     of sequences: observation [B, T, ...] and images beside it, action [B, T, A];
          reward, is_first and is_terminal [B, T]
weights   dict of full name -> draws of that weight, [S, ...], which are to be held
draws     S, how many they are
seed      [2], of all random numbers of a call
clock     `agents.planet.agent.clock.Clock`
space     of actions, `agents.planet.action_space`
dtype     Keras dtype policy of layers
"""
