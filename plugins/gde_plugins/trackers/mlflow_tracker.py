"""Runs in MLflow."""

from collections.abc import Mapping
from pathlib import Path

from gde.data.json import Json
from gde.errors import GdeError
from gde_plugins.trackers.config import MlflowConfig
from gde_plugins.trackers.tracking import Tracked, TrackingReporter

STORE = "mlflow.db"


class MlflowTracker:
    """Keeps a run in a tracking store."""

    name = "mlflow"

    def __init__(self, config: MlflowConfig) -> None:
        self._config = config

    def keep(self, run: Tracked, folder: Path) -> Mapping[str, Json]:
        from mlflow import MlflowClient, MlflowException

        uri = self._config.uri or f"sqlite:///{(folder / STORE).resolve()}"
        name = self._config.experiment
        artifacts = None if self._config.uri else (folder / "mlflow").resolve().as_uri()
        try:
            client = MlflowClient(tracking_uri=uri)
            known = client.get_experiment_by_name(name)
            experiment = (
                known.experiment_id
                if known is not None
                else client.create_experiment(name, artifact_location=artifacts)
            )
            kept = client.create_run(
                experiment, run_name=run.name, tags=dict(run.tags)
            ).info.run_id
            for setting, value in run.settings.items():
                client.log_param(kept, setting, value)
            for number, value in run.numbers.items():
                client.log_metric(kept, number, value)
            if run.page is not None:
                client.log_artifact(kept, str(run.page))
            client.set_terminated(kept)
        except MlflowException as error:
            raise GdeError(
                f"reporter mlflow: {error.message}; correct mlflow.uri"
            ) from error
        return {"id": kept, "experiment": name, "store": self._config.uri or STORE}


def mlflow_reporter(config: MlflowConfig) -> TrackingReporter:
    """Make the reporter `mlflow`."""
    return TrackingReporter(MlflowTracker(config))
