"""The language models behind a result in words: which they are, when, at what cost."""

import re
from collections.abc import Collection, Iterable
from datetime import date

from gde.data.model_use import AGENT, PROMPT_CUT, ModelUse, Usage
from gde.data.result import Subject
from gde.reporting.wording import SPACE, isolated, plural
from gde.request.names import split_url
from gde.request.secrets import host_of
from gde.stages.model_use import MIXED

ADDRESS = re.compile(r"https?://\S+")
FOLDERS = re.compile(r"^[/.~].*/")
"""The folders of a served model that is named by its path."""
MAIN = "@main"
"""How `transformers serve` ends the names of models."""
THOUSAND = 1000
"""From ten times as many on, a number is shown in thousands or millions."""
NO_PRICE = "no prices set"


def agent_text(of: Subject, models: Iterable[ModelUse]) -> str:
    """An agent with its language model."""
    model = agent_model(of, models)
    return f"{isolated(of.agent)} with {model}" if model else isolated(of.agent)


def agent_model(of: Subject, models: Iterable[ModelUse]) -> str:
    """The agent's language model, as far as those that answered tell it; empty for none."""
    for one in models:
        if one.kind == AGENT and one.name == of.model:
            return isolated(model_text(one))
    return isolated(named(of.model))


def asked_lines(uses: Iterable[ModelUse], brief: bool = False) -> list[str]:
    """A line for each part and each model that it asked.

    Args:
        uses: the uses of models.
        brief: whether a terminal's line must do.
    """
    lines = []
    for one in uses:
        part = one.part
        if one.kind != AGENT:
            part = f"{one.kind.replace('_', ' ')} {part}"

        more = [days_text(one.days)] if one.days else []
        # A name that the line already has says nothing new.
        model = model_text(one)
        own_names = []
        for name in one.answered_by:
            short = FOLDERS.sub("", name)
            if short.removesuffix(MAIN) not in model:
                own_names.append(short)
        if own_names:
            more.append(f"which calls itself {' and '.join(own_names)}")
        for told, values in one.served.items():
            if told != PROMPT_CUT:
                more.append(f"{told} {' and '.join(values[:MIXED])}")
        about = ", ".join([f"{part} with {model}", *more])
        tries = [f"{failed} (n = {n})" for failed, n in one.failed.items()]
        again = f", asked again after: {', '.join(tries)}" if tries else ""
        lines.append(f"{about}; {usage_text(one.usage, brief)}{again}")
    return lines


def model_text(use: ModelUse) -> str:
    """A model as the user named it, with its host instead of its address.

    A name of the user's own is followed by what it stands for.
    """
    model = named(use.model, use.answered_by)
    if split_url(use.model)[0] == use.name:
        return model
    return f"{use.name} ({model.replace(' (', ', ').removesuffix(')')})"


def named(name: str, answered_by: Collection[str] = ()) -> str:
    """The name of a model with its host instead of its address.

    Args:
        name: as in a plan, e.g. "openai:NAME@URL" or "openai:URL".
        answered_by: the names that it gave itself; a single one stands in for a missing
            NAME.
    """
    found = ADDRESS.search(name)
    if found is None:
        return name
    plugin, _, model = name[: found.start()].rstrip("@").partition(":")
    if not model and len(answered_by) == 1:
        (model,) = answered_by
    model = FOLDERS.sub("", model)
    shown = f"{plugin}:{model}" if model else plugin
    return f"{shown} ({host_of(found[0])})"


def usage_text(usage: Usage, brief: bool = False) -> str:
    """Calls, tokens, seconds and cost."""
    parts = [plural(usage.calls, "call")]
    if usage.unsettled:
        parts.append(f"{usage.unsettled} more perhaps billed")
    if usage.cached:
        parts.append(f"{usage.cached} more from the cache")

    if usage.tokens:
        prompt = amount(usage.prompt_tokens)
        answer = amount(usage.answer_tokens)
        if usage.prompt_cached:
            prompt += f", {amount(usage.prompt_cached)} from its cache"
        in_and_out = "" if brief else f" ({prompt} in, {answer} out)"
        parts.append(f"{amount(usage.tokens)} tokens{in_and_out}")
    if usage.untold:
        parts.append(f"tokens of {plural(usage.untold, 'call')} unknown")

    if usage.seconds is not None:
        of = "" if brief else " of model time"
        parts.append(f"{seconds_text(usage.seconds)}{of}")
    parts.append(cost_text(usage))
    return ", ".join(parts)


def cost_text(usage: Usage) -> str:
    """The cost, or that there is no price to compute it with."""
    if usage.cost is None:
        return NO_PRICE
    lowest = "at least " if usage.untold else ""
    return f"cost {lowest}{money(usage.cost)}"


def money(cost: float) -> str:
    """An amount of money: two decimals, or two digits of a smaller one."""
    return f"{cost:.2f}" if cost >= 0.1 or not cost else f"{cost:.2g}"


def seconds_text(seconds: float) -> str:
    """A time in seconds: two digits of less than ten."""
    if seconds < 0.1:
        return f"< 0.1{SPACE}s"
    return f"{seconds:,.0f}{SPACE}s" if seconds >= 10 else f"{seconds:.2g}{SPACE}s"


def amount(number: float) -> str:
    """A number of tokens or calls, large ones in thousands or millions."""
    if number < 10 * THOUSAND:
        return f"{number:,.0f}" if number >= 10 or number % 1 == 0 else f"{number:.1f}"
    if number < THOUSAND**2:
        return f"{number / THOUSAND:.0f}{SPACE}k"
    return f"{number / THOUSAND**2:.1f}{SPACE}M"


def days_text(days: tuple[str, ...]) -> str:
    """The first and the last of some days: "23 Nov 2026 to 1 Dec 2026"."""
    ends = []
    for day in map(date.fromisoformat, (days[0], days[-1])):
        ends.append(f"{day.day}{SPACE}{day:%b}{SPACE}{day.year}")
    return " to ".join(dict.fromkeys(ends))
