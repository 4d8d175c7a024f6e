"""Certified bounds of accuracy and regret where the optimum is not known exactly.

They come from the fact `optimum` of a state: the certainly optimal actions, the
undecided ones, and the least and the most actions left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.observation import State
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import (
    NOTHING_FINISHED,
    Place,
    by_world,
    count,
    is_optimal,
    over_episodes,
    over_worlds,
    played,
    pooled_share,
    unmeasured,
)
from gde.numerics.stats import cluster_mean

OPTIMUM = "optimum"
NAMES = (
    "bounds.accuracy.least",
    "bounds.accuracy.most",
    "bounds.accuracy.certified",
    "bounds.certified",
    "bounds.regret.least",
    "bounds.regret.most",
)
NO_SEARCH = "nothing is certified: set env.search to 1 or more"


@dataclass(frozen=True)
class _Known:
    """What is certain at one moment."""

    optimal: tuple[str, ...]
    undecided: tuple[str, ...]
    least: int | None
    """Actions left; None where the mission is out of reach, or not known to be in it.
    """
    most: int | None

    @classmethod
    def of(cls, state: State | None) -> "_Known | None":
        fact = state.facts.get(OPTIMUM) if state is not None else None
        if not isinstance(fact, Mapping):
            return None
        return cls(
            optimal=_texts(fact["optimal"]),
            undecided=_texts(fact["undecided"]),
            least=_whole(fact["least"]),
            most=_whole(fact["most"]),
        )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Sequence) else ()


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def bounds(evidence: Evidence) -> Sequence[Measurement]:
    """Measure accuracy and regret from below and above; n counts worlds or episodes.

    An undecided action counts as not optimal from below, and as optimal from above.
    "bounds.accuracy.certified" is the share of optimal actions at the certified turns
    alone. Regret is the number of turns that brought the agent no nearer to success; an
    episode that may end out of reach of it has none.
    """
    found = list(_episodes(evidence))
    if not found:
        reason = NO_SEARCH if any(played(evidence)) else NOTHING_FINISHED
        return [unmeasured(name, reason) for name in NAMES]

    measured = []
    both = (("bounds.accuracy.least", False), ("bounds.accuracy.most", True))
    for name, at_most in both:
        shares = []
        for one, known in found:
            pairs = zip(one.turns, known, strict=True)
            hits = [_is_hit(turn, each, at_most) for turn, each in pairs]
            shares.append((Place.of(one), fmean(hits)))
        means = {place: fmean(several) for place, several in by_world(shares).items()}
        measured.append(over_worlds(evidence, name, means))

    sure = []
    hits_of = []
    for one, _ in found:
        turns = [turn for turn in one.turns if turn.optimal is not None]
        hits_of.append(count(one, map(is_optimal, turns)))
        sure.append(count(one, (turn.optimal is not None for turn in one.turns)))
    none = "no turn is certified"
    name = "bounds.accuracy.certified"
    measured.append(pooled_share(evidence, name, hits_of, none))
    measured.append(pooled_share(evidence, "bounds.certified", sure))
    return [*measured, *_regrets(evidence, found)]


Found = tuple[Trajectory, list[_Known]]


def _episodes(evidence: Evidence) -> Iterator[Found]:
    for one in played(evidence):
        known = []
        for turn in one.turns:
            each = _Known.of(turn.state)
            if each is None:
                return
            known.append(each)
        yield one, known


def _is_hit(turn: Turn, known: _Known, at_most: bool) -> bool:
    action = turn.decision.action
    return action in known.optimal or (at_most and action in known.undecided)


def _regrets(evidence: Evidence, found: Sequence[Found]) -> Iterator[Measurement]:
    """Turns taken, less the actions that they brought the agent nearer by."""
    least = []
    most = []
    for one, known in found:
        end = _Known.of(one.final_state)
        left = (
            (0, 0) if one.succeeded else (end.least, end.most) if end else (None, None)
        )
        start = known[0]
        n_turns = len(one.turns)
        if start.most is not None and left[0] is not None:
            regret = max(0, n_turns - start.most + left[0])
            least.append((one.world.cluster, float(regret)))
        if start.least is not None and left[1] is not None:
            regret = n_turns - start.least + left[1]
            most.append((one.world.cluster, float(regret)))
    for name, values in (("bounds.regret.least", least), ("bounds.regret.most", most)):
        if len(values) < len(found):
            n_lost = len(found) - len(values)
            reason = f"success is not known to be within reach in {n_lost} of {len(found)} episodes"
            yield unmeasured(name, reason)
        else:
            yield over_episodes(evidence, name, values, cluster_mean)
