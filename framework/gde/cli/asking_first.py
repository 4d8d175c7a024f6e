"""The preflight on the command line: what it found, and whether to go on."""

import sys
from collections.abc import Mapping, Sequence

import typer

from gde.before.preflight import Preflight, preflight
from gde.cli.output import say
from gde.cli.progress import duration
from gde.data.estimate import Estimate, together
from gde.data.how import How
from gde.data.plan import Plan
from gde.reporting.asked import NO_PRICE, amount, money
from gde.reporting.wording import plural
from gde.request.catalogue import Catalogue


def checked(
    plans: Mapping[str, Plan], catalogue: Catalogue, how: How, show: int = 1
) -> dict[str, Preflight]:
    """Ask the served models of each plan one question, the agent's until so many of its
    answers are shown.

    Raises:
        GdeError: a plan is refused, or a model gives no usable answer.
        typer.Exit: the user does not want a run that its budget would stop.
    """
    found = {}
    estimates: list[Estimate] = []
    over = []
    said = set()
    for name, plan in plans.items():
        flight = preflight(plan, catalogue, how, name, show)
        found[name] = flight
        estimates += flight.estimates
        if flight.over:
            over.append(f"{name}: {flight.over}" if len(plans) > 1 else flight.over)
        for note in (*flight.notes, *flight.readings):
            # The plans of a study share their models.
            if note not in said:
                say(note)
            said.add(note)

    say_estimates(estimates, len(plans) > 1)
    for problem in over:
        say(f"{problem}; `gde resume` would then continue")
    if over and sys.stdin.isatty() and not typer.confirm("Begin?", err=True):
        raise typer.Exit(2)
    return found


def say_estimates(estimates: Sequence[Estimate], several_plans: bool) -> None:
    """Print what the parts of plans will ask, and all of them together."""
    for one in estimates:
        whose = [one.plan, one.part] if several_plans else [one.part]
        say(f"{', '.join(filter(None, whose))}: {estimate_text(one)}")
    if len(estimates) > 1:
        say(f"together: {estimate_text(together(estimates))}")


def estimate_text(of: Estimate) -> str:
    """About how many calls, tokens, seconds and what cost, before a run."""
    if of.note or of.calls is None:
        return of.note or "not all calls are known"
    parts = [f"about {plural(of.calls, 'call')}"]
    if of.tokens is None:
        parts.append("tokens unknown")
    else:
        prompt = amount(of.prompt_tokens or 0)
        answer = amount(of.answer_tokens or 0)
        most = "at most " if of.seconds is None else ""
        parts.append(f"{amount(of.tokens)} tokens ({prompt} in, {most}{answer} out)")
    if of.seconds is not None:
        parts.append(duration(of.seconds))
    parts.append(NO_PRICE if of.cost is None else f"cost {money(of.cost)}")
    return ", ".join(parts)
