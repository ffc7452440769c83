"""What changes over a run, of noise and of bonuses, must begin, change and end."""

from agents.planet.explore import Bonus, UpperConfidence
from agents.system.errors import UserError

_PHASES = ("annealing_steps", "annealing_rewards")


def check_schedules(config):
    """Refuses what would change nothing: an end without a time, a time without an end.

    Args:
        config: `agents.runs.config.schema.Train`.

    Raises:
        UserError: it says which key does nothing, and what another must be.
    """
    noise, explore = config.action_noise, config.explore
    if noise.final_stddev not in (None, noise.stddev) and not noise.steps:
        raise UserError(
            f"action_noise.final_stddev={noise.final_stddev:g} is never reached: "
            "action_noise.steps must be above 0, got 0"
        )
    if config.noise_ladder != 1 and config.actors < 2:
        raise UserError(
            f"noise_ladder={config.noise_ladder:g} changes nothing: "
            f"actors must be at least 2, got {config.actors}"
        )
    if noise.final_stddev is None and noise.steps:
        raise UserError(
            f"action_noise.steps={noise.steps} changes nothing: "
            "action_noise.final_stddev must be a number, got null"
        )
    if isinstance(explore, Bonus | UpperConfidence):
        _check_annealing(explore)
    if isinstance(explore, Bonus):
        _check_seeking(explore)


def _check_annealing(explore):
    phases = {name: vars(explore).get(name) for name in _PHASES}
    phases = {name: end for name, end in phases.items() if end is not None}
    if explore.final_beta is None and phases:
        name, end = next(iter(phases.items()))
        raise UserError(
            f"explore.{name}={end} changes nothing: "
            "explore.final_beta must be a number, got null"
        )
    if explore.final_beta is not None and not phases:
        raise UserError(
            f"explore.final_beta={explore.final_beta:g} is never reached: "
            "explore.annealing_steps must be a number of environment steps, got null"
        )


def _check_seeking(explore):
    """Refuses bonuses that never count, and times in which neither they nor rewards do."""
    seeking_from, bonus_from = explore.reward_from, explore.bonus_from
    if explore.beta == 0 and not explore.final_beta:
        raise UserError(
            "explore.beta must be above 0, got 0: the bonus would never count; "
            "explore=noise has no bonus"
        )
    if seeking_from and bonus_from:
        raise UserError(
            f"explore.bonus_from must be 0 if explore.reward_from is above 0, got "
            f"{bonus_from}: plans would seek nothing before step "
            f"{min(seeking_from, bonus_from)}; explore=information_gain has 0"
        )
    ends = explore.annealing_steps if explore.final_beta == 0 else None
    if ends is not None and bonus_from >= ends:
        raise UserError(
            f"explore.bonus_from must be below explore.annealing_steps={ends}, got "
            f"{bonus_from}: the bonus would never count"
        )
    if explore.final_beta != 0 or not seeking_from:
        return
    if explore.annealing_rewards is not None:
        raise UserError(
            "explore.annealing_rewards must be null if explore.reward_from is above 0, got "
            f"{explore.annealing_rewards}: after so many rewards plans would seek nothing "
            f"until step {seeking_from}"
        )
    if seeking_from > explore.annealing_steps:
        raise UserError(
            "explore.reward_from must be at most explore.annealing_steps="
            f"{explore.annealing_steps}, got {seeking_from}: plans would seek nothing "
            "between them"
        )
