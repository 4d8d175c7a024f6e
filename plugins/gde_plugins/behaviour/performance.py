"""Success rate, accuracy and length of episodes."""

from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import CERTIFIED, is_optimal
from gde.numerics.numbers import Mean, Missing, Ratio

NO_GOAL = "the world has no goal that can be reached"
NO_SOLVABLE = "no world can be solved"
UNCERTIFIED = Missing.of_turns(CERTIFIED, "uncertified")


def _success(episode: Trajectory, _: Model) -> Facts:
    is_impossible = episode.impossible
    return {
        "success": episode.success,
        "solvable": None if is_impossible else episode.success,
        "impossible": 1 if is_impossible else None,
        "possible": not is_impossible,
        "lost": episode.lost,
        "any_lost": 1 if episode.lost else None,
    }


def _accuracy(episode: Trajectory, _: Model) -> Facts:
    # In an impossible world no action is optimal, whoever takes it.
    turns = () if episode.impossible else episode.turns
    return {
        "turns": len(turns),
        "uncertified": CERTIFIED.unmet(turns),
        "optimal": sum(map(is_optimal, turns)),
    }


def _length(episode: Trajectory, _: Model) -> Facts:
    return {"turns": len(episode.turns)}


success = EpisodeMetric(
    columns=("success", "solvable", "impossible", "possible", "lost", "any_lost"),
    facts=_success,
    numbers=(
        Mean("success", "success", reason=NO_GOAL),
        Mean("success.solvable", "solvable", reason=NO_SOLVABLE, only="impossible"),
        Mean("success.lost", "lost", per="possible", only="any_lost"),
    ),
)
"""The success rate: the share of the goal that finished episodes reach (Arghal et al.
2026, eq. 1).

In most worlds an episode reaches all or nothing. Where some worlds are proved to be
impossible, "success.solvable" is the rate over the others. "success.lost" is the share
of those in which the agent is proved to have put the goal out of reach.
"""

accuracy = EpisodeMetric(
    columns=("turns", "uncertified", "optimal"),
    facts=_accuracy,
    numbers=(
        Mean("accuracy", "optimal", per="turns", over="worlds", missing=(UNCERTIFIED,)),
        Ratio("accuracy.pooled", "optimal", per="turns", missing=(UNCERTIFIED,)),
    ),
)
"""The per-action accuracy (Arghal et al. 2026, eqs. 2 and 3), and the same pooled over
all steps.

"accuracy" is the share of optimal actions in a trajectory, averaged over the
trajectories of a world, then over worlds: its n is the number of worlds.
"accuracy.pooled" gives every step the same weight: its n is the number of steps. An
unusable answer is a step that was not optimal.
"""

length = EpisodeMetric(
    columns=("turns",),
    facts=_length,
    numbers=(Mean("length", "turns", share=False),),
)
"""The mean number of turns of a finished episode, unusable answers included."""
