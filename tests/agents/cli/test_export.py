"""Tests of the command that exports a policy."""

import json
import shutil
import subprocess
import sys
import types
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from absl import logging
from tf_agents.trajectories import time_step as ts

from agents.__main__ import main
from agents.cli import export as exporting
from envs.actions import make_actions

# Runs the lines that the command prints, with TensorFlow alone, for each observation.
ACT = """
import json, sys
for name in ("agents", "bayes_rl", "envs", "configs", "tf_agents"):
    sys.modules[name] = None  # cannot be imported

usage, observations = json.load(sys.stdin)
start, each = usage.split("kind = ")
exec(start)
actions = []
for number, observation in enumerate(observations):
    exec("kind = " + each.replace("[0]", f"[{min(number, 1)}]"))
    actions.append(action[0].numpy().tolist())
print(json.dumps(actions))
"""


def exported(folder, usage, observations):
    """The actions of the policy in a folder."""
    acted = subprocess.run(
        [sys.executable, "-c", ACT],
        input=json.dumps([usage, observations.tolist()]),
        capture_output=True,
        text=True,
        cwd=folder,
        env={"TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert acted.returncode == 0, acted.stderr
    return json.loads(acted.stdout)


def of_the_run(agent, observations):
    """The actions of the run's policy, in an episode of the same observations."""
    act, state = (
        tf.function(agent.policy.action, autograph=False),
        agent.policy.get_initial_state(1),
    )
    actions = []
    for number, observation in enumerate(observations):
        seen = {name: tf.zeros([1, 1]) for name in ("position", "velocity")}
        seen["observation"] = tf.constant([observation])
        kind = ts.StepType.MID if number else ts.StepType.FIRST
        step = ts.TimeStep(tf.constant([kind]), tf.zeros([1]), tf.ones([1]), seen)
        action, state, _ = act(step, state)
        actions.append(action[0].numpy())
    return actions


@pytest.fixture(scope="module")
def run(whole_run, tmp_path_factory):
    """A copy that may be written to."""
    return shutil.copytree(whole_run, tmp_path_factory.mktemp("exported") / "run")


@pytest.mark.slow
@pytest.mark.parametrize("act", ["policy", "plan"])
def test_policy_acts_like_the_run_with_tensorflow_alone(
    run, whole_parts, capsys, tmp_path, monkeypatch, act
):
    monkeypatch.setattr("agents.cli.export.load_parts", lambda _: whole_parts)
    _, agent, *_ = whole_parts
    monkeypatch.setattr(agent, "_policy", agent.policies.exploiting(act))
    assert main(["export", str(run)]) == 0
    said = capsys.readouterr()
    head, *lines = said.out.splitlines()
    assert head.startswith(
        f"{run}/policy acts as fake was learned in 160 environment steps"
    )
    assert said.err == ""
    assert not list(run.glob(".*.tmp"))
    random = np.random.default_rng(0)
    observations = random.uniform(-1, 1, [20, 2]).astype(np.float32)
    expected = of_the_run(agent, observations)
    assert np.std(expected) > 0.01
    usage = "\n".join(line.strip() for line in lines)
    actions = exported(tmp_path, usage, observations)
    np.testing.assert_allclose(actions, expected, atol=1e-5)
    policy = tf.saved_model.load(str(run / "policy"))
    refuses_what_is_not_finite(policy)
    refuses_wrong_states_and_kinds(policy)


def refuses_what_is_not_finite(policy):
    for value in (np.nan, np.inf, 1e20):
        seen = tf.constant([[value, 0.0]], tf.float32)
        step = ts.TimeStep(tf.constant([0]), tf.zeros([1]), tf.ones([1]), seen)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be finite and at"):
            policy.action(step, policy.get_initial_state())


def refuses_wrong_states_and_kinds(policy):
    def act(kind, state):
        step = (tf.constant([kind]), tf.zeros([1]), tf.ones([1]), tf.zeros([1, 2]))
        return policy.action(ts.TimeStep(*step), state)

    state = act(0, policy.get_initial_state()).state
    for wrong in (np.nan, -np.inf):
        latent = state["latent"] | {"belief": state["latent"]["belief"] + wrong}
        with pytest.raises(tf.errors.InvalidArgumentError, match="state must be finite"):
            act(1, state | {"latent": latent})
        assert np.isfinite(act(0, state | {"latent": latent}).action).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="step_type must be 0 at"):
        act(7, state)


def test_bounds_of_actions_and_order_of_entries_are_printed_and_stored(
    run, whole_parts, capsys, tmp_path, monkeypatch
):
    config, agent, *_ = whole_parts
    entries = {("arm", "angle"): 1, ("goal",): 1}
    actions = make_actions(np.array([-3.0]), np.array([5e6]))
    parts = config, agent, types.SimpleNamespace(entries=entries, actions=actions)
    monkeypatch.setattr(exporting, "load_parts", lambda _: parts)
    monkeypatch.setattr(exporting, "PolicySaver", mock.Mock())  # which takes seconds
    assert main(["export", str(run), "--out", str(tmp_path / "policy")]) == 0
    *_, low, high, order = capsys.readouterr().out.splitlines()
    assert low.strip() == "# -1 stands for [-3.0]"
    assert high.strip() == "# and 1 for [5000000.0]"
    assert order.strip() == "# an observation is arm/angle 1, goal 1, in this order"
    stored = json.loads((tmp_path / "policy" / exporting.INTERFACE).read_text())
    assert stored["task"] == "fake"
    assert stored["action"] == {"minus_one": [-3.0], "one": [5e6], "is_bounded": [True]}
    assert stored["observation"] == {
        "shape": [2],
        "dtype": "float32",
        "entries": [{"path": ["arm", "angle"], "size": 1}, {"path": ["goal"], "size": 1}],
        "images": {},
    }


def test_folder_of_something_else_is_left_alone(run, tmp_path, capsys):
    (tmp_path / "mine").touch()
    assert main(["export", str(run), "--out", str(tmp_path)]) == 2
    assert "has other files than a policy" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_folder_that_tensorflow_could_not_load_from_is_refused(run, tmp_path, capsys):
    folder = tmp_path / "lr[0.1]"
    assert main(["export", str(run), "--out", str(folder)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"got {folder}; choose another --out" in line
    assert not folder.exists()


def test_notices_are_kept_off_the_screen_whoever_sets_levels(caplog):
    before = logging.get_verbosity()
    try:
        with exporting._quiet():
            logging.set_verbosity(logging.WARNING)  # as TensorFlow does while it saves
            logging.warning("a notice")
            logging.error("an error")
        logging.warning("another")
    finally:
        logging.set_verbosity(before)
    assert [record.getMessage() for record in caplog.records] == ["an error", "another"]
