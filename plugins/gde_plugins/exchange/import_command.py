"""gde import: what another program has logged, or somebody has published, as runs."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_json, show_result
from gde_plugins.exchange import addresses


def command(
    log: Annotated[
        Path,
        typer.Argument(
            metavar="LOG",
            help="Log of Inspect, .eval or .json; samples of lm-evaluation-harness, .jsonl or samples_*.json;"
            " or a folder that `gde publish` made. Here or at an address, e.g. s3://BUCKET/NAME.",
        ),
    ],
    out: Annotated[
        Path | None, options.out("Run folder to make; default: a new one under runs/.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write a log or a published dataset as runs.

    They can be compared, reported and exported like any other.
    """
    with addresses.fetched(log) as copy:
        if copy.is_dir():
            _import_dataset(copy, out, as_json)
        else:
            _import_log(copy, out, as_json)


def _import_log(log: Path, out: Path | None, as_json: bool) -> None:
    from gde.errors import ConfigError
    from gde_plugins.exchange.importing import import_log
    from gde_plugins.exchange.inspect_logs import ENDINGS, read_inspect
    from gde_plugins.exchange.lm_eval_logs import LINES, is_lm_eval, read_lm_eval

    if not log.is_file():
        raise ConfigError(f"LOG: wanted a file or a dataset's folder, got {log}")
    endings = (*ENDINGS, LINES)
    if log.suffix not in endings:
        raise ConfigError(
            f"LOG: wanted a name that ends in {' or '.join(endings)}, got {log.name}"
        )
    read = read_lm_eval(log) if is_lm_eval(log) else read_inspect(log)
    result = import_log(read, out)
    if not as_json:
        say(f"{len(read.samples)} samples of {read.task} in {result.run}")
    show_result(result, as_json)


def _import_dataset(folder: Path, out: Path | None, as_json: bool) -> None:
    from gde.store.folder import free_name
    from gde_plugins.exchange.site.dataset import import_dataset

    out = out or free_name(folder.resolve().name)
    runs = import_dataset(folder, out)
    if as_json:
        show_json({"runs": {name: str(run) for name, run in runs.items()}})
    else:
        say(f"{len(runs)} runs in {out}")
