"""gde import: what another program has logged, as a run."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_result

LM_EVAL = ".jsonl"
INSPECT = (".eval", ".json")


def command(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG", help="Inspect: .eval or .json; lm-eval: samples_*.jsonl."
        ),
    ],
    out: Annotated[
        Path | None, options.out("Run folder to make; default: a new one under runs/.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write a log of Inspect or lm-eval as a run.

    The run can be compared, reported and exported like any other.
    """
    from gde.bridges.inspect_logs import read_inspect
    from gde.bridges.lm_eval_logs import read_lm_eval
    from gde.errors import ConfigError
    from gde.runs.importing import import_log

    if not log.is_file():
        raise ConfigError(f"LOG: wanted a file, got {log}")
    if log.suffix not in {LM_EVAL, *INSPECT}:
        raise ConfigError(
            f"LOG: wanted a name that ends in {', '.join(INSPECT)} or {LM_EVAL}, got {log.name}"
        )
    read = read_lm_eval(log) if log.suffix == LM_EVAL else read_inspect(log)
    result = import_log(read, out)
    if not as_json:
        say(f"{len(read.samples)} samples of {read.task} in {result.run}")
    show_result(result, as_json)
