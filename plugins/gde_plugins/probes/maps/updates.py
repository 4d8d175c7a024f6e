"""The metric `updates`: is a moved thing decoded at its new place or at its old one?

See Arghal et al. (2026), appendices A.2 and A.3.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.cell_map import CellMap
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.data.verdict import Verdict
from gde.numerics.controls import compare_with_control, over_initialisations
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import (
    adjusted,
    cluster_means,
    holm,
    paired_difference,
)
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Codes, Indices
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, share_of_turns
from gde_plugins.probes.maps.policies import top

MOVED = {"move_goal": "goal", "put_back": "agent"}
"""Perturbation to the thing that it moves."""
SINCE = ("1", "2", "3+")
"""Turns since the perturbation; 1 is the first turn that shows the moved thing."""
SHARES = ("updates.new", "updates.old", "updates.elsewhere")
NONE_PERTURBED = (
    "no held-out turn follows a perturbation; set env.perturbation to move_goal or"
    " put_back, and play more worlds"
)
NONE_SO_LATE = "no held-out episode has such a turn with the thing at another place"
NONE_BEFORE = "the probe decoded no turn before the perturbation of these episodes"
NONE_UNPERTURBED = "no held-out episode without perturbation has such a turn"
UNTRAINED = "untrained"
NO_WEIGHTS = (
    "no probe was fitted to random weights on these turns: set cogmap.turns=all"
)


def updates(evidence: Evidence) -> Sequence[Measurement]:
    """Measure where the probe decodes a thing that a perturbation has moved.

    These are the goal after `move_goal`, and the agent after `put_back`. A world of
    them records the fact `perturbation`, and its states the fact `perturbed`. A thing
    is decoded in the one cell with its highest probability. Its old place is that of
    the last turn before the perturbation; its new place is where it is now, and the
    agent walks on. Turns with the thing at its old place are left out.

    - "updates.before": share of last turns before the perturbation with the thing
      decoded at its place.
    - "updates.new", "updates.old", "updates.elsewhere": shares of later turns.
    - "updates.change": "updates.new" less "updates.before", paired by world.
    - "updates.unperturbed": share of the turns of the same numbers, in episodes without
      perturbation, with the thing decoded at its place.
    - "updates.excess": "updates.new" less that of the same probe on random weights,
      paired by world. "updates.p" is its p value, with Holm's correction over the turns
      of a fit.

    Of random weights, every number is the mean over initialisations, and intervals
    contain the variance between them. All but "updates.before" are by turns since the
    perturbation ("since"). There is one of each for every fit of a probe of maps,
    controls included ("fit"). Shares count turns, and differences weigh all worlds
    alike. Probes are fitted to whole runs, so parts of a run have no such numbers.
    """
    if evidence.part:
        return ()

    fits = [fit for fit in decoded_turns(evidence) if fit.turns]
    if not fits:
        return [unmeasured("updates.new", NONE_DECODED)]

    measurements: list[Measurement] = []
    for fit in fits:
        for perturbation in MOVED:
            of_each = [_moved(one, perturbation) for one in fit.initialisations]
            # The turns are the same for all initialisations.
            moved, *_ = of_each
            if not moved.is_later.any():
                continue
            measured = [[*_measured(each, evidence.seed)] for each in of_each]
            found = over_initialisations(measured, shares=True)
            if fit.where["fit"] == "none" and not fit.untrained(MOVED[perturbation]):
                found += _against_random_weights(moved, fits, evidence.seed)
            of_kind = [_labelled(one, perturbation=perturbation) for one in found]
            measurements += fit.under(of_kind)
    return measurements or [unmeasured("updates.new", NONE_PERTURBED)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Moved:
    """The N turns of a fit, seen from one perturbation."""

    fit: DecodedTurns
    perturbation: str
    since: Codes
    """(N,) turns since the perturbation, 1 for the first; 0 for the last turn before
    it; -1 for all other turns.
    """
    is_unperturbed: Bools
    """(N,) turns of episodes that no perturbation was planned for."""
    at_true: Bools
    """(N,) whether the thing is decoded where it is now."""
    at_old: Bools
    """(N,) whether it is decoded at its old place."""

    @property
    def is_later(self) -> Bools:
        """(N,) turns after the perturbation."""
        return self.since > 0

    def of(self, since: str) -> Bools:
        """(N,) turns so long after the perturbation."""
        least = int(since.rstrip("+"))
        chosen: Bools = self.since == least
        if since.endswith("+"):
            chosen = self.since >= least
        return chosen


def _moved(fit: DecodedTurns, perturbation: str) -> _Moved:
    """Return where the thing that the perturbation moves is decoded."""
    thing = MOVED[perturbation]
    code = fit.classes.index(thing)
    decoded = top(fit.decoded[..., code])
    true = top(fit.cells == code)

    n_turns = len(fit.turns)
    since = np.full(n_turns, -1, dtype=np.int64)
    # No cell of a map has negative coordinates.
    old: Indices = np.full((n_turns, 2), -1, dtype=np.intp)
    is_unperturbed = np.zeros(n_turns, dtype=bool)
    for row, (trajectory, turn) in enumerate(
        zip(fit.trajectories, fit.turns, strict=True)
    ):
        planned = trajectory.world.facts.get("perturbation")
        is_unperturbed[row] = planned is None
        if planned != perturbation:
            continue
        first = _first_perturbed(trajectory)
        # Perturbed before its first turn, the thing has no old place.
        if not first or turn.index < first - 1:
            continue
        since[row] = turn.index - first + 1
        old[row] = _place(trajectory, first - 1, thing)

    # On its way, the agent comes through its old place again: there, a belief that was
    # never updated is right.
    is_back = (since > 0) & (true == old).all(axis=1)
    since[is_back] = -1
    return _Moved(
        fit=fit,
        perturbation=perturbation,
        since=since,
        is_unperturbed=is_unperturbed,
        at_true=(decoded == true).all(axis=1),
        at_old=(decoded == old).all(axis=1),
    )


def _first_perturbed(trajectory: Trajectory) -> int | None:
    """Return the index of the first turn after the perturbation; None without one."""
    for turn in trajectory.turns:
        if turn.state is not None and turn.state.facts.get("perturbed"):
            return turn.index
    return None


def _place(trajectory: Trajectory, index: int, thing: str) -> tuple[int, int]:
    """Return the true place of a thing in a turn, which has a state because a map
    probe decoded its episode.
    """
    state = trajectory.turns[index].state
    assert state is not None
    return CellMap.from_record(trajectory.world, state).place_of(thing)


def _measured(moved: _Moved, seed: int) -> Iterator[Measurement]:
    """Return the measurements of one fit and perturbation alone, see `updates`."""
    untrained = moved.fit.untrained(MOVED[moved.perturbation])
    if untrained:
        yield unmeasured("updates.new", untrained)
        return

    before = moved.since == 0
    yield _share(moved, "updates.before", moved.at_true, before, seed, NONE_BEFORE)
    for since in SINCE:
        for one in _shares(moved, since, seed):
            yield _labelled(one, since=since)


def _shares(moved: _Moved, since: str, seed: int) -> Iterator[Measurement]:
    """Return the shares of turns so long after the perturbation, the change since the
    turn before it, and the baseline.
    """
    later = moved.of(since)
    hits = (moved.at_true, moved.at_old, ~moved.at_true & ~moved.at_old)
    for name, hit in zip(SHARES, hits, strict=True):
        yield _share(moved, name, hit, later, seed, NONE_SO_LATE, since)
    yield _change(moved, later, since, seed)

    numbers = {moved.fit.turns[row].index for row in np.flatnonzero(later)}
    has_number = np.array([turn.index in numbers for turn in moved.fit.turns])
    alike = moved.is_unperturbed & has_number
    yield _share(
        moved,
        "updates.unperturbed",
        moved.at_true,
        alike,
        seed,
        NONE_UNPERTURBED,
        since,
    )


def _share(
    moved: _Moved,
    name: str,
    hits: Bools,
    among: Bools,
    seed: int,
    reason: str,
    since: str = "",
) -> Measurement:
    """Return the share of hits (N,) among some turns (N,)."""
    fit = moved.fit
    labels = (moved.perturbation, since, *fit.labels)
    chosen = hits[among], fit.groups[among]
    return share_of_turns(name, *chosen, seed, labels, reason=reason)


def _change(moved: _Moved, later: Bools, since: str, seed: int) -> Measurement:
    """Return how much more often the thing is decoded at its place than before the
    perturbation, in the same episodes.
    """
    name = "updates.change"
    if not later.any():
        return unmeasured(name, NONE_SO_LATE)

    was_right = {}
    for row in np.flatnonzero(moved.since == 0):
        was_right[moved.fit.trajectories[row].key] = moved.at_true[row]
    rows = []
    before = []
    for row in np.flatnonzero(later):
        key = moved.fit.trajectories[row].key
        if key in was_right:
            rows.append(row)
            before.append(was_right[key])
    if not rows:
        return unmeasured(name, NONE_BEFORE)

    rng = _generator(moved, seed, name, since)
    worlds = moved.fit.groups[rows]
    difference = paired_difference(moved.at_true[rows], before, worlds, rng)
    return difference.estimate.measurement(name)


def _against_random_weights(
    moved: _Moved, fits: Sequence[DecodedTurns], seed: int
) -> Iterator[Measurement]:
    """Return "updates.excess" and "updates.p"."""
    wanted = {**moved.fit.where, "fit": UNTRAINED}
    hits: Mapping[tuple[str, int], Bools] = {}
    for fit in fits:
        if fit.where == wanted:
            hits = _hits(
                [_moved(one, moved.perturbation) for one in fit.initialisations]
            )

    compared = {since: _compared(moved, hits, since, seed) for since in SINCE}
    found = [None if one is None else one.verdict.p for one in compared.values()]
    corrected = adjusted(found, holm)
    for (since, one), p in zip(compared.items(), corrected, strict=True):
        if one is None:
            reason = NO_WEIGHTS if moved.of(since).any() else NONE_SO_LATE
            nothing = [unmeasured("updates.excess", reason)]
            nothing.append(unmeasured("updates.p", reason))
            yield from (_labelled(each, since=since) for each in nothing)
            continue
        yield _labelled(one.excess, since=since)
        yield _labelled(one.p_value(p), since=since)


def _hits(several: Sequence[_Moved]) -> Mapping[tuple[str, int], Bools]:
    """Return whether each initialisation has the thing decoded at its place, by episode
    and turn.
    """
    first, *_ = several
    at_true = np.array([each.at_true for each in several])
    hits = {}
    for row in np.flatnonzero(first.is_later):
        trajectory = first.fit.trajectories[row]
        turn = first.fit.turns[row]
        hits[str(trajectory.key), turn.index] = at_true[:, row]
    return hits


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """The hits of some turns against those of random weights."""

    verdict: Verdict
    n_turns: int

    @property
    def excess(self) -> Measurement:
        return Measurement(
            name="updates.excess",
            value=self.verdict.difference,
            n=self.n_turns,
            interval=self.verdict.interval,
            clusters=self.verdict.worlds,
        )

    def p_value(self, corrected: float | None) -> Measurement:
        """Return the corrected p value, or the reason why there is no test."""
        if corrected is None:
            return unmeasured("updates.p", self.verdict.reason)
        return Measurement(
            name="updates.p",
            value=corrected,
            n=self.n_turns,
            clusters=self.verdict.worlds,
        )


def _compared(
    moved: _Moved, hits: Mapping[tuple[str, int], Bools], since: str, seed: int
) -> _Compared | None:
    """Compare the hits with those of random weights; None where no turn has both."""
    rows = []
    theirs = []
    for row in np.flatnonzero(moved.of(since)):
        trajectory = moved.fit.trajectories[row]
        place = str(trajectory.key), moved.fit.turns[row].index
        # Controls may lack turns.
        if place in hits:
            rows.append(row)
            theirs.append(hits[place])
    if not rows:
        return None

    worlds = moved.fit.groups[rows]
    ours = cluster_means(moved.at_true[rows], worlds)
    of_each = [cluster_means(each, worlds) for each in np.array(theirs).T]
    rng = _generator(moved, seed, "updates.excess", since)
    verdict = compare_with_control(UNTRAINED, ours, np.array(of_each), rng)
    return _Compared(verdict=verdict, n_turns=len(rows))


def _generator(moved: _Moved, seed: int, name: str, since: str) -> np.random.Generator:
    return generator(seed, "metric", name, moved.perturbation, since, *moved.fit.labels)


def _labelled(one: Measurement, **labels: str) -> Measurement:
    return replace(one, where={**labels, **one.where})
