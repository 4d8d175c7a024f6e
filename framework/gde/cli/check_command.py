"""gde check: whether a plan file can be run here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_json

if TYPE_CHECKING:
    from gde.runs.evaluating import Dry


def command(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file (TOML).")], as_json: options.Json = False
) -> None:
    """Check that a plan file can be run here, without running it."""
    from gde.request.building import Wanted
    from gde.request.catalogue import Catalogue
    from gde.request.entrants import entrants
    from gde.runs.evaluating import dry

    catalogue = Catalogue.default()
    plans = entrants(Wanted(names={}, file=plan), catalogue)
    told = {name: _told(dry(each, catalogue)) for name, each in plans.items()}
    if as_json:
        show_json({"schema": 1, **(told.popitem()[1] if len(told) == 1 else {"entrants": told})})
        return
    for name, one in told.items():
        whose = f"{name}: " if len(told) > 1 else ""
        say(f"ok: {whose}{one['episodes']} episodes in {one['strata']} strata, plan {one['plan_hash']}")


def _told(found: "Dry") -> dict[str, str | int]:
    from gde.request.planfile import plan_hash

    return {"plan_hash": plan_hash(found.plan), "episodes": found.episodes, "strata": found.strata}
