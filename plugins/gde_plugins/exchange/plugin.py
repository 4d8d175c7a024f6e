"""Adds `gde import`, `gde export`, `gde publish` and `gde judge`, and offers the scores
of logs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, MetricOffer, NoConfig

if TYPE_CHECKING:
    import typer


@hookimpl
def gde_metrics() -> Sequence[AnyOffer]:
    """The scores of imported logs."""
    from gde.data.measure import Measure

    scores = Measure(
        "scores.*", "Logged score: *", "score", group="Logged scores", headline=True
    )
    # A log without scores says so under their common name.
    none = Measure("scores", "Logged scores", "score", group="Logged scores")
    summary = "scores of imported logs of other programs"
    return (
        MetricOffer(
            name="scores",
            summary=summary,
            config=NoConfig,
            part="gde_plugins.exchange.logged_scores:logged_scores",
            measures=(scores, none),
        ),
    )


@hookimpl
def gde_add_commands(app: "typer.Typer") -> None:
    """Add the commands."""
    from gde_plugins.exchange import (
        export_command,
        import_command,
        judge_command,
        publish_command,
    )

    app.command("export")(export_command.command)
    app.command("import")(import_command.command)
    app.command("publish")(publish_command.command)
    app.command("judge")(judge_command.command)
