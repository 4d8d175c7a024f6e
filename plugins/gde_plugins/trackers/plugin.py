"""Offers reporters for W&B and MLflow."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


@hookimpl
def gde_reporters() -> Sequence[AnyOffer]:
    """Offer the reporters."""
    from gde_plugins.trackers.config import MlflowConfig, WandbConfig

    return (
        Offer(
            name="wandb",
            summary="the run in W&B: headlines, verdicts, cost and the page",
            config=WandbConfig,
            make="gde_plugins.trackers.wandb_tracker:wandb_reporter",
            imports=("wandb",),
            extra="wandb",
        ),
        Offer(
            name="mlflow",
            summary="the run in MLflow: headlines, verdicts, cost and the page",
            config=MlflowConfig,
            make="gde_plugins.trackers.mlflow_tracker:mlflow_reporter",
            imports=("mlflow",),
            extra="mlflow",
        ),
    )
