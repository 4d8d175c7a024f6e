"""The score of purchases, as in table 2 of Yao et al. (2022), beside the success rate."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    finished,
    over_episodes,
)

NAME = "purchase.score"


def score(evidence: Evidence) -> Sequence[Measurement]:
    """Measure the mean reward of an episode's purchase, 0 without one."""
    earned = []
    for episode in finished(evidence):
        rewards = [turn.reward for turn in episode.turns]
        earned.append((episode.world.cluster, sum(rewards)))
    return [over_episodes(evidence, NAME, earned)]
