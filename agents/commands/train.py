"""The command `bayes-rl train`: one run, several, or only their configs."""

import yaml

from agents.config import overrides
from agents.config.schema import as_dict
from agents.errors import UserError
from agents.runs.folder import check_run, open_run
from envs.quiet import import_gym

_LAUNCHERS = ("hydra/launcher", "hydra.launcher")


def train(options):
    """Trains one run, or with -m all combinations of values.

    Args:
        options: of `agents.commands.parser.parse`.

    Returns:
        Exit status.
    """
    _check(options)
    if options.print_config:
        return _print_configs(options)
    if options.multirun:
        from agents.sweep import sweep

        if options.print_commands:
            return sweep.print_commands(options.overrides)
        return sweep.sweep(options.overrides, options.jobs)
    config = overrides.load(options.overrides)
    check_run(config)
    import_gym()  # TF-Agents would import it with a notice
    from agents.training import trainer

    trainer.check(config)
    with open_run(config) as run:
        return trainer.train(config, run)


def _check(options):
    if options.jobs and not options.multirun:
        raise UserError("--jobs is the number of runs at the same time; it needs -m")
    if options.print_commands and not options.multirun:
        raise UserError("--print-commands prints the command of each run; it needs -m")
    for word in options.overrides:
        if word.startswith(_LAUNCHERS):
            raise UserError(
                f"Hydra's launchers are not used, got {word!r}; --print-commands in its "
                "place prints a command for each run, for sbatch, xargs or parallel"
            )


def _print_configs(options):
    jobs = [options.overrides]
    if options.multirun:
        jobs = overrides.expand(options.overrides)
    configs = [as_dict(overrides.load(job)) for job in jobs]
    print(yaml.safe_dump_all(configs, sort_keys=False), end="")
