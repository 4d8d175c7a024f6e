"""Settings of the trackers."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import MinLen


@dataclass(frozen=True, kw_only=True)
class WandbConfig:
    """Where W&B keeps the run."""

    project: Annotated[str, MinLen(1)] = "gde"
    """Project of W&B."""
    mode: Literal["offline", "online"] = "offline"
    """offline: in the run folder, for `wandb sync`; online: sent at once, as the user
    that `wandb login` knows.
    """


@dataclass(frozen=True, kw_only=True)
class MlflowConfig:
    """Where MLflow keeps the run."""

    experiment: Annotated[str, MinLen(1)] = "gde"
    """Experiment of MLflow."""
    uri: str = ""
    """Address of the tracking store; empty: mlflow.db in the run folder."""
