"""Exploration in fog (Arghal et al. 2026, appendix A.4)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.observation import State
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
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
        shares = [
            unmeasured(name, "share", reason) for name in (*ACCURACIES, *PATHOLOGIES)
        ]
        return [*shares, unmeasured(RATIO, "ratio", reason)]

    episodes = [_Episode.of(one) for one in in_fog]
    return [
        *_accuracies(evidence, episodes),
        *_pathologies(evidence, episodes),
        _ratio(evidence, episodes),
    ]


class _Episode(NamedTuple):
    """Counts of an episode."""

    place: Place
    counts: dict[str, Count]
    """For each accuracy and pathology, the turns to which it applies."""
    ratio: float | None
    """Turns divided by those of the belief oracle; None if the goal was not reached."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Episode":
        turns = trajectory.turns

        def in_fact(fact: str) -> Count:
            return count(trajectory, [_in_fact(turn, fact) for turn in turns])

        counts = {
            "exploration.accuracy": in_fact("belief_optimal"),
            "exploration.informed_accuracy": count(trajectory, map(is_optimal, turns)),
            "exploration.backtracking": count(trajectory, _backtracks(trajectory)),
            "exploration.walls": in_fact("known_walls"),
            "exploration.dead_ends": in_fact("known_dead_ends"),
        }
        # A failed episode has as many turns as its horizon allows, whatever the agent
        # did.
        ratio = None
        if trajectory.succeeded:
            ratio = len(turns) / _explorer_steps(trajectory)
        return cls(Place.of(trajectory), counts, ratio)


def _in_fog(trajectory: Trajectory) -> bool:
    return "explorer_steps" in trajectory.world.facts


def _accuracies(
    evidence: Evidence, episodes: Sequence[_Episode]
) -> Iterator[Measurement]:
    for name in ACCURACIES:
        shares: dict[Place, list[float]] = {}
        for one in episodes:
            found = one.counts[name]
            shares.setdefault(one.place, []).append(found.hits / found.of)
        means = {place: fmean(of_world) for place, of_world in shares.items()}
        yield over_worlds(evidence, name, "share", means)


def _pathologies(
    evidence: Evidence, episodes: Sequence[_Episode]
) -> Iterator[Measurement]:
    for name in PATHOLOGIES:
        counts = [one.counts[name] for one in episodes]
        yield pooled_share(evidence, name, counts)


def _ratio(evidence: Evidence, episodes: Sequence[_Episode]) -> Measurement:
    ratios = [
        (one.place.cluster, one.ratio) for one in episodes if one.ratio is not None
    ]
    if not ratios:
        return unmeasured(RATIO, "ratio", "no episode in fog reached the goal")
    return over_episodes(evidence, RATIO, "ratio", ratios, cluster_mean)


def _backtracks(trajectory: Trajectory) -> Iterator[bool]:
    """Yield for each turn whether it goes back without reason to a cell where the agent
    has been.
    """
    states = [turn.state for turn in trajectory.turns]
    states.append(trajectory.final_state)
    visited: set[str] = set()
    for turn, (before, after) in zip(trajectory.turns, pairwise(states), strict=True):
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
        yield moved_back and not _in_fact(turn, "belief_optimal")


def _cell(state: State) -> str:
    return str(state.facts["agent"])


def _perturbed(state: State) -> bool:
    return bool(state.facts.get("perturbed"))


def _in_fact(turn: Turn, fact: str) -> bool:
    """Return whether the turn's action is in a list of actions that its state
    records.
    """
    listed = turn.state.facts[fact] if turn.state is not None else ()
    return isinstance(listed, list | tuple) and turn.decision.action in listed


def _explorer_steps(trajectory: Trajectory) -> float:
    """Return the belief oracle's steps, averaged over its ways of breaking ties."""
    listed = trajectory.world.facts["explorer_steps"]
    steps: list[int] = []
    if isinstance(listed, list | tuple):
        steps = [one for one in listed if isinstance(one, int)]
    # Turns are divided by these steps.
    if not steps or min(steps) < 1:
        raise ValueError(
            f"world {trajectory.world.id}: wanted explorer_steps as a list of steps, got {listed!r}"
        )
    return fmean(steps)
