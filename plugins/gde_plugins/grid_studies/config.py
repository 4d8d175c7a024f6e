"""Options of the studies of Arghal et al. (2026)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

InputForm = Literal["z-scored", "whitened"]
Turns = Literal["first", "all"]
FORMS: Mapping[str, Sequence[InputForm]] = MappingProxyType(
    {
        "both": ("z-scored", "whitened"),
        "z-scored": ("z-scored",),
        "whitened": ("whitened",),
    }
)
"""Value of `inputs` to the forms it stands for; all runs but one have the first."""


@dataclass(frozen=True, kw_only=True)
class CogmapStudyConfig:
    """Options of the study of cognitive maps."""

    inputs: Literal["both", "z-scored", "whitened"] = "both"
    """Inputs of the trained probes: `z-scored` as published, or `whitened`. `both`
    z-scores them in all runs, and adds a run with whitened inputs to the same tables.
    """

    @property
    def forms(self) -> Sequence[InputForm]:
        """The forms of the inputs; the first is that of all runs but one."""
        return FORMS[self.inputs]


@dataclass(frozen=True, kw_only=True)
class ProbesStudyConfig(CogmapStudyConfig):
    """Options of the representational study."""

    turns: Turns = "first"
    """Turns whose plans and distances are decoded: `first` as published, or `all`,
    which are more examples.
    """


@dataclass(frozen=True, kw_only=True)
class BehaviourConfig:
    """Options of the behavioural study."""

    grids: str = ""
    """File of base grids (JSON lines, as for env.grids of the grid world) to use
    instead of random ones. Of grids that name a `transform`, only those of "none" are
    taken.
    """
