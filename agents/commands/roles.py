"""The commands `bayes-rl server`, `learner` and `actor`: one process of many."""

import contextlib
import pathlib

from agents.config.overrides import load
from agents.distributed.heartbeat import Heartbeat
from agents.errors import UserError
from agents.runs.folder import Run, check_run, open_run
from envs.quiet import import_gym


def server(overrides, server):
    """Keeps the replay, at the port of the address `server`, until it is interrupted."""
    with _role(overrides, "server") as (config, run, beat):
        from agents.distributed.server import serve

        serve(config, run, int(server.rpartition(":")[2]), beat)


def learner(overrides, server):
    """Learns; its exit status is that of `bayes-rl train`."""
    with _role(overrides, "learner") as (config, _, beat):
        from agents.distributed.learner import learn
        from agents.training import trainer

        trainer.check(config)
        with open_run(config) as run:
            return learn(config, run, server, beat)


def actor(overrides, server, number):
    """Collects, as actor `number` of the run, until it is interrupted."""
    with _role(overrides, f"actor_{number}") as (config, run, beat):
        from agents.distributed.actor import act

        if not 0 <= number < config.actors:
            raise UserError(
                f"--number must be from 0 to {config.actors - 1}, below "
                f"actors={config.actors}, got {number}"
            )
        act(config, run, number, server, beat)


@contextlib.contextmanager
def _role(overrides, name):
    config = load(overrides)
    if not config.actors:
        raise UserError("a run of several processes needs actors=N, at least 1, got 0")
    check_run(config)
    run = Run(pathlib.Path(config.logdir))
    with contextlib.closing(Heartbeat(run.roles, name)) as beat:
        _need_reverb()
        import_gym()  # TF-Agents would import it with a notice
        yield config, run, beat


def _need_reverb():
    try:
        import reverb  # noqa: F401
    except ModuleNotFoundError:
        raise UserError(
            "dm-reverb is not installed, which a run with actors needs; "
            "pip install 'bayes_rl[distributed]'"
        ) from None
