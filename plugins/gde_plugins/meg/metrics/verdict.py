"""The verdict on a run: is its agent directed towards the goal?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from gde.data.evidence import Evidence
from gde.data.goals import GOAL_MOVED, Goals, swapped_pairs
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.parts.environment import Environment
from gde.parts.metric import Metric
from gde.seeding import generator
from gde_plugins.meg.config import VerdictConfig
from gde_plugins.meg.metrics.recorded import actions_of, begun, finished_in
from gde_plugins.meg.verdict.pursuits import goals_of
from gde_plugins.meg.verdict.verdict import Episode, Verdict, judge

NAME = "meg.verdict"
SWAPPED = "the goal was moved in each world"


def measures_verdict(config: VerdictConfig) -> Metric:
    """Make the metric `meg-verdict`."""
    return partial(verdict, runs=config.runs)


def verdict(evidence: Evidence, runs: int) -> Sequence[Measurement]:
    """Test whether the agent is goal-blind, see `verdict.randomisation`.

    - "meg.verdict": the p value; `where.verdict` is "shown", "not shown" or "cannot be
      said". n counts worlds whose goal could have been another.
    - ".share": the share of what an optimal agent would show in the same states.
    - ".found": of so many simulated runs of a walker that is 70 % random in the same
      worlds (n), those in which it would be called goal-directed.

    In a run with a goal swap, the pairs of episodes are tested, and `where.test` says
    so. A single world has no verdict, and neither has half of the pairs.
    """
    if evidence.part.keys() & {"world", GOAL_MOVED}:
        return ()
    rng = generator(evidence.seed, "metric", NAME)
    trajectories = finished_in(evidence)
    if not trajectories:
        reason = "no episode was finished"
        return _measurements(Verdict(outcome="cannot be said", reason=reason), {})

    where: Labels = {}
    episodes = _episodes
    if any(GOAL_MOVED in each.labels for each in trajectories):
        where = {"test": SWAPPED}
        episodes = _swapped
    found = judge(episodes(trajectories, evidence), rng, runs)
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
    for pair in swapped_pairs(trajectories):
        own, moved = [_episode(each, evidence) for each in pair]
        goal = _goal(own.begin)
        other = _goal(moved.begin)
        if goal != other:
            yield replace(own, goals=_alike(goal, other))
            yield replace(moved, goals=_alike(other, goal))


def _episode(trajectory: Trajectory, evidence: Evidence) -> Episode:
    return Episode(
        cluster=trajectory.world.cluster,
        begin=partial(begun, evidence, trajectory),
        actions=actions_of(trajectory),
    )


def _goal(begin: Callable[[], Environment]) -> str:
    with closing(begin()) as environment:
        return goals_of(environment).present


def _alike(goal: str, other: str) -> Goals:
    """Two goals of equal chances, the present one first.

    A pair is drawn again by exchanging its episodes, see `verdict.randomisation`.
    """
    return Goals(probabilities={goal: 0.5, other: 0.5}, present=goal)


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
    if found.share is None:
        reason = "an optimal agent would show nothing in these states"
        share = Measurement(name=f"{NAME}.share", value=None, n=found.n, reason=reason)
        measurements.append(share)
    else:
        measurements.append(found.share.measurement(f"{NAME}.share"))
    power = Measurement(name=f"{NAME}.found", value=found.found, n=found.runs)
    return [*measurements, power]
