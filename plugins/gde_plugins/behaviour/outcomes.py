"""Shares of all answers and all episodes by their outcome, so that nothing is dropped
unseen.
"""

from collections import Counter

from gde.data.answer import is_strict
from gde.data.episode_table import ENDING, EPISODES
from gde.data.trajectory import ENDINGS, STATUSES, Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Number, Ratio, Total

COLUMNS = ("turns", *STATUSES, "strict")


def _facts(episode: Trajectory, _: Model) -> Facts:
    decisions = [turn.decision for turn in episode.turns]
    statuses = Counter(decision.status for decision in decisions)
    return {
        "turns": len(decisions),
        **{status: statuses[status] for status in STATUSES},
        "strict": sum(map(is_strict, decisions)),
    }


def _numbers() -> tuple[Number, ...]:
    answers = (*STATUSES, "strict")
    return (
        *(Ratio(f"outcomes.{name}", name, per="turns") for name in answers),
        Total("episodes.failed", f"{ENDING}failed"),
        # Of all episodes, failed ones included, so that they sum to one.
        *(
            Ratio(f"endings.{ending}", f"{ENDING}{ending}", per=EPISODES)
            for ending in ENDINGS
        ),
    )


outcomes = EpisodeMetric(columns=COLUMNS, facts=_facts, numbers=_numbers())
"""Share of each decision status in the turns of finished episodes, and of each ending in
all episodes.

Each kind of shares sums to one. "outcomes.strict" is the part of "outcomes.ok" that has
exactly the form asked for (`gde.data.answer`). "episodes.failed" counts the episodes
that no behaviour number uses.
"""
