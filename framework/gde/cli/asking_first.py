"""The preflight on the command line: what it found, and whether to go on."""

import sys
from collections.abc import Mapping

import typer

from gde.cli.output import say
from gde.data.plan import Plan
from gde.request.catalogue import Catalogue
from gde.runs.preflight import preflight


def checked(plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[str, Plan]:
    """Ask the served models of each plan one question; give the plans as they need them.

    Raises:
        GdeError: a plan is refused, or a model gives no usable answer.
        typer.Exit: the user does not want a run that its budget would stop.
    """
    found = {}
    for name, plan in plans.items():
        flight = preflight(plan, catalogue)
        whose = f"{name}: " if len(plans) > 1 else ""
        for note in flight.notes:
            say(f"{whose}{note}")
        if flight.over:
            say(f"{whose}{flight.over}; `gde resume` would then continue")
            if sys.stdin.isatty() and not typer.confirm("Begin?", err=True):
                raise typer.Exit(2)
        found[name] = flight.plan
    return found
