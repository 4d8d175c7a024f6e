"""gde publish: runs as a site of plain files and a dataset."""

import re
from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import say, show_json
from gde_plugins.exchange import addresses

LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]*")


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders of runs, contests, studies and profiles."
        ),
    ],
    out: Annotated[Path, addresses.out("Folder of the site; a new one.")],
    licence: Annotated[
        str,
        typer.Option(
            "--license", help="Licence of the record, e.g. cc-by-4.0; default: unknown."
        ),
    ] = "unknown",
    as_json: options.Json = False,
) -> None:
    """Write a site and a dataset of finished runs.

    The site has leaderboards and all pages, and needs no server. Its folder `dataset`
    can be uploaded to Hugging Face's hub; anyone can read it with `gde import`.
    """
    from gde.errors import ConfigError
    from gde_plugins.exchange.site.dataset import INDEX
    from gde_plugins.exchange.site.site import publish

    if not LICENCE.fullmatch(licence):
        raise ConfigError(
            f"--license {licence!r}: wanted small letters, digits, dots and dashes, e.g. cc-by-4.0"
        )
    with addresses.sending(out) as site:
        n = publish(runs, site, licence)
    if as_json:
        show_json({"site": addresses.named(out), "runs": n})
    else:
        say(f"{n} runs in {addresses.named(out / INDEX)}")
