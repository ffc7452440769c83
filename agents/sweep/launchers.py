"""Launchers of others, such as a cluster's, through the interface of Hydra's plug-ins.

Sweeps run as processes of this machine unless a launcher is named:

    pip install hydra-submitit-launcher
    bayes-rl train -m hydra/launcher=submitit_slurm hydra.launcher.timeout_min=600 seed=0,1

Hydra makes the launcher and hands it a function and the words of each run. Where the
launcher calls that function, it does what this machine would have done: it starts
`bayes-rl train` with those words. Hydra takes only plug-ins from the package
`hydra_plugins`, which would make ours a stranger here; so our own launcher,
`agents.sweep.processes`, is not one of them.
"""

from agents.errors import UserError

_WORDS = ("hydra/launcher=", "hydra.launcher.")
# Hydra's own folders and logs: the run's folder has all that is needed.
_QUIET = [
    "hydra.output_subdir=null",
    "hydra.sweep.dir='logdir/.launcher/${now:%Y-%m-%d_%H-%M-%S}'",
    "hydra.sweep.subdir=.",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
]


def split(words):
    """Parts the words of a command line into those of the launcher and the others.

    Example:
        >>> split(["seed=0,1", "hydra/launcher=basic"])
        (['hydra/launcher=basic'], ['seed=0,1'])
    """
    own = [word for word in words if word.startswith(_WORDS)]
    if own and not any(word.startswith(_WORDS[0]) for word in own):
        raise UserError(f"{own[0]} needs a launcher too: hydra/launcher=submitit_slurm")
    return own, [word for word in words if word not in own]


def launch(launcher_words, jobs, run):
    """Hands jobs to one of Hydra's launchers and waits for them.

    Args:
        launcher_words: `hydra/launcher=name` and its settings.
        jobs: list of words of each run.
        run: function of the words of one run; it is pickled by launchers that need it,
            and may be called on another machine that sees the same files.

    Returns:
        List with an error line for each job, "" where it went well.

    Raises:
        UserError: there is no such launcher, or it cannot take its settings.
    """
    from hydra import initialize_config_module
    from hydra._internal.callbacks import Callbacks
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.plugins import Plugins
    from hydra.errors import HydraException
    from hydra.types import HydraContext, RunMode
    from omegaconf.errors import OmegaConfBaseException

    with initialize_config_module("configs", version_base="1.3"):
        hydra = GlobalHydra.instance().hydra
        _check(launcher_words, hydra.config_loader.get_group_options("hydra/launcher"))
        try:
            config = hydra.compose_config(
                "train",
                [*launcher_words, *_QUIET],
                run_mode=RunMode.MULTIRUN,
                from_shell=False,
                with_log_configuration=False,
            )
        except (HydraException, OmegaConfBaseException) as error:
            raise UserError(" ".join(str(error).split())) from None
        launcher = Plugins.instance().instantiate_launcher(
            HydraContext(config_loader=hydra.config_loader, callbacks=Callbacks()),
            _Task(run),
            config,
        )
    # Hydra has no word for a preset that is not there.
    words = [[word for word in job if word != "experiment=null"] for job in jobs]
    returns = launcher.launch(words, initial_job_idx=0)  # jobs may compose configs now
    return [_error(each) for each in returns]


class _Task:
    """What Hydra calls with the config of a job: takes the job's words out of it."""

    def __init__(self, run):
        self._run = run

    def __call__(self, config):
        del config  # made from the same words again, and checked
        from hydra.core.hydra_config import HydraConfig

        return self._run(list(HydraConfig.get().overrides.task))


def _check(words, known):
    name = next(word.partition("=")[2] for word in words if word.startswith(_WORDS[0]))
    if name not in known:
        raise UserError(
            f"hydra/launcher must be one of those installed ({', '.join(known)}), got "
            f"{name!r}; pip install hydra-submitit-launcher adds submitit_slurm"
        )


def _error(returned):
    from hydra.core.utils import JobStatus

    if returned.status == JobStatus.COMPLETED:
        return returned.return_value
    # its property would raise it
    return " ".join(str(returned._return_value).split()) or "failed"
