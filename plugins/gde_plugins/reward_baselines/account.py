"""How the compared rewards were made."""

from collections import Counter
from collections.abc import Iterator, Mapping

from gde.data.result import Measurement
from gde.data.reward import RewardTrace

MADE_BY = "rewards.made_by"
COUNTED = "rewards.counted"


def account(judged: Mapping[str, Mapping[str, RewardTrace]]) -> Iterator[Measurement]:
    """Provenance and counts of reward traces, by model and episode; nothing for models
    that report neither.

    "rewards.made_by" is the share of episodes for each way in which a reward model made
    its rewards. "rewards.counted" is the number of each kind of event that a reader
    should know of, in all episodes together.
    """
    for model, traces in judged.items():
        ways: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        n_judged = 0
        for trace in traces.values():
            counts.update(trace.counts)
            if trace.failure:
                continue
            n_judged += 1
            if trace.made_by:
                ways[trace.made_by] += 1

        for way, n in sorted(ways.items()):
            where = {"reward": model, "made by": way}
            yield Measurement(name=MADE_BY, value=n / n_judged, n=n_judged, where=where)
        for event, n in sorted(counts.items()):
            where = {"reward": model, "what": event}
            yield Measurement(name=COUNTED, value=float(n), n=len(traces), where=where)
