"""Does the agent act optimally, step by step?"""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.seeding import generator
from gde.stats import cluster_share
from gde_plugins.behaviour.episodes import NOTHING_FINISHED, finished, turns_by_world, unmeasured

NAMES = ("accuracy", "accuracy.pooled")


def accuracy(evidence: Evidence) -> Sequence[Measurement]:
    """Per-action accuracy (paper 000, equations 2 and 3), and the same pooled over all steps.

    "accuracy" is the share of optimal actions in a trajectory, averaged over the trajectories of a world, then over
    worlds: its n is the number of worlds. "accuracy.pooled" gives every step the same weight: its n is the number of
    steps. An unusable answer is a step that was not optimal.
    """
    trajectories = [trajectory for trajectory in finished(evidence) if trajectory.turns]
    if reason := _reason(trajectories):
        return [unmeasured(name, "share", reason) for name in NAMES]
    turns, worlds = turns_by_world(trajectories)
    shares = _by_world(trajectories)
    of_worlds, of_steps = (generator(evidence.seed, "metric", name) for name in NAMES)
    return [
        cluster_share(list(shares.values()), list(shares), of_worlds).measurement("accuracy", "share"),
        cluster_share([_is_optimal(turn) for turn in turns], worlds, of_steps).measurement("accuracy.pooled", "share"),
    ]


def _reason(trajectories: Sequence[Trajectory]) -> str:
    turns, _ = turns_by_world(trajectories)
    if not turns:
        return NOTHING_FINISHED
    unknown = sum(turn.optimal is None for turn in turns)
    return f"{unknown} of {len(turns)} turns have no certified optimal actions" if unknown else ""


def _by_world(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    shares: dict[str, list[float]] = defaultdict(list)
    for trajectory in trajectories:
        shares[trajectory.world.id].append(fmean(_is_optimal(turn) for turn in trajectory.turns))
    return {world: fmean(of_world) for world, of_world in shares.items()}


def _is_optimal(turn: Turn) -> bool:
    return turn.optimal is not None and turn.decision.action in turn.optimal
