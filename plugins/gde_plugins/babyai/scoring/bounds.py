"""Certified bounds of accuracy and regret where the optimum is not known exactly.

They come from the fact `optimum` of a state: the certainly optimal actions, the
undecided ones, and the least and the most actions left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.episodes import is_optimal
from gde.numerics.numbers import Mean, Missing, Ratio

OPTIMUM = "optimum"
NO_SEARCH = "nothing is certified: set env.search to 1 or more"


@dataclass(frozen=True)
class _Known:
    """What is certain at one moment."""

    optimal: tuple[str, ...]
    possible: tuple[str, ...]
    """Those, and the undecided ones."""
    least: int | None
    """Actions left; None where the mission is out of reach, or not known to be in it.
    """
    most: int | None

    @classmethod
    def of(cls, state: State | None) -> "_Known | None":
        fact = state.facts.get(OPTIMUM) if state is not None else None
        if not isinstance(fact, Mapping):
            return None
        optimal = _texts(fact["optimal"])
        return cls(
            optimal=optimal,
            possible=(*optimal, *_texts(fact["undecided"])),
            least=_whole(fact["least"]),
            most=_whole(fact["most"]),
        )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Sequence) else ()


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _facts(episode: Trajectory, _: Model) -> Facts:
    # An impossible mission has neither optimal actions nor regret.
    turns = () if episode.impossible else episode.turns
    found: dict[str, float | None] = dict.fromkeys(bounds.columns)
    known = [each for turn in turns if (each := _Known.of(turn.state))]
    found["turns"] = len(turns)
    found["unsearched"] = len(turns) - len(known)
    if not turns or found["unsearched"]:
        return found

    actions = [turn.decision.action for turn in turns]
    moments = list(zip(actions, known, strict=True))
    found["least"] = sum(action in each.optimal for action, each in moments)
    found["most"] = sum(action in each.possible for action, each in moments)
    certified = [turn for turn in turns if turn.optimal is not None]
    found["certified"] = len(certified)
    found["optimal"] = sum(map(is_optimal, certified))

    # Turns taken, less the actions that they brought the agent nearer by.
    least, most = _left(episode)
    start = known[0]
    if start.most is not None and least is not None:
        found["regret_least"] = max(0, len(turns) - start.most + least)
    if start.least is not None and most is not None:
        found["regret_most"] = len(turns) - start.least + most
    found["played"] = 1
    found["lost_least"] = found["regret_least"] is None
    found["lost_most"] = found["regret_most"] is None
    return found


def _left(episode: Trajectory) -> tuple[int | None, int | None]:
    """The least and the most actions left in the end."""
    if episode.succeeded:
        return 0, 0
    end = _Known.of(episode.final_state)
    return (end.least, end.most) if end else (None, None)


UNSEARCHED = Missing("unsearched", "turns", NO_SEARCH)
LOST = "success is not known to be within reach in {} of {} episodes"
_Accuracy = partial(Mean, per="turns", over="worlds", missing=(UNSEARCHED,))
_Share = partial(Ratio, missing=(UNSEARCHED,))
bounds = EpisodeMetric(
    columns=(
        *("turns", "unsearched", "least", "most", "certified", "optimal"),
        *("regret_least", "regret_most", "played", "lost_least", "lost_most"),
    ),
    facts=_facts,
    numbers=(
        _Accuracy("bounds.accuracy.least", "least"),
        _Accuracy("bounds.accuracy.most", "most"),
        _Share(
            "bounds.accuracy.certified",
            "optimal",
            per="certified",
            reason="no turn is certified",
        ),
        _Share("bounds.certified", "certified", per="turns"),
        *(
            Mean(
                f"bounds.regret.{name}",
                f"regret_{name}",
                share=False,
                missing=(UNSEARCHED, Missing(f"lost_{name}", "played", LOST)),
            )
            for name in ("least", "most")
        ),
    ),
)
"""Accuracy and regret from below and above; n counts worlds or episodes. There is none
where an episode was played without a search.

An undecided action counts as not optimal from below, and as optimal from above.
"bounds.accuracy.certified" is the share of optimal actions at the certified turns
alone. Regret is the number of turns that brought the agent no nearer to success; an
episode that may end out of reach of it has none.
"""
