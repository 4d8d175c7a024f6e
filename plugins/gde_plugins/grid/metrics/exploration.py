"""Exploration in fog (Arghal et al. 2026, appendix A.4)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.observation import State
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import (
    CERTIFIED,
    Count,
    Place,
    count,
    is_optimal,
    lacking,
    over_episodes,
    over_worlds,
    played,
    pooled_share,
    unmeasured,
)
from gde.numerics.stats import cluster_mean

ACCURACIES = ("exploration.accuracy", "exploration.informed_accuracy")
PATHOLOGIES = ("exploration.backtracking", "exploration.walls", "exploration.dead_ends")
RATIO = "exploration.ratio"


def exploration(evidence: Evidence) -> Sequence[Measurement]:
    """Episodes in fog against a belief oracle, who knows the cells seen so far; () for
    a run without fog.

    A world in fog records the fact `explorer_steps`, the numbers of steps of the belief
    oracle (a list with one entry per way of breaking its ties), and in every state
    `agent` and the lists of actions `belief_optimal`, `known_walls` and
    `known_dead_ends`.

    "exploration.accuracy" is the share of actions that are optimal to the belief
    oracle, "exploration.informed_accuracy" the share that are optimal in the whole
    world. Both are averaged over the episodes of a world, then over worlds. The
    pathologies are shares of all turns and may overlap. "exploration.backtracking"
    counts steps back onto a visited cell with nothing new to see, unless the belief
    oracle would take them. "exploration.walls" counts moves into a seen wall.
    "exploration.dead_ends" counts steps into a part of the world that leads neither to
    the goal nor to an unknown cell. "exploration.ratio" is the number of turns divided
    by the mean of the belief oracle's, averaged over the episodes that reach the goal;
    luck can take it below 1.
    """
    if not any(map(_in_fog, evidence.trajectories)):
        return ()
    in_fog = played(evidence).where(_in_fog)
    reason = lacking(in_fog, CERTIFIED)
    if reason:
        names = (*ACCURACIES, *PATHOLOGIES, RATIO)
        return [unmeasured(name, reason) for name in names]

    shares: dict[str, dict[Place, list[float]]] = {name: {} for name in ACCURACIES}
    counts: dict[str, list[Count]] = {name: [] for name in PATHOLOGIES}
    ratios: list[tuple[str, float]] = []
    for one in in_fog:
        place = Place.of(one)
        informed = [is_optimal(turn) for turn in one.turns]
        for name, hits in zip(
            ACCURACIES, (_in_fact(one, "belief_optimal"), informed), strict=True
        ):
            shares[name].setdefault(place, []).append(sum(hits) / len(hits))
        walls = count(one, _in_fact(one, "known_walls"))
        dead_ends = count(one, _in_fact(one, "known_dead_ends"))
        counts["exploration.backtracking"].append(count(one, _backtracks(one)))
        counts["exploration.walls"].append(walls)
        counts["exploration.dead_ends"].append(dead_ends)
        # A failed episode has as many turns as its horizon allows, whatever the agent
        # did.
        if one.succeeded:
            ratios.append((place.cluster, len(one.turns) / _explorer_steps(one)))

    measured: list[Measurement] = []
    for name, of_worlds in shares.items():
        means = {place: fmean(of_world) for place, of_world in of_worlds.items()}
        measured.append(over_worlds(evidence, name, means))
    for name, of_episodes in counts.items():
        measured.append(pooled_share(evidence, name, of_episodes))
    none = "no episode in fog reached the goal"
    return [*measured, over_episodes(evidence, RATIO, ratios, cluster_mean, none)]


def _in_fog(trajectory: Trajectory) -> bool:
    return "explorer_steps" in trajectory.world.facts


def _backtracks(trajectory: Trajectory) -> Iterator[bool]:
    """Yield for each turn whether it goes back without reason to a cell where the agent
    has been.
    """
    states = [turn.state for turn in trajectory.turns]
    states.append(trajectory.final_state)
    visited: set[str] = set()
    sensible = _in_fact(trajectory, "belief_optimal")
    for is_sensible, (before, after) in zip(sensible, pairwise(states), strict=True):
        if before is None or after is None or _perturbed(before) != _perturbed(after):
            # A perturbation moves the agent or changes the world, in which old ground
            # is new.
            visited.clear()
            yield False
            continue
        here = _cell(before)
        there = _cell(after)
        visited.add(here)
        moved_back = there != here and there in visited
        yield moved_back and not is_sensible


def _cell(state: State) -> str:
    return str(state.facts["agent"])


def _perturbed(state: State) -> bool:
    return bool(state.facts.get("perturbed"))


def _in_fact(trajectory: Trajectory, fact: str) -> list[bool]:
    """Return for each turn whether its action is in a list that its state records."""
    found = []
    for turn in trajectory.turns:
        listed = turn.state.facts[fact] if turn.state is not None else ()
        found.append(
            isinstance(listed, list | tuple) and turn.decision.action in listed
        )
    return found


def _explorer_steps(trajectory: Trajectory) -> float:
    """Return the belief oracle's steps, averaged over its ways of breaking ties."""
    listed = trajectory.world.facts["explorer_steps"]
    if isinstance(listed, list | tuple):
        steps = [one for one in listed if isinstance(one, int) and one > 0]
        if steps:
            return fmean(steps)
    raise ValueError(
        f"world {trajectory.world.id}: wanted explorer_steps as a list of steps, got {listed!r}"
    )
