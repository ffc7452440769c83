"""The command `bayes-rl train`: one run, several, or only their configs."""

import yaml

from agents.runs.config.overrides import expand, load
from agents.runs.config.schema import as_dict
from agents.runs.folder import check_run
from agents.system.errors import UserError
from envs.quiet import import_gym

_LAUNCHERS = ("hydra/launcher", "hydra.launcher")


def train(overrides, multirun, jobs, print_config, print_commands):
    """Trains one run, or with -m all combinations of values; returns the exit status.

    The overrides are words of the config as typed, the others options of the command.
    """
    _check(overrides, multirun, jobs, print_commands)
    if print_config:
        jobs = expand(overrides) if multirun else [overrides]
        configs = [as_dict(load(job)) for job in jobs]
        print(yaml.safe_dump_all(configs, sort_keys=False), end="")
        return None
    if multirun:
        from agents.cli.sweep import sweep

        if print_commands:
            return sweep.print_commands(overrides)
        return sweep.sweep(overrides, jobs)
    config = load(overrides)
    check_run(config)
    if config.has_processes:
        from agents.training.distributed.cluster import need_ray

        need_ray()
    import_gym()  # TF-Agents would import it with a notice
    from agents.training import running

    if config.has_processes:
        return running.train_in_processes(config)
    return running.train(config)


def _check(overrides, multirun, jobs, print_commands):
    if jobs and not multirun:
        raise UserError("--jobs needs -m, which trains several runs")
    if print_commands and not multirun:
        raise UserError("--print-commands needs -m, which takes several values")
    for word in overrides:
        if word.startswith(_LAUNCHERS):
            raise UserError(
                f"Hydra's launchers are not supported, got {word!r}; use --print-commands: "
                "it prints a command for each run, for sbatch, xargs or parallel"
            )
