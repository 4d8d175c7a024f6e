"""The score of purchases, as in table 2 of Yao et al. (2022), beside the success rate."""

from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean

NAME = "purchase.score"


def _facts(episode: Trajectory, _: Model) -> Facts:
    return {"reward": sum(turn.reward for turn in episode.turns)}


score = EpisodeMetric(
    columns=("reward",), facts=_facts, numbers=(Mean(NAME, "reward"),)
)
"""The mean reward of an episode's purchase, 0 without one."""
