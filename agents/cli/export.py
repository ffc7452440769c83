"""The command `bayes-rl export RUN`: a policy that acts without this program."""

import contextlib
import json
import logging
import pathlib

from tf_agents.policies.policy_saver import PolicySaver

import envs
from agents.runs.checkpoints import is_pattern
from agents.system.errors import UserError
from agents.system.files import output_folder, replacing_folder, write_text
from agents.training.loading import ObservationPolicy, load_parts

_USAGE = """{folder} acts as {task} was learned in {steps} environment steps. In Python:

    import collections
    import tensorflow as tf

    policy = tf.saved_model.load("{folder}")
    TimeStep = collections.namedtuple("TimeStep", "step_type reward discount observation")

    state = policy.get_initial_state()  # of the first episode; carry it on
    kind = tf.constant([0])  # 0 at the start of an episode, then 1
    seen = tf.constant([observation], tf.{dtype})  # {shape}
    step = TimeStep(kind, tf.zeros([1]), tf.ones([1]), seen)
    action, state, _ = policy.action(step, state)  # {action_shape}, {kind}"""
_BOUNDS = """
    # -1 stands for {}
    # and 1 for {}"""
_CHOICE = """
    parts = tf.split(action[0], {})
    choice = [int(tf.argmax(part)) + first for part, first in zip(parts, {})]"""
_ENTRIES = "    # an observation is {}, in this order"
_IMAGES = "    # seen is a dict: observation as above, and beside it {}"
_LOGGERS = "absl", "tensorflow"
INTERFACE = "interface.json"


def export(run, out=None):
    """Writes the policy of the newest checkpoint of a run as a SavedModel.

    Prints how it is used. `interface.json` in the folder, `policy/` of the run or `out`,
    has the bounds of actions and the order of an observation's entries.

    Raises:
        UserError: something else lies in the folder, or TensorFlow could not read it.
    """
    folder = output_folder(out or pathlib.Path(run) / "policy")
    if is_pattern(folder):
        raise UserError(
            f"TensorFlow loads no policy from a path with *, ?, [ or \\, got {folder}; "
            "choose another --out"
        )
    if folder.resolve() in (here := pathlib.Path.cwd(), *here.parents):
        raise UserError(f"--out must be a folder below the current one, got {folder}")
    is_policy = (folder / "saved_model.pb").is_file()
    if folder.exists() and any(folder.iterdir()) and not is_policy:
        raise UserError(f"{folder} has other files than a policy; choose another --out")
    output_folder(folder.absolute().parent)  # in which the new takes the place of the old
    config, agent, environment = load_parts(run)
    entries, actions = environment.entries, environment.actions
    folder.parent.mkdir(parents=True, exist_ok=True)
    _save(agent, folder, _interface(config, agent, entries, actions))
    seen = agent.model.observation_spec
    words = _USAGE.format(
        folder=folder,
        task=config.task,
        steps=agent.counts["environment_steps"],
        dtype=seen.dtype.name,
        shape=[1, *seen.shape],
        action_shape=[1, agent.model.action_size],
        kind="one-hot" if actions.categories else "from -1 to 1",
    )
    print(words)
    if actions.categories:
        print(_CHOICE.format([*actions.categories], actions.first.tolist()))
    else:
        print(_BOUNDS.format(actions.low.tolist(), actions.high.tolist()))
    if entries:
        print(_ENTRIES.format(envs.entries_in_words(entries)))
    if images := _images(agent.model):
        words = (f"{name} uint8 {[1, *shape]}" for name, shape in images.items())
        print(_IMAGES.format(", ".join(words)))


def _images(model):
    """Dict of name -> shape of the images that are seen beside the observation."""
    _, *beside = model.parts.items()
    return {name: [*part.spec.shape] for name, part in beside}


def _interface(config, agent, entries, actions):
    seen = agent.model.observation_spec
    parts = [{"path": [*path], "size": size} for path, size in entries.items()]
    if actions.categories:
        meaning = {"categories": [*actions.categories], "first": actions.first.tolist()}
    else:
        meaning = {
            "minus_one": actions.low.tolist(),
            "one": actions.high.tolist(),
            "is_bounded": actions.is_bounded.tolist(),
        }
    return {
        "task": config.task,
        "environment_steps": agent.counts["environment_steps"],
        "observation": {
            "shape": [*seen.shape],
            "dtype": seen.dtype.name,
            "entries": parts,
            "images": _images(agent.model),
        },
        "action": meaning,
    }


def _save(agent, folder, interface):
    """Writes the policy of the mean weights in place of what lies there, whole or not.

    It acts for one environment: [1, ...]. Its time steps hold the observation alone.
    """
    with _quiet():
        policy = ObservationPolicy(agent.policy)
        saver = PolicySaver(policy, batch_size=1, train_step=agent.train_step_counter)
        with replacing_folder(folder) as temporary:
            saver.save(str(temporary))
            write_text(temporary / INTERFACE, json.dumps(interface, indent=1) + "\n")


@contextlib.contextmanager
def _quiet():
    """Keeps two notices off the screen: no distribution of actions; where the files lie."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:  # a filter, since TensorFlow sets levels while it saves
        logger.addFilter(_is_error)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_is_error)


def _is_error(record):
    return record.levelno >= logging.ERROR
