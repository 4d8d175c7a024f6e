"""The metric `planning`: the effort of planning agents."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import over_episodes, played
from gde.numerics.stats import cluster_mean
from gde_plugins.planning_agents.effort import Effort

NAMES = tuple(field.name for field in fields(Effort))


def planning(evidence: Evidence) -> Sequence[Measurement]:
    """Return mean counts of `Effort` per turn, e.g. simulator steps and model calls.

    Episodes count alike, whatever their number of turns.
    """
    spent = [(one.world.cluster, _means(one)) for one in played(evidence)]
    none = "no episode with a turn was finished"
    measurements = []
    for name in NAMES:
        values = [(world, each[name]) for world, each in spent]
        measurements.append(
            over_episodes(evidence, f"planning.{name}", values, cluster_mean, none)
        )
    return measurements


def _means(trajectory: Trajectory) -> dict[str, float]:
    totals = Counter(dict.fromkeys(NAMES, 0))
    for turn in trajectory.turns:
        totals.update(asdict(Effort.noted(turn.decision.detail) or Effort()))
    n_turns = len(trajectory.turns)
    return {name: total / n_turns for name, total in totals.items()}
