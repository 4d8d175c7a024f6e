"""Goal-directedness from the inside: towards where the agent's activations say that it believes the goal to be."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
from gde_plugins.meg.trajectories.candidates import own_reward, standing_still
from gde_plugins.meg.trajectories.estimation import from_trajectories
from gde_plugins.meg.trajectories.side_by_side import Sample

BELIEVED, TRUE = "believed", "true"
GOAL = "goal"
"""The kind of cell that a decoded map is asked for."""


def belief(evidence: Evidence) -> Sequence[Measurement]:
    """MEG towards the goal of decoded cognitive maps and towards the true one, on the same held-out turns.

    "meg.belief", in nats a decision and negative where the agent avoids the goal, for each first variant of a probe
    that decodes maps: by "utility", "believed" being the decoded probability of the goal among the cells that the
    agent can be in, as it is in that turn, and "true" the goal's cell. The dynamics are the true ones in both.
    "meg.belief.gain" is the paired difference of the accuracies at the best rationality of each: positive where
    what the activations believe predicts behaviour better than the truth does. Every n counts turns.

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
    """Held-out decisions as episodes of one turn, in worlds with the one and with the other goal."""

    believed: Sample
    true: Sample


def _decodes_goals(report: ProbeReport) -> bool:
    return report.arm.control == "none" and report.decoded.ndim == 4 and GOAL in report.classes


def _measured(report: ProbeReport, evidence: Evidence) -> Iterator[Measurement]:
    arm = report.arm
    where: Labels = {"probe": arm.probe, "variant": arm.variant, "layer": arm.layer, "mark": arm.mark}
    try:
        turns = _held_out(report, evidence)
    except GdeError as error:
        yield _unmeasured(where, str(error))
        return
    scores, reason = {}, ""
    for utility, episodes in ((BELIEVED, turns.believed), (TRUE, turns.true)):
        rng = generator(evidence.seed, "metric", "meg.belief", arm.name, utility)
        found = from_trajectories(episodes, rng=rng, signed=True)
        scores[utility] = Behaviour.of(episodes, own_reward).scores(found.beta)
        reason = found.reason
        yield Measurement(
            name="meg.belief",
            value=found.value,
            unit="nats",
            n=found.n,
            interval=found.interval,
            where={**where, "utility": utility},
            reason=reason,
        )
    if reason:
        yield _unmeasured(where, reason, "meg.belief.gain")
        return
    clusters = [episode.cluster for episode in turns.true]
    rng = generator(evidence.seed, "metric", "meg.belief.gain", arm.name)
    gain = cluster_mean(scores[BELIEVED] - scores[TRUE], clusters, rng)
    yield Measurement(
        name="meg.belief.gain", value=gain.value, unit="nats", n=gain.n, interval=gain.interval, where=where
    )


def _held_out(report: ProbeReport, evidence: Evidence) -> _Turns:
    trajectories = {str(one.key): one for one in evidence.trajectories if one.ending != "failed"}
    believed, true, goal = [], [], report.classes.index(GOAL)
    for (key, turn), decoded in zip(report.rows, report.decoded, strict=True):
        if key in trajectories:
            trajectory = trajectories[key]
            model = model_of(trajectory, evidence)
            probabilities = _goal(model, decoded[..., goal], trajectory)
            believed.append(one_turn(trajectory, turn, standing_still(model, probabilities)))
            true.append(one_turn(trajectory, turn, standing_still(model, model.labels["goal"])))
    if not true:
        raise GdeError("no held-out turn is of an episode that was finished")
    return _Turns(Sample.of(believed), Sample.of(true))


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
