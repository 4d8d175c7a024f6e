"""Goal-directedness towards the place where the agent's activations locate the goal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.mdp import Floats, TabularMDP
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.stats import cluster_mean
from gde.seeding import generator
from gde_plugins.meg.metrics.recorded import finished_in, missing, model_of, one_turn
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.placebo import MAGNITUDES, same_cell
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import own_reward, standing_still

BELIEVED = "believed"
TRUE = "true"
GOAL = "goal"
"""The class of cell that is read from decoded maps."""


def belief(evidence: Evidence) -> Sequence[Measurement]:
    """Measure MEG towards the goal of decoded cognitive maps and towards the true one,
    on the same held-out turns.

    "meg.belief" is in nats a decision, negative where the agent avoids the goal. It is
    measured for the first variant of a probe that decodes maps. By "utility":
    "believed" is the decoded probability of the goal in that turn, among the cells that
    the agent can be in; "true" is the goal's cell. Both have the true dynamics. Every n
    counts turns.

    "meg.belief.gain" uses only the turns in which another cell than the goal is decoded
    as the most probable one. It tells how many nats better the decoded map predicts the
    decision than the same map with the probabilities of these two cells exchanged. So
    the truth is as sharp as the belief, turn by turn, and a probe that is sure where
    the agent is able gains nothing by it. Both have one rationality, the best if a coin
    decided which of them the agent acts on. It is measured for the probe's controls too
    ("control"), which decode no belief.

    Probes are fitted to the whole run, so conditions have no such numbers.
    """
    if evidence.part:
        return ()
    reports = [report for report in evidence.probe_reports if _decodes_goals(report)]
    if not reports:
        return [missing("meg.belief", "no probe decoded maps; choose --probe cogmap")]
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
        yield missing("meg.belief", str(error), where)
        return

    if fit.control == "none":
        for utility, episodes in ((BELIEVED, turns.believed), (TRUE, turns.true)):
            rng = generator(evidence.seed, "metric", "meg.belief", fit.name, utility)
            found = from_trajectories(episodes, rng=rng, signed=True)
            yield Measurement(
                name="meg.belief",
                value=found.value,
                unit="nats",
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
    """T held-out decisions as episodes of one turn, in worlds with different goals."""

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


def _gain(turns: _Turns, where: Labels, rng: np.random.Generator) -> Measurement:
    """Measure by how much the decoded maps predict better than those with the
    probabilities exchanged.
    """
    name = "meg.belief.gain"
    at = np.flatnonzero(turns.differ).tolist()
    clusters = turns.true.clusters[at]
    distinct, numbers = np.unique(clusters, return_inverse=True)
    if len(distinct) < 2:
        reason = "decoded and true goal differ in the turns of fewer than 2 worlds"
        return missing(name, reason, where)

    # (magnitudes, T) and, summed over the turns of a world, (magnitudes, worlds).
    tables = []
    by_cluster = []
    for sample in (turns.believed, turns.exchanged):
        episodes = [sample[i] for i in at]
        table = Behaviour.of(episodes, own_reward).table(MAGNITUDES)
        sums = [np.bincount(numbers, weights=row) for row in table]
        tables.append(table)
        by_cluster.append(np.stack(sums))

    # The coin is tossed once a world. A rationality fitted to one of the two maps would
    # favour it.
    either = np.logaddexp(*by_cluster)
    best = int(either.sum(axis=-1).argmax())
    believed, exchanged = tables
    estimate = cluster_mean(believed[best] - exchanged[best], clusters, rng)
    return replace(estimate.measurement(name, "nats"), where=where)


def _held_out(report: ProbeReport, evidence: Evidence) -> _Turns:
    """Return the held-out turns of finished episodes, once for each map."""
    finished = {str(one.key): one for one in finished_in(evidence)}
    goal = report.classes.index(GOAL)
    believed: list[Episode] = []
    true: list[Episode] = []
    exchanged: list[Episode] = []
    differ = []
    for (key, turn), decoded in zip(report.rows, report.decoded, strict=True):
        if key not in finished:
            continue

        trajectory = finished[key]
        model = model_of(trajectory, evidence)
        shown = _goal_probabilities(model, decoded[..., goal], trajectory)
        swapped = _exchanged(shown, model)
        differ.append(bool((swapped != shown).any()))
        maps = (shown, believed), (model.labels["goal"], true), (swapped, exchanged)
        for utility, episodes in maps:
            world = standing_still(model, utility)
            episodes.append(one_turn(trajectory, turn, world))
    if not differ:
        raise GdeError("no held-out turn is of an episode that was finished")
    return _Turns(
        believed=Sample.of(believed),
        true=Sample.of(true),
        exchanged=Sample.of(exchanged),
        differ=np.array(differ),
    )


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
