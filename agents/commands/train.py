"""The command `bayes-rl train`: one run, several, or only their configs."""

import yaml

from agents.config import overrides
from agents.config.schema import as_dict
from agents.errors import UserError
from agents.runs.folder import check_run, open_run
from agents.sweep import launchers
from envs.quiet import import_gym


def train(options):
    """Trains one run, or with -m all combinations of values.

    Args:
        options: of `agents.commands.parser.parse`.

    Returns:
        Exit status.
    """
    if options.jobs and not options.multirun:
        raise UserError("--jobs is the number of runs at the same time; it needs -m")
    if options.print_config:
        return _print_configs(options)
    if options.multirun:
        from agents.sweep.sweep import sweep

        return sweep(options.overrides, options.jobs)
    config = overrides.load(options.overrides)
    check_run(config)
    import_gym()  # TF-Agents would import it with a notice
    from agents.training import trainer

    trainer.check(config)
    with open_run(config) as run:
        return trainer.train(config, run)


def _print_configs(options):
    jobs = [options.overrides]
    if options.multirun:
        jobs = overrides.expand(launchers.split(options.overrides)[1])
    configs = [as_dict(overrides.load(job)) for job in jobs]
    print(yaml.safe_dump_all(configs, sort_keys=False), end="")
