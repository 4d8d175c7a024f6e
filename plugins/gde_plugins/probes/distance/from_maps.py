"""Steps to the goal told from a decoded map: what a probe of the distance would have to do better than."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.seeding import generator
from gde_plugins.probes.distance.probe import errors, line, manhattan
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns
from gde_plugins.probes.maps.policies import top

NAMES = (("steps.mae", "steps"), ("steps.r2", "share"))


def steps(evidence: Evidence) -> Sequence[Measurement]:
    """ "steps.mae" and "steps.r2" of a reader who knows where each arm of a probe of maps finds agent and goal, in the
    held-out turns: he tells the steps to the goal by a line through rows plus columns between the two, the best one
    through the true ones in the turns of the other worlds. To be held against `distance`, which reads the steps
    themselves. Of an agent or a goal that no training map had no place is known, and there is the reason alone. Probes
    are fitted to the whole run, so parts of it have no such numbers."""
    if evidence.part:
        return ()
    arms = [arm for arm in decoded_turns(evidence) if arm.turns]
    if not arms:
        return [unmeasured(name, unit, NONE_DECODED) for name, unit in NAMES]
    return [each for arm in arms for each in _of_arm(arm, evidence)]


def _of_arm(arm: DecodedTurns, evidence: Evidence) -> Iterator[Measurement]:
    known = _known(evidence, {*arm.groups.tolist()})
    if reason := _untold(arm, known):
        yield from arm.under([unmeasured(name, unit, reason) for name, unit in NAMES])
        return
    truth = np.array([0.0 - turn.value for turn in arm.turns if turn.value is not None])
    intercept, slope = line(known[:, 0], known[:, 1])
    agent, goal = (top(arm.decoded[..., arm.classes.index(name)]) for name in ("agent", "goal"))
    told = intercept + slope * np.abs(agent - goal).sum(axis=1)
    rng = generator(evidence.seed, "metric", "steps", *map(str, arm.where.values()))
    found = errors(told - truth, truth, arm.groups, "", rng)
    yield from arm.under([replace(one, name=f"steps.{one.name}") for one in found])


def _untold(arm: DecodedTurns, known: NDArray[np.float64]) -> str:
    """Why the steps cannot be told; empty where they can."""
    if not len(known):
        return "no other world was played"
    if any(turn.value is None for turn in arm.turns):
        return "some turns have no known optimal value"
    return arm.untrained("agent", "goal")


def _known(evidence: Evidence, held_out: set[str]) -> NDArray[np.float64]:
    """(M, 2) rows plus columns from agent to goal, and steps, in all turns of worlds that are not held out."""
    pairs = [
        (manhattan(one, turn), 0.0 - turn.value)
        for one in evidence.trajectories
        if one.world.cluster not in held_out
        for turn in one.turns
        if turn.value is not None and np.isfinite(turn.value)
    ]
    return np.array([pair for pair in pairs if pair[0] >= 0], dtype=np.float64).reshape(-1, 2)
