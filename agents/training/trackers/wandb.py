"""Weights & Biases, by its own library, which its own variables set up (`WANDB_MODE`)."""

import secrets

import wandb

from agents.system.files import write_text

_STEP = "environment_steps"


class Logger:
    """An `agents.training.trackers.Tracker`: a run goes on under the same id.

    Curves are over environment steps. What was taken back when a run went on stays, for the
    service takes nothing back; the new points come after.
    """

    def start(self, folder, config, kept_steps):
        file = folder / "wandb" / "id"
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            write_text(file, secrets.token_hex(4))
        self._run = wandb.init(
            id=file.read_text(),
            resume="allow",
            dir=str(folder),
            name=str(folder),
            config=config,
            settings=wandb.Settings(silent=True),
        )
        self._run.define_metric("*", step_metric=_STEP)

    def write(self, step, row):
        self._run.log(row | {_STEP: step})

    def picture(self, name, file, step):
        is_film = file.suffix == ".gif"
        media = wandb.Video(str(file), format="gif") if is_film else wandb.Image(str(file))
        self._run.log({name: media, _STEP: step})

    def close(self):
        self._run.finish()
