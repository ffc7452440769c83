"""MLflow, by its own library, which its own variables set up (`MLFLOW_TRACKING_URI`)."""

import os
import time

import mlflow
from mlflow.entities import Metric, Param

from agents.runs.config.schema import flatten
from agents.system.files import write_text

_EXPERIMENT = "MLFLOW_EXPERIMENT_NAME"
_MOST = 100  # parameters that MLflow takes at once


class Logger:
    """An `agents.training.trackers.Tracker`: a run goes on under the same id.

    The service takes nothing back: where a run went on, old points of a step stay beside
    the new ones. Parameters are those of the first session; `config.yaml` is the last's.
    """

    def start(self, folder, config, kept_steps):
        self._client = mlflow.MlflowClient()
        file = folder / "mlflow_id"
        if not file.exists():
            write_text(file, self._create(folder, config))
        self._id = file.read_text()
        self._client.update_run(self._id, status="RUNNING")
        self._client.log_dict(self._id, config, "config.yaml")

    def write(self, step, row):
        now = int(time.time() * 1000)  # milliseconds
        numbers = [Metric(name, value, now, step) for name, value in row.items()]
        self._client.log_batch(self._id, metrics=numbers)

    def picture(self, name, file, step):
        del step  # the name of the file has it
        self._client.log_artifact(self._id, str(file), name)

    def close(self):
        self._client.set_terminated(self._id)

    def _create(self, folder, config):
        experiment = mlflow.set_experiment(os.environ.get(_EXPERIMENT, "bayes_rl"))
        run = self._client.create_run(experiment.experiment_id, run_name=str(folder))
        known = [Param(key, str(value)) for key, value in flatten(config).items()]
        for start in range(0, len(known), _MOST):
            self._client.log_batch(run.info.run_id, params=known[start : start + _MOST])
        return run.info.run_id
