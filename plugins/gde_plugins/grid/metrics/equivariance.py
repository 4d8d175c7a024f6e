"""Is the policy on a transformed grid the transform of the policy on the base grid?

Success and accuracy do not see a habit among equally good moves, such as going left, since it costs nothing. The policy
shows it: without the habit, both policies are the same in the frame of the base grid.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position, position
from gde.data.evidence import Evidence
from gde.data.json import NONE
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import finished, unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.grid.solver.dynamics import MOVES

FLIPS = 10_000
Policies = dict[tuple[str, str], dict[Position, Counter[Position]]]
"""(base grid, transform) to how often each move was made in each place, places and moves in the base grid's frame."""


def equivariance(evidence: Evidence) -> Sequence[Measurement]:
    """The policy on each kind of transformed grids, turned back, against that on their base grids.

    "equivariance.distance": total variation between the relative frequencies of moves, averaged over the places that
    were visited on both grids, then over base grids. It is above zero for a policy that is random, too.
    "equivariance.shift" by "move": how much more often a move was made on the base grids, with its interval.
    "equivariance.p": the probability of shifts as large in sum of squares, were each pair's two grids exchanged at
    random, as they may be if the agent does not see which is which (sign flips; whole pairs are flipped).

    Transforms that put the goal elsewhere, as "swap" does, ask for another policy and are left out. Nothing for a run
    without transformed grids, or for a part of one.
    """
    if evidence.part:
        return ()
    transformed = [one for one in finished(evidence) if "to_base" in one.world.facts]
    policies, goals = _policies(transformed)
    kinds = sorted({kind for _, kind in policies} - {NONE})
    measured: list[Measurement] = []
    for kind in kinds:
        measured.extend(_compared(kind, policies, goals, evidence.seed))
    return measured


def _compared(
    kind: str, policies: Policies, goals: dict[tuple[str, str], Position], seed: int
) -> Iterator[Measurement]:
    pairs: dict[str, NDArray[np.float64]] = {}
    for base, of in policies:
        if of != kind or (base, NONE) not in policies or goals[base, of] != goals[base, NONE]:
            continue
        found = _differences(policies[base, NONE], policies[base, kind])
        if found.size:
            pairs[base] = found
    for one in _measured(pairs, seed, kind) if pairs else _nothing():
        yield replace(one, where={"transform": kind, **one.where})


def _nothing() -> Iterator[Measurement]:
    reason = "no base grid shares its goal and a visited place with its transform: ask for transform=none beside it"
    yield unmeasured("equivariance.distance", "share", reason)
    yield unmeasured("equivariance.p", "probability", reason)


def _measured(pairs: dict[str, NDArray[np.float64]], seed: int, kind: str) -> Iterator[Measurement]:
    """Measure the (places, moves) differences of frequencies of each base grid."""
    bases = [*pairs]
    rng = generator(seed, "metric", "equivariance", kind)
    distances = [float(np.abs(found).sum(axis=1).mean() / 2) for found in pairs.values()]
    yield cluster_share(distances, bases, rng).measurement("equivariance.distance", "share")
    shifts = np.stack([found.mean(axis=0) for found in pairs.values()])
    for move, values in zip(MOVES, shifts.T, strict=True):
        found = cluster_mean(values, bases, rng).measurement("equivariance.shift", "share")
        yield replace(found, where={"move": move})
    signs = rng.choice([-1.0, 1.0], size=(FLIPS, len(shifts)))
    flipped = ((signs @ shifts) ** 2).sum(axis=1)
    observed = (shifts.sum(axis=0) ** 2).sum()
    n_as_large = (flipped >= observed - 1e-12).sum()  # the same sum in another order may differ by rounding
    p = float((1 + n_as_large) / (FLIPS + 1))
    yield Measurement(name="equivariance.p", value=p, unit="probability", n=len(bases))


def _policies(trajectories: Sequence[Trajectory]) -> tuple[Policies, dict[tuple[str, str], Position]]:
    """Moves made in each place, and goals, in the frame of the base grid."""
    policies: Policies = {}
    goals: dict[tuple[str, str], Position] = {}
    for one in trajectories:
        key = one.world.cluster, str(one.labels.get("transform", NONE))
        to_base = np.array(one.world.facts["to_base"], dtype=np.int64)
        goals[key] = _turned(to_base, position(one.world.facts, "goal"), 1)
        named = one.world.facts["moves"]
        assert isinstance(named, Mapping)
        moves = {action: _turned(to_base, position(named, action), 0) for action in named}
        of_grid = policies.setdefault(key, {})
        for turn in one.turns:
            if turn.state is not None and turn.decision.action in moves:
                here = _turned(to_base, position(turn.state.facts, "agent"), 1)
                of_grid.setdefault(here, Counter())[moves[turn.decision.action]] += 1
    return policies, goals


def _turned(to_base: NDArray[np.int64], pair: Position, affine: int) -> Position:
    """A place (affine 1) or a move (affine 0) in the frame of the base grid."""
    row, column = to_base @ np.array([*pair, affine])
    return int(row), int(column)


def _differences(
    base: dict[Position, Counter[Position]], other: dict[Position, Counter[Position]]
) -> NDArray[np.float64]:
    """(places visited on both, moves) relative frequency on the base grid less that on the other."""
    shared = sorted(base.keys() & other.keys())
    rows = [_frequencies(base[place]) - _frequencies(other[place]) for place in shared]
    return np.array(rows, dtype=np.float64).reshape(-1, len(MOVES))


def _frequencies(made: Counter[Position]) -> NDArray[np.float64]:
    """(moves,) relative frequency of each move."""
    return np.array([made[move] / made.total() for move in MOVES.values()])
