"""Offers reporters for W&B and MLflow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.reporter import Reporter
    from gde_plugins.trackers.config import MlflowConfig, WandbConfig


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """Offer the reporters."""
    from gde_plugins.trackers.config import MlflowConfig, WandbConfig

    return (
        Offer(
            name="wandb",
            summary="the run in W&B: headlines, verdicts, cost and the page",
            config=WandbConfig,
            make=_wandb,
            imports=("wandb",),
            extra="wandb",
        ),
        Offer(
            name="mlflow",
            summary="the run in MLflow: headlines, verdicts, cost and the page",
            config=MlflowConfig,
            make=_mlflow,
            imports=("mlflow",),
            extra="mlflow",
        ),
    )


def _wandb(config: "WandbConfig", _: "Context") -> "Reporter":
    from gde_plugins.trackers.tracking import TrackingReporter
    from gde_plugins.trackers.wandb_tracker import WandbTracker

    return TrackingReporter(WandbTracker(config))


def _mlflow(config: "MlflowConfig", _: "Context") -> "Reporter":
    from gde_plugins.trackers.mlflow_tracker import MlflowTracker
    from gde_plugins.trackers.tracking import TrackingReporter

    return TrackingReporter(MlflowTracker(config))
