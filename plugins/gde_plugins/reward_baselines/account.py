"""How did the rewards come about that a run compares?"""

from collections import Counter
from collections.abc import Iterator, Mapping

from gde.data.result import Measurement
from gde.data.reward import RewardTrace

MADE_BY, COUNTED = "rewards.made_by", "rewards.counted"


def account(judged: Mapping[str, Mapping[str, RewardTrace]]) -> Iterator[Measurement]:
    """What the traces of reward models, by model and episode, say of themselves; nothing where they say nothing.

    "rewards.made_by" is the share of episodes whose rewards were made in each of a reward model's ways, and
    "rewards.counted" how often what a reader should know of happened on the way, in all episodes together.
    """
    for model, traces in judged.items():
        ways = Counter(trace.made_by for trace in traces.values() if trace.made_by and not trace.failure)
        n = sum(not trace.failure for trace in traces.values())
        for way, times in sorted(ways.items()):
            where = {"reward": model, "made by": way}
            yield Measurement(name=MADE_BY, value=times / n, unit="share", n=n, where=where)
        counts: Counter[str] = Counter()
        for trace in traces.values():
            counts.update(trace.counts)
        for what, times in sorted(counts.items()):
            where = {"reward": model, "what": what}
            yield Measurement(name=COUNTED, value=float(times), unit="count", n=len(traces), where=where)
