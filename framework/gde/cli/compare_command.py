"""gde compare: two runs over the worlds they share."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table


def command(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="The folder of a run.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="The folder of another run.")],
    as_json: options.Json = False,
) -> None:
    """Compare two runs over the worlds they share: paired differences, with p values corrected after Holm."""
    from gde.comparing import compare

    rows = compare(run_a, run_b)
    if as_json:
        show_json({"schema": 1, "rows": [asdict(row) for row in rows]})
        return
    table = [
        (row.name, f"{row.a:.3f}", f"{row.b:.3f}", f"{row.difference:+.3f}", row.interval_text, row.p_text, str(row.n))
        for row in rows
    ]
    show_table("", ("measurement", "A", "B", "B - A", "95 % interval", "p (Holm)", "worlds"), table)
