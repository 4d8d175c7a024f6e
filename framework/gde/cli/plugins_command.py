"""gde plugins: the installed plugins and the errors of broken ones."""

from dataclasses import asdict

from gde.cli import options
from gde.cli.output import show_json, show_table


def command(as_json: options.Json = False) -> None:
    """List installed plugins and the errors of broken ones."""
    from gde.request.catalogue import load_plugins

    records = load_plugins().records
    if as_json:
        show_json({"plugins": [asdict(record) for record in records]})
        return
    rows = [
        (
            record.name,
            record.distribution,
            record.module,
            record.error or ", ".join(record.hooks),
        )
        for record in records
    ]
    show_table("", ("plugin", "distribution", "module", "hooks, or error"), rows)
