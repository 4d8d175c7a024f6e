"""Which episodes the numbers are about, and how they are averaged over worlds."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.stats import Estimate, cluster_share
from gde.seeding import generator

NOTHING_FINISHED = "no episode was finished"


class Place(NamedTuple):
    """A world, which averages are taken over, and the cluster that it is in, which intervals resample."""

    world: str
    cluster: str

    @classmethod
    def of(cls, trajectory: Trajectory) -> "Place":
        """Where the episode took place."""
        return cls(trajectory.world.id, trajectory.world.cluster)


def finished(evidence: Evidence) -> tuple[Trajectory, ...]:
    """Episodes that were played to an end. Failed ones say nothing of the agent; `outcomes` counts them."""
    return tuple(trajectory for trajectory in evidence.trajectories if trajectory.ending != "failed")


def by_world(trajectories: Sequence[Trajectory]) -> dict[Place, list[Trajectory]]:
    """The episodes of each world."""
    places: dict[Place, list[Trajectory]] = {}
    for trajectory in trajectories:
        places.setdefault(Place.of(trajectory), []).append(trajectory)
    return places


def clusters(trajectories: Sequence[Trajectory]) -> list[str]:
    """The cluster of each trajectory."""
    return [trajectory.world.cluster for trajectory in trajectories]


def turns_by_cluster(trajectories: Sequence[Trajectory]) -> tuple[list[Turn], list[str]]:
    """All turns in order, and the cluster of each."""
    turns = [turn for trajectory in trajectories for turn in trajectory.turns]
    return turns, [trajectory.world.cluster for trajectory in trajectories for _ in trajectory.turns]


def uncertified(trajectories: Sequence[Trajectory]) -> str:
    """Why actions cannot be held against optimal ones; empty when they can."""
    turns = [turn for trajectory in trajectories for turn in trajectory.turns]
    if not turns:
        return NOTHING_FINISHED
    unknown = sum(turn.optimal is None for turn in turns)
    return f"{unknown} of {len(turns)} turns have no certified optimal actions" if unknown else ""


def is_optimal(turn: Turn) -> bool:
    """Whether the turn's action is one of the certified optimal ones."""
    return turn.optimal is not None and turn.decision.action in turn.optimal


def over_worlds(
    evidence: Evidence,
    name: str,
    unit: str,
    values: Mapping[Place, float],
    estimate: Callable[..., Estimate] = cluster_share,
) -> Measurement:
    """The mean of one value a world, of at least one world, all with equal weight; n counts the worlds.

    Args:
        evidence: gives the seed for resampling.
        name: of the measurement, and of the stream of random numbers.
        unit: of the values.
        values: in [0, 1].
        estimate: `gde.numerics.stats.cluster_mean` for values of another range.
    """
    rng = generator(evidence.seed, "metric", name)
    return estimate(list(values.values()), [place.cluster for place in values], rng).measurement(name, unit)


def unmeasured(name: str, unit: str, reason: str) -> Measurement:
    """A number that cannot be had."""
    return Measurement(name=name, value=None, unit=unit, n=0, reason=reason)
