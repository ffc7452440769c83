"""Seconds of each thing that a process of a run does, measured one after another."""

import contextlib
import dataclasses
import tempfile
import time

import numpy as np
import tensorflow as tf

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.layout import agent_steps
from agents.runs.config.overrides import load
from agents.runs.folder import open_run
from agents.system.processes import LoggedProcess, command_of, free_addresses
from agents.training.building import make_agent
from agents.training.checking import check
from agents.training.distributed.handover import Handover
from agents.training.distributed.sequences import ReplayServer, SequenceWriter, row_specs
from agents.training.distributed.server import greet
from agents.training.distributed.variables import Weights
from agents.training.gradient_steps import Learning
from agents.training.loading import make_checkpoints

LAYOUTS = 1, 2, 4, 8  # environments of an actor
SHARES = 1, 2, 4, 8, 16  # learners that share a batch


@dataclasses.dataclass(frozen=True)
class Costs:
    """Seconds, if nothing else is said.

    Args:
        decision: environments of an actor -> one call of the planner for all of them.
        step: environments -> one agent step of all of them.
        episode_steps: agent steps of an episode.
        action_repeat: environment steps of an agent step.
        write: an episode to disk.
        insert: an episode into the replay server.
        sample: a batch out of it.
        push: weights to the server.
        pull: weights from it.
        train: learners -> one gradient step on the share of one.
        save: a checkpoint.
        weights: bytes of all that is sent.
        gradients: bytes of what learners sum.
    """

    decision: dict
    step: dict
    episode_steps: int
    action_repeat: int
    write: float
    insert: float
    sample: float
    push: float
    pull: float
    train: dict
    save: float
    weights: int
    gradients: int


def measure_costs(words, repeats=30):
    """Measures a run of these words.

    Args:
        words: of the config; `actors` is needed.
        repeats: of each thing; the median counts.

    Returns:
        `Costs`.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        words = [*words, f"logdir={folder}/run"]
        config = check(load(words))
        run = stack.enter_context(open_run(config))
        environment = stack.enter_context(
            contextlib.closing(load_environments(config, 1, COLLECTION))
        )
        agent = make_agent(config, environment, tf.distribute.get_strategy())
        episode = _random_episode(config, agent, environment)
        agent.model.see(episode)
        agent.clock.advance(1, agent_steps(episode), agent_steps(episode))
        handover = Handover(run.episodes)
        handover.open(0)
        address = _serve(stack, config, words, run)
        client_side = _client_side(config, agent, environment, episode, address, repeats)
        decision, step = _layouts(config, agent, repeats)
        gradients = (*agent.model.trainable_variables, *_of_value(agent))
        return Costs(
            decision=decision,
            step=step,
            episode_steps=agent_steps(episode),
            action_repeat=environment.action_repeat,
            write=_median(lambda: handover.finish(0, episode), repeats),
            train={
                count: _train_seconds(config, agent, episode, count)
                for count in SHARES
                if config.batch_size % count == 0
            },
            save=_median(_saver(run, agent), repeats=5),
            weights=_bytes(agent.collect_policy.variables()),
            gradients=_bytes(gradients),
            **client_side,
        )


def _random_episode(config, agent, environment):
    found = []
    policy = RandomAtFirst(
        as_py_policy(agent.collect_policy), environment, lambda: True, config.seed, [0]
    )
    collector = Collector(
        environment,
        policy,
        agent.train_step_counter,
        lambda episode, _: found.append(episode),
    )
    collector.collect()
    return found[0]


def _serve(stack, config, words, run):
    """Starts a replay server in a process of its own; its address, once it answers."""
    (address,) = free_addresses(1)
    command = command_of("server", "--server", address, *words)
    process = LoggedProcess(command, run.folder / "server.log")
    stack.callback(process.wait)
    stack.callback(process.kill)
    while True:
        try:
            greet(config, address)
            return address
        except TimeoutError:
            if process.poll() is not None:
                raise RuntimeError(f"the server ended: {process.reason}") from None
            time.sleep(0.1)


def _client_side(config, agent, environment, episode, address, repeats):
    """What clients of the server see: they wait for it and for the network."""
    import reverb

    writer = SequenceWriter(reverb.Client(address), config.sequence_length)
    insert = _median(lambda: writer.insert(episode, timeout=60), repeats)
    replay = ReplayServer(address, row_specs(environment))
    batches = iter(replay.dataset(config.batch_size, config.sequence_length))
    weights = Weights(agent, address)
    return {
        "insert": insert,
        "sample": _mean(lambda: next(batches), 10 * repeats),
        "push": _median(weights.push, repeats),
        "pull": _median(weights.pull, repeats),
    }


def _layouts(config, agent, repeats):
    """Seconds of a call of the planner, and of a step of all environments, by layout."""
    decision, step = {}, {}
    for count in LAYOUTS:
        environment = load_environments(config, count, COLLECTION, processes=count > 1)
        with contextlib.closing(environment):
            policy = as_py_policy(agent.collect_policy)
            now, state = environment.reset(), policy.get_initial_state(count)
            seconds = []
            for _ in range(repeats + 5):  # the first ones trace and compile
                begun = time.perf_counter()
                action = policy.action(now, state)
                decided = time.perf_counter()
                now, state = environment.step(action.action), action.state
                seconds.append([decided - begun, time.perf_counter() - decided])
            decision[count], step[count] = np.median(seconds[5:], axis=0).tolist()
    return decision, step


def _train_seconds(config, agent, episode, learners, chunks=5):
    """Of a gradient step on the share of the batch that one of several learners has."""
    from agents.episodes.replay import Replay

    replay = Replay(config.replay_capacity)
    replay.add(episode)
    share = config.batch_size // learners
    devices = tf.distribute.get_strategy()
    learning = Learning(agent, replay, devices, share, config.sequence_length, seed=0)
    learning.run(20, lambda _: None)  # traces and compiles
    return _median(lambda: learning.run(20, lambda _: None), chunks) / 20


def _saver(run, agent):
    checkpoints = make_checkpoints(run, agent)
    numbers = iter(range(1000))
    return lambda: checkpoints.save(next(numbers))


def _of_value(agent):
    return agent.value.trainable_variables if agent.value else ()


def _bytes(variables):
    sizes = (each.shape.num_elements() * each.dtype.size for each in variables)
    return sum(sizes)


def _median(function, repeats):
    function()
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))


def _mean(function, repeats):
    """Of many calls without a break, of which some are prepared beside others."""
    for _ in range(repeats // 5):
        function()
    begun = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - begun) / repeats
