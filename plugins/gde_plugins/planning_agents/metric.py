"""The metric `planning`: the effort of planning agents."""

from collections import Counter
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
    """Return mean counts of `Effort` per turn, e.g. simulator steps and model calls.

    Episodes count alike, whatever their number of turns.
    """
    spent = [(one.world.cluster, _means(one)) for one in played(evidence)]
    if not spent:
        return [
            unmeasured(f"planning.{name}", UNIT, "no episode with a turn was finished")
            for name in NAMES
        ]
    measurements = []
    for name in NAMES:
        values = [(world, each[name]) for world, each in spent]
        measurements.append(
            over_episodes(evidence, f"planning.{name}", UNIT, values, cluster_mean)
        )
    return measurements


def _means(trajectory: Trajectory) -> dict[str, float]:
    totals = Counter(dict.fromkeys(NAMES, 0))
    for turn in trajectory.turns:
        totals.update(asdict(Effort.noted(turn.decision.detail) or Effort()))
    n_turns = len(trajectory.turns)
    return {name: total / n_turns for name, total in totals.items()}
