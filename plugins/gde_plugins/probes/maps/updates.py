"""The metric `updates`: is a moved thing decoded at its new place or at its old one?

See Arghal et al. (2026), appendices A.2 and A.3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gde.data.cell_map import CellMap
from gde.data.evidence import Evidence
from gde.data.measure import Measures
from gde.data.result import Measurement, labelled
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import paired_difference
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Codes, Indices
from gde_plugins.probes.maps.against_controls import Measured, against_controls
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns, share_of_turns
from gde_plugins.probes.maps.policies import top
from gde_plugins.probes.measures import UPDATES

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

    "updates.new" is tested against the controls, corrected over the turns since the
    perturbation. Of random weights, every number is the mean over initialisations, and
    intervals contain the variance between them. All but "updates.before" are by turns since the
    perturbation ("since"). There is one of each for every fit of a probe of maps,
    controls included ("fit"). Shares count turns, and differences weigh all worlds
    alike. Probes are fitted to whole runs, so parts of a run have no such numbers.
    """
    if evidence.part:
        return ()

    fits = [fit for fit in decoded_turns(evidence) if fit.turns]
    if not fits:
        return [unmeasured("updates.new", NONE_DECODED)]

    found: list[Measurement] = []
    for perturbation in MOVED:
        # The turns are the same for all draws of a control.
        moved = [fit for fit in fits if _moved(fit, perturbation).is_later.any()]
        measure = partial(_measured, perturbation=perturbation, seed=evidence.seed)
        found += against_controls(moved, measure, Measures(UPDATES), evidence.seed)
    return found or [unmeasured("updates.new", NONE_PERTURBED)]


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


def _measured(fit: DecodedTurns, perturbation: str, seed: int) -> Measured:
    """The numbers of one fit and perturbation, see `updates`."""
    labels = {"perturbation": perturbation}
    moved = _moved(fit, perturbation)
    if untrained := fit.untrained(MOVED[perturbation]):
        return Measured(measurements=[unmeasured("updates.new", untrained, labels)])

    before = moved.since == 0
    share = _share(moved, "updates.before", moved.at_true, before, seed, NONE_BEFORE)
    found = [replace(share, where=labels)]
    scores = {}
    for since in SINCE:
        where = {**labels, "since": since}
        found += [replace(one, where=where) for one in _shares(moved, since, seed)]
        later = moved.of(since)
        if later.any():
            score = np.where(later, moved.at_true, np.nan)
            scores[labelled("updates.new", where)] = score
    return Measured(measurements=found, scores=scores)


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

    labels = (moved.perturbation, since, *moved.fit.labels)
    rng = generator(seed, "metric", name, *labels)
    worlds = moved.fit.groups[rows]
    difference = paired_difference(moved.at_true[rows], before, worlds, rng)
    return difference.estimate.measurement(name)
