"""Refuses what a run cannot start with, or go on with."""

import contextlib
import pathlib

from agents.planet.action_space import check_noise, make_space
from agents.runs.folder import Run, as_begun
from agents.system.errors import UserError
from agents.training import trackers
from agents.training.building import (
    check_parts,
    choose_devices,
    configure_tensorflow,
    resolved,
)
from agents.training.logged.experience import check_logged, environment_of


def check(config):
    """Refuses what cannot start, before the run's folder is made.

    Args:
        config: `agents.runs.config.schema.Train`.

    Returns:
        The config with what it leaves open as its run has it; in a new run as the task and
        this machine decide.

    Raises:
        UserError: the task does not offer what the config asks for, the strategy or the
            transition is not what it must be, its logger is not there, or the batch cannot
            be shared by the devices.
    """
    config = as_begun(config)
    trackers.find(config.logger)
    configure_tensorflow(config)
    config = settled(config)
    check_parts(config)
    if config.learners == 1:
        check_devices(config, choose_devices(config.devices))
    return config


def settled(config):
    """The config `resolved` by an environment of its task, which has to load.

    Raises:
        UserError: the task does not offer what the config asks for, or noise is more than
            a probability where actions are categories.
    """
    with contextlib.closing(environment_of(config, config.logdir)) as environment:
        has_begun = Run(pathlib.Path(config.logdir)).config_file.exists()
        config = resolved(config, environment)
        if config.data is not None and not has_begun:
            found = check_logged(config, environment)
            if found.environment_steps != config.environment_steps:
                raise UserError(
                    f"environment_steps must be {found.environment_steps:,}, those of "
                    f"{config.data}, got {config.environment_steps:,}; bayes-rl learn "
                    f"{config.data} sets it"
                )
        check_noise(config.action_noise, make_space(environment.actions.categories))
        return config


def check_devices(config, devices):
    """Refuses a batch that the devices, a `tf.distribute.Strategy`, cannot share.

    Raises:
        UserError: its size is no multiple of their number, or they cannot share it equally
            among the members of an ensemble.
    """
    count = devices.num_replicas_in_sync
    members = config.ensemble_members
    shared = config.transition == "ensemble" and config.ensemble_shares_batch
    if shared and config.batch_size % (count * members):
        raise UserError(
            f"batch_size must be a multiple of ensemble_members ({members}) on each of the "
            f"{count} devices (devices={config.devices}), got {config.batch_size}"
        )
    if config.batch_size % count:
        raise UserError(
            f"batch_size must be a multiple of the {count} devices "
            f"(devices={config.devices}), got {config.batch_size}"
        )


def check_episodes(run, store, learned):
    """Refuses to go on without the newest of what a run has learned from.

    New episodes would get their numbers, and never be learned from.

    Raises:
        UserError: files are gone from its folder.
    """
    if learned > store.next_index:
        raise UserError(
            f"{run.folder} has learned from {learned} episodes, but {run.episodes} lacks "
            f"those from {store.next_index:06d}.npz on; put the files back, or start a new "
            "run with another logdir"
        )
