"""Does the regret that a reward model sees in an episode tell whether it succeeded?"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import rankdata

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import played, unmeasured
from gde.numerics.stats import unpaired_difference
from gde.seeding import generator
from gde_plugins.reward_baselines.models import is_success

AUC = "reward_regret.auc"
UNJUDGED = "no reward model has judged an episode"


def reward_regret(evidence: Evidence) -> Sequence[Measurement]:
    """The chance that a failure has more regret than a success, by reward model.

    The regret of an episode is what the last reward lacks to the largest one of the
    run. "reward_regret.auc" is the area under the ROC curve: 1 if every failure has
    more regret than every success, 0.5 if regret tells nothing. Worlds have equal
    weights; n counts episodes; the interval is that of the difference in mean rank.
    """
    traces: dict[str, dict[str, RewardTrace]] = {}
    for trace in evidence.reward_traces:
        if not trace.failure:
            traces.setdefault(trace.model, {})[trace.episode] = trace
    if not traces:
        return [unmeasured(AUC, UNJUDGED)]
    episodes = list(played(evidence))
    return [*_measured(episodes, traces, evidence.seed)]


def _measured(
    episodes: Sequence[Trajectory],
    traces: dict[str, dict[str, RewardTrace]],
    seed: int,
) -> Iterator[Measurement]:
    for model, judged in traces.items():
        known = [one for one in episodes if str(one.key) in judged]
        last = np.array([judged[str(one.key)].values[-1] for one in known])
        succeeded = np.array([is_success(one) for one in known])
        where = {"reward": model}
        if succeeded.all() or not succeeded.any():
            side = "fails" if succeeded.all() else "succeeds"
            reason = f"no episode {side}, so there is nothing to tell apart"
            yield unmeasured(AUC, reason, where)
            continue

        # The largest reward of the run is the same for all: ranks do not need it.
        ranks = rankdata(-last) / len(last)
        worlds = np.array([one.world.cluster for one in known])
        difference = unpaired_difference(
            ranks[~succeeded],
            worlds[~succeeded],
            ranks[succeeded],
            worlds[succeeded],
            generator(seed, "metric", AUC, model),
        )
        # The area is 1/2 and the difference in mean rank as a share of all ranks.
        interval = None
        if difference.interval is not None:
            low, high = difference.interval
            interval = (max(0.5 + low, 0.0), min(0.5 + high, 1.0))
        yield Measurement(
            name=AUC,
            value=min(max(0.5 + difference.value, 0.0), 1.0),
            n=len(known),
            clusters=difference.n_clusters,
            interval=interval,
            where=where,
        )
