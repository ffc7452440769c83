"""Which values of a config go together; what each may be, `.schema` says."""

import math

from agents.planet.explore import Bonus, Greedy, UpperConfidence
from agents.planet.model.transitions import DETERMINISTIC
from agents.planet.value import NoValue, TemporalDifference
from agents.system.errors import UserError
from agents.system.settings import check_choice
from envs.tasks import LOGGED

_OWN = "python:module:Class"  # a logger of a user
_PHASES = ("annealing_steps", "annealing_episodes")
# What may not be otherwise in a strategy that an agent is judged by.
_OFF = {"critic": False, "beta_rate": 0.0, "reward_from": 0, "bonus_from": 0}
_OFF |= dict.fromkeys(("final_beta", *_PHASES))


def check_together(config):
    """Refuses a `Train` some of whose values change nothing, or cannot be had at once."""
    pool = config.world_model.image_pool
    may_see_images = config.observation not in ("state", "position")
    if may_see_images and config.image.size // pool < 32:
        raise UserError(
            "image.size / world_model.image_pool must be at least 32, got "
            f"{config.image.size} / {pool}"
        )
    if config.world_model.learn_observation_stddev and config.observation == "pixels":
        raise UserError(
            "world_model.learn_observation_stddev=true works for numbers alone, got "
            "observation=pixels"
        )
    if not config.logger.startswith("python:"):
        check_choice(config.logger, "logger", ("tensorboard", "wandb", "mlflow", _OWN))
    if config.sequence_length is not None:
        check_lengths(config)
    _check_overshooting(config.world_model)
    _check_learners(config)
    _check_held_out(config)
    _check_logged(config)
    _check_schedules(config)
    _check_draws(config)
    _check_exploit(config)
    _check_members(config)
    _check_ivon(config)
    _check_value(config)
    _check_critic(config)


def check_lengths(config):
    """Refuses a `Train` whose sequences are too short for what is learned from them."""
    model, value, length = config.world_model, config.value, config.sequence_length
    reaches = {"world_model.overshooting_distance": model.overshooting_distance}
    if isinstance(value, TemporalDifference):
        reaches["value.target_steps"] = value.target_steps
    for name, reach in reaches.items():
        if reach >= length:
            raise UserError(f"{name} must be below sequence_length ({length}), got {reach}")


def _check_overshooting(model):
    distance = model.overshooting_distance
    if distance and not (model.overshooting_kl_scale or model.overshooting_reward_scale):
        raise UserError(
            f"world_model.overshooting_distance={distance} changes nothing: "
            "overshooting_kl_scale or overshooting_reward_scale must be above 0"
        )


def _check_learners(config):
    several = config.devices == "multi_worker"
    if several != (config.learners > 1):
        raise UserError(
            "learners must be at least 2 with devices=multi_worker, and 1 with any other "
            f"devices, got learners={config.learners} devices={config.devices}"
        )
    if several and not config.actors:
        raise UserError("devices=multi_worker needs actors=N, at least 1, got 0")
    if config.batch_size % config.learners:
        raise UserError(
            f"batch_size must be a multiple of learners ({config.learners}), "
            f"got {config.batch_size}"
        )


def _check_held_out(config):
    """Refuses to hold out episodes of some actors alone, whose noise may differ."""
    every, shared = config.hold_out_every, config.actors * config.environments
    if every and config.actors > 1 and math.gcd(every, shared) > 1:
        raise UserError(
            "hold_out_every must have no common factor with actors x environments "
            f"({shared}), got {every}: it would hold out episodes of some actors alone"
        )


def _check_logged(config):
    if config.data is None and config.task == LOGGED:
        raise UserError("task=logged is for data alone: bayes-rl learn DATA")
    if config.data is not None and config.actors:
        raise UserError(
            f"actors must be 0 with data={config.data}, got {config.actors}: nothing is "
            "collected"
        )
    if config.task == LOGGED and config.evaluation.every_steps:
        raise UserError(
            "evaluation.every_steps must be 0 with task=logged, got "
            f"{config.evaluation.every_steps}: it has no environment; name the task of "
            "the data"
        )
    if config.task == LOGGED and config.evaluation.apart:
        raise UserError(
            "evaluation.apart must not be true with task=logged: without an environment "
            "there is nothing to evaluate"
        )


def _check_draws(config):
    if config.explore.draws and config.transition == DETERMINISTIC:
        name = type(config.explore).__name__
        raise UserError(
            f"transition=deterministic has no draws, but explore strategy {name} needs "
            f"{config.explore.draws}: add explore=noise, or choose another transition"
        )


def _check_draws_of_one(what, draws, most):
    if draws > most:
        fewer = f", or at most {most} of them" if most else ""
        raise UserError(
            f"transition=deterministic has no draws, but {what} needs {draws}: choose "
            f"another transition{fewer}"
        )


def _check_exploit(config):
    """Refuses what a judged agent cannot do: draw what is certain, or change its rule."""
    exploit, value = config.exploit, config.value
    name = f"exploit strategy {type(exploit).__name__}"
    if config.act == "policy" and not isinstance(exploit, Greedy):
        raise UserError(f"act=policy makes no plans, but {name} scores plans: add act=plan")
    target_draws = vars(value).get("target_draws", 0)
    if config.transition == DETERMINISTIC:
        _check_draws_of_one(name, exploit.draws, 0)
        _check_draws_of_one("value.target_draws", target_draws, 1)  # its only weights
    pessimism = vars(value).get("pessimism", 0.0)
    if pessimism and target_draws < 2:
        raise UserError(
            f"value.pessimism={pessimism:g} changes nothing: value.target_draws must be at "
            f"least 2, got {target_draws}"
        )
    for key, off in _OFF.items():
        if (given := vars(exploit).get(key, off)) != off:
            right = "null" if off is None else str(off).lower()
            raise UserError(
                f"exploit.{key} must be {right}, got {given}: evaluation uses the same "
                "rule in the whole run"
            )


def _check_members(config):
    members = config.ensemble_members * config.learners
    shared = config.transition == "ensemble" and config.ensemble_shares_batch
    if shared and config.batch_size % members:
        each = " times learners" if config.learners > 1 else ""
        raise UserError(
            f"batch_size must be a multiple of ensemble_members{each} ({members}), "
            f"got {config.batch_size}"
        )


def _check_ivon(config):
    if config.transition != "ivon":
        return
    if not config.kl_weight:
        raise UserError("kl_weight must be above 0 with transition=ivon, got 0")
    if config.kl_weight_warmup:
        raise UserError(
            "kl_weight_warmup must be 0 with transition=ivon, which has its posterior from "
            f"the first gradient step on, got {config.kl_weight_warmup}"
        )


def _check_critic(config):
    explore = config.explore
    if not isinstance(explore, Bonus):
        return
    if explore.critic and isinstance(config.value, NoValue):
        raise UserError("explore.critic=true needs a value: value must not be none")
    if not explore.beta_rate:
        return
    if not explore.critic:
        raise UserError(
            f"explore.beta_rate={explore.beta_rate:g} changes nothing: explore.critic must "
            "be true, got false"
        )
    if explore.final_beta is not None:
        raise UserError(
            f"explore.beta_rate={explore.beta_rate:g} tunes beta: explore.final_beta must "
            f"be null, got {explore.final_beta:g}"
        )
    if explore.bonus_from:
        raise UserError(
            f"explore.beta_rate={explore.beta_rate:g} tunes beta from the first gradient "
            f"step on: explore.bonus_from must be 0, got {explore.bonus_from}"
        )


def _check_value(config):
    if config.act == "policy" and isinstance(config.value, NoValue):
        raise UserError("act=policy needs a learned policy: value must not be none")
    explore = config.explore
    if config.act == "policy" and explore.draws and not explore.filter_with_draw:
        raise UserError(
            f"act=policy makes no plans, but explore strategy {type(explore).__name__} "
            "scores plans: add explore=noise, or act=plan"
        )


def _check_schedules(config):
    """Refuses what would change nothing: an end without a time, a time without an end."""
    noise, explore = config.action_noise, config.explore
    if noise.final_stddev is not None and not noise.steps:
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
            f"{min(seeking_from, bonus_from)}; it is 0 in explore=disagreement and "
            "explore=information_gain"
        )
    ends = explore.annealing_steps if explore.final_beta == 0 else None
    if ends is not None and bonus_from >= ends:
        raise UserError(
            f"explore.bonus_from must be below explore.annealing_steps={ends}, got "
            f"{bonus_from}: the bonus would never count"
        )
    if explore.final_beta != 0 or not seeking_from:
        return
    if explore.annealing_episodes is not None:
        raise UserError(
            "explore.annealing_episodes must be null if explore.reward_from is above 0, "
            f"got {explore.annealing_episodes}: where so many are rewarded, plans would "
            f"seek nothing until step {seeking_from}"
        )
    if seeking_from > explore.annealing_steps:
        raise UserError(
            "explore.reward_from must be at most explore.annealing_steps="
            f"{explore.annealing_steps}, got {seeking_from}: plans would seek nothing "
            "between them"
        )
