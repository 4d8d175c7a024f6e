"""Runs in W&B."""

from collections.abc import Mapping
from pathlib import Path

from gde.data.json import Json
from gde.errors import GdeError
from gde_plugins.trackers.config import WandbConfig
from gde_plugins.trackers.tracking import Tracked, TrackingReporter


class WandbTracker:
    """Keeps a run in the folder `wandb` of the run, or sends it."""

    name = "wandb"

    def __init__(self, config: WandbConfig) -> None:
        self._config = config

    def keep(self, run: Tracked, folder: Path) -> Mapping[str, Json]:
        import wandb

        settings = wandb.Settings(silent=True, console="off", disable_git=True)
        try:
            with wandb.init(
                project=self._config.project,
                mode=self._config.mode,
                dir=str(folder),
                name=run.name,
                config=dict(run.settings),
                settings=settings,
                reinit="create_new",
            ) as kept:
                kept.summary.update({**run.numbers, **run.tags})
                if run.page is not None:
                    page = wandb.Artifact(f"report-{kept.id}", type="report")
                    page.add_file(str(run.page))
                    kept.log_artifact(page)
                place = Path(kept.dir).parent
        except wandb.Error as error:
            raise GdeError(
                f"reporter wandb: {error}; run `wandb login`, or set wandb.mode=offline"
            ) from error
        return {"id": kept.id, "project": self._config.project, "folder": place.name}


def wandb_reporter(config: WandbConfig) -> TrackingReporter:
    """Make the reporter `wandb`."""
    return TrackingReporter(WandbTracker(config))
