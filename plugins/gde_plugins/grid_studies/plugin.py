"""Offers the reproductions of Arghal et al. (2026)."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Offer


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
            make="gde_plugins.grid_studies.cogmap_study:CogmapStudy",
            version=2,
        ),
        Offer(
            name="telos-probes",
            summary="Maps, beliefs against behaviour, distances and plans, decoded before and after reasoning "
            "(Arghal et al. 2026, section 5 and appendix F).",
            config=ProbesStudyConfig,
            make="gde_plugins.grid_studies.probes_study:ProbesStudy",
            version=3,
        ),
        Offer(
            name="telos-behaviour",
            summary="Accuracy by difficulty, iso-difficulty transforms and key worlds (Arghal et al. 2026, section 4).",
            config=BehaviourConfig,
            make="gde_plugins.grid_studies.behaviour_study:BehaviourStudy",
            version=2,
        ),
    )
