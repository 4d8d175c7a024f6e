"""The metric `planning`: the effort of planning agents."""

from collections import Counter
from dataclasses import asdict, fields

from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean
from gde_plugins.planning_agents.effort import Effort

NAMES = tuple(field.name for field in fields(Effort))
NONE = "no episode with a turn was finished"


def _facts(episode: Trajectory, _: Model) -> Facts:
    totals = Counter(dict.fromkeys(("turns", *NAMES), 0))
    totals["turns"] = len(episode.turns)
    for turn in episode.turns:
        totals.update(asdict(Effort.noted(turn.decision.detail) or Effort()))
    return totals


planning = EpisodeMetric(
    columns=("turns", *NAMES),
    facts=_facts,
    numbers=tuple(
        Mean(f"planning.{name}", name, per="turns", share=False, reason=NONE)
        for name in NAMES
    ),
)
"""Mean counts of `Effort` per turn, e.g. simulator steps and model calls.

Episodes count alike, whatever their number of turns.
"""
