"""What does the agent do after a perturbation? (Arghal et al. 2026, appendices A.2 and A.3)"""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import (
    CERTIFIED,
    Count,
    count,
    is_optimal,
    lacking,
    over_episodes,
    played,
    pooled_share,
    unmeasured,
)
from gde.numerics.stats import cluster_mean

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
"""Name to unit, and to the reason where there is nothing to average although the perturbation happened."""
NEVER_HAPPENED = "the perturbation happened in no finished episode"


@dataclass(frozen=True, kw_only=True)
class _Case:
    """Counts of an episode, before and after its perturbation; actions are optimal in the world as it then is."""

    cluster: str
    before: Count
    """Optimal decisions of those before the perturbation."""
    after: Count
    """And of those after it."""
    succeeded: bool
    delay: int | None
    """Turns before the first optimal action after the perturbation; None where there is none."""
    excess: float
    """Turns after the perturbation, less the steps that were needed."""
    distracted: bool
    """Whether there was a distractor."""
    toward: Count
    """Decisions that led towards it, of those that were not optimal."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Case":
        turns = trajectory.turns
        perturbed = [turn.index for turn in turns if turn.state and turn.state.facts.get("perturbed")]
        cut = perturbed[0] if perturbed else len(turns)
        after = turns[cut:]
        delays = [delay for delay, turn in enumerate(after) if is_optimal(turn)]
        # Every step costs 1, so that the value is minus the number of steps that were needed.
        value = (after[0].value or 0.0) if after else 0.0
        distracting = [turn for turn in after if _distracts(turn)]
        return cls(
            cluster=trajectory.world.cluster,
            before=count(trajectory, map(is_optimal, turns[:cut])),
            after=count(trajectory, map(is_optimal, after)),
            succeeded=trajectory.succeeded,
            delay=delays[0] if delays else None,
            excess=len(after) + value,
            distracted=bool(distracting),
            toward=count(trajectory, (_is_toward(turn) for turn in distracting if not is_optimal(turn))),
        )


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
    planned = played(evidence).where(_planned)
    if reason := lacking(planned, CERTIFIED):
        return [unmeasured(name, unit, reason) for name, (unit, _) in MEASURES.items()]
    cases = [_Case.of(one) for one in planned]
    hit = [case for case in cases if case.after.of]
    shares = _shares(cases, hit)
    means = _means(hit)

    measured: list[Measurement] = []
    for name, (_, nothing) in MEASURES.items():
        reason = nothing if hit else NEVER_HAPPENED
        if name in shares:
            measured.append(pooled_share(evidence, name, shares[name], reason))
        elif name in means:
            measured.append(_mean(evidence, name, means[name], reason))
    return measured


def _planned(trajectory: Trajectory) -> bool:
    return "perturbation" in trajectory.world.facts


def _shares(cases: Sequence[_Case], hit: Sequence[_Case]) -> dict[str, list[Count]]:
    """The counts of each share."""
    shares = {
        "recovery.happened": [Count(case.cluster, bool(case.after.of), 1) for case in cases],
        "recovery.success": [Count(case.cluster, case.succeeded, 1) for case in hit],
        "recovery.accuracy_before": [case.before for case in hit],
        "recovery.accuracy_after": [case.after for case in hit],
        "recovery.never": [Count(case.cluster, case.delay is None, 1) for case in hit],
    }
    if any(case.distracted for case in hit):
        shares["recovery.toward_distractor"] = [case.toward for case in hit]
    return shares


def _means(hit: Sequence[_Case]) -> dict[str, list[tuple[str, float]]]:
    """The values of each mean, with their clusters."""
    return {
        "recovery.delay": [(case.cluster, case.delay) for case in hit if case.delay is not None],
        "recovery.excess": [(case.cluster, case.excess) for case in hit if case.succeeded],
    }


def _mean(evidence: Evidence, name: str, values: Sequence[tuple[str, float]], reason: str) -> Measurement:
    if not values:
        return unmeasured(name, "turns", reason)
    return over_episodes(evidence, name, "turns", values, cluster_mean)


def _distracts(turn: Turn) -> bool:
    return turn.state is not None and "toward_distractor" in turn.state.facts


def _is_toward(turn: Turn) -> bool:
    listed = turn.state.facts["toward_distractor"] if turn.state is not None else ()
    return isinstance(listed, list | tuple) and turn.decision.action in listed
