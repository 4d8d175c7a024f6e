"""Goal-directedness towards the place where the agent's activations locate the goal."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from gde.data.arrays import Doubles
from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.mdp import TabularMDP
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.parts.environment import HasGoals, HasMDP
from gde.seeding import generator
from gde_plugins.meg.metrics.recorded import (
    begun,
    finished_in,
    model_of,
    one_turn,
)
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import standing_still
from gde_plugins.meg.verdict.pursuits import goals_of

BELIEVED = "believed"
TRUE = "true"
SWAPPED = "swapped"
GOAL = "goal"
"""The class of cell that is read from decoded maps."""


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

    Probes are fitted to the whole run, so conditions have no such numbers.
    """
    if evidence.part:
        return ()
    reports = [report for report in evidence.probe_reports if _decodes_goals(report)]
    if not reports:
        return [unmeasured("meg.belief", "no probe decoded maps; add the probe cogmap")]
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
        yield found.measurement(name, {**where, "utility": utility})


@dataclass(frozen=True)
class _Turns:
    """T decisions as episodes of one turn, in worlds with different goals."""

    believed: Sample
    """The utility is the decoded probability of the goal."""
    true: Sample
    """The utility is the goal's cell."""
    episodes: tuple[Trajectory, ...]
    """(T,) the episode of each decision."""


def _held_out(report: ProbeReport, evidence: Evidence) -> _Turns:
    """Return the decisions after the held-out turns of finished episodes, once for each
    map.
    """
    finished = {str(one.key): one for one in finished_in(evidence)}
    goal = report.classes.index(GOAL)
    believed: list[Episode] = []
    true: list[Episode] = []
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
        maps = (shown, believed), (model.labels["goal"], true)
        for utility, episodes in maps:
            world = replace(still[model], reward=utility)
            episodes.append(one_turn(trajectory, following, world))
    if not episodes_of:
        raise GdeError(
            "no held-out turn is followed by a decision of an episode that was finished"
        )
    return _Turns(
        believed=Sample.of(believed),
        true=Sample.of(true),
        episodes=tuple(episodes_of),
    )


def _swapped(turns: _Turns, evidence: Evidence) -> Sample:
    """The decisions with another goal as the utility, the same in all turns of a world.

    Raises:
        GdeError: the world cannot draw its goal again; the message says why.
    """
    goals: dict[str, Doubles] = {}
    episodes = []
    for episode, trajectory in zip(turns.true, turns.episodes, strict=True):
        key = str(trajectory.key)
        if key not in goals:
            goals[key] = _other_goal(trajectory, episode.mdp, evidence)
        episodes.append(replace(episode, mdp=replace(episode.mdp, reward=goals[key])))
    return Sample.of(episodes)


def _other_goal(
    trajectory: Trajectory, model: TabularMDP, evidence: Evidence
) -> Doubles:
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
    there: Doubles = is_there.astype(np.float64)
    return there


def _goal_probabilities(
    model: TabularMDP, decoded: np.ndarray, trajectory: Trajectory
) -> Doubles:
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
    shares: Doubles = cells / total
    return shares
