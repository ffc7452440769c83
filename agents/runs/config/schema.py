"""The schema of configs/train.yaml: every key, its type, its range and its unit.

Values of runs live in YAML, types and ranges on the fields of settings: here those of a
run, in `agents.planet.planning` and `agents.planet.explore` those of what a `kind` names.
`make_config` turns nested plain values into a `Train`, or says in one line which key is
wrong and what would be right. It imports neither TensorFlow nor hydra.
"""

import dataclasses
import math

from agents.planet.explore import EXPLOITING, STRATEGIES, Strategy
from agents.planet.explore.noise import GaussianNoise
from agents.planet.model.transitions import SOURCES
from agents.planet.planning import PLANNERS, Planner
from agents.planet.value import VALUES, NoValue, TemporalDifference
from agents.runs.config.consistency import check_together
from agents.runs.config.validation import validate
from agents.system.errors import UserError
from agents.system.settings import Settings, key

# Keys that had another name before: `bayes-rl migrate` renames them in the runs of then.
RENAMED = {"strategy": "devices"}
# What episodes are made with, beside images and physics; null is left to the task.
OF_EPISODES = ("task", "observation", "action_repeat", "time_limit", "action_cost")
OF_EPISODES += ("action_bound",)
# Keys that counted episodes, and those of today, which count environment steps: in the runs
# of then an episode had so many as it had on average.
COUNTED_IN_EPISODES = {
    "seed_episodes": "seed_steps",
    "updates_per_episode": "updates_per_step",
    "evaluation.every": "evaluation.every_steps",
    "video_every": "video_every_steps",
    "probe_every": "probe_every_steps",
}
# Keys that counted rewards, and that of today, which counts the last episodes with some.
COUNTED_IN_REWARDS = {
    "explore.annealing_rewarded_steps": "explore.annealing_episodes",
    "explore.annealing_rewards": "explore.annealing_episodes",
    "exploit.annealing_rewards": "exploit.annealing_episodes",
}
_REWARDS = 25  # of an early episode that came to some, on pendulum_swingup


def is_count(value):
    """Whether it is a finite number, as may be counted."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value)


def in_steps(name, value, episode_steps):
    """What the key of today has, where one of `COUNTED_IN_EPISODES` had this count.

    Example:
        >>> in_steps("updates_per_episode", 300, 1000), in_steps("seed_episodes", 5, 1000)
        (0.3, 5000)
    """
    if name == "updates_per_episode":
        return float(f"{value / episode_steps:.6g}")
    return round(value * episode_steps)


def in_rewarded_episodes(rewards):
    """What the key of today has, where one of `COUNTED_IN_REWARDS` had this number.

    Example:
        >>> in_rewarded_episodes(50), in_rewarded_episodes(None)
        (2, None)
    """
    return None if rewards is None else min(max(round(rewards / _REWARDS), 1), 10)


@dataclasses.dataclass(frozen=True)
class Image(Settings):
    size: int = key(choices=(32, 64))  # pixels a side
    camera: int = key(least=-1)  # number of the task's camera; -1: the free one
    shadows: bool = key()  # and reflections; without them pictures are drawn fast


@dataclasses.dataclass(frozen=True)
class Physics(Settings):
    """Factors on the physics of a task of DeepMind Control."""

    mass: float = key(above=0)  # of all bodies, and their inertia
    friction: float = key(least=0)  # of contacts, and damping of joints
    gain: float = key(above=0)  # force of the motors


@dataclasses.dataclass(frozen=True)
class Optimizer(Settings):
    """Adam (Kingma and Ba, 2015); of transition=ivon, IVON too (Shen et al., 2024)."""

    learning_rate: float = key(above=0)  # of all but the stddevs of weights
    stddev_learning_rate: float = key(above=0)  # of the weights' standard deviations
    epsilon: float = key(above=0)  # beside the root of the squared gradients' mean
    clip_norm: float = key(above=0)  # of the gradient of all variables together
    ivon_learning_rate: float = key(above=0)  # of the means of transition=ivon
    ivon_curvature: float = key(above=0)  # damping; of their loss, at first


@dataclasses.dataclass(frozen=True)
class Evaluation(Settings):
    every_steps: int = key(least=0)  # environment steps; 0: never
    episodes: int = key(least=1)  # each time
    apart: bool | None = key()  # by a process of its own; None: where actors collect


@dataclasses.dataclass(frozen=True)
class WorldModel(Settings):
    standardize: bool = key()  # see configs/world_model
    # None of a size or of observation_stddev: by `agents.planet.model.sizes`
    belief_size: int | None = key(least=1)
    latent_size: int | None = key(least=1)
    hidden_size: int | None = key(least=1)  # units of the layers of the transition
    embedding_size: int | None = key(least=1)
    encoder_layers: int = key(least=0)  # dense, for vectors
    decoder_layers: int = key(least=0)  # dense, for vectors and the dense image decoder
    image_pool: int = key(choices=(1, 2))  # pixels a side that the networks see as one
    image_depth: int = key(least=1)  # filters of the first convolution
    image_decoder: str = key(choices=("convolutions", "dense"))
    reward_layers: int = key(least=0)  # dense, of the reward head
    reward_units: int | None = key(least=1)  # of each of them
    min_stddev: float = key(above=0)  # of a latent
    observation_stddev: float | None = key(above=0)  # of the likelihood
    learn_observation_stddev: bool = key()  # of each number of a vector, from there on
    reward_scale: float = key(least=0)
    continuation_scale: float = key(least=0)  # where episodes can end; 0: no such head
    free_nats: float = key(least=0)  # per step
    kl_scale: float = key(least=0)
    global_kl_scale: float = key(least=0)
    overshooting_distance: int = key(least=0)  # agent steps
    overshooting_kl_scale: float = key(least=0)  # weight of the latent KL of those
    overshooting_reward_scale: float = key(least=0)  # of their reward loss


@dataclasses.dataclass(frozen=True)
class Train(Settings):
    task: str = key()  # see configs/train.yaml
    observation: str = key()  # see envs.load
    action_repeat: int | None = key(least=1)  # environment steps; None: the task's own
    time_limit: int | None = key(least=1)  # environment steps; None: the task's own
    action_cost: float = key(least=0)  # per step and unit of squared action
    action_bound: float = key(above=0, below=1e10)  # where the task gives none
    data: str | None = key()  # logged episodes to learn from; None: it collects its own
    image: Image = key()
    physics: Physics = key()
    seed: int = key(least=0, below=2**31)  # of all that is random in the run
    environment_steps: int = key(least=1)  # before action repeat
    logdir: str = key()
    seed_steps: int = key(least=1)  # environment steps of random actions
    environments: int = key(least=1)
    actors: int = key(least=0)  # processes that collect; 0: this one does
    address: str | None = key()  # of a cluster of Ray; None: this machine
    learners: int = key(least=1)  # processes that learn as one, by devices=multi_worker
    updates_per_step: float | None = key(above=0)  # gradient over environment steps
    batch_size: int = key(least=1)  # sequences
    sequence_length: int | None = key(least=2)  # agent steps
    replay_capacity: int = key(least=1)  # agent steps in memory
    hold_out_every: int | None = key(least=2)  # collected episodes; None: none
    transition: str = key(choices=SOURCES)
    kl_weight: float = key(least=0)
    kl_weight_warmup: int = key(least=0)  # train steps
    posterior_scale: float = key(least=1e-5)  # initial stddev times sqrt(fan-in)
    prior_scale: float = key(above=0)  # stddev of the prior of a weight
    ensemble_members: int = key(least=2)
    ensemble_shares_batch: bool = key()  # each learns from its share, else from all of it
    dropout_rate: float = key(above=0, below=1)
    optimizer: Optimizer = key()
    averaging: float = key(least=0, most=1)  # age of averages, share of gradient steps
    action_noise: GaussianNoise = key()
    noise_ladder: float = key(least=1)  # most noise of an actor over least
    evaluation: Evaluation = key()
    video_every_steps: int = key(least=0)  # environment steps; 0: never
    probe_every_steps: int = key(least=0)  # environment steps; 0: never
    checkpoint_every_steps: int = key(least=1)  # environment steps
    logger: str = key()  # shows curves and films, see agents.training.trackers
    devices: str = key(choices=("default", "mirrored", "multi_worker", "tpu"))
    compute_dtype: str = key(choices=("float32", "bfloat16"))
    compile: bool | None = key()  # by XLA; None: where it is faster
    threads: int = key(least=0)  # of a TensorFlow operation; 0: all
    world_model: WorldModel = key()
    planner: Planner = key(kinds=PLANNERS)
    explore: Strategy = key(kinds=STRATEGIES)
    exploit: Strategy = key(kinds=EXPLOITING)  # by which it is judged
    value: NoValue | TemporalDifference = key(kinds=VALUES)
    act: str = key(choices=("plan", "policy"))
    latents: str = key(choices=("means", "samples"))

    @property
    def evaluates_apart(self):
        """Whether a process of its own evaluates, films and probes."""
        apart = self.evaluation.apart
        is_ever = (
            self.evaluation.every_steps or self.video_every_steps or self.probe_every_steps
        )
        return bool(is_ever) and (self.actors > 0 if apart is None else apart)

    @property
    def has_processes(self):
        """Whether other processes take part in the run, by Ray."""
        return self.actors > 0 or self.evaluates_apart

    @property
    def environment(self):
        """What `envs.load` takes of it, but the seed."""
        image = {"camera": self.image.camera, "shadows": self.image.shadows}
        own = {name: getattr(self, name) for name in OF_EPISODES}
        return own | image | {"image_size": self.image.size} | vars(self.physics)


def make_config(values):
    """Checks nested plain values, groups as dicts, and makes a `Train` of them."""
    config = validate(Train, values)
    check_together(config)
    return config


def as_dict(config):
    """The nested plain values of a config, as `make_config` reads them."""
    values = {}
    for field in dataclasses.fields(config):
        value, kinds = getattr(config, field.name), field.metadata["kinds"]
        if dataclasses.is_dataclass(value):
            kind = {} if kinds is None else {"kind": _kind(field.name, value, kinds)}
            value = kind | as_dict(value)
        values[field.name] = value
    return values


def _kind(name, value, kinds):
    for kind, made in kinds.items():
        if made is type(value):
            return kind
    own = type(value).__name__
    raise UserError(
        f"{name} must be one of {', '.join(kinds)}, got {own}; register its class"
    )


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
            flat[f"{prefix}{name}"] = value
    return flat
