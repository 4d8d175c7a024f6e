"""Equivariance: the policy on a transformed grid against the transform of the policy on
its base grid.

A habit among equally good moves, such as going left, costs nothing, so success and
accuracy do not show it. The policy does: without the habit, both policies are the same
in the frame of the base grid.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from gde.data.arrays import Doubles, Ints
from gde.data.cell_map import Position, position
from gde.data.evidence import Evidence
from gde.data.json import NONE
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import finished, unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.grid.solver.dynamics import MOVES

DISTANCE = "equivariance.distance"
SHIFT = "equivariance.shift"
P_VALUE = "equivariance.p"
FLIPS = 10_000
Policy = dict[Position, Counter[Position]]
"""Number of times that each move was made in each place, in the frame of the base
grid.
"""
GridKey = tuple[str, str]
"""Base grid and transform."""


def equivariance(evidence: Evidence) -> Sequence[Measurement]:
    """The policy on each kind of transformed grids, turned back, against the policy on
    their base grids.

    "equivariance.distance": total variation between the relative frequencies of moves,
    averaged over the places that were visited on both grids, then over base grids. A
    random policy is above zero, too. "equivariance.shift" by "move": the frequency of
    the move on the base grids minus that on the transformed ones, with its interval.
    "equivariance.p": the probability of shifts with as large a sum of squares if the
    two grids of each pair were exchanged at random, as they may be if the agent does
    not notice the transform (sign flips of whole pairs).

    Transforms that put the goal elsewhere, as "swap" does, need another policy and are
    left out. A run without transformed grids has no such measurements, nor has a part
    of a run.
    """
    if evidence.part:
        return ()
    transformed = [one for one in finished(evidence) if "to_base" in one.world.facts]
    policies, goals = _policies(transformed)
    kinds = {kind for _, kind in policies}
    measured: list[Measurement] = []
    for kind in sorted(kinds - {NONE}):
        measured.extend(_compared(kind, policies, goals, evidence.seed))
    return measured


def _policies(
    trajectories: Sequence[Trajectory],
) -> tuple[dict[GridKey, Policy], dict[GridKey, Position]]:
    """Return the policy on each grid and its goal, in the frame of the base grid."""
    policies: dict[GridKey, Policy] = {}
    goals: dict[GridKey, Position] = {}
    for one in trajectories:
        facts = one.world.facts
        key = (one.world.cluster, str(one.labels.get("transform", NONE)))
        # Places are points and moves are directions, so the offset of the map applies
        # to places alone.
        to_base = np.array(facts["to_base"], dtype=np.int64)
        goals[key] = _turned(to_base, position(facts, "goal"), 1)

        named = facts["moves"]
        assert isinstance(named, Mapping)
        moves = {
            action: _turned(to_base, position(named, action), 0) for action in named
        }

        policy = policies.setdefault(key, {})
        for turn in one.turns:
            action = turn.decision.action
            if turn.state is not None and action in moves:
                here = _turned(to_base, position(turn.state.facts, "agent"), 1)
                made = policy.setdefault(here, Counter())
                made[moves[action]] += 1
    return policies, goals


def _turned(to_base: Ints, pair: Position, affine: int) -> Position:
    """Return a place (affine 1) or a move (affine 0) in the frame of the base grid."""
    row, column = to_base @ np.array([*pair, affine])
    return int(row), int(column)


def _compared(
    kind: str,
    policies: dict[GridKey, Policy],
    goals: dict[GridKey, Position],
    seed: int,
) -> Iterator[Measurement]:
    """Compare the grids of one transform with their base grids."""
    bases: list[str] = []
    distances: list[float] = []
    shift_rows: list[Doubles] = []
    for base, of in policies:
        key = (base, NONE)
        if of != kind or key not in policies or goals[base, kind] != goals[key]:
            continue
        ours = policies[key]
        other = policies[base, kind]
        differences = []
        for place in sorted(ours.keys() & other.keys()):
            differences.append(_frequencies(ours[place]) - _frequencies(other[place]))
        # Without a shared place there is nothing to compare.
        if differences:
            found = np.array(differences, dtype=np.float64)
            variation = np.abs(found).sum(axis=1).mean() / 2
            bases.append(base)
            distances.append(float(variation))
            shift_rows.append(found.mean(axis=0))

    where = {"transform": kind}
    if not bases:
        reason = "no base grid shares its goal and a visited place with its transform: ask for transform=none beside it"
        for name in (DISTANCE, P_VALUE):
            yield unmeasured(name, reason, where)
        return

    rng = generator(seed, "metric", "equivariance", kind)
    distance = cluster_share(distances, bases, rng).measurement(DISTANCE)
    yield replace(distance, where=where)
    shifts = np.stack(shift_rows)
    for move, values in zip(MOVES, shifts.T, strict=True):
        shift = cluster_mean(values, bases, rng).measurement(SHIFT)
        yield replace(shift, where={**where, "move": move})

    # Exchanging the two grids of a pair flips the signs of all its shifts.
    signs = rng.choice([-1.0, 1.0], size=(FLIPS, len(shifts)))
    flipped = ((signs @ shifts) ** 2).sum(axis=1)
    observed = (shifts.sum(axis=0) ** 2).sum()
    # The same sum in another order may differ by rounding.
    n_as_large = (flipped >= observed - 1e-12).sum()
    p = float((1 + n_as_large) / (FLIPS + 1))
    yield Measurement(name=P_VALUE, value=p, n=len(bases), where=where)


def _frequencies(made: Counter[Position]) -> Doubles:
    """Return (moves,) the relative frequency of each move."""
    total = made.total()
    return np.array([made[move] / total for move in MOVES.values()])
