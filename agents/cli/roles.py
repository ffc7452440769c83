"""The commands `bayes-rl server`, `learner` and `actor`: one process of many."""

import contextlib
import pathlib

from agents.cli.starting import check_elsewhere, need_reverb
from agents.runs.config.overrides import load
from agents.runs.folder import (
    Run,
    as_begun,
    check_run,
    learner_name,
    open_part,
    open_run,
    write_config,
)
from agents.system.errors import UserError
from agents.training.distributed.heartbeat import Heartbeat
from envs.quiet import import_gym


def server(overrides, server):
    """Keeps the replay, at the port of the address `server`, until it is interrupted."""
    config = _load(overrides)
    with _beating(config, "server") as (config, run, beat):
        from agents.training.distributed.server import serve

        serve(config, run, int(server.rpartition(":")[2]), beat)


def learner(overrides, server, number, learners):
    """Learns, alone or as one of several; its exit status is that of `bayes-rl train`."""
    config = _load(overrides)
    _check_learners(config, number, learners)
    with _beating(config, learner_name(number)) as (config, run, beat):
        from agents.training.checking import check
        from agents.training.distributed.learner import learn, learn_together
        from agents.training.distributed.workers import Workers

        with open_part(run, number) if number else open_run(config) as own:
            if learners:
                workers = Workers(learners, number)
                return learn_together(config, own, server, beat, workers)
            check(config)
            return learn(config, own, server, beat)


def actor(overrides, server, number):
    """Collects, as actor `number` of the run, until it is interrupted."""
    config = _load(overrides)
    _check_number(number, "actors", config.actors)
    with _beating(config, f"actor_{number}") as (config, run, beat):
        from agents.training.distributed.actor import act

        act(config, run, number, server, beat)


def _load(overrides):
    config = load(overrides)
    if not config.actors:
        raise UserError("actors must be at least 1 in a run of several processes, got 0")
    check_run(config)
    return config


def _check_learners(config, number, addresses):
    expected = config.learners if config.learners > 1 else 0
    if len(addresses) != expected:
        raise UserError(
            f"--learners must have {expected} addresses with learners={config.learners}, "
            f"got {len(addresses)}"
        )
    _check_number(number, "learners", config.learners)


def _check_number(number, role, count):
    if not 0 <= number < count:
        raise UserError(
            f"--number must be from 0 to {count - 1} with {role}={count}, got {number}"
        )


@contextlib.contextmanager
def _beating(config, name):
    """Yields the config as the run has it, the run, and the beat of this process."""
    need_reverb()
    write_config(check_elsewhere(config))  # before anything else is in the folder
    config = as_begun(config)  # another process may have written it
    run = Run(pathlib.Path(config.logdir))
    with contextlib.closing(Heartbeat(run.roles, name)) as beat:
        import_gym()  # TF-Agents would import it with a notice
        yield config, run, beat
