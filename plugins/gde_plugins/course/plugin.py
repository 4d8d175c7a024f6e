"""Offers the course of beliefs."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, Offer


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the events of a reasoning and what can be read at them."""
    from gde_plugins.course import measures
    from gde_plugins.course.config import CourseConfig, EventsConfig, PatchingConfig

    return (
        MetricOffer(
            name="events",
            summary="tokens at which a reasoning first mentions agent, goal and move, counted",
            config=EventsConfig,
            make="gde_plugins.course.counting:Events",
            measures=measures.EVENTS,
            needs=frozenset({Capability.ACTIVATIONS}),
        ),
        MetricOffer(
            name="course",
            summary="what activations tell of map and action at each event of the reasoning",
            config=CourseConfig,
            make="gde_plugins.course.metric:BeliefCourse",
            measures=measures.COURSE,
            needs=frozenset(
                {Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM}
            ),
            imports=("torch",),
            extra="probes",
        ),
        MetricOffer(
            name="patching",
            summary="what a changed token of the reasoning does to the answer, with the text fixed",
            config=PatchingConfig,
            make="gde_plugins.course.patching:Patching",
            measures=measures.PATCHING,
            needs=frozenset(
                {Capability.ACTIVATIONS, Capability.INTERVENTIONS, Capability.MAP}
            ),
        ),
    )


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the course as a study."""
    from gde_plugins.course.config import CourseStudyConfig

    return (
        Offer(
            name="telos-course",
            summary="Map and action at each event of the reasoning, beside before and after "
            "(Arghal et al. 2026, sections 5.1 and 5.3).",
            config=CourseStudyConfig,
            make="gde_plugins.course.study:CourseStudy",
        ),
    )
