"""The command `bayes-rl export RUN`: a policy that acts without this program."""

import pathlib

from agents.system.errors import UserError
from agents.system.files import output_folder
from agents.training.exporting import save_policy
from agents.training.loading import load_agent

_USAGE = """{folder} acts as {task} was learned in {steps} environment steps. In Python:

    import collections
    import tensorflow as tf

    policy = tf.saved_model.load("{folder}")
    TimeStep = collections.namedtuple("TimeStep", "step_type reward discount observation")

    state = policy.get_initial_state()  # of the first episode; carry it on
    kind = tf.constant([0])  # 0 at the start of an episode, then 1
    seen = tf.constant([observation], tf.{dtype})  # {shape}
    step = TimeStep(kind, tf.zeros([1]), tf.ones([1]), seen)
    action, state, _ = policy.action(step, state)  # {action_shape}, from -1 to 1"""


def export(run, out=None):
    """Writes the policy of the newest checkpoint of a run as a SavedModel.

    Prints how it is used.

    Args:
        run: folder of the run.
        out: folder to write; None: `policy/` of the run.

    Raises:
        UserError: something else lies in the folder.
    """
    folder = output_folder(out or pathlib.Path(run) / "policy")
    if folder.resolve() in (here := pathlib.Path.cwd(), *here.parents):
        raise UserError(f"--out must be a folder below the current one, got {folder}")
    if folder.exists() and any(folder.iterdir()) and not is_policy(folder):
        raise UserError(f"{folder} has other files than a policy; choose another --out")
    output_folder(folder.absolute().parent)  # in which the new takes the place of the old
    config, agent = load_agent(run)
    folder.parent.mkdir(parents=True, exist_ok=True)
    save_policy(agent, folder)
    seen = agent.model.observation_spec
    words = _USAGE.format(
        folder=folder,
        task=config.task,
        steps=agent.counts["environment_steps"],
        dtype=seen.dtype.name,
        shape=[1, *seen.shape],
        action_shape=[1, agent.model.action_size],
    )
    print(words)


def is_policy(folder):
    """Whether a folder holds a SavedModel."""
    return (folder / "saved_model.pb").is_file()
