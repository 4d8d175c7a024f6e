"""Offers the probes."""

from collections.abc import Sequence

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    MetricOffer,
    NoConfig,
    Offer,
    ProbeOffer,
)


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """Offer the probes of a model's activations."""
    from gde_plugins.probes import measures
    from gde_plugins.probes.config import (
        CogmapConfig,
        DistanceConfig,
        PlanConfig,
    )

    return (
        ProbeOffer(
            name="cogmap",
            summary="decodes the map of the grid: agent, goal, wall or empty for every cell",
            config=CogmapConfig,
            make="gde_plugins.probes.maps.probe:CogmapProbe",
            version=8,
            measures=measures.MAP,
            needs={Capability.ACTIVATIONS, Capability.MAP},
            imports=("torch", "sklearn"),
            extra="probes",
        ),
        ProbeOffer(
            name="distance",
            summary="decodes the number of steps to the goal by the shortest path",
            config=DistanceConfig,
            make="gde_plugins.probes.distance.probe:DistanceProbe",
            version=6,
            measures=measures.DISTANCE,
            needs={Capability.ACTIVATIONS, Capability.MDP},
            imports=("torch",),
            extra="probes",
        ),
        ProbeOffer(
            name="plan",
            summary="decodes the plan: the sequence of future actions",
            config=PlanConfig,
            make="gde_plugins.probes.plans.probe:PlanProbe",
            version=4,
            measures=measures.PLAN,
            needs={Capability.ACTIVATIONS},
            imports=("torch",),
            extra="probes",
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the metrics of decoded maps, the causal tests and the course of beliefs."""
    from gde_plugins.probes import measures
    from gde_plugins.probes.config import CausesConfig, DirectionConfig, ErrorsConfig
    from gde_plugins.probes.course import measures as course
    from gde_plugins.probes.course.config import (
        CourseCausesConfig,
        CourseConfig,
        EventsConfig,
    )

    return (
        MetricOffer(
            name="maps",
            summary="decoded maps, scored as published: first turns, true grid cells, no padding",
            config=NoConfig,
            part="gde_plugins.probes.maps.first_turns:maps",
            version=3,
            measures=measures.FIRST_MAPS,
            needs={Capability.ACTIVATIONS, Capability.MAP},
        ),
        MetricOffer(
            name="steps",
            summary="steps to the goal, predicted from the decoded places of agent and goal",
            config=NoConfig,
            part="gde_plugins.probes.distance.from_maps:steps",
            version=2,
            measures=measures.STEPS,
            needs={Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM},
        ),
        MetricOffer(
            name="beliefs",
            summary="optimality of actions on the decoded map: accuracy, agreement, recovery, expectation",
            config=NoConfig,
            part="gde_plugins.probes.maps.beliefs:beliefs",
            version=3,
            measures=measures.BELIEFS,
            needs={Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM},
        ),
        MetricOffer(
            name="updates",
            summary="decoded places of goal and agent after the perturbations move_goal and put_back",
            config=NoConfig,
            part="gde_plugins.probes.maps.updates:updates",
            version=2,
            measures=measures.UPDATES,
            needs={Capability.ACTIVATIONS, Capability.MAP},
        ),
        MetricOffer(
            name="stated",
            summary="maps that an agent states in words, against the true and the decoded ones",
            config=NoConfig,
            part="gde_plugins.probes.maps.stated:stated",
            measures=measures.STATED,
            needs={Capability.MAP},
        ),
        MetricOffer(
            name="errors",
            summary="why actions were not optimal: belief, statement, goal, plan, slip",
            config=ErrorsConfig,
            make="gde_plugins.probes.errors.metric:Errors",
            version=2,
            measures=measures.ERRORS,
            needs={Capability.OPTIMUM},
        ),
        MetricOffer(
            name="causes",
            summary="causal tests: turns replayed with the residual stream steered, patched or ablated",
            config=CausesConfig,
            make="gde_plugins.probes.causes.metric:Causes",
            version=6,
            measures=measures.CAUSES,
            needs={
                Capability.ACTIVATIONS,
                Capability.INTERVENTIONS,
                Capability.MAP,
                Capability.OPTIMUM,
            },
        ),
        MetricOffer(
            name="direction",
            summary="causal test of a vector of your own: turns replayed with it added, removed or put in",
            config=DirectionConfig,
            make="gde_plugins.probes.causes.direction:OwnDirection",
            measures=measures.DIRECTION,
            needs={Capability.ACTIVATIONS, Capability.INTERVENTIONS},
        ),
        MetricOffer(
            name="events",
            summary="tokens at which a reasoning first mentions agent, goal and move, counted",
            config=EventsConfig,
            make="gde_plugins.probes.course.counting:Events",
            version=2,
            measures=course.EVENTS,
            needs={Capability.ACTIVATIONS},
        ),
        MetricOffer(
            name="course",
            summary="what activations tell of map and action at each event of the reasoning",
            config=CourseConfig,
            make="gde_plugins.probes.course.metric:BeliefCourse",
            version=2,
            measures=course.COURSE,
            needs={Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM},
            imports=("torch",),
            extra="probes",
        ),
        MetricOffer(
            name="course-causes",
            summary="what a changed token of the reasoning does to the answer and to the text",
            config=CourseCausesConfig,
            make="gde_plugins.probes.course.causes:CourseCauses",
            measures=course.CAUSES,
            needs={Capability.ACTIVATIONS, Capability.INTERVENTIONS, Capability.MAP},
        ),
    )


@hookimpl
def gde_reproductions() -> Sequence[AnyOffer]:
    """Offer the course as a study."""
    from gde_plugins.probes.course.config import CourseStudyConfig

    return (
        Offer(
            name="telos-course",
            summary="Map and action at each event of the reasoning, beside before and after "
            "(Arghal et al. 2026, sections 5.1 and 5.3).",
            config=CourseStudyConfig,
            make="gde_plugins.probes.course.study:CourseStudy",
        ),
    )
