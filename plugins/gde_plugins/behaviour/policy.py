"""Entropy of the agent's policy, and its divergence from optimal policies."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    CERTIFIED,
    Place,
    finished,
    lacking,
    over_worlds,
    unmeasured,
)
from gde.numerics.stats import Estimate, cluster_mean, cluster_share
from gde_plugins.behaviour.visits import IDENTIFIED, UNANSWERED, VisitedState, visited

States = Mapping[Place, Sequence[VisitedState]]
UNITS = {
    "policy.entropy": "bits",
    "policy.entropy_optimal": "bits",
    "policy.jsd": "bits",
    "policy.jsd_nearest": "bits",
    "policy.states.unanswered": "count",
    "policy.states.hopeless": "count",
}
"""Measurements and their units."""
HOPELESS = "no usable answer was given where the goal could still be reached"


def policy(evidence: Evidence) -> Sequence[Measurement]:
    """Entropy of the empirical policy and its divergence from optimal ones, in bits
    (Arghal et al. 2026, eqs. 4 and 5).

    The policy in a state is the relative frequency of the actions taken there in all
    episodes of a world. Every state visited in a world has the same weight, then every
    world; n counts worlds. Unusable answers are no actions. States without a usable
    answer are left out and counted in "policy.states.unanswered". If the goal can no
    longer be reached there is no optimal policy to diverge from: such states are left
    out of all but "policy.entropy" and are counted in "policy.states.hopeless".
    """
    trajectories = finished(evidence)
    reason = lacking(trajectories, IDENTIFIED)
    if reason:
        return [unmeasured(name, unit, reason) for name, unit in UNITS.items()]
    states = visited(trajectories)
    answered = _where(states, lambda state: bool(state.actions))

    # Divergence needs the optimal actions, which only a certified model gives.
    unknown = lacking(trajectories, CERTIFIED)
    if unknown:
        hopeful: States = {}
        hopeless = unmeasured("policy.states.hopeless", "count", unknown)
    else:
        hopeful = _where(answered, lambda state: bool(state.optimal))
        hopeless = _count(
            "policy.states.hopeless", states, lambda state: not state.optimal
        )

    mean = partial(_mean, evidence)
    adrift = unknown or HOPELESS
    return [
        mean(
            "policy.entropy", answered, attrgetter("entropy"), UNANSWERED, cluster_mean
        ),
        mean(
            "policy.entropy_optimal",
            hopeful,
            attrgetter("optimal_entropy"),
            adrift,
            cluster_mean,
        ),
        mean("policy.jsd", hopeful, attrgetter("divergence"), adrift),
        mean("policy.jsd_nearest", hopeful, attrgetter("least_divergence"), adrift),
        _count("policy.states.unanswered", states, lambda state: not state.actions),
        hopeless,
    ]


def _where(states: States, condition: Callable[[VisitedState], bool]) -> States:
    """Return the states that meet the condition, and the worlds that have any."""
    chosen: dict[Place, Sequence[VisitedState]] = {}
    for place, of_world in states.items():
        meeting = list(filter(condition, of_world))
        # A world without states has no mean.
        if meeting:
            chosen[place] = meeting
    return chosen


def _mean(
    evidence: Evidence,
    name: str,
    states: States,
    number: Callable[[VisitedState], float],
    reason: str,
    estimate: Callable[..., Estimate] = cluster_share,
) -> Measurement:
    """Average over states, then over worlds; give the reason if there is no state."""
    unit = UNITS[name]
    if not states:
        return unmeasured(name, unit, reason)
    values = {place: fmean(map(number, of_world)) for place, of_world in states.items()}
    return over_worlds(evidence, name, unit, values, estimate)


def _count(
    name: str, states: States, condition: Callable[[VisitedState], bool]
) -> Measurement:
    n_states = 0
    n_meeting = 0
    for of_world in states.values():
        n_states += len(of_world)
        n_meeting += sum(condition(state) for state in of_world)
    return Measurement(name=name, value=float(n_meeting), unit=UNITS[name], n=n_states)
