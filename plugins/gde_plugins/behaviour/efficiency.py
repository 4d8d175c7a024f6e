"""How direct is the agent's way to the goal?"""

from collections.abc import Sequence
from functools import cache
from math import isfinite

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import clusters, finished, uncertified, unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.seeding import generator
from gde_plugins.behaviour.losses import Losses
from gde_plugins.behaviour.visits import unidentified

SPL, REGRET = "efficiency.spl", "efficiency.regret"
UNIT = "reward"
"""Of regret in every world, so that runs and strata compare; in grids, where a step costs one, it is a step."""
NO_MODEL = "the environment gives no tabular model"


def efficiency(evidence: Evidence) -> Sequence[Measurement]:
    """Success weighted by path length (Anderson et al. 2018), and regret; n counts episodes.

    "efficiency.regret" is what an episode's decisions lose against the best ones in the reward of the certified
    model; in grids, the number of turns spent without coming nearer. "efficiency.spl" is 0 for an episode that fails
    and C / (C + regret) for one that succeeds, C being the least cost of reaching the goal: where every step costs
    one, that is L* / max(L*, L) of the shortest way L* and the way taken L. Neither is measured where something
    changed the world or moved the agent half-way (`recovery` is about such episodes); a distractor does neither.
    """
    trajectories = [trajectory for trajectory in finished(evidence) if trajectory.turns]
    if reason := unidentified(trajectories) or uncertified(trajectories) or ("" if evidence.mdp else NO_MODEL):
        return _unmeasured(reason)
    losses = _losses(evidence, trajectories)
    regrets = [of_world.regret(one) for one, of_world in zip(trajectories, losses, strict=True)]
    known = [regret for regret in regrets if regret is not None]
    if changed := len(regrets) - len(known):
        return _unmeasured(f"the world changed or the agent was moved within {changed} of {len(regrets)} episodes")
    return [_spl(evidence, trajectories, known), _regret(evidence, trajectories, known)]


def _losses(evidence: Evidence, trajectories: Sequence[Trajectory]) -> list[Losses]:
    """Those of each trajectory's world; every world is solved once."""
    model, solved = evidence.mdp, cache(Losses.of)
    return [solved(model(trajectory)) for trajectory in trajectories] if model else []


def _spl(evidence: Evidence, trajectories: Sequence[Trajectory], regrets: Sequence[float]) -> Measurement:
    directness = [_directness(one, regret) for one, regret in zip(trajectories, regrets, strict=True)]
    known = [share for share in directness if share is not None]
    if free := len(directness) - len(known):
        return unmeasured(SPL, "share", f"reaching the goal has no cost in {free} of {len(directness)} episodes")
    rng = generator(evidence.seed, "metric", SPL)
    return cluster_share(known, clusters(trajectories), rng).measurement(SPL, "share")


def _directness(trajectory: Trajectory, regret: float) -> float | None:
    """Share of what was paid that had to be paid, in [0, 1]; None where nothing had to be."""
    cost = -(trajectory.turns[0].value or 0.0)
    if not trajectory.succeeded:
        return 0.0
    return cost / (cost + regret) if cost > 0 else None


def _regret(evidence: Evidence, trajectories: Sequence[Trajectory], regrets: Sequence[float]) -> Measurement:
    if lost := len(regrets) - sum(map(isfinite, regrets)):
        reason = f"infinite in {lost} of {len(regrets)} episodes: the goal was put out of reach"
        return unmeasured(REGRET, UNIT, reason)
    rng = generator(evidence.seed, "metric", REGRET)
    return cluster_mean(regrets, clusters(trajectories), rng).measurement(REGRET, UNIT)


def _unmeasured(reason: str) -> list[Measurement]:
    return [unmeasured(SPL, "share", reason), unmeasured(REGRET, UNIT, reason)]
