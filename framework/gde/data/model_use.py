"""What a run asked of its language models, and what the answers took."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from itertools import chain

from gde.data.completion import ChatRequest, Completion

AGENT = "agent"
"""The kind of part on whose behalf episodes ask."""
SERVED = "served"
"""Label of the numbers of episodes that one of several served models answered."""
PROMPT_CUT = "prompt"
"""What is told of a server that answers a part of a conversation only."""


def has_few_tokens(request: ChatRequest, answer: Completion) -> bool:
    """Whether a server counted fewer tokens of a prompt than words, and so has cut it.

    Tokens do not reach over the blanks between words.
    """
    words = sum(len(message.content.split()) for message in request.messages)
    # A server that does not count says nothing or 0.
    return 0 < (answer.n_prompt or 0) < words


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What a number of answers took.

    Answers from the cache of earlier runs took nothing.
    """

    calls: int = 0
    """Answers that models gave to this run."""
    unsettled: int = 0
    """Requests besides that were sent and whose answers are not in the record, which
    are perhaps billed: refused, unusable, or cut off by a crash. Tokens and cost are
    without them.
    """
    cached: int = 0
    """Answers from the cache, besides."""
    prompt_tokens: int = 0
    """The known ones."""
    prompt_cached: int = 0
    """Those of them that the server had in its own cache."""
    answer_tokens: int = 0
    """The known ones, reasoning included."""
    untold: int = 0
    """Calls whose tokens the server did not report in full, so that tokens and cost are
    higher.
    """
    seconds: float | None = field(default=None, compare=False)
    """The sum of the models' response times, waiting included; None where none is
    known. Runs of the same plan differ in it, and equality ignores it.
    """
    cost: float | None = None
    """Money in the currency of the prices; None where a model that was asked has no
    price.
    """

    @property
    def tokens(self) -> int:
        """The known tokens of prompts and answers."""
        return self.prompt_tokens + self.answer_tokens


COUNTS = [one.name for one in fields(Usage) if one.default == 0]


@dataclass(frozen=True, kw_only=True)
class ModelUse:
    """A language model, as one part of a run asked it."""

    name: str
    """As the user named it."""
    model: str
    """What the model's plugin says that it is, e.g. "openai:NAME@URL" for a name of
    the user's own.
    """
    kind: str
    """The kind of the part that asked: "agent", "reward_model", "metric" ..."""
    part: str
    """The label of the part that asked."""
    answered_by: Mapping[str, int] = field(default_factory=dict)
    """The names that the model gave itself, each with the number of its answers."""
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What its server told of itself, e.g. {"provider": ("Azure", "Together")}."""
    failed: Mapping[str, int] = field(default_factory=dict, compare=False)
    """How its server failed before it answered, e.g. {"status 502": 3}. Equality ignores
    it.
    """
    days: tuple[str, ...] = field(default=(), compare=False)
    """The first and the last day on which it answered, e.g. "2026-11-23", in UTC. Empty
    where it is not known. Equality ignores them.
    """
    usage: Usage

    def __post_init__(self) -> None:
        # A result may come from anyone. The error says what is wrong.
        for day in self.days:
            date.fromisoformat(day)


def total(usages: Iterable[Usage]) -> Usage:
    """The sum; without a cost if one of them has none."""
    each = list(usages)
    counts = {name: sum(getattr(one, name) for one in each) for name in COUNTS}
    costs = [one.cost for one in each if one.cost is not None]
    seconds = [one.seconds for one in each if one.seconds is not None]
    return Usage(
        **counts,
        seconds=sum(seconds) if seconds else None,
        cost=sum(costs) if each and len(costs) == len(each) else None,
    )


def merged(uses: Iterable[ModelUse]) -> list[ModelUse]:
    """The uses of several runs: one for each part and model, in their first order."""
    found: dict[tuple[str, str, str, str], ModelUse] = {}
    for one in uses:
        place = (one.kind, one.part, one.name, one.model)
        known = found.get(place)
        if known is None:
            found[place] = one
            continue

        served = {
            told: _distinct(known.served.get(told, ()), one.served.get(told, ()))
            for told in (*known.served, *one.served)
        }
        days = sorted([*known.days, *one.days])
        found[place] = replace(
            known,
            answered_by=Counter(known.answered_by) + Counter(one.answered_by),
            served=served,
            failed=Counter(known.failed) + Counter(one.failed),
            days=tuple(days[:1] + days[-1:]),
            usage=total([known.usage, one.usage]),
        )
    return list(found.values())


def _distinct(*texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*texts)))
