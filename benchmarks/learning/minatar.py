"""MinAtar's Breakout, and deep Q-learning (DQN) on it, which our agent stands beside.

python -m benchmarks.learning.minatar     # writes dqn.csv of results/minatar

Network, replay and rates are those of Young and Tian, 2019, MinAtar, section 3; but epsilon
falls within a fifth of the frames, as these are a hundredth of theirs, and learning begins
after 1,000 frames instead of 5,000. Needs `pip install --no-deps minatar==1.0.15`.
"""

import argparse
import pathlib

import numpy as np
import pandas as pd
import tensorflow as tf
from tf_agents.agents.dqn.dqn_agent import DqnAgent
from tf_agents.drivers.dynamic_step_driver import DynamicStepDriver
from tf_agents.environments.py_environment import PyEnvironment
from tf_agents.environments.tf_py_environment import TFPyEnvironment
from tf_agents.networks.sequential import Sequential
from tf_agents.policies.random_tf_policy import RandomTFPolicy
from tf_agents.replay_buffers.tf_uniform_replay_buffer import TFUniformReplayBuffer
from tf_agents.specs import ArraySpec, BoundedArraySpec
from tf_agents.trajectories import time_step
from tf_agents.utils import common

_OUT = pathlib.Path(__file__).parents[2] / "results/minatar/dqn.csv"
_FIRST = 1000  # frames before learning begins
# Of an empty square, the paddle, the ball, where the ball was, and a brick.
_COLORS = np.uint8(
    [(0, 0, 0), (90, 160, 250), (255, 255, 255), (90, 90, 90), (220, 110, 60)]
)


def breakout():
    """The game of gymnasium: it shows its state as a table, and takes what matters."""
    try:
        from minatar.gym import BaseEnv
    except ImportError as error:
        raise SystemExit("run `pip install --no-deps minatar==1.0.15` first") from error

    class Breakout(BaseEnv):
        def render(self):  # theirs needs seaborn
            return picture(self.game.state())

    return Breakout("breakout", render_mode="rgb_array", use_minimal_action_set=True)


def picture(state):
    """Red, green and blue of the squares of Breakout; a later channel is in front."""
    return _COLORS[np.max(state * np.arange(1, len(_COLORS)), axis=2)]


class Frames(PyEnvironment):
    """The same for TF-Agents, its n-th episode begun by a seed of its own."""

    def __init__(self, make, seed):
        super().__init__()
        self._game = make()
        self._seeds = np.random.default_rng(seed)

    def observation_spec(self):
        return ArraySpec(self._game.observation_space.shape, np.float32, "observation")

    def action_spec(self):
        return BoundedArraySpec([], np.int64, 0, self._game.action_space.n - 1, "action")

    def _reset(self):
        seen, _ = self._game.reset(seed=int(self._seeds.integers(2**31)))
        return time_step.restart(seen.astype(np.float32))

    def _step(self, action):
        if self._current_time_step.is_last():
            return self._reset()
        seen, reward, has_ended, _, _ = self._game.step(int(action))
        make = time_step.termination if has_ended else time_step.transition
        return make(seen.astype(np.float32), np.float32(reward))


def learn(make, seed, frames):
    """A DQN agent after so many frames."""
    tf.keras.utils.set_random_seed(seed)
    environment = TFPyEnvironment(Frames(make, seed))
    agent = _agent(environment, frames)
    replay = TFUniformReplayBuffer(agent.collect_data_spec, 1, max_length=100_000)
    driver = DynamicStepDriver(
        environment, agent.collect_policy, [replay.add_batch], num_steps=1
    )
    collect, train = common.function(driver.run), common.function(agent.train)
    moment = environment.reset()
    for _ in range(_FIRST):
        moment, _ = collect(moment)
    batches = iter(_batches(replay))
    for _ in range(frames - _FIRST):
        moment, _ = collect(moment)
        train(next(batches)[0])
    return agent


def _batches(replay):
    """Each is drawn when it is asked for, not ahead by a thread while frames come in."""
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    drawn = replay.as_dataset(sample_batch_size=32, num_steps=2)
    return drawn.with_options(options)


def returns(make, policy, seed, episodes):
    """What greedy episodes return, [episodes]."""
    environment = TFPyEnvironment(Frames(make, seed))
    act = common.function(policy.action)
    found = []
    for _ in range(episodes):
        moment, total = environment.reset(), 0.0
        while not moment.is_last():
            moment = environment.step(act(moment).action)
            total += float(moment.reward[0])
        found.append(total)
    return np.array(found)


def epsilon(step, frames):
    """The share of random actions: from 1 to 0.1 within a fifth of the frames."""
    return tf.maximum(1.0 - 0.9 * tf.cast(step, tf.float32) / (frames / 5), 0.1)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        "python -m benchmarks.learning.minatar", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--frames", type=int, default=50_000)
    parser.add_argument("--episodes", type=int, default=100, help="of the score of each")
    parser.add_argument("--out", type=pathlib.Path, default=_OUT)
    options = parser.parse_args(arguments)
    tf.config.experimental.enable_op_determinism()  # whichever thread is first
    rows = []
    for seed in options.seeds:
        policy = learn(breakout, seed, options.frames).policy
        score = returns(breakout, policy, seed + 10_000, options.episodes).mean()
        rows.append({"seed": seed, "frames": options.frames, "score": score})
        print(f"seed {seed}: {score:.2f} after {options.frames:,} frames", flush=True)
    scores = [row["score"] for row in rows]
    all_seeds = {"seed": "all", "frames": options.frames, "score": np.mean(scores)}
    all_seeds |= {"score_lowest": min(scores), "score_highest": max(scores)}
    untrained = {"seed": "random actions", "frames": 0, "score": _of_random_actions()}
    print(f"random actions: {untrained['score']:.2f}", flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame([*rows, all_seeds, untrained]).to_csv(options.out, index=False)


def _of_random_actions(episodes=500):
    """Their mean return."""
    tf.keras.utils.set_random_seed(0)
    environment = TFPyEnvironment(Frames(breakout, seed=0))
    policy = RandomTFPolicy(environment.time_step_spec(), environment.action_spec())
    return returns(breakout, policy, 10_000, episodes).mean()


def _agent(environment, frames):
    count = tf.Variable(0, dtype=tf.int64, trainable=False)
    layers = [
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(environment.action_spec().maximum + 1),
    ]
    agent = DqnAgent(
        environment.time_step_spec(),
        environment.action_spec(),
        Sequential(layers, environment.observation_spec()),
        tf.keras.optimizers.legacy.RMSprop(2.5e-4, 0.95, epsilon=0.01, centered=True),
        epsilon_greedy=lambda: epsilon(count, frames),
        target_update_period=1000,
        td_errors_loss_fn=common.element_wise_huber_loss,
        gamma=0.99,
        train_step_counter=count,
    )
    agent.initialize()
    return agent


if __name__ == "__main__":
    main()
