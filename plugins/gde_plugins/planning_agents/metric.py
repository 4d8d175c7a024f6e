"""The metric `planning`: the effort of planning agents."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import over_episodes, played, unmeasured
from gde.numerics.stats import cluster_mean
from gde_plugins.planning_agents.effort import Effort

UNIT = "a turn"
NAMES = tuple(field.name for field in fields(Effort))


def planning(evidence: Evidence) -> Sequence[Measurement]:
    """Mean counts a turn of `Effort`, e.g. simulator steps and questions to the
    language model.

    Episodes count alike, whatever their number of turns.
    """
    spent = [(one.world.cluster, _means(one)) for one in played(evidence)]
    if not spent:
        return [
            unmeasured(f"planning.{name}", UNIT, "no episode with a turn was finished")
            for name in NAMES
        ]
    return [
        over_episodes(
            evidence,
            f"planning.{name}",
            UNIT,
            [(world, each[name]) for world, each in spent],
            cluster_mean,
        )
        for name in NAMES
    ]


def _means(trajectory: Trajectory) -> dict[str, float]:
    noted = [
        Effort.noted(turn.decision.detail) or Effort() for turn in trajectory.turns
    ]
    return {
        name: sum(asdict(each)[name] for each in noted) / len(noted) for name in NAMES
    }
