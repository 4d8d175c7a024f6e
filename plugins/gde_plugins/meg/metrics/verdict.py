"""The verdict on a run: is its agent directed towards the goal?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gde.data.evidence import Evidence
from gde.data.goals import GOAL_MOVED, Goals
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.parts.environment import Environment
from gde.seeding import generator
from gde_plugins.meg.config import VerdictConfig
from gde_plugins.meg.metrics.recorded import actions_of, begun, finished_in
from gde_plugins.meg.verdict.pursuits import goals_of
from gde_plugins.meg.verdict.verdict import Episode, Verdict, judge

NAME = "meg.verdict"
SWAPPED = "the goal was moved in each world"


class MegVerdict:
    """The metric `meg-verdict`: a test whether the agent is goal-blind, see
    `verdict.randomisation`.

    - "meg.verdict": the p value; `where.verdict` is "towards", "towards this region",
      "away from", "not shown" or "cannot be said". n counts worlds whose goal could have been another, and in
      which a decision is usable. Of the conditions of a run the p values are corrected
      together (Holm 1979), and ".raw" has them before.
    - ".share": the share of what an optimal agent would show in the same states;
      negative away from the goal.
    - ".found": of so many simulated runs of a walker that is 70 % random in the same
      worlds (n), those in which it would be called directed towards the goal.

    In a run with a goal swap, the pairs of episodes are tested, and `where.test` says
    so. A single world has no verdict, and neither has half of the pairs.
    """

    def __init__(self, config: VerdictConfig) -> None:
        self._runs = config.runs
        self._by_condition: dict[int, Verdict] = {}
        """Of the run that was judged last, whose conditions come next."""

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        if evidence.part.keys() & {"world", GOAL_MOVED}:
            return ()
        trajectories = finished_in(evidence)
        if not trajectories:
            reason = "no episode was finished"
            return _measurements(Verdict(outcome="cannot be said", reason=reason), {})

        condition = trajectories[0].key.condition
        if evidence.part and condition in self._by_condition:
            return _measurements(self._by_condition[condition], {})
        where: Labels = {}
        episodes = _episodes
        if any(GOAL_MOVED in each.labels for each in trajectories):
            where = {"test": SWAPPED}
            episodes = _swapped
        rng = generator(evidence.seed, "metric", NAME)
        found, parts = judge(episodes(trajectories, evidence), rng, self._runs)
        if not evidence.part:
            self._by_condition = {} if where else parts
        return _measurements(found, where)


def _episodes(
    trajectories: Sequence[Trajectory], evidence: Evidence
) -> Iterator[Episode]:
    for trajectory in trajectories:
        yield _episode(trajectory, evidence)


def _swapped(
    trajectories: Sequence[Trajectory], evidence: Evidence
) -> Iterator[Episode]:
    """Yield the episodes of each pair, each with its goal and that of the other."""
    for pair in _pairs(trajectories):
        own, moved = [_episode(each, evidence) for each in pair]
        goal = _goal(own.begin)
        other = _goal(moved.begin)
        if goal != other:
            yield replace(own, goals=_alike(goal, other), base=partial(_role, goal))
            yield replace(moved, goals=_alike(other, goal), base=partial(_role, other))


def _pairs(
    trajectories: Sequence[Trajectory],
) -> Iterator[tuple[Trajectory, Trajectory]]:
    """Pair the episodes of a run with a goal swap: own goal first, then goal moved.

    Episodes of which the other is missing are left out.
    """
    own: dict[tuple[int, int, int], Trajectory] = {}
    for trajectory in trajectories:
        key = trajectory.key
        # Conditions with and without a moved goal alternate.
        place = (key.condition // 2, key.world, key.repeat)
        if not trajectory.labels[GOAL_MOVED]:
            own[place] = trajectory
        elif place in own:
            yield own[place], trajectory


def _episode(trajectory: Trajectory, evidence: Evidence) -> Episode:
    return Episode(
        cluster=trajectory.world.cluster,
        begin=partial(begun, evidence, trajectory),
        actions=actions_of(trajectory),
        base=partial(_in_base, trajectory.world.facts.get("to_base")),
        condition=trajectory.key.condition,
    )


def _in_base(to_base: Any, goal: str) -> str:
    """The name of a goal "ROW,COLUMN" in the grid that was transformed; other names are
    those of every variation.
    """
    if to_base is None:
        return goal
    row, column = np.array(to_base) @ [*map(int, goal.split(",")), 1]
    return f"{row},{column}"


def _goal(begin: Callable[[], Environment]) -> str:
    with closing(begin()) as environment:
        return goals_of(environment).present


def _alike(goal: str, other: str) -> Goals:
    """Two goals of equal chances, the present one first.

    A pair is drawn again by exchanging its episodes, see `verdict.randomisation`.
    """
    return Goals(probabilities={goal: 0.5, other: 0.5}, present=goal)


def _role(present: str, goal: str) -> str:
    """A goal's name in both episodes of a pair, which may have been exchanged."""
    return "present" if goal == present else "other"


def _measurements(found: Verdict, where: Labels) -> list[Measurement]:
    test = Measurement(
        name=NAME,
        value=found.p_value,
        n=found.n,
        where={"verdict": found.outcome, **where},
        reason=f"{found.outcome}: {found.reason}" if found.reason else "",
    )
    if found.p_value is None:
        return [test]

    measurements = [test]
    if found.raw != found.p_value:
        raw = Measurement(name=f"{NAME}.raw", value=found.raw, n=found.n)
        measurements.append(raw)
    if found.share is None:
        reason = "an optimal agent would show nothing in these states"
        share = Measurement(name=f"{NAME}.share", value=None, n=found.n, reason=reason)
        measurements.append(share)
    else:
        measurements.append(found.share.measurement(f"{NAME}.share"))
    power = Measurement(name=f"{NAME}.found", value=found.found, n=found.runs)
    return [*measurements, power]
