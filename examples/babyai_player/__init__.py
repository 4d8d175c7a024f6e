"""An agent of one's own that is trained: a small transformer for BabyAI's text.

    PYTHONPATH=examples python -m babyai_player --out player
    PYTHONPATH=examples GDE_LOAD_PLUGINS=babyai_player gde eval --env babyai --agent babyai-learned

It acts in the worlds of `babyai` and answers the questions of `babyai-predict`,
`babyai-plan` and `babyai-decompose`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, FilePath, Offer

if TYPE_CHECKING:
    from gde.parts.agent import Agent
    from gde.parts.context import Context


@dataclass(frozen=True, kw_only=True)
class LearnedConfig:
    """The trained player."""

    source: FilePath = field(default_factory=Path("player").absolute)
    """The folder that the training wrote."""


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Offer the player."""
    return (
        Offer(
            name="babyai-learned",
            summary="a small transformer that acts and answers BabyAI questions",
            config=LearnedConfig,
            make=_make,
            needs={"babyai-text"},
            imports=("minigrid", "torch", "safetensors"),
            extra="llm",
        ),
    )


def _make(config: LearnedConfig, _: "Context") -> "Agent":
    # torch takes a second to import, which `gde plugins` need not wait for.
    from babyai_player.agent import LearnedPlayer
    from babyai_player.folder import read_player
    from babyai_player.player import Player

    return LearnedPlayer(Player(read_player(config.source)))
