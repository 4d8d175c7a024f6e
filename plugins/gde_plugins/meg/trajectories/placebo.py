"""Is it the goal that the agent is after, or would any other place do as well? Goals against placebo goals.

A goal-blind agent that does not choose at random (it does not turn back, seeks what is new, follows walls) is
predicted better by some goals than by chance, and an episode that ends at the goal ends with the way there. But a
goal-blind agent knows nothing of which of two places is the goal. So in every world another place is drawn in the way
that the goal was, and the episode is cut where the agent first gets to either. What is left of it says as much of the
one as of the other, whatever the agent's reflexes; the difference has mean zero and its sign is a coin's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats, TabularMDP
from gde.numerics.stats import Estimate, Finding, cluster_mean, cluster_means, sign_flip
from gde.numerics.tabular import steps_to, union
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.candidates import Feature
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.side_by_side import Sample

TARGET = "target"
MAGNITUDES = np.geomspace(0.03, 30, 13)
"""Rationalities that are tried, in units of 1 / what a time step at the goal is worth."""

Place = NDArray[np.bool_]
"""(S,) the states of one cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Beyond:
    """How much better the goal predicts an agent than a placebo goal does."""

    estimate: Estimate
    """Nats an episode, up to where it first gets to either."""
    finding: Finding
    """Of the hypothesis that the agent is goal-blind: goal and placebo may as well change places."""
    beta: float
    """The rationality that explains both best, not knowing which is the goal."""


def beyond_placebo(episodes: Sequence[Episode], rng: np.random.Generator) -> Beyond:
    """The goal against one placebo in every world.

    The placebo is uniform over the other cells that are as far from the start as the goal: then nothing that depends on
    this distance, like when an episode is cut off, tells the two apart, and a goal that was drawn uniformly, at any
    wanted distance, might as well have been there. Worlds without such a cell are left out. Where goals are placed
    otherwise, e.g. always in a corner, swap them in a design of your own (`against`). The one rationality is that
    which explains the agents best if a coin decided which place is the goal, so exchanging the two changes nothing but
    the sign of the difference.

    Raises:
        ValueError: fewer than two worlds have a place for a placebo, or the models do not tell what is where.
    """
    sample = Sample.of(episodes)
    placebos = _draw(list(sample.worlds.values()), rng)
    pairs = [(one, placebos[world]) for one in sample if (world := id(one.mdp)) in placebos]
    return against([one for one, _ in pairs], [placebo for _, placebo in pairs], rng)


def against(episodes: Sequence[Episode], others: Sequence[Place], rng: np.random.Generator) -> Beyond:
    """The goal against another place (S,) for each episode, that might as well have been the goal.

    Raises:
        ValueError: no two clusters with decisions.
    """
    cut = [_cut(episode, other) for episode, other in zip(episodes, others, strict=True)]
    groups = Sample.of(cut).clusters if cut else np.zeros(0, dtype=np.intp)
    if len(np.unique(groups)) < 2:
        raise ValueError("wanted at least two independent worlds with another place where the goal might be, got fewer")
    goals = {world: goal_of(mdp) for world, mdp in Sample.of(cut).worlds.items()}
    places = [goals[id(one.mdp)] for one in cut]
    pursuits = [_pursuing(cut, each, places).table(MAGNITUDES, fast=True) for each in (places, others)]
    # Half of the time it may be chance: what rules out an action is no worse than not to know.
    towards = np.logaddexp(pursuits, 0.0) - np.log(2)
    together = np.apply_along_axis(lambda nats: np.bincount(groups, weights=nats), -1, towards)
    best = int(np.logaddexp(*together).sum(axis=-1).argmax())
    difference = towards[0, best] - towards[1, best]
    return Beyond(
        estimate=cluster_mean(difference, groups, rng),
        finding=sign_flip(cluster_means(difference, groups), rng),
        beta=float(MAGNITUDES[best]),
    )


def _draw(worlds: Sequence[TabularMDP], rng: np.random.Generator) -> dict[int, Place]:
    """By identity of the world a placebo, where there is one."""
    drawn = ((world, placebo(world, rng)) for world in worlds)
    return {id(world): place for world, place in drawn if place is not None}


def placebo(world: TabularMDP, rng: np.random.Generator) -> Place | None:
    """Another cell as far from the start as the goal; None if there is none.

    Raises:
        ValueError: the model does not tell what is where.
    """
    goal, steps = goal_of(world), _from_start(world)
    alike = np.flatnonzero((steps == steps[goal].min()) & ~same_cell(world, goal))
    return same_cell(world, np.arange(world.n_states) == rng.choice(alike)) if len(alike) else None


def ending_at(world: TabularMDP, place: Place, goal: Place) -> TabularMDP:
    """The world that ends at the place, instead of at its goal, and has it as the feature `TARGET`."""
    elsewhere = False if world.terminal is None else world.terminal & ~goal
    return replace(world, terminal=place | elsewhere, labels={TARGET: place.astype(np.float64)})


def _from_start(world: TabularMDP) -> Floats:
    """(S,) fewest steps from a start."""
    return steps_to(union(world).T.tocsr(), np.flatnonzero(world.start))


def goal_of(world: TabularMDP) -> Place:
    """The states in which the goal is reached.

    Raises:
        ValueError: the model does not tell what is where, or what would follow if the episode went on.
    """
    if missing := {"row", "column", "goal"} - set(world.labels):
        raise ValueError(
            f"wanted worlds with labels row, column and goal, got none called {', '.join(sorted(missing))}"
        )
    goal = world.labels["goal"] > 0
    stays = all((matrix.diagonal()[goal] == 1).all() for matrix in world.transition)
    if stays or not goal.any():
        raise ValueError("wanted models that tell what would follow at the goal if the episode went on, got none")
    return np.asarray(goal)


def same_cell(world: TabularMDP, places: Place) -> Place:
    """The states in the cells of these."""
    rows, columns = world.labels["row"], world.labels["column"]
    cells = {*zip(rows[places].tolist(), columns[places].tolist(), strict=True)}
    return np.array([each in cells for each in zip(rows.tolist(), columns.tolist(), strict=True)])


def _cut(episode: Episode, other: Place) -> Episode:
    """Up to where the agent first is in the other place."""
    there = other[episode.states]
    end = int(there.argmax()) if there.any() else len(there)
    return replace(episode, states=episode.states[:end], actions=episode.actions[:end])


def _pursuing(episodes: Sequence[Episode], places: Sequence[Place], goals: Sequence[Place]) -> Behaviour:
    """The episodes as behaviour towards the places, in worlds that end there instead of at their goals."""
    worlds: dict[tuple[int, int], TabularMDP] = {}
    moved = []
    for episode, place, goal in zip(episodes, places, goals, strict=True):
        key = id(episode.mdp), id(place)
        if key not in worlds:
            worlds[key] = ending_at(episode.mdp, place, goal)
        moved.append(replace(episode, mdp=worlds[key]))
    return Behaviour.of(moved, Feature(TARGET))
