"""Bayesian PlaNet, the algorithm: it knows nothing of runs, episodes or commands.

model/     the world model: networks, latent dynamics, what is uncertain about them
planning/  plans, and what the model imagines for them
explore/   how imagined rollouts become the score of a plan
value/     what a plan is worth beyond its last step
agent/     all of it as a TF-Agents agent: its policy, its gradient steps
"""
