"""Offers the probes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Capability, MetricOffer, NoConfig, ProbeOffer

if TYPE_CHECKING:
    from gde.parts.context import Context
    from gde.parts.metric import Metric
    from gde.parts.probe import Probe
    from gde_plugins.probes.config import (
        CausesConfig,
        CogmapConfig,
        DistanceConfig,
        ErrorsConfig,
        FollowingConfig,
        PlacesConfig,
        PlanConfig,
    )


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """Offer the probes of a model's activations."""
    from gde_plugins.probes import measures
    from gde_plugins.probes.config import (
        CogmapConfig,
        DistanceConfig,
        PlacesConfig,
        PlanConfig,
    )

    return (
        ProbeOffer(
            name="cogmap",
            summary="decodes the map of the grid: agent, goal, wall or empty for every cell",
            config=CogmapConfig,
            make=_cogmap,
            version=7,
            measures=measures.MAP,
            needs=frozenset({Capability.ACTIVATIONS, Capability.MAP}),
            imports=("torch", "sklearn"),
            extra="probes",
        ),
        ProbeOffer(
            name="distance",
            summary="decodes the number of steps to the goal by the shortest path",
            config=DistanceConfig,
            make=_distance,
            version=6,
            measures=measures.DISTANCE,
            needs=frozenset({Capability.ACTIVATIONS, Capability.MDP}),
            imports=("torch",),
            extra="probes",
        ),
        ProbeOffer(
            name="places",
            summary="decodes row and column of agent, goal and other things, linearly",
            config=PlacesConfig,
            make=_places,
            measures=measures.PLACES,
            needs=frozenset({Capability.ACTIVATIONS, Capability.MAP}),
        ),
        ProbeOffer(
            name="plan",
            summary="decodes the plan: the sequence of future actions",
            config=PlanConfig,
            make=_plan,
            version=3,
            measures=measures.PLAN,
            needs=frozenset({Capability.ACTIVATIONS}),
            imports=("torch",),
            extra="probes",
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """Offer the metrics of decoded maps and the causal tests."""
    from gde_plugins.probes import measures
    from gde_plugins.probes.config import CausesConfig, ErrorsConfig, FollowingConfig

    return (
        MetricOffer(
            name="maps",
            summary="decoded maps, scored as published: first turns, true grid cells, no padding",
            config=NoConfig,
            make=_maps,
            version=2,
            measures=measures.FIRST_MAPS,
            needs=frozenset({Capability.ACTIVATIONS, Capability.MAP}),
        ),
        MetricOffer(
            name="steps",
            summary="steps to the goal, predicted from the decoded places of agent and goal",
            config=NoConfig,
            make=_steps,
            version=2,
            measures=measures.STEPS,
            needs=frozenset(
                {Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM}
            ),
        ),
        MetricOffer(
            name="beliefs",
            summary="optimality of actions on the decoded map: accuracy, agreement, recovery, expectation",
            config=NoConfig,
            make=_beliefs,
            version=2,
            measures=measures.BELIEFS,
            needs=frozenset(
                {Capability.ACTIVATIONS, Capability.MAP, Capability.OPTIMUM}
            ),
        ),
        MetricOffer(
            name="updates",
            summary="decoded places of goal and agent after the perturbations move_goal and put_back",
            config=NoConfig,
            make=_updates,
            measures=measures.UPDATES,
            needs=frozenset({Capability.ACTIVATIONS, Capability.MAP}),
        ),
        MetricOffer(
            name="stated",
            summary="maps that an agent states in words, against the true and the decoded ones",
            config=NoConfig,
            make=_stated,
            measures=measures.STATED,
            needs=frozenset({Capability.MAP}),
        ),
        MetricOffer(
            name="errors",
            summary="why actions were not optimal: belief, statement, goal, plan, slip",
            config=ErrorsConfig,
            make=_errors,
            measures=measures.ERRORS,
            needs=frozenset({Capability.OPTIMUM}),
        ),
        MetricOffer(
            name="following",
            summary="which map actions follow: the true, the decoded or the stated one",
            config=FollowingConfig,
            make=_following,
            measures=measures.FOLLOWING,
            needs=frozenset({Capability.MAP, Capability.OPTIMUM}),
        ),
        MetricOffer(
            name="causes",
            summary="causal tests: turns replayed with the residual stream steered, patched or ablated",
            config=CausesConfig,
            make=_causes,
            version=5,
            measures=measures.CAUSES,
            needs=frozenset(
                {
                    Capability.ACTIVATIONS,
                    Capability.INTERVENTIONS,
                    Capability.MAP,
                    Capability.OPTIMUM,
                }
            ),
        ),
    )


def _maps(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.probes.maps.first_turns import maps

    return maps


def _steps(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.probes.distance.from_maps import steps

    return steps


def _beliefs(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.probes.maps.beliefs import beliefs

    return beliefs


def _updates(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.probes.maps.updates import updates

    return updates


def _stated(_: NoConfig, __: "Context") -> "Metric":
    from gde_plugins.probes.maps.stated import stated

    return stated


def _errors(config: "ErrorsConfig", _: "Context") -> "Metric":
    from gde_plugins.probes.errors.metric import Errors

    return Errors(config)


def _following(config: "FollowingConfig", _: "Context") -> "Metric":
    from gde_plugins.probes.errors.following import Following

    return Following(config)


def _causes(config: "CausesConfig", context: "Context") -> "Metric":
    from gde_plugins.probes.causes.metric import Causes

    return Causes(config=config, context=context)


def _cogmap(config: "CogmapConfig", _: "Context") -> "Probe":
    from gde_plugins.probes.maps.probe import CogmapProbe

    return CogmapProbe(config)


def _distance(config: "DistanceConfig", _: "Context") -> "Probe":
    from gde_plugins.probes.distance.probe import DistanceProbe

    return DistanceProbe(config)


def _places(config: "PlacesConfig", _: "Context") -> "Probe":
    from gde_plugins.probes.places.probe import PlacesProbe

    return PlacesProbe(config)


def _plan(config: "PlanConfig", _: "Context") -> "Probe":
    from gde_plugins.probes.plans.probe import PlanProbe

    return PlanProbe(config)
