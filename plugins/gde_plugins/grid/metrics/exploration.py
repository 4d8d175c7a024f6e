"""Exploration in fog (Arghal et al. 2026, appendix A.4)."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from statistics import fmean

from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import CERTIFIED, is_optimal
from gde.numerics.numbers import Mean, Missing, Ratio

COUNTED = ("informed", "believed", "backtracking", "walls", "dead_ends")


def _facts(episode: Trajectory, _: Model) -> Facts:
    found: dict[str, float | None] = dict.fromkeys(exploration.columns)
    if "explorer_steps" not in episode.world.facts:
        return found
    found["fog"] = 1
    found["turns"] = len(episode.turns)
    found["uncertified"] = CERTIFIED.unmet(episode.turns)
    if found["uncertified"]:
        return found

    found["informed"] = sum(map(is_optimal, episode.turns))
    found["believed"] = sum(_in_fact(episode, "belief_optimal"))
    found["backtracking"] = sum(_backtracks(episode))
    found["walls"] = sum(_in_fact(episode, "known_walls"))
    found["dead_ends"] = sum(_in_fact(episode, "known_dead_ends"))
    # A failed episode has as many turns as its horizon allows, whatever the agent did.
    if episode.turns and episode.succeeded:
        found["ratio"] = len(episode.turns) / _explorer_steps(episode)
    return found


_NEEDS = (Missing.of_turns(CERTIFIED, "uncertified"),)
_Accuracy = partial(Mean, per="turns", over="worlds", missing=_NEEDS, only="fog")
_Pathology = partial(Ratio, per="turns", missing=_NEEDS, only="fog")
exploration = EpisodeMetric(
    columns=("fog", "turns", "uncertified", *COUNTED, "ratio"),
    facts=_facts,
    numbers=(
        _Accuracy("exploration.accuracy", "believed"),
        _Accuracy("exploration.informed_accuracy", "informed"),
        _Pathology("exploration.backtracking", "backtracking"),
        _Pathology("exploration.walls", "walls"),
        _Pathology("exploration.dead_ends", "dead_ends"),
        Mean(
            "exploration.ratio",
            "ratio",
            share=False,
            missing=_NEEDS,
            reason="no episode in fog reached the goal",
            only="fog",
        ),
    ),
)
"""Episodes in fog against a belief oracle, who knows the cells seen so far; nothing for
a run without fog.

A world in fog records the fact `explorer_steps`, the numbers of steps of the belief
oracle (a list with one entry per way of breaking its ties), and in every state `agent`
and the lists of actions `belief_optimal`, `known_walls` and `known_dead_ends`.

"exploration.accuracy" is the share of actions that are optimal to the belief oracle,
"exploration.informed_accuracy" the share that are optimal in the whole world. Both are
averaged over the episodes of a world, then over worlds. The pathologies are shares of
all turns and may overlap. "exploration.backtracking" counts steps back onto a visited
cell with nothing new to see, unless the belief oracle would take them.
"exploration.walls" counts moves into a seen wall. "exploration.dead_ends" counts steps
into a part of the world that leads neither to the goal nor to an unknown cell.
"exploration.ratio" is the number of turns divided by the mean of the belief oracle's,
averaged over the episodes that reach the goal; luck can take it below 1.
"""


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
