"""What of the baselines can be chosen."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """One number for all."""

    value: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    """The reward of every turn."""
