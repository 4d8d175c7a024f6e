"""The score of purchases, as in table 2 of Yao et al. (2022), beside the success rate."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    NOTHING_FINISHED,
    finished,
    over_episodes,
    unmeasured,
)

NAME = "purchase.score"


def score(evidence: Evidence) -> Sequence[Measurement]:
    """Measure the mean reward of an episode's purchase, 0 without one."""
    earned = []
    for episode in finished(evidence):
        rewards = [turn.reward for turn in episode.turns]
        earned.append((episode.world.cluster, sum(rewards)))
    if not earned:
        return [unmeasured(NAME, "share", NOTHING_FINISHED)]
    return [over_episodes(evidence, NAME, "share", earned)]
