"""Recovery after a perturbation (Arghal et al. 2026, appendices A.2 and A.3)."""

from collections.abc import Iterable, Sequence
from itertools import takewhile

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

NEVER_HAPPENED = "the perturbation happened in no finished episode"
SHARES = {
    "recovery.happened": "",
    "recovery.success": "",
    "recovery.accuracy_before": "no decision came before the perturbation",
    "recovery.accuracy_after": "",
    "recovery.never": "",
    "recovery.toward_distractor": "no action after a distractor appeared was other than optimal",
}
MEANS = {
    "recovery.delay": "no optimal action followed the perturbation",
    "recovery.excess": "no episode reached the goal after the perturbation",
}
"""Name to the reason if there is nothing to average although the perturbation
happened.
"""
ORDER = (
    "recovery.happened",
    "recovery.success",
    "recovery.accuracy_before",
    "recovery.accuracy_after",
    "recovery.never",
    "recovery.delay",
    "recovery.excess",
    "recovery.toward_distractor",
)


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
        return [unmeasured(name, reason) for name in ORDER]

    shares, means = _counted(planned)
    has_happened = bool(shares["recovery.success"])
    measured: list[Measurement] = []
    for name in ORDER:
        nothing = {**SHARES, **MEANS}[name] if has_happened else NEVER_HAPPENED
        if name == "recovery.toward_distractor" and not any(map(_distracts, planned)):
            continue
        if name in SHARES:
            measured.append(pooled_share(evidence, name, shares[name], nothing))
        else:
            measured.append(
                over_episodes(evidence, name, means[name], cluster_mean, nothing)
            )
    return measured


def _counted(
    planned: Iterable[Trajectory],
) -> tuple[dict[str, list[Count]], dict[str, list[tuple[str, float]]]]:
    """Return the counts of each share and the values of each mean, by episode."""
    shares: dict[str, list[Count]] = {name: [] for name in SHARES}
    means: dict[str, list[tuple[str, float]]] = {name: [] for name in MEANS}
    for one in planned:
        cluster = one.world.cluster
        before = list(takewhile(_is_unperturbed, one.turns))
        after = one.turns[len(before) :]
        shares["recovery.happened"].append(Count(cluster, bool(after), 1))
        if not after:
            continue

        are_optimal = [is_optimal(turn) for turn in after]
        never = Count(cluster, True not in are_optimal, 1)
        missteps = [turn for turn in after if _may_stray(turn)]
        shares["recovery.success"].append(Count(cluster, one.succeeded, 1))
        shares["recovery.accuracy_before"].append(count(one, map(is_optimal, before)))
        shares["recovery.accuracy_after"].append(count(one, are_optimal))
        shares["recovery.never"].append(never)
        shares["recovery.toward_distractor"].append(
            count(one, map(_is_toward, missteps))
        )
        if True in are_optimal:
            means["recovery.delay"].append((cluster, are_optimal.index(True)))
        # A failed episode ends with its horizon, which says nothing about the way.
        if one.succeeded:
            # Every step costs 1, so the value is minus the number of needed steps.
            excess = len(after) + (after[0].value or 0.0)
            means["recovery.excess"].append((cluster, excess))
    return shares, means


def _planned(trajectory: Trajectory) -> bool:
    return "perturbation" in trajectory.world.facts


def _is_unperturbed(turn: Turn) -> bool:
    return not _fact(turn, "perturbed")


def _fact(turn: Turn, name: str) -> object:
    return turn.state.facts.get(name) if turn.state is not None else None


def _distracts(trajectory: Trajectory) -> bool:
    return any(
        _fact(turn, "toward_distractor") is not None for turn in trajectory.turns
    )


def _may_stray(turn: Turn) -> bool:
    return _fact(turn, "toward_distractor") is not None and not is_optimal(turn)


def _is_toward(turn: Turn) -> bool:
    listed = _fact(turn, "toward_distractor")
    return isinstance(listed, list | tuple) and turn.decision.action in listed
