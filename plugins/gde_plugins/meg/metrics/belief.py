"""Goal-directedness from the inside: towards where the agent's activations say that it believes the goal to be."""

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
from gde_plugins.meg.metrics.recorded import model_of, one_turn
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.placebo import MAGNITUDES, same_cell
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import own_reward, standing_still

BELIEVED, TRUE, EXCHANGED = "believed", "true", "exchanged"
Mask = NDArray[np.bool_]
GOAL = "goal"
"""The kind of cell that a decoded map is asked for."""


def belief(evidence: Evidence) -> Sequence[Measurement]:
    """MEG towards the goal of decoded cognitive maps and towards the true one, on the same held-out turns.

    "meg.belief", in nats a decision and negative where the agent avoids the goal, for each first variant of a probe
    that decodes maps: by "utility", "believed" being the decoded probability of the goal among the cells that the
    agent can be in, as it is in that turn, and "true" the goal's cell. The dynamics are the true ones in both.
    Every n counts turns.

    "meg.belief.gain" is about the turns alone in which another cell than the goal is decoded as the most probable
    one: how many nats better the decoded map predicts the decision than the same map does with the probabilities of
    these two cells exchanged. The truth is as sharp as the belief, turn by turn, so that a probe that is sure where the
    agent is able gains nothing by it. Both are held to one rationality, the best if a coin decided which of them the
    agent acts on. It is measured for the probe's controls too ("control"): what decoders gain that read no belief.

    Probes are fitted to the whole run, so strata have no such numbers.
    """
    if evidence.part:
        return ()
    reports = [report for report in evidence.probe_reports if _decodes_goals(report)]
    if not reports:
        return [_unmeasured({}, "no probe decoded maps; choose --probe cogmap")]
    first = reports[0].arm.variant
    return [each for report in reports if report.arm.variant == first for each in _measured(report, evidence)]


@dataclass(frozen=True)
class _Turns:
    """Held-out decisions as episodes of one turn, in worlds with different goals."""

    believed: Sample
    true: Sample
    exchanged: Sample
    """Believed, but for the true goal and the most probable one, which have changed places."""
    differ: Mask
    """(T,) whether these are two cells."""


def _decodes_goals(report: ProbeReport) -> bool:
    return report.decoded.ndim == 4 and GOAL in report.classes


def _measured(report: ProbeReport, evidence: Evidence) -> Iterator[Measurement]:
    arm = report.arm
    where: Labels = {
        "probe": arm.probe,
        "variant": arm.variant,
        "layer": arm.layer,
        "mark": arm.mark,
        "control": arm.control,
    }
    try:
        turns = _held_out(report, evidence)
    except GdeError as error:
        yield _unmeasured(where, str(error))
        return
    if arm.control == "none":
        yield from _sizes(turns, where, evidence.seed, arm.name)
    yield replace(_gain(turns, generator(evidence.seed, "metric", "meg.belief.gain", arm.name)), where=where)


def _sizes(turns: _Turns, where: Labels, seed: int, arm: str) -> Iterator[Measurement]:
    for utility, episodes in ((BELIEVED, turns.believed), (TRUE, turns.true)):
        found = from_trajectories(episodes, rng=generator(seed, "metric", "meg.belief", arm, utility), signed=True)
        yield Measurement(
            name="meg.belief",
            value=found.value,
            unit="nats",
            n=found.n,
            interval=found.interval,
            where={**where, "utility": utility},
            reason=found.reason,
        )


def _gain(turns: _Turns, rng: np.random.Generator) -> Measurement:
    at = np.flatnonzero(turns.differ).tolist()
    clusters = turns.true.clusters[at]
    if len(np.unique(clusters)) < 2:
        return _unmeasured({}, "decoded and true goal differ in the turns of fewer than 2 worlds", "meg.belief.gain")
    both = [Sample.of([each[i] for i in at]) for each in (turns.believed, turns.exchanged)]
    believed, exchanged = (Behaviour.of(each, own_reward).table(MAGNITUDES) for each in both)
    best = int(np.logaddexp(_summed(believed, clusters), _summed(exchanged, clusters)).sum(axis=-1).argmax())
    return cluster_mean(believed[best] - exchanged[best], clusters, rng).measurement("meg.belief.gain", "nats")


def _summed(nats: Floats, clusters: NDArray[np.intp]) -> Floats:
    """(B, G) of (B, T) nats."""
    places = np.unique(clusters, return_inverse=True)[1]
    return np.stack([np.bincount(places, weights=row) for row in nats])


def _held_out(report: ProbeReport, evidence: Evidence) -> _Turns:
    trajectories = {str(one.key): one for one in evidence.trajectories if one.ending != "failed"}
    goal = report.classes.index(GOAL)
    samples: dict[str, list[Episode]] = {BELIEVED: [], TRUE: [], EXCHANGED: []}
    differ = []
    for (key, turn), decoded in zip(report.rows, report.decoded, strict=True):
        if key in trajectories:
            trajectory = trajectories[key]
            model = model_of(trajectory, evidence)
            shown = _goal(model, decoded[..., goal], trajectory)
            maps = {BELIEVED: shown, TRUE: model.labels["goal"], EXCHANGED: _exchanged(shown, model)}
            differ.append(bool((maps[EXCHANGED] != shown).any()))
            for name, utility in maps.items():
                samples[name].append(one_turn(trajectory, turn, standing_still(model, utility)))
    if not differ:
        raise GdeError("no held-out turn is of an episode that was finished")
    believed, true, exchanged = (Sample.of(samples[name]) for name in (BELIEVED, TRUE, EXCHANGED))
    return _Turns(believed, true, exchanged, np.array(differ))


def _exchanged(believed: Floats, model: TabularMDP) -> Floats:
    """The map with the true goal's probability and the largest in each other's place."""
    best = int(believed.argmax())
    goal, mode = same_cell(model, model.labels["goal"] > 0), same_cell(model, np.arange(len(believed)) == best)
    turned = believed.copy()
    turned[mode], turned[goal] = believed[goal].max(), believed[best]
    return turned


def _goal(model: TabularMDP, decoded: np.ndarray, trajectory: Trajectory) -> Floats:
    """(S,) decoded probability of the goal, given that it is in one of the states' cells."""
    if missing := {"row", "column", "goal"} - set(model.labels):
        raise GdeError(f"the model of episode {trajectory.key} has no label {', '.join(sorted(missing))}")
    rows, columns = model.labels["row"].astype(np.intp), model.labels["column"].astype(np.intp)
    if max(rows.max(), columns.max()) >= len(decoded):
        raise GdeError(f"the world of episode {trajectory.key} is larger than the decoded map of {len(decoded)} rows")
    cells = decoded[rows, columns].astype(np.float64)
    return cells / cells.sum() if cells.sum() > 0 else np.full(len(cells), 1 / len(cells))


def _unmeasured(where: Labels, reason: str, name: str = "meg.belief") -> Measurement:
    return Measurement(name=name, value=None, unit="nats", n=0, where=where, reason=reason)
