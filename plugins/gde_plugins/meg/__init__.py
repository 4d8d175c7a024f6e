"""Maximum-entropy goal-directedness (MEG): how well behaviour is predicted by the assumption that it pursues a goal.

Names are loaded when they are first used, so that importing the plugin stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gde_plugins.meg import causal as causal
    from gde_plugins.meg.causal import target_variables as target_variables
    from gde_plugins.meg.solvers.known import known_utility as known_utility
    from gde_plugins.meg.solvers.result import Meg as Meg
    from gde_plugins.meg.solvers.soft import soft_policy as soft_policy
    from gde_plugins.meg.solvers.unknown import unknown_utility as unknown_utility
    from gde_plugins.meg.trajectories.estimation import from_trajectories as from_trajectories

_HOMES = {
    "target_variables": "gde_plugins.meg.causal",
    "from_trajectories": "gde_plugins.meg.trajectories.estimation",
    "known_utility": "gde_plugins.meg.solvers.known",
    "soft_policy": "gde_plugins.meg.solvers.soft",
    "Meg": "gde_plugins.meg.solvers.result",
    "unknown_utility": "gde_plugins.meg.solvers.unknown",
}

__all__ = ["causal", *_HOMES]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    if name == "causal":
        return import_module("gde_plugins.meg.causal")
    if name not in _HOMES:
        raise AttributeError(f"module 'gde_plugins.meg' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
