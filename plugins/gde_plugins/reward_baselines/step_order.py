"""Are steps of progress, and harmful ones, told from all others?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

from gde.data.arrays import Doubles
from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Place, over_worlds, played, unmeasured
from gde_plugins.reward_baselines.epic import by_task
from gde_plugins.reward_baselines.models import truth, unknown

PROGRESS = "step_order.progress"
HARM = "step_order.harm"
LEAST = {PROGRESS: 1, HARM: 0}
"""The least sign of the truth's change at the better steps, by the number's name."""
SAME = 1e-9
"""A change of the truth up to this size is rounding."""


def step_order(evidence: Evidence) -> Sequence[Measurement]:
    """The chance that a reward model's reward changes more at a better step than at a
    worse one of the same task, ties half; 0.5 tells nothing; n counts tasks.

    The truth rises at a step of progress, stays at a neutral one and falls at a harmful
    one. "step_order.progress" sets steps of progress against all others,
    "step_order.harm" all others against harmful ones. Changes are those since the turn
    before, so that an episode's first turn is no step. A task without both kinds of
    steps is left out.
    """
    known = [one for one in played(evidence) if not unknown(one)]
    traces: dict[str, dict[str, RewardTrace]] = {}
    for trace in evidence.reward_traces:
        if not trace.failure:
            traces.setdefault(trace.model, {})[trace.episode] = trace

    found: list[Measurement] = []
    for model, judged in traces.items():
        tasks = by_task(one for one in known if str(one.key) in judged)
        for one in _measured(evidence, tasks, judged):
            found.append(replace(one, where={"reward": model}))
    reason = "no reward model has judged an episode"
    return found or [unmeasured(name, reason) for name in LEAST]


def _measured(
    evidence: Evidence,
    tasks: Mapping[Place, Sequence[Trajectory]],
    traces: Mapping[str, RewardTrace],
) -> Iterator[Measurement]:
    shares: dict[str, dict[Place, float]] = {name: {} for name in LEAST}
    for task, episodes in tasks.items():
        true = np.concatenate([np.diff(truth(one)) for one in episodes])
        signs = np.where(np.abs(true) > SAME, np.sign(true), 0)
        changes = np.concatenate(
            [np.diff(traces[str(one.key)].values) for one in episodes]
        )
        for name, least in LEAST.items():
            above = changes[signs >= least]
            below = changes[signs < least]
            if len(above) and len(below):
                shares[name][task] = share_above(above, below)

    reason = "no task has steps of both kinds and a certified truth"
    for name, values in shares.items():
        yield over_worlds(evidence, name, values, reason=reason)


def share_above(above: Doubles, below: Doubles) -> float:
    """The share of pairs in which the number of (N,) exceeds that of (M,), ties half."""
    n = len(above)
    ranks = rankdata(np.concatenate([above, below]))[:n]
    return float((ranks.sum() - n * (n + 1) / 2) / (n * len(below)))
