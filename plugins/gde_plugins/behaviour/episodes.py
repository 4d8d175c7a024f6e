"""Which episodes the numbers are about, and by what they are clustered."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn

NOTHING_FINISHED = "no episode was finished"


def finished(evidence: Evidence) -> tuple[Trajectory, ...]:
    """Episodes that were played to an end. Failed ones say nothing of the agent; `outcomes` counts them."""
    return tuple(trajectory for trajectory in evidence.trajectories if trajectory.ending != "failed")


def worlds(trajectories: Sequence[Trajectory]) -> list[str]:
    """The cluster of each trajectory."""
    return [trajectory.world.id for trajectory in trajectories]


def turns_by_world(trajectories: Sequence[Trajectory]) -> tuple[list[Turn], list[str]]:
    """All turns in order, and the cluster of each."""
    pairs = [(turn, trajectory.world.id) for trajectory in trajectories for turn in trajectory.turns]
    return [turn for turn, _ in pairs], [world for _, world in pairs]


def unmeasured(name: str, unit: str, reason: str) -> Measurement:
    """A number that cannot be had."""
    return Measurement(name=name, value=None, unit=unit, n=0, reason=reason)
