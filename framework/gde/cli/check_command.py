"""gde check: whether a plan file can be run here."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_json


def command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file (TOML).")], as_json: options.Json = False
) -> None:
    """Check that a plan file can be run here, without running it."""
    from gde.request.building import Wanted
    from gde.request.catalogue import Catalogue
    from gde.request.entrants import entrants
    from gde.request.planfile import plan_hash
    from gde.runs.evaluating import dry

    catalogue = Catalogue.default()
    for one in entrants(Wanted(names={}, file=plan), catalogue).values():
        found = dry(one, catalogue)
        n, strata = found.episodes, found.strata
        if as_json:
            show_json({"schema": 1, "plan_hash": plan_hash(found.plan), "episodes": n, "strata": strata})
        else:
            say(f"ok: {n} episodes in {strata} strata, plan {plan_hash(found.plan)}")
