"""The schema of configs/train.yaml: every key, its type, its range and its unit.

Values live in YAML only, types and ranges here only. `make_config` turns nested plain
values into a `Train`, or says in one line which key is wrong and what would be right.
It imports neither TensorFlow nor hydra.
"""

import dataclasses
import difflib
import importlib
import math
import types
import typing


class ConfigError(ValueError):
    """A config that a user can put right; its message is one line that names the key."""


def key(least=None, above=None, below=None, choices=None):
    """A required field: at least `least`, above `above`, below `below`, one of `choices`."""
    limits = {"least": least, "above": above, "below": below, "choices": choices}
    return dataclasses.field(metadata=limits)


@dataclasses.dataclass(frozen=True)
class Image:
    size: int = key(choices=(32, 64))  # pixels a side
    camera: int = key(least=0)  # number of the task's camera
    shadows: bool = key()


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """Adam (Kingma and Ba, 2015)."""

    learning_rate: float = key(above=0)
    stddev_learning_rate: float = key(above=0)  # of the weights' standard deviations
    epsilon: float = key(above=0)
    clip_norm: float = key(above=0)  # of the gradient of all variables together


@dataclasses.dataclass(frozen=True)
class ActionNoise:
    stddev: float = key(least=0)  # actions are in [-1, 1]
    final_stddev: float = key(least=0)
    steps: int = key(least=0)  # environment steps from stddev to final_stddev


@dataclasses.dataclass(frozen=True)
class Evaluation:
    every: int = key(least=0)  # collected episodes; 0: never
    episodes: int = key(least=1)


@dataclasses.dataclass(frozen=True)
class WorldModel:
    belief_size: int = key(least=1)
    latent_size: int = key(least=1)
    hidden_size: int = key(least=1)  # units of the layers of the transition
    embedding_size: int = key(least=1)
    encoder_layers: int = key(least=0)  # dense, for vectors
    decoder_layers: int = key(least=0)  # dense, for vectors
    image_depth: int = key(least=1)  # filters of the first convolution
    reward_layers: int = key(least=0)
    reward_units: int = key(least=1)
    min_stddev: float = key(above=0)  # of a latent
    observation_stddev: float = key(above=0)  # of the likelihood
    reward_scale: float = key(least=0)
    free_nats: float = key(least=0)  # per step
    kl_scale: float = key(least=0)
    global_kl_scale: float = key(least=0)
    overshooting_distance: int = key(least=0)  # agent steps
    overshooting_kl_scale: float = key(least=0)
    overshooting_reward_scale: float = key(least=0)


@dataclasses.dataclass(frozen=True)
class CrossEntropy:
    _target_: str = key()
    horizon: int = key(least=1)  # agent steps looked ahead
    candidates: int = key(least=1)  # plans scored in each iteration
    elites: int = key(least=1)  # plans kept in each iteration
    iterations: int = key(least=1)


@dataclasses.dataclass(frozen=True)
class ImprovedCrossEntropy(CrossEntropy):
    keep_elites: float = key(least=0, below=1)  # share of the elites carried on
    noise_beta: float = key(least=0)  # exponent of the noise's spectrum
    decay: float = key(least=1)  # of the candidates, per iteration
    momentum: float = key(least=0, below=1)  # share of the old mean and stddev


@dataclasses.dataclass(frozen=True)
class Greedy:
    _target_: str = key()


@dataclasses.dataclass(frozen=True)
class Train:
    task: str = key()
    observation: str = key(choices=("state", "position", "pixels"))
    action_repeat: int | None = key(least=1)  # physics steps; None: the task's own
    action_cost: float = key(least=0)  # per step and unit of squared action
    image: Image = key()
    seed: int = key(least=0)
    environment_steps: int = key(least=1)  # before action repeat
    logdir: str = key()
    seed_episodes: int = key(least=1)
    environments: int = key(least=1)
    updates_per_episode: int = key(least=1)
    batch_size: int = key(least=1)  # sequences
    sequence_length: int = key(least=2)  # agent steps
    replay_capacity: int = key(least=1)  # agent steps in memory
    transition: str = key(choices=("deterministic", "reparameterization", "flipout"))
    kl_weight: float = key(least=0)
    kl_weight_warmup: int = key(least=0)  # train steps
    posterior_scale: float = key(above=0)  # initial stddev times sqrt(fan-in)
    prior_scale: float = key(above=0)  # stddev of the prior of a weight
    optimizer: Optimizer = key()
    action_noise: ActionNoise = key()
    evaluation: Evaluation = key()
    video_every: int = key(least=0)  # collected episodes; 0: never
    strategy: str = key(choices=("default", "mirrored", "multi_worker", "tpu"))
    compute_dtype: str = key(choices=("float32", "bfloat16"))
    threads: int = key(least=0)  # of a TensorFlow operation; 0: all
    world_model: WorldModel = key()
    planner: CrossEntropy | ImprovedCrossEntropy = key()
    explore: Greedy = key()


# What `_target_` builds, and the keys that it has.
TARGETS = {
    "agents.planner.CrossEntropy": CrossEntropy,
    "agents.planner.ImprovedCrossEntropy": ImprovedCrossEntropy,
    "agents.explore.Greedy": Greedy,
}


def make_config(values):
    """Checks nested plain values and makes the config of a run from them.

    Args:
        values: dict of every key of `Train`, groups as dicts.

    Returns:
        A `Train`; it is frozen.

    Raises:
        ConfigError: a key is unknown, missing or out of its range. One line.
    """
    config = _make(Train, values, "")
    _check_together(config)
    return config


def as_dict(config):
    """The nested plain values of a config, as `make_config` reads them."""
    return dataclasses.asdict(config)


def flatten(values, prefix=""):
    """Maps each dotted key to its value.

    Example:
        >>> flatten({"seed": 0, "planner": {"horizon": 12}})
        {'seed': 0, 'planner.horizon': 12}
    """
    flat = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def build(settings, **arguments):
    """Makes the object that a group names, such as `build(config.planner)`.

    Args:
        settings: a part of the config with a `_target_`.
        **arguments: what the object takes beside its settings.
    """
    values = dataclasses.asdict(settings)
    module, name = values.pop("_target_").rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**values, **arguments)


def nearest(word, choices):
    """The end of an error message: `; did you mean 'flipout'?`, or nothing.

    Example:
        >>> nearest("flipot", ["deterministic", "flipout"])
        "; did you mean 'flipout'?"
        >>> nearest("xyz", ["deterministic", "flipout"])
        ''
    """
    close = difflib.get_close_matches(str(word), choices, 1, 0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_key(name, known):
    """Refuses a key that does not exist, and names the nearest that does.

    Args:
        name: dotted key.
        known: all dotted keys, groups among them.
    """
    if name in known:
        return
    last = name.rsplit(".", 1)[-1]
    hint = nearest(name, known)
    hint = hint or nearest(last, [each for each in known if each.endswith(last)])
    raise ConfigError(
        f"there is no key {name!r}" + (hint or "; bayes-rl train --help lists them all")
    )


def _make(schema, values, prefix):
    fields = {field.name: field for field in dataclasses.fields(schema)}
    hints = typing.get_type_hints(schema)
    for name in values:
        check_key(prefix + str(name), [prefix + each for each in fields])
    for name in fields:
        if name not in values:
            raise ConfigError(f"{prefix}{name} is missing")
    return schema(
        **{
            name: _value(hints[name], values[name], prefix + name, fields[name].metadata)
            for name in fields
        }
    )


def _value(hint, value, name, limits):
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if any(dataclasses.is_dataclass(option) for option in options):
        return _group(options, value, name)
    if value is None and type(None) in options:
        return None
    kind = options[0]
    converted = _convert(kind, value, name)
    _check_limits(converted, name, **limits)
    return converted


def _group(options, value, name):
    if not isinstance(value, dict):
        raise ConfigError(f"{name} has keys of its own ({name}.key=value), got {value!r}")
    schema = options[0]
    if "_target_" in {field.name for field in dataclasses.fields(schema)}:
        target = value.get("_target_")
        choices = [known for known, made in TARGETS.items() if made in options]
        _check_limits(target, f"{name}._target_", choices=choices)
        schema = TARGETS[target]
    return _make(schema, value, f"{name}.")


_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def _convert(kind, value, name):
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and math.isfinite(value):
        if kind is float:
            return float(value)
        if kind is int and value == int(value):  # also 1e6
            return int(value)
    if kind is str and is_number:
        return str(value)
    if kind in (bool, str) and isinstance(value, kind) and value != "":
        return value
    raise ConfigError(f"{name} must be {_WORDS[kind]}, got {_show(value)}")


def _check_limits(value, name, least=None, above=None, below=None, choices=None):
    if choices is not None and value not in choices:
        words = [str(choice) for choice in choices]
        listed = " or ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
        raise ConfigError(f"{name} must be {listed}, got {value!r}{nearest(value, words)}")
    if least is not None and value < least:
        raise ConfigError(f"{name} must be at least {least}, got {value}")
    if above is not None and value <= above:
        raise ConfigError(f"{name} must be above {above}, got {value}")
    if below is not None and value >= below:
        raise ConfigError(f"{name} must be below {below}, got {value}")


def _show(value):
    return "nothing" if value is None or value == "" else repr(value)


def _check_together(config):
    planner, distance = config.planner, config.world_model.overshooting_distance
    if planner.elites > planner.candidates:
        raise ConfigError(
            f"planner.elites must be at most planner.candidates ({planner.candidates}), "
            f"got {planner.elites}"
        )
    if distance >= config.sequence_length:
        raise ConfigError(
            "world_model.overshooting_distance must be below sequence_length "
            f"({config.sequence_length}), got {distance}"
        )
