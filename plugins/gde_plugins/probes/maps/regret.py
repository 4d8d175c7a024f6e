"""Steps lost where the decoded map leads rightly, and where it misleads."""

from collections.abc import Iterator
from math import nan

import numpy as np

from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean
from gde.seeding import generator
from gde_plugins.probes.arrays import Bools, Doubles
from gde_plugins.probes.maps.held_out import DecodedTurns

NEITHER = "no turn with a known value has such a map"
NOT_PAIRED = "no world has both turns in which the map misleads and others"


def regrets(fit: DecodedTurns, right: Bools, seed: int) -> Iterator[Measurement]:
    """Regret of an action by whether the decoded map misleads in its turn (N,).

    - "beliefs.regret.right", "beliefs.regret.wrong": mean number of steps that an
      action loses: 0 for an optimal one, 1 for one that stays, 2 for one that leads
      away.
    - "beliefs.regret.difference": wrong minus right, within each world that has both.

    Worlds have equal weights; n counts worlds.
    """
    if untrained := fit.untrained("agent", "goal"):
        yield unmeasured("beliefs.regret.difference", untrained)
        return
    lost = np.array(
        [
            steps_lost(trajectory, turn)
            for trajectory, turn in zip(fit.trajectories, fit.turns, strict=True)
        ]
    )
    known = ~np.isnan(lost)
    labels = fit.labels
    in_right = _by_world(fit, lost, known & right)
    in_wrong = _by_world(fit, lost, known & ~right)
    yield _mean("beliefs.regret.right", in_right, NEITHER, seed, *labels)
    yield _mean("beliefs.regret.wrong", in_wrong, NEITHER, seed, *labels)

    of_both = {}
    for world, loss in in_wrong.items():
        if world in in_right:
            of_both[world] = loss - in_right[world]
    yield _mean("beliefs.regret.difference", of_both, NOT_PAIRED, seed, *labels)


def steps_lost(trajectory: Trajectory, turn: Turn) -> float:
    """Steps that the action lost, where every step costs one; NaN if not known."""
    value = turn.value
    following = turn.index + 1
    if value is None or not np.isfinite(value):
        return nan
    if turn.terminated:
        return value + 1
    # The state in which an episode is cut off has no recorded value.
    if following >= len(trajectory.turns):
        return nan
    later = trajectory.turns[following]
    if later.value is None or _is_perturbed(turn) != _is_perturbed(later):
        return nan
    return nan if later.out_of_reach else value - later.value + 1


def _is_perturbed(turn: Turn) -> bool:
    return turn.state is not None and bool(turn.state.facts.get("perturbed"))


def _by_world(fit: DecodedTurns, values: Doubles, among: Bools) -> dict[str, float]:
    groups = fit.groups
    return {
        str(world): float(values[among & (groups == world)].mean())
        for world in np.unique(groups[among])
    }


def _mean(
    name: str, of_worlds: dict[str, float], reason: str, seed: int, *labels: str
) -> Measurement:
    if not of_worlds:
        return unmeasured(name, reason)
    rng = generator(seed, "metric", name, *labels)
    mean = cluster_mean([*of_worlds.values()], [*of_worlds], rng)
    return mean.measurement(name)
