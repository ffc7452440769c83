"""What a plan is worth beyond its last step, and a policy that proposes plans.

    temporal_difference.py  the settings of the learned value
    networks.py             two critics and a policy, on features of the latent
    targets.py              what critics learn: rewards of n steps and the value after them
    scales.py               how far values lie apart, and how large a bonus is
    actor_critic.py         their losses, and what planners ask of them
    explorer.py             critics of a bonus, and a policy that seeks it

With `none` a plan is worth its rewards alone: PlaNet as published.
"""

from agents.planet.value.temporal_difference import NoValue, TemporalDifference

VALUES = {"none": NoValue, "td": TemporalDifference}

__all__ = ["VALUES", "NoValue", "TemporalDifference"]
