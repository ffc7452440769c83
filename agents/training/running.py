"""One run from its config to its end, in this process or in several."""

import functools

import tensorflow as tf

from agents.runs.folder import check_run, open_run
from agents.system.errors import GoneError, UserError
from agents.training import trainer
from agents.training.checking import check, check_devices
from agents.training.distributed import cluster


def train(config, after_episode=()):
    """Starts a run, or goes on with it, in this process; see `trainer.train`.

    `bayes-rl train` and `agents.train` share it.

    Raises:
        UserError: the run cannot start.
    """
    if config.address:
        raise UserError(
            f"address={config.address} changes nothing for one run of one process: add "
            "actors=N, evaluation.apart=true, or -m, which trains several runs"
        )
    check_run(config)
    config = check(config)
    with open_run(config) as run:
        return trainer.train(config, run, after_episode=after_episode)


def train_in_processes(config):
    """Trains a run whose episodes, evaluations or gradients other processes bring.

    Raises:
        UserError: what was typed is wrong; a `GoneError`, where processes have gone.
    """
    if config.learners > 1:
        return _train_together(config)
    config = check(config)
    with cluster.connected(config, _processes(config)), open_run(config) as run:
        return trainer.train(config, run, **_parts(config))


def _train_together(config):
    with cluster.connected(config, _processes(config)):
        import ray

        from agents.training.distributed import together

        try:  # elsewhere, because to check computes
            config = ray.get(ray.remote(check).remote(config))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        others = together.Others(config)
        devices = others.devices()
        check_devices(config, devices)
        with open_run(config) as run:
            others.begin(run)
            make = functools.partial(together.CollectedForAll, others=others)
            parts = _parts(config) | {"make_experience": make, "devices": devices}
            try:
                return trainer.train(config, run, **parts)
            except ConnectionError as error:
                reason = str(error)
            except tf.errors.OpError as error:
                reason = f"another learner has gone ({cluster.first_line(error.message)})"
    raise GoneError(f"{reason}; {cluster.GOES_ON}")


def _parts(config):
    """What `agents.training.trainer.train` takes beside config and run."""
    from agents.training.distributed.actors import CollectedByActors
    from agents.training.distributed.apart import EvaluatedApart

    found = {}
    if config.actors:
        found["make_experience"] = CollectedByActors
    if config.evaluates_apart:
        found["make_apart"] = EvaluatedApart
    return found


def _processes(config):
    """Cores that Ray lends on this machine, one more for a check."""
    each = max(config.threads, 1)
    return each * (config.actors + config.learners + config.evaluates_apart)
