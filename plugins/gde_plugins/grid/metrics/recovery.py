"""What does the agent do when something happens half-way? (Arghal et al. 2026, appendices A.2 and A.3)"""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import finished, is_optimal, uncertified, unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator

MEASURES = {
    "recovery.happened": ("share", ""),
    "recovery.success": ("share", ""),
    "recovery.accuracy_before": ("share", "no decision came before the perturbation"),
    "recovery.accuracy_after": ("share", ""),
    "recovery.never": ("share", ""),
    "recovery.delay": ("turns", "no optimal action followed the perturbation"),
    "recovery.excess": ("turns", "no episode reached the goal after the perturbation"),
    "recovery.toward_distractor": ("share", "no action after a distractor appeared was other than optimal"),
}
"""Name to unit, and to what it means that there is nothing to average although the perturbation happened."""
NEVER_HAPPENED = "the perturbation happened in no finished episode"
Values = list[tuple["_Case", float]]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """An episode with a perturbation, cut in two. An optimal action is optimal in the world as it then is."""

    trajectory: Trajectory
    before: tuple[Turn, ...]
    after: tuple[Turn, ...]
    """From the first decision after the perturbation on."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Case":
        turns = trajectory.turns
        cut = next((turn.index for turn in turns if turn.state and turn.state.facts.get("perturbed")), len(turns))
        return cls(trajectory=trajectory, before=turns[:cut], after=turns[cut:])

    @property
    def delay(self) -> int | None:
        """Turns before the first optimal action after the perturbation; None where there is none."""
        return next((delay for delay, turn in enumerate(self.after) if is_optimal(turn)), None)

    @property
    def excess(self) -> float:
        """Turns after the perturbation, less the steps that were needed: every step costs 1, so minus the value."""
        return len(self.after) + (self.after[0].value or 0.0)


def recovery(evidence: Evidence) -> Sequence[Measurement]:
    """Episodes with a perturbation, before and after it; () for a run without any.

    Such a world records the fact `perturbation`, and its states the fact `perturbed`; with a distractor also
    `toward_distractor`, the actions that lead there.

    "recovery.happened" is the share of episodes in which a decision was asked for after the perturbation; all other
    numbers are about these. "recovery.success" is the share that still reaches the goal, wherever it then is,
    "recovery.accuracy_before" and "recovery.accuracy_after" are shares of optimal actions. "recovery.delay" is the
    number of turns before the first optimal action after the perturbation, where there is one ("recovery.never" is
    the share of episodes where there is none); "recovery.excess" the number of turns beyond those that were needed, in
    episodes that reach the goal. "recovery.toward_distractor" is the share of non-optimal actions after a distractor
    appeared that lead towards it.
    """
    if not any(map(_planned, evidence.trajectories)):
        return ()
    played = [trajectory for trajectory in finished(evidence) if _planned(trajectory) and trajectory.turns]
    if reason := uncertified(played):
        return [unmeasured(name, unit, reason) for name, (unit, _) in MEASURES.items()]
    cases = [_Case.of(trajectory) for trajectory in played]
    missing = {} if any(case.after for case in cases) else dict.fromkeys(MEASURES, NEVER_HAPPENED)
    return [
        _estimate(evidence, name, values)
        if values
        else unmeasured(name, MEASURES[name][0], missing.get(name, MEASURES[name][1]))
        for name, values in _values(cases).items()
    ]


def _planned(trajectory: Trajectory) -> bool:
    return "perturbation" in trajectory.world.facts


def _values(cases: Sequence[_Case]) -> dict[str, Values]:
    """What each measure averages, with the episode that it is from."""
    hit = [case for case in cases if case.after]
    after = [(case, turn) for case in hit for turn in case.after]
    delays = [(case, case.delay) for case in hit]
    values: dict[str, Values] = {
        "recovery.happened": [(case, bool(case.after)) for case in cases],
        "recovery.success": [(case, case.trajectory.succeeded) for case in hit],
        "recovery.accuracy_before": [(case, is_optimal(turn)) for case in hit for turn in case.before],
        "recovery.accuracy_after": [(case, is_optimal(turn)) for case, turn in after],
        "recovery.never": [(case, delay is None) for case, delay in delays],
        "recovery.delay": [(case, delay) for case, delay in delays if delay is not None],
        "recovery.excess": [(case, case.excess) for case in hit if case.trajectory.succeeded],
    }
    if any(_distracts(turn) for _, turn in after):
        wrong = [(case, turn) for case, turn in after if _distracts(turn) and not is_optimal(turn)]
        values["recovery.toward_distractor"] = [(case, _is_toward(turn)) for case, turn in wrong]
    return values


def _estimate(evidence: Evidence, name: str, values: Values) -> Measurement:
    """The mean of values, each in the cluster of its episode."""
    unit, _ = MEASURES[name]
    estimate = cluster_share if unit == "share" else cluster_mean
    of_values = [case.trajectory.world.cluster for case, _ in values]
    rng = generator(evidence.seed, "metric", name)
    return estimate([value for _, value in values], of_values, rng).measurement(name, unit)


def _distracts(turn: Turn) -> bool:
    return turn.state is not None and "toward_distractor" in turn.state.facts


def _is_toward(turn: Turn) -> bool:
    listed = turn.state.facts["toward_distractor"] if turn.state is not None else ()
    return isinstance(listed, list | tuple) and turn.decision.action in listed
