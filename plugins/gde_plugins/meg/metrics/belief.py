"""Goal-directedness towards the place where the agent's activations locate the goal."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.mdp import Floats, TabularMDP
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean
from gde.parts.environment import HasGoals, HasMDP
from gde.seeding import generator
from gde_plugins.meg.metrics.recorded import (
    begun,
    finished_in,
    model_of,
    one_turn,
)
from gde_plugins.meg.solvers.dynamics import Indices, Mask
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import UNUSABLE, Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import own_reward, standing_still
from gde_plugins.meg.verdict.pursuits import goals_of

BELIEVED = "believed"
TRUE = "true"
SWAPPED = "swapped"
GOAL = "goal"
"""The class of cell that is read from decoded maps."""
PRIOR = 0.5
"""Prior count of each action in each of an agent's surroundings."""
MAGNITUDES = np.geomspace(0.03, 30, 13)
"""Rationalities that are tried, in units of 1 / what a time step at the goal is
worth.
"""


def belief(evidence: Evidence) -> Sequence[Measurement]:
    """Measure MEG towards the goal of decoded cognitive maps and towards the true one,
    on the same decisions: those that follow held-out turns.

    A map is compared with the decision *after* the turn that it was decoded in. A
    decoder may read the move that is being chosen, or the cell ahead, and would predict
    that decision without any belief.

    "meg.belief" is in nats a decision, negative where the agent avoids the goal. It is
    measured for the first variant of a probe that decodes maps. By "utility":
    "believed" is the decoded probability of the goal, among the cells that the agent
    can be in; "true" is the goal's cell; "swapped" is that of another goal that the
    generator could have drawn. All have the true dynamics. Every n counts decisions.

    "meg.belief.control" is the same towards the goal that a control of the probe
    decodes.

    "meg.belief.gain" uses only turns in which another cell than the goal is decoded as
    the most probable one, see `_gains`. It is at most ln((|A| + 1) / 2) nats a decision
    and at least -ln 2. It is measured for the probe's controls too ("control"), which
    decode no belief.

    Probes are fitted to the whole run, so conditions have no such numbers.
    """
    if evidence.part:
        return ()
    reports = [report for report in evidence.probe_reports if _decodes_goals(report)]
    if not reports:
        return [
            unmeasured("meg.belief", "no probe decoded maps; choose --probe cogmap")
        ]
    first = reports[0].fit.variant
    # One variant is enough: others of the same probe decode the same maps in another
    # way.
    measurements: list[Measurement] = []
    for report in reports:
        if report.fit.variant == first:
            measurements += _measured(report, evidence)
    return measurements


def _decodes_goals(report: ProbeReport) -> bool:
    """Return whether it holds maps: (turns, rows, columns, classes)."""
    return report.decoded.ndim == 4 and GOAL in report.classes


def _measured(report: ProbeReport, evidence: Evidence) -> Iterator[Measurement]:
    fit = report.fit
    where: Labels = {
        "probe": fit.probe,
        "variant": fit.variant,
        "layer": fit.layer,
        "position": fit.position,
        "control": fit.control,
    }
    try:
        turns = _held_out(report, evidence)
    except GdeError as error:
        yield unmeasured("meg.belief", str(error), where)
        return

    name = "meg.belief" if fit.control == "none" else "meg.belief.control"
    samples = {BELIEVED: turns.believed}
    if fit.control == "none":
        samples[TRUE] = turns.true
        try:
            samples[SWAPPED] = _swapped(turns, evidence)
        except GdeError as error:
            yield unmeasured(name, str(error), {**where, "utility": SWAPPED})
    for utility, episodes in samples.items():
        rng = generator(evidence.seed, "metric", name, fit.name, utility)
        found = from_trajectories(episodes, rng=rng, signed=True)
        yield Measurement(
            name=name,
            value=found.value,
            n=found.n,
            clusters=found.n_clusters,
            interval=found.interval,
            where={**where, "utility": utility},
            reason=found.reason,
        )
    yield _gain(
        turns, where, generator(evidence.seed, "metric", "meg.belief.gain", fit.name)
    )


@dataclass(frozen=True)
class _Turns:
    """T decisions as episodes of one turn, in worlds with different goals."""

    believed: Sample
    """The utility is the decoded probability of the goal."""
    true: Sample
    """The utility is the goal's cell."""
    exchanged: Sample
    """As believed, with the probabilities of the true goal and of the most probable
    cell exchanged.
    """
    differ: NDArray[np.bool_]
    """(T,) whether these are two cells."""
    surroundings: NDArray[np.intp]
    """(T, 1 + A) the agent's last action, and which actions lead nowhere."""
    episodes: tuple[Trajectory, ...]
    """(T,) the episode of each decision."""


def _gain(turns: _Turns, where: Labels, rng: np.random.Generator) -> Measurement:
    """Measure how many nats the belief adds where it differs from the truth."""
    name = "meg.belief.gain"
    at = np.flatnonzero(turns.differ)
    clusters = turns.true.clusters[at]
    if len(np.unique(clusters)) < 2:
        reason = "decoded and true goal differ in the turns of fewer than 2 worlds"
        return unmeasured(name, reason, where)

    believed = Behaviour.of([turns.believed[i] for i in at.tolist()], own_reward)
    exchanged = Behaviour.of([turns.exchanged[i] for i in at.tolist()], own_reward)
    gains = _gains(believed, exchanged, _habits(turns)[at], clusters)
    estimate = cluster_mean(gains, clusters, rng)
    return estimate.measurement(name, where)


def _gains(
    believed: Behaviour, exchanged: Behaviour, habits: Floats, clusters: Indices
) -> Floats:
    """Return (T,) nats that the belief adds to habits, against the truth.

    The truth is the decoded map with the probabilities of its most probable cell and of
    the goal exchanged. So it is as sharp as the belief, and a probe that is sure where
    the agent is able gains nothing by it. The odds of the two policies tilt the habits
    (T, A) towards what the belief recommends and the truth does not. For an agent that
    follows these habits, the nats of the tilted choice above them have no positive
    expectation, whatever the maps (Jensen's inequality).
    """
    # One rationality serves both, the best if a coin decided for each world which map
    # the agent acts on: one fitted to either would favour it.
    _, numbers = np.unique(clusters, return_inverse=True)
    by_cluster = []
    for behaviour in (believed, exchanged):
        table = behaviour.table(MAGNITUDES)
        sums = [np.bincount(numbers, weights=row) for row in table]
        by_cluster.append(np.stack(sums))
    either = np.logaddexp(*by_cluster).sum(axis=-1)
    beta = float(MAGNITUDES[either.argmax()])

    # Unusable decisions are left out, so a decision's turn is looked up.
    decisions = believed.decisions
    turn_of = decisions.summed.tocsc().indices
    odds = believed.by_action(beta) - exchanged.by_action(beta)
    tilted = odds - logsumexp(odds + np.log(habits[turn_of].T), axis=0)

    # Half of the time the agent may follow its habits, so that no decision costs more
    # than a coin toss. None gains more than it can hold.
    nats = np.logaddexp(tilted[decisions.taken], 0.0) - log(2)
    held = np.minimum(nats, log(believed.n_actions))
    gains: Floats = decisions.summed @ held
    return gains


def _habits(turns: _Turns) -> Floats:
    """Return (T, A) how often the agent takes each action in a turn's surroundings,
    learned from the other worlds.
    """
    n_actions = turns.true.worlds[0].n_actions
    actions = np.array([int(episode.actions[0]) for episode in turns.true])
    _, surroundings = np.unique(turns.surroundings, axis=0, return_inverse=True)
    clusters = turns.true.clusters

    shape = (surroundings.max() + 1, clusters.max() + 1, n_actions)
    counts = np.zeros(shape)
    used = actions != UNUSABLE
    np.add.at(counts, (surroundings[used], clusters[used], actions[used]), 1.0)

    total = counts.sum(axis=1)
    elsewhere = total[surroundings] - counts[surroundings, clusters] + PRIOR
    habits: Floats = elsewhere / elsewhere.sum(axis=1, keepdims=True)
    return habits


def _held_out(report: ProbeReport, evidence: Evidence) -> _Turns:
    """Return the decisions after the held-out turns of finished episodes, once for each
    map.
    """
    finished = {str(one.key): one for one in finished_in(evidence)}
    goal = report.classes.index(GOAL)
    believed: list[Episode] = []
    true: list[Episode] = []
    exchanged: list[Episode] = []
    differ = []
    surroundings = []
    episodes_of = []
    # The dynamics are the same in all turns of a world.
    still: dict[TabularMDP, TabularMDP] = {}
    for (key, turn), decoded in zip(report.rows, report.decoded, strict=True):
        if key not in finished:
            continue
        trajectory = finished[key]
        following = turn + 1
        if following == len(trajectory.turns):
            continue

        episodes_of.append(trajectory)
        model = model_of(trajectory, evidence)
        if model not in still:
            still[model] = standing_still(model, model.reward)
        shown = _goal_probabilities(model, decoded[..., goal], trajectory)
        swapped = _exchanged(shown, model)
        differ.append(bool((swapped != shown).any()))
        maps = (shown, believed), (model.labels["goal"], true), (swapped, exchanged)
        for utility, episodes in maps:
            world = replace(still[model], reward=utility)
            episodes.append(one_turn(trajectory, following, world))
        before = one_turn(trajectory, turn, model)
        here = int(true[-1].states[0])
        blocked = [matrix[here, here] == 1 for matrix in model.transition]
        surroundings.append([int(before.actions[0]), *blocked])
    if not differ:
        raise GdeError(
            "no held-out turn is followed by a decision of an episode that was finished"
        )
    return _Turns(
        believed=Sample.of(believed),
        true=Sample.of(true),
        exchanged=Sample.of(exchanged),
        differ=np.array(differ),
        surroundings=np.array(surroundings, dtype=np.intp),
        episodes=tuple(episodes_of),
    )


def _swapped(turns: _Turns, evidence: Evidence) -> Sample:
    """The decisions with another goal as the utility, the same in all turns of a world.

    Raises:
        GdeError: the world cannot draw its goal again; the message says why.
    """
    goals: dict[str, Floats] = {}
    episodes = []
    for episode, trajectory in zip(turns.true, turns.episodes, strict=True):
        key = str(trajectory.key)
        if key not in goals:
            goals[key] = _other_goal(trajectory, episode.mdp, evidence)
        episodes.append(replace(episode, mdp=replace(episode.mdp, reward=goals[key])))
    return Sample.of(episodes)


def _other_goal(
    trajectory: Trajectory, model: TabularMDP, evidence: Evidence
) -> Floats:
    """(S,) 1 in the cell of another goal, drawn with its probability."""
    with closing(begun(evidence, trajectory)) as environment:
        goals = goals_of(environment)
        chances = {**goals.probabilities}
        chances.pop(goals.present)
        if not chances:
            raise GdeError("the goal could not have been another one")
        rng = generator(
            evidence.seed, "metric", "meg.belief", SWAPPED, str(trajectory.key)
        )
        weights = np.array([*chances.values()])
        drawn = rng.choice(len(weights), p=weights / weights.sum())
        assert isinstance(environment, HasGoals)
        environment.set_goal([*chances][drawn])
        assert isinstance(environment, HasMDP)
        other = environment.mdp()
    is_goal = other.labels["goal"] > 0
    row, column = [float(other.labels[axis][is_goal][0]) for axis in ("row", "column")]
    is_there = (model.labels["row"] == row) & (model.labels["column"] == column)
    there: Floats = is_there.astype(np.float64)
    return there


def _exchanged(believed: Floats, model: TabularMDP) -> Floats:
    """Return the map with the true goal's probability and the largest one exchanged."""
    best = int(believed.argmax())
    # Several states may share a cell, for example with and without a key.
    goal = same_cell(model, model.labels["goal"] > 0)
    mode = same_cell(model, np.arange(len(believed)) == best)
    swapped = believed.copy()
    swapped[mode] = believed[goal].max()
    swapped[goal] = believed[best]
    return swapped


def same_cell(world: TabularMDP, places: Mask) -> Mask:
    """Return the (S,) states that share a cell with one of these."""
    rows = world.labels["row"].tolist()
    columns = world.labels["column"].tolist()
    cells = list(zip(rows, columns, strict=True))
    wanted = {cells[state] for state in np.flatnonzero(places)}
    return np.array([cell in wanted for cell in cells])


def _goal_probabilities(
    model: TabularMDP, decoded: np.ndarray, trajectory: Trajectory
) -> Floats:
    """Return (S,) decoded probabilities of the goal, given that it is in one of the
    states' cells.
    """
    lacking = {"row", "column", "goal"} - set(model.labels)
    if lacking:
        names = ", ".join(sorted(lacking))
        raise GdeError(f"the model of episode {trajectory.key} has no label {names}")
    rows = model.labels["row"].astype(np.intp)
    columns = model.labels["column"].astype(np.intp)
    if max(rows.max(), columns.max()) >= len(decoded):
        raise GdeError(
            f"the world of episode {trajectory.key} is larger than the decoded map of {len(decoded)} rows"
        )

    cells = decoded[rows, columns].astype(np.float64)
    total = cells.sum()
    # A map that has the goal only where the agent cannot be tells nothing of where it
    # can.
    if not total > 0:
        return np.full(len(cells), 1 / len(cells))
    shares: Floats = cells / total
    return shares
