"""How sure is the agent, and how far is what it does from what is best?"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import CERTIFIED, Place, finished, lacking, over_worlds, unmeasured
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
"""What is measured, in which unit."""
HOPELESS = "no usable answer was given where the goal could still be reached"


def policy(evidence: Evidence) -> Sequence[Measurement]:
    """Entropy of the empirical policy and its divergence from optimal ones, in bits (Arghal et al. 2026, eqs. 4 and 5).

    The policy in a state is the relative frequency of the actions taken there in all episodes of a world. Every state
    visited in a world has the same weight, then every world: n counts worlds. Unusable answers are no actions; states
    with no other answer are left out and counted in "policy.states.unanswered". Where the goal can no longer be
    reached there is no optimal policy to diverge from: such states are left out of all but "policy.entropy" and are
    counted in "policy.states.hopeless".
    """
    trajectories = finished(evidence)
    if reason := lacking(trajectories, IDENTIFIED):
        return [unmeasured(name, unit, reason) for name, unit in UNITS.items()]
    states = visited(trajectories)
    unknown = lacking(trajectories, CERTIFIED)
    answered = _where(states, lambda state: bool(state.actions))
    hopeful = {} if unknown else _where(answered, lambda state: bool(state.optimal))
    mean = partial(_mean, evidence)
    adrift = unknown or HOPELESS
    return [
        mean("policy.entropy", answered, attrgetter("entropy"), UNANSWERED, cluster_mean),
        mean("policy.entropy_optimal", hopeful, attrgetter("optimal_entropy"), adrift, cluster_mean),
        mean("policy.jsd", hopeful, attrgetter("divergence"), adrift),
        mean("policy.jsd_nearest", hopeful, attrgetter("least_divergence"), adrift),
        _count("policy.states.unanswered", states, lambda state: not state.actions),
        unmeasured("policy.states.hopeless", "count", unknown)
        if unknown
        else _count("policy.states.hopeless", states, lambda state: not state.optimal),
    ]


def _where(states: States, condition: Callable[[VisitedState], bool]) -> States:
    """Those states that meet the condition, and the worlds that have any."""
    chosen = {place: list(filter(condition, of_world)) for place, of_world in states.items()}
    return {place: of_world for place, of_world in chosen.items() if of_world}


def _mean(
    evidence: Evidence,
    name: str,
    states: States,
    number: Callable[[VisitedState], float],
    reason: str,
    estimate: Callable[..., Estimate] = cluster_share,
) -> Measurement:
    """The mean over states, then over worlds; the reason where there is no state."""
    if not states:
        return unmeasured(name, UNITS[name], reason)
    values = {place: fmean(map(number, of_world)) for place, of_world in states.items()}
    return over_worlds(evidence, name, UNITS[name], values, estimate)


def _count(name: str, states: States, condition: Callable[[VisitedState], bool]) -> Measurement:
    found = [condition(state) for of_world in states.values() for state in of_world]
    return Measurement(name=name, value=float(sum(found)), unit=UNITS[name], n=len(found))
