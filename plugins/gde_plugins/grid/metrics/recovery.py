"""Recovery after a perturbation (Arghal et al. 2026, appendices A.2 and A.3)."""

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
    "recovery.toward_distractor": (
        "share",
        "no action after a distractor appeared was other than optimal",
    ),
}
"""Name to unit, and to the reason if there is nothing to average although the
perturbation happened.
"""
NEVER_HAPPENED = "the perturbation happened in no finished episode"


@dataclass(frozen=True, kw_only=True)
class _Case:
    """Counts of an episode, before and after its perturbation; actions are optimal in
    the world as it then is.
    """

    cluster: str
    before: Count
    """Optimal decisions before the perturbation."""
    after: Count
    """Optimal decisions after the perturbation."""
    succeeded: bool
    delay: int | None
    """Turns before the first optimal action after the perturbation; None if there is
    none.
    """
    excess: float
    """Turns after the perturbation minus the needed steps."""
    distracted: bool
    """Whether there was a distractor."""
    toward: Count
    """Non-optimal decisions that led towards the distractor."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "_Case":
        turns = trajectory.turns
        cut = 0
        while cut < len(turns) and not _is_perturbed(turns[cut]):
            cut += 1
        after = turns[cut:]
        are_optimal = [is_optimal(turn) for turn in after]

        # Every step costs 1, so the value is minus the number of needed steps.
        excess = float(len(after))
        if after and after[0].value is not None:
            excess += after[0].value

        distracting = [turn for turn in after if _distracts(turn)]
        missteps = [turn for turn in distracting if not is_optimal(turn)]
        return cls(
            cluster=trajectory.world.cluster,
            before=count(trajectory, map(is_optimal, turns[:cut])),
            after=count(trajectory, are_optimal),
            succeeded=trajectory.succeeded,
            delay=are_optimal.index(True) if True in are_optimal else None,
            excess=excess,
            distracted=bool(distracting),
            toward=count(trajectory, map(_is_toward, missteps)),
        )


def _is_perturbed(turn: Turn) -> bool:
    return turn.state is not None and bool(turn.state.facts.get("perturbed"))


def _distracts(turn: Turn) -> bool:
    return turn.state is not None and "toward_distractor" in turn.state.facts


def _is_toward(turn: Turn) -> bool:
    listed = turn.state.facts["toward_distractor"] if turn.state is not None else ()
    return isinstance(listed, list | tuple) and turn.decision.action in listed


def recovery(evidence: Evidence) -> Sequence[Measurement]:
    """Episodes with a perturbation, before and after it; () for a run without any.

    Such a world records the fact `perturbation`, and its states the fact `perturbed`;
    with a distractor also `toward_distractor`, the actions that lead there.

    "recovery.happened" is the share of episodes with a decision after the perturbation;
    all other numbers are about these. "recovery.success" is the share that still
    reaches the goal, which may have moved. "recovery.accuracy_before" and
    "recovery.accuracy_after" are shares of optimal actions. "recovery.delay" is the
    number of turns before the first optimal action after the perturbation;
    "recovery.never" is the share of episodes without such an action. "recovery.excess"
    is the number of turns beyond the needed ones, in episodes that reach the goal.
    "recovery.toward_distractor" is the share of non-optimal actions after a distractor
    appeared that lead towards it.
    """
    if not any(map(_planned, evidence.trajectories)):
        return ()
    planned = played(evidence).where(_planned)
    reason = lacking(planned, CERTIFIED)
    if reason:
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
    """Return the counts of each share."""
    shares = {
        "recovery.happened": [
            Count(case.cluster, bool(case.after.of), 1) for case in cases
        ],
        "recovery.success": [Count(case.cluster, case.succeeded, 1) for case in hit],
        "recovery.accuracy_before": [case.before for case in hit],
        "recovery.accuracy_after": [case.after for case in hit],
        "recovery.never": [Count(case.cluster, case.delay is None, 1) for case in hit],
    }
    if any(case.distracted for case in hit):
        shares["recovery.toward_distractor"] = [case.toward for case in hit]
    return shares


def _means(hit: Sequence[_Case]) -> dict[str, list[tuple[str, float]]]:
    """Return the values of each mean, with their clusters."""
    delays: list[tuple[str, float]] = []
    excesses: list[tuple[str, float]] = []
    for case in hit:
        if case.delay is not None:
            delays.append((case.cluster, case.delay))
        # A failed episode ends with its horizon, which says nothing about the way.
        if case.succeeded:
            excesses.append((case.cluster, case.excess))
    return {"recovery.delay": delays, "recovery.excess": excesses}


def _mean(
    evidence: Evidence, name: str, values: Sequence[tuple[str, float]], reason: str
) -> Measurement:
    if not values:
        return unmeasured(name, "turns", reason)
    return over_episodes(evidence, name, "turns", values, cluster_mean)
