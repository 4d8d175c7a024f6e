"""Offers the reproductions of Arghal et al. (2026)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde_plugins.grid_studies.config import (
        BehaviourConfig,
        CogmapStudyConfig,
        ProbesStudyConfig,
    )


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """What `gde reproduce` can re-run."""
    from gde_plugins.grid_studies.config import (
        BehaviourConfig,
        CogmapStudyConfig,
        ProbesStudyConfig,
    )

    return (
        Offer(
            name="telos-cogmap",
            summary="Cognitive maps before and after reasoning, by linear and MLP probes "
            "(Arghal et al. 2026, section 5.1).",
            config=CogmapStudyConfig,
            make=_cogmap,
            version=2,
        ),
        Offer(
            name="telos-probes",
            summary="Maps, beliefs against behaviour, distances and plans, decoded before and after reasoning "
            "(Arghal et al. 2026, section 5 and appendix F).",
            config=ProbesStudyConfig,
            make=_probes,
            version=3,
        ),
        Offer(
            name="telos-behaviour",
            summary="Accuracy by difficulty, iso-difficulty transforms and key worlds (Arghal et al. 2026, section 4).",
            config=BehaviourConfig,
            make=_behaviour,
            version=2,
        ),
    )


def _cogmap(config: "CogmapStudyConfig", _: "Context") -> object:
    from gde_plugins.grid_studies.cogmap_study import CogmapStudy

    return CogmapStudy(config)


def _probes(config: "ProbesStudyConfig", _: "Context") -> object:
    from gde_plugins.grid_studies.probes_study import ProbesStudy

    return ProbesStudy(config)


def _behaviour(config: "BehaviourConfig", context: "Context") -> object:
    from gde_plugins.grid_studies.behaviour_study import BehaviourStudy

    return BehaviourStudy(config, context)
