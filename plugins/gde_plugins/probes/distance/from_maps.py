"""The metric `steps`: steps to the goal, predicted from a decoded map.

It is a baseline for the probe `distance`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Turn
from gde.numerics.episodes import unmeasured
from gde.seeding import generator
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.distance.probe import errors, line, manhattan
from gde_plugins.probes.maps.first_turns import NONE_DECODED
from gde_plugins.probes.maps.held_out import DecodedTurns, decoded_turns
from gde_plugins.probes.maps.policies import top

NAMES = ("steps.mae", "steps.r2")


def steps(evidence: Evidence) -> Sequence[Measurement]:
    """Measure "steps.mae" and "steps.r2" of a reader who knows where a probe of maps
    finds agent and goal.

    In the held-out turns, the reader predicts the steps to the goal by a line through
    the Manhattan distance between the two: the line that fits the true distances in the
    turns of all other worlds best. It is a baseline for the probe `distance`, which
    decodes the steps themselves. Where agent or goal was never trained on there is a
    reason instead. Probes are fitted to whole runs, so parts of a run have no such
    numbers.
    """
    if evidence.part:
        return ()
    measurements: list[Measurement] = []
    for fit in decoded_turns(evidence):
        if fit.turns:
            measurements += _errors_of(fit, evidence)
    nothing = [unmeasured(name, NONE_DECODED) for name in NAMES]
    return measurements or nothing


def _errors_of(fit: DecodedTurns, evidence: Evidence) -> Iterator[Measurement]:
    """Return the reader's errors in the turns of one fit, or why there are none."""
    held_out = set(fit.groups.tolist())
    known = _training_pairs(evidence, held_out)
    reason = _reason_against(fit, known)
    if reason:
        yield from fit.under([unmeasured(name, reason) for name in NAMES])
        return

    # The line is fitted to true distances, for the reader of decoded ones knows how
    # long ways are in truth.
    distances, steps = known.T
    intercept, slope = line(distances, steps)
    agent = top(fit.decoded[..., fit.classes.index("agent")])
    goal = top(fit.decoded[..., fit.classes.index("goal")])
    predicted = intercept + slope * np.abs(agent - goal).sum(axis=1)
    truth = np.array([_steps_of(turn) for turn in fit.turns], dtype=np.float64)
    rng = generator(evidence.seed, "metric", "steps", *fit.labels)
    for one in errors(predicted - truth, truth, fit.groups, "", rng):
        renamed = replace(one, name=f"steps.{one.name}")
        yield from fit.under([renamed])


def _reason_against(fit: DecodedTurns, known: Doubles) -> str:
    """Return why the steps cannot be predicted; empty if they can."""
    if not len(known):
        return "no other world was played"
    if any(turn.value is None for turn in fit.turns):
        return "some turns have no known optimal value"
    return fit.untrained("agent", "goal")


def _training_pairs(evidence: Evidence, held_out: set[str]) -> Doubles:
    """(M, 2) Manhattan distance and steps to the goal in all turns of worlds that are
    not held out.
    """
    pairs = []
    for trajectory in evidence.trajectories:
        if trajectory.world.cluster in held_out:
            continue
        for turn in trajectory.turns:
            steps = _steps_of(turn)
            distance = manhattan(trajectory, turn)
            # Turns without a way to the goal, or without a map, teach nothing.
            if steps is not None and np.isfinite(steps) and distance >= 0:
                pairs.append((distance, steps))
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def _steps_of(turn: Turn) -> float | None:
    """Return the steps to the goal, the negative optimal return; None if unknown."""
    # Subtracted from 0.0, so that the value 0.0 does not become -0.0.
    return None if turn.value is None else 0.0 - turn.value
