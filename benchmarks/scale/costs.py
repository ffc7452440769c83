"""Seconds of each thing that a process of a run does, measured one after another."""

import contextlib
import dataclasses
import tempfile

import numpy as np
import tensorflow as tf

from agents.episodes.collecting import Collector, RandomAtFirst, as_py_policy
from agents.episodes.environments import COLLECTION, load_environments
from agents.episodes.layout import agent_steps
from agents.episodes.store import EpisodeStore, pack
from agents.runs.config.overrides import load
from agents.runs.folder import open_run
from agents.training.building import make_agent
from agents.training.checking import check
from agents.training.distributed import cluster
from agents.training.distributed.weights import Weights, acting_variables
from agents.training.gradient_steps import Learning
from agents.training.loading import make_checkpoints
from benchmarks.measuring.timing import measure

LAYOUTS = 1, 2, 4, 8  # environments of an actor
SHARES = 1, 2, 4, 8, 16  # learners that share a batch
_REPEATS = 30  # of each thing, of which the median counts


@dataclasses.dataclass(frozen=True)
class Costs:
    """Seconds, if nothing else is said."""

    decision: dict  # environments of an actor -> one call of the planner for all of them
    step: dict  # environments -> one agent step of all of them
    episode_steps: int  # agent steps of an episode
    action_repeat: int  # environment steps of an agent step
    pack: float  # an episode into bytes
    hand: float  # those from an actor to the learner, through Ray
    write: float  # an episode to disk
    send: float  # weights into Ray's store
    receive: float  # weights out of it, into the variables of an actor
    train: dict  # learners -> one gradient step on the share of one
    save: float  # a checkpoint
    weights: int  # bytes of all that is sent
    gradients: int  # bytes of what learners sum


def measure_costs(words, clock, layouts):
    """Measures the `Costs` of a run of these words of the config; `actors` is needed.

    The layouts are environments of an actor. Those of several have processes of their own,
    whose work `time.process_time` does not count.
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
        stack.enter_context(cluster.connected(config, processes=1))
        store, content = EpisodeStore(run.episodes), pack(episode)
        decision, step = _layouts(config, agent, clock, layouts)
        gradients = [*agent.model.trainable_variables]
        gradients += agent.value.trainable_variables if agent.value else []
        return Costs(
            decision=decision,
            step=step,
            episode_steps=agent_steps(episode),
            action_repeat=environment.action_repeat,
            pack=_median(clock, lambda: pack(episode)),
            write=_median(clock, lambda: store.append_packed(content)),
            train={
                count: _train_seconds(config, agent, episode, count, clock)
                for count in SHARES
                if config.batch_size % count == 0
            },
            save=_median(clock, _saver(run, agent), repeats=5),
            weights=_bytes(agent.collect_policy.variables()),
            gradients=_bytes(gradients),
            **_through_ray(agent, content, clock),
        )


def _random_episode(config, agent, environment):
    found = []

    def take(episode, _):
        found.append(episode)

    planned = as_py_policy(agent.collect_policy)
    policy = RandomAtFirst(planned, environment, lambda: True, config.seed, [0])
    Collector(environment, policy, agent.train_step_counter, take).collect()
    return found[0]


def _through_ray(agent, content, clock):
    """What goes from one process to another."""
    import ray

    @ray.remote
    class Actor:
        def episode(self):
            return content

    actor, weights = Actor.remote(), Weights(acting_variables(agent))
    sent = ray.put(weights.read())
    return {
        "hand": _median(clock, lambda: ray.get(actor.episode.remote())),
        "send": _median(clock, lambda: ray.put(weights.read())),
        "receive": _median(clock, lambda: weights.write(ray.get(sent))),
    }


def _layouts(config, agent, clock, layouts):
    """Seconds of a call of the planner, and of a step of all environments, by layout."""
    decision, step = {}, {}
    for count in layouts:
        environment = load_environments(config, count, COLLECTION, processes=count > 1)
        with contextlib.closing(environment):
            policy = as_py_policy(agent.collect_policy)
            now, state = environment.reset(), policy.get_initial_state(count)
            seconds = []
            for _ in range(_REPEATS + 5):  # the first ones trace and compile
                begun = clock()
                action = policy.action(now, state)
                decided = clock()
                now, state = environment.step(action.action), action.state
                seconds.append([decided - begun, clock() - decided])
            decision[count], step[count] = np.median(seconds[5:], axis=0).tolist()
    return decision, step


def _train_seconds(config, agent, episode, learners, clock):
    """Of a gradient step on the share of the batch that one of several learners has."""
    from agents.episodes.replay import Replay

    replay = Replay(config.replay_capacity)
    replay.add(episode)
    share = config.batch_size // learners
    devices = tf.distribute.get_strategy()
    learning = Learning(agent, replay, devices, share, config.sequence_length, seed=0)
    learning.run(20, lambda _: None)  # traces and compiles
    return _median(clock, lambda: learning.run(20, lambda _: None), repeats=5) / 20


def _saver(run, agent):
    checkpoints = make_checkpoints(run, agent)
    numbers = iter(range(1000))
    return lambda: checkpoints.save(next(numbers))


def _bytes(variables):
    return sum(each.shape.num_elements() * each.dtype.size for each in variables)


def _median(clock, function, repeats=_REPEATS):
    seconds = measure({"it": function}, repeats, warmup=1, clock=clock)["it"]
    return float(np.median(seconds))
