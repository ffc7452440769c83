"""From a run's config to its agent."""

import contextlib
import functools
import math
import random

import numpy as np
import tensorflow as tf
from tf_agents.specs import tensor_spec

import envs
from agents.episodes.layout import seen_in
from agents.planet.action_space import make_space
from agents.planet.agent.clock import Clock
from agents.planet.agent.contract import check_source, check_strategy
from agents.planet.agent.optimizer import Ivon, Optimizer, ValueOptimizer, WeightAverage
from agents.planet.agent.planet_agent import PlaNetAgent
from agents.planet.agent.policy import Policies
from agents.planet.model.networks import is_image
from agents.planet.model.sizes import IMAGE_NUMBERS
from agents.planet.model.transitions import make_source
from agents.planet.model.world_model import WorldModel
from agents.planet.value import NoValue
from agents.planet.value.actor_critic import ActorCritic
from agents.runs.config.resolving import Surroundings, resolve
from agents.system.errors import UserError
from agents.training.compiling import take_notice


def configure_tensorflow(config):
    """Sets what TensorFlow fixes at its first operation; does nothing after that."""
    if config.threads:
        with contextlib.suppress(RuntimeError):  # it has computed something before
            tf.config.threading.set_intra_op_parallelism_threads(config.threads)
    for device in tf.config.list_physical_devices("GPU"):
        with contextlib.suppress(RuntimeError):
            # else the first process takes all memory, and none can evaluate beside it
            tf.config.experimental.set_memory_growth(device, True)


@contextlib.contextmanager
def _initial_values_of(seed):
    """Seeds the generators of the process, which environments may draw from as well."""
    kept = random.getstate(), np.random.get_state()  # noqa: NPY002 those that Keras seeds
    tf.keras.utils.set_random_seed(seed)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])  # noqa: NPY002


def resolved(config, environment):
    """The config with what it leaves open as this machine and the task decide.

    Raises:
        UserError: a setting of numbers would change nothing, for images alone are seen.
    """
    seen = seen_in(environment.time_step_spec().observation)
    if config.world_model.learn_observation_stddev and is_image(seen["observation"]):
        raise UserError(
            "world_model.learn_observation_stddev=true works for numbers alone; "
            f"task={config.task} observes images"
        )
    size = math.prod(seen["observation"].shape) + IMAGE_NUMBERS * (len(seen) - 1)
    return resolve(
        config,
        Surroundings(
            action_repeat=environment.action_repeat,
            episode_length=environment.episode_length,
            observation_size=size,
            action_size=environment.action_spec().shape[0],
            can_end=envs.can_end(config.task),
            has_images=any(is_image(spec) for spec in seen.values()),
            has_gpu=bool(tf.config.list_physical_devices("GPU")),
        ),
    )


def make_agent(config, environment, devices) -> PlaNetAgent:
    """The agent of a run, its variables made and initialized by the run's seed.

    What the config leaves open is `resolved`; the environment is for its specs alone.
    """
    time_step_spec = tensor_spec.from_spec(environment.time_step_spec())
    action_spec = tensor_spec.from_spec(environment.action_spec())
    space = make_space(environment.actions.categories)
    config = resolved(config, environment)
    check_parts(config)
    if config.compile:
        take_notice()
    with _initial_values_of(config.seed), devices.scope():
        model = make_world_model(config, time_step_spec, action_spec)
        clock = Clock(
            config.replay_capacity, config.hold_out_every, config.explore.counts_rewards
        )
        optimizer = _make_optimizer(config, model)
        value, value_optimizer = _make_value(config, environment, model, space)
        train_step = tf.Variable(0, trainable=False, dtype=tf.int64, name="train_step")
        policies = Policies(
            time_step_spec,
            action_spec,
            model,
            planner=config.planner,
            strategy=config.explore,
            exploit=config.exploit,
            noise=config.action_noise,
            value=value,
            act=config.act,
            latents=config.latents,
            clock=clock,
            seed=config.seed,
            compile=config.compile,
            sharers=max(config.actors, 1),
            space=space,
        )
        return PlaNetAgent(
            policies,
            optimizer=optimizer,
            value_optimizer=value_optimizer,
            average=_make_average(config, model, value),
            kl_weight=config.kl_weight,
            kl_weight_warmup=config.kl_weight_warmup,
            train_step_counter=train_step,
        )


def _make_optimizer(config, model):
    settings = dict(vars(config.optimizer))
    own = [settings.pop(f"ivon_{name}") for name in ("learning_rate", "curvature")]
    curved = model.source.curved(model)
    ivon = Ivon(curved, *own, config.prior_scale) if curved else None
    return Optimizer(model.trainable_variables, **settings, ivon=ivon)


def check_parts(config):
    """Tries what a researcher may have written: the strategy and the transition's source.

    Raises:
        UserError: one of them is not what it must be, see `agents.planet.agent.contract`.
    """
    check_strategy(config.explore)
    check_strategy(config.exploit)
    source = make_source(config.transition, config, _layers_dtype(config))
    check_source(source, config.transition, config.batch_size)


def _layers_dtype(config):
    return "mixed_bfloat16" if config.compute_dtype == "bfloat16" else "float32"


def _make_average(config, model, value):
    """Of all weights that decide; None where the agent is judged by the last."""
    if not config.averaging:
        return None
    of_value = value.trainable_variables if value else ()
    return WeightAverage([*model.trainable_variables, *of_value], config.averaging)


def _make_value(config, environment, model, space):
    """Critics and policy with their optimizer; twice None where the config has no value."""
    settings = config.value
    if isinstance(settings, NoValue):
        return None, None
    # A decision gets up to as many rewards of 1; what is sized are sums over it already.
    most = 1 if model.sizes_rewards else environment.action_repeat
    value = ActorCritic(
        settings,
        model.rssm.latent_size + model.rssm.belief_size,
        model.action_size,
        lambda: most * model.reward_unit,
        beta_rate=config.explore.beta_rate if config.explore.critic else None,
        space=space,
    )
    optimizer = ValueOptimizer(value.groups, settings.learning_rate, settings.clip_norm)
    return value, optimizer


def make_world_model(config, time_step_spec, action_spec) -> WorldModel:
    """The world model alone; arguments as in `make_agent`, but every size is set."""
    seen = {
        name: tf.TensorSpec(spec.shape, tf.uint8 if is_image(spec) else tf.float32)
        for name, spec in seen_in(time_step_spec.observation).items()
    }
    dtype = _layers_dtype(config)
    return WorldModel(
        seen.pop("observation"),
        action_spec.shape[0],
        config.world_model,
        make_source(config.transition, config, dtype),
        dtype,
        can_end=envs.can_end(config.task),
        any_reward=envs.rewards_are_unbounded(config.task),
        image_specs=seen,
    )


def choose_devices(name):
    """The devices of the config's `devices`, as a `tf.distribute.Strategy`."""
    makers = {"default": tf.distribute.get_strategy, "mirrored": _mirrored, "tpu": _tpu}
    return makers[name]()


@functools.cache
def _mirrored():
    """Over all devices; a process has one, for TensorFlow would mix up the sums of two."""
    kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
    names = [device.name for device in tf.config.list_logical_devices(kind)]
    if len(names) == 1:
        return tf.distribute.get_strategy()
    return tf.distribute.MirroredStrategy(names)


def _tpu():
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"devices=tpu finds no TPU: {reason}") from None
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)
