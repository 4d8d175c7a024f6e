"""gde doctor: whether this installation can do its main job."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, show_table


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    ok: bool
    detail: str


def command(
    run: Annotated[Path | None, typer.Argument(help="A run folder: verify its checksums instead.")] = None,
    as_json: options.Json = False,
) -> None:
    """Look at Python, packages, plugins, accelerator and disk, and say what is missing for what; or at a run folder,
    whether everything in it is as it was written."""
    findings = _here() if run is None else _folder(run)
    if as_json:
        show_json({"schema": 1, "findings": [asdict(finding) for finding in findings]})
    else:
        no = "missing" if run is None else "damaged"
        rows = [("ok" if finding.ok else no, finding.subject, finding.detail) for finding in findings]
        show_table("", ("", "what", "detail"), rows)
    if not all(finding.ok for finding in findings if run or finding.subject.startswith("plugin")):
        raise typer.Exit(2)


def _here() -> list[Finding]:
    return [_python(), *_plugins(), *_offers(), _accelerator(), _disk()]


def _folder(run: Path) -> list[Finding]:
    from gde.runs.verifying import verify

    faults = verify(run)
    return [Finding(str(run), False, fault) for fault in faults] or [Finding(str(run), True, "as it was written")]


def _python() -> Finding:
    import platform
    from importlib.metadata import version

    return Finding("python", True, f"{platform.python_version()}, gde-eval {version('gde-eval')}")


def _plugins() -> list[Finding]:
    from gde.request.plugins import load_plugins

    return [
        Finding(f"plugin {each.name}", not each.error, each.error or each.module) for each in load_plugins().records
    ]


def _offers() -> list[Finding]:
    from gde.request.catalogue import Catalogue
    from gde.request.kinds import KINDS

    catalogue = Catalogue.default()
    offers = [(kind, entry.offer) for kind in KINDS for entry in catalogue.entries(kind)]
    lacking = [(kind, offer) for kind, offer in offers if offer.missing()]
    programs = [(f"{kind} {offer.name}", each) for kind, offer in offers for each in offer.missing_programs()]
    return [
        Finding(
            f"{kind} {offer.name}",
            False,
            f"needs {', '.join(offer.missing())}: pip install 'gde-eval[{offer.extra or 'all'}]'",
        )
        for kind, offer in lacking
    ] + [Finding(whose, False, f"needs the program {program}, which is not on the PATH") for whose, program in programs]


def _accelerator() -> Finding:
    from importlib.util import find_spec

    if find_spec("torch") is None:
        return Finding("torch", False, "not installed: pip install 'gde-eval[llm]'")
    import torch

    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU only, enough for nano"
    return Finding("torch", True, f"{torch.__version__}, {device}")


def _disk() -> Finding:
    import shutil

    free = shutil.disk_usage(".").free / 2**30
    return Finding("disk", free > 1, f"{free:.1f} GiB free here; a run of the default size takes some 30 MiB")
