"""Entropy of the agent's policy, and its divergence from optimal policies."""

from collections.abc import Sequence
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
from gde.numerics.stats import cluster_mean, cluster_share
from gde_plugins.behaviour.visits import IDENTIFIED, UNANSWERED, visited

MEANS = {
    "policy.entropy": "entropy",
    "policy.entropy_optimal": "optimal_entropy",
    "policy.jsd": "divergence",
    "policy.jsd_nearest": "least_divergence",
}
"""Name to the attribute of a visited state."""
COUNTS = ("policy.states.unanswered", "policy.states.hopeless")
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
        return [unmeasured(name, reason) for name in (*MEANS, *COUNTS)]
    # Divergence needs the optimal actions, which only a certified model gives.
    unknown = lacking(trajectories, CERTIFIED)
    worlds = visited(trajectories)
    n_states = 0
    n_unanswered = 0
    n_hopeless = 0
    means: dict[str, dict[Place, float]] = {name: {} for name in MEANS}
    for place, states in worlds.items():
        n_states += len(states)
        n_unanswered += sum(not state.actions for state in states)
        n_hopeless += sum(not state.optimal for state in states)

        # A world without such states has no mean.
        answered = [state for state in states if state.actions]
        hopeful = [state for state in answered if state.optimal and not unknown]
        for name, attribute in MEANS.items():
            chosen = answered if name == "policy.entropy" else hopeful
            if chosen:
                values = [getattr(state, attribute) for state in chosen]
                means[name][place] = fmean(values)

    measured = []
    for name, of_worlds in means.items():
        adrift = unknown or HOPELESS
        missing = UNANSWERED if name == "policy.entropy" else adrift
        estimate = cluster_mean if "entropy" in name else cluster_share
        measured.append(over_worlds(evidence, name, of_worlds, estimate, missing))
    measured.append(_count("policy.states.unanswered", n_unanswered, n_states))
    if unknown:
        measured.append(unmeasured("policy.states.hopeless", unknown))
    else:
        measured.append(_count("policy.states.hopeless", n_hopeless, n_states))
    return measured


def _count(name: str, count: int, n_states: int) -> Measurement:
    return Measurement(name=name, value=float(count), n=n_states)
