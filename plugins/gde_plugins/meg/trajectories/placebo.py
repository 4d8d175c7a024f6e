"""Goals against placebo goals: does the agent pursue the goal, or would any other place
do as well?

A goal-blind agent need not choose at random: it may avoid turning back, seek novelty or
follow walls. Some goals then predict it better than chance, and an episode that ends at
the goal ends with the way there. But a goal-blind agent does not know which of two
places is the goal. So a second place is drawn in every world in the way that the goal
was, and the episode is cut where the agent first reaches either. Under any habits the
remaining decisions favour neither place: the difference has mean zero, and its sign is
that of a fair coin.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.mdp import Floats, TabularMDP
from gde.numerics.stats import Estimate, Finding, cluster_mean, cluster_means, sign_flip
from gde_plugins.meg.solvers.dynamics import Mask
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.sample import Sample, steps_from_start
from gde_plugins.meg.trajectories.utilities import Feature

TARGET = "target"
MAGNITUDES = np.geomspace(0.03, 30, 13)
"""Rationalities that are tried, in units of 1 / what a time step at the goal is
worth.
"""

Place = Mask
"""(S,) the states of one cell."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Beyond:
    """How much better the goal predicts an agent than a placebo goal does."""

    estimate: Estimate
    """Nats an episode, up to where it first gets to either."""
    finding: Finding
    """The test of the hypothesis that the agent is goal-blind: goal and placebo are
    exchangeable.
    """
    beta: float
    """The rationality that explains both best, not knowing which is the goal."""


def beyond_placebo(episodes: Sequence[Episode], rng: np.random.Generator) -> Beyond:
    """Compare the goal with one placebo in every world.

    The placebo is uniform over the other cells that are as far from the start as the
    goal. So nothing that depends on this distance, like the cut-off of an episode,
    tells the two apart. A goal that was drawn uniformly, at any wanted distance, might
    as well have been there. Worlds without such a cell are left out. If goals are
    placed otherwise, e.g. always in a corner, pass places of your own to `against`.

    One rationality serves both places: the best one if a coin decided which place is
    the goal. So exchanging the two changes only the sign of the difference.

    Raises:
        ValueError: fewer than two worlds have a place for a placebo, or the models do
        not tell what is where.
    """
    sample = Sample.of(episodes)
    placebos = [placebo(world, rng) for world in sample.worlds]
    paired = []
    others = []
    for episode, world in zip(sample, sample.world_of, strict=True):
        other = placebos[world]
        if other is not None:
            paired.append(episode)
            others.append(other)
    return against(paired, others, rng)


def against(
    episodes: Sequence[Episode], others: Sequence[Place], rng: np.random.Generator
) -> Beyond:
    """Compare the goal with another place (S,) for each episode, which might as well
    have been the goal.

    Raises:
        ValueError: no two clusters with decisions.
    """
    # Up to the first of the two places, nothing tells which of them is the goal.
    shortened = []
    for episode, other in zip(episodes, others, strict=True):
        shortened.append(_cut(episode, other))
    cut = Sample.of(shortened)

    clusters = cut.clusters if len(cut) else np.zeros(0, dtype=np.intp)
    if len(np.unique(clusters)) < 2:
        raise ValueError(
            "wanted at least two independent worlds with another place where the goal might be, got fewer"
        )

    goals = [goal_of(world) for world in cut.worlds]
    places = [goals[world] for world in cut.world_of]
    to_goal = _pursuing(cut, places, places).table(MAGNITUDES)
    to_other = _pursuing(cut, others, places).table(MAGNITUDES)
    pursuits = [to_goal, to_other]

    # Half of the time the agent may choose by chance: a goal that rules out an action
    # is no worse than not to know.
    towards = np.logaddexp(pursuits, 0.0) - np.log(2)

    # A coin decides for each cluster which place is the goal, so exchanging the two
    # leaves the rationality as it is.
    def sum_by_cluster(nats: Floats) -> Floats:
        return np.bincount(clusters, weights=nats).astype(np.float64)

    by_cluster = np.apply_along_axis(sum_by_cluster, -1, towards)
    either = np.logaddexp(by_cluster[0], by_cluster[1])
    best = int(either.sum(axis=-1).argmax())

    difference = towards[0, best] - towards[1, best]
    estimate = cluster_mean(difference, clusters, rng)
    finding = sign_flip(cluster_means(difference, clusters), rng)
    return Beyond(estimate=estimate, finding=finding, beta=float(MAGNITUDES[best]))


def placebo(world: TabularMDP, rng: np.random.Generator) -> Place | None:
    """Draw another cell as far from the start as the goal; None if there is none.

    Raises:
        ValueError: the model does not tell what is where.
    """
    goal = goal_of(world)
    steps = steps_from_start(world)
    distance = steps[goal].min()
    is_alike = (steps == distance) & ~same_cell(world, goal)
    alike = np.flatnonzero(is_alike)
    if not len(alike):
        return None
    drawn = rng.choice(alike)
    return same_cell(world, np.arange(world.n_states) == drawn)


def ending_at(world: TabularMDP, place: Place, goal: Place) -> TabularMDP:
    """Return the world that ends at the place instead of at its goal, and has it as the
    feature `TARGET`.
    """
    terminal = place
    if world.terminal is not None:
        terminal = place | (world.terminal & ~goal)
    labels = {TARGET: place.astype(np.float64)}
    return replace(world, terminal=terminal, labels=labels)


def goal_of(world: TabularMDP) -> Place:
    """Return the states in which the goal is reached.

    Raises:
        ValueError: the model does not tell what is where, or what would follow if the
        episode went on.
    """
    missing = {"row", "column", "goal"} - set(world.labels)
    if missing:
        names = ", ".join(sorted(missing))
        raise ValueError(
            f"wanted worlds with labels row, column and goal, got none called {names}"
        )

    # A placebo leaves the goal open, so the model must say how to leave it.
    goal = world.labels["goal"] > 0
    is_final = True
    for matrix in world.transition:
        staying = matrix.diagonal()[goal]
        is_final = is_final and bool((staying == 1).all())
    if is_final or not goal.any():
        raise ValueError(
            "wanted models that tell what would follow at the goal if the episode went on, got none"
        )
    return np.asarray(goal)


def same_cell(world: TabularMDP, places: Place) -> Place:
    """Return the states that share a cell with one of these."""
    rows = world.labels["row"].tolist()
    columns = world.labels["column"].tolist()
    cells = list(zip(rows, columns, strict=True))
    wanted = {cells[state] for state in np.flatnonzero(places)}
    return np.array([cell in wanted for cell in cells])


def _cut(episode: Episode, other: Place) -> Episode:
    """Cut the episode where the agent first is in the other place."""
    is_there = other[episode.states]
    end = len(is_there)
    if is_there.any():
        end = int(is_there.argmax())
    states = episode.states[:end]
    actions = episode.actions[:end]
    return replace(episode, states=states, actions=actions)


def _pursuing(
    episodes: Sample, places: Sequence[Place], goals: Sequence[Place]
) -> Behaviour:
    """Read the episodes as behaviour towards the places, in worlds that end there
    instead of at their goals.
    """
    # Episodes that share a world and a place share the changed world, which is then
    # solved once.
    worlds: dict[tuple[TabularMDP, bytes], TabularMDP] = {}
    moved = []
    for episode, place, goal in zip(episodes, places, goals, strict=True):
        key = (episode.mdp, place.tobytes())
        if key not in worlds:
            worlds[key] = ending_at(episode.mdp, place, goal)
        there = replace(episode, mdp=worlds[key])
        moved.append(there)
    return Behaviour.of(moved, Feature(TARGET))
