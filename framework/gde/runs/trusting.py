"""What a run from elsewhere would load, open and contact, for its user to decide."""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path
from typing import Any

from gde.data.how import URL, How
from gde.data.json import NONE, Json
from gde.errors import GdeError, UnknownName
from gde.files import CONTEST, PLAN, is_plain
from gde.offers import ModelOffer
from gde.request.catalogue import Catalogue
from gde.request.howfile import RUN_HOW, read_settings
from gde.request.kinds import KINDS
from gde.request.models import model_entry
from gde.request.provenance import version_of
from gde.request.ready import Chosen, Ready
from gde.request.resolve import resolve
from gde.request.settings import describe, paths
from gde.store.folder import RunFolder
from gde.store.trust import digest_of, earlier_entry, trust

LIMITS = tuple(name for name in RUN_HOW if name.startswith("max_"))
"""Limits that a trusted run keeps, so that nobody spends more than its maker meant."""


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """What trusting a run means."""

    run: str
    plan_digest: str
    """SHA-256 of its plan.toml, in hexadecimal digits."""
    trusted: bool
    """Whether it is trusted already."""
    lines: tuple[str, ...]
    """What its plan would load, open and contact, a line each."""
    changed: tuple[str, ...] = ()
    """How its plan differs from the one that was trusted; empty for a new run."""


def runs_in(path: Path) -> list[Path]:
    """A run folder itself, or the runs of a contest, study or profile.

    Raises:
        RunFolderError: there is none.
    """
    if (path / PLAN).is_file() and not (path / CONTEST).is_file():
        return [path]
    inside = sorted(one.parent for one in path.glob(f"*/{PLAN}"))
    for link in filter(Path.is_symlink, inside):
        raise GdeError(f"{link} is a link: name the run that it leads to")
    return inside or [RunFolder.open(path).path]


def disclose(run: Path, catalogue: Catalogue | None = None) -> Disclosure:
    """Read what a run's plan would do here; nothing of it is made.

    Raises:
        GdeError: no run folder, or a link or a special file in it, or where its plan
            would have a file read.
    """
    folder = _plain(run)
    plan_digest = digest_of(run)
    recorded = folder.recorded()
    how = read_settings().how
    ready = resolve(recorded.plan, catalogue or Catalogue.default(), how, absent=True)
    of_plan = [part for part in ready.parts if not KINDS[part.kind].how]
    lines = [*map(_part, of_plan), *_files(ready), *_models(ready)]
    with closing(folder.journal()) as journal:
        ((answers,),) = journal.query("SELECT count(*) FROM calls")
        noted = folder.noted_how(journal)
    lines.append(f"stored answers that later prompts may quote: {answers}")
    limits = [
        f"{name}={getattr(noted, name)}" for name in LIMITS if getattr(noted, name)
    ]
    if limits:
        lines.append(f"limits that stay: {', '.join(limits)}")
    lines.append("not obeyed: its executor, reporters, cache, servers, keys, deadlines")

    known = earlier_entry(recorded.id)
    changed: tuple[str, ...] = ()
    if known is not None and not folder.is_trusted:
        now = (run / PLAN).read_text(encoding="utf-8")
        changed = tuple(_difference(known.plan, now))
    return Disclosure(
        run=str(run),
        plan_digest=plan_digest,
        trusted=folder.is_trusted,
        lines=tuple(lines),
        changed=changed,
    )


def trust_run(run: Path, shown: Disclosure | None = None) -> None:
    """Trust a run with its present plan and the limits that it notes.

    Args:
        run: its folder.
        shown: what its user has seen of it.

    Raises:
        GdeError: no run folder, one with links, one whose plan is no longer what was
            shown, or the list cannot be written.
    """
    folder = _plain(run)
    if shown is not None and digest_of(run) != shown.plan_digest:
        raise GdeError(f"{run}: plan.toml was edited meanwhile: run this again")
    how = folder.last_how()
    if not folder.is_trusted:
        with closing(folder.journal()) as journal:
            how = _limited(how, folder.noted_how(journal))
    trust(run, (run / PLAN).read_bytes(), how)


def _plain(run: Path) -> RunFolder:
    """A run folder without links, for a trusted one is written to.

    Raises:
        GdeError: it is none, or has a link or a special file.
    """
    folder = RunFolder.open(run)
    for path in sorted(run.rglob("*")):
        if not is_plain(path):
            raise GdeError(
                f"{path} is a link or a special file: replace it by a plain one"
            )
    return folder


def _limited(how: How, noted: How) -> How:
    limits: dict[str, Any] = {}
    for name in LIMITS:
        both = [each for each in (getattr(how, name), getattr(noted, name)) if each]
        limits[name] = min(both, default=None)
    return replace(how, **limits)


def _part(part: Chosen) -> str:
    title = f"{KINDS[part.kind].title} {part.label}"
    if part.absent:
        return f"{title}: cannot be made here yet ({part.absent})"
    entry = part.entry
    home = f"{entry.distribution} {version_of(entry.distribution)}".strip()
    starts = ", ".join(entry.offer.programs)
    return f"{title}: {home}" + (f", starts {starts}" if starts else "")


def _files(ready: Ready) -> Iterator[str]:
    environments = [one.environment for one in ready.conditions]
    named = {}
    for part in (*environments, *ready.parts, *ready.models.values()):
        for field, path in paths(part.config).items():
            named[f"{part.label}.{field} reads {path}"] = path
    for line, path in named.items():
        yield f"{line} ({_kind(path)})"


def _kind(path: Path) -> str:
    """What kind of file a path is, and how large.

    Raises:
        GdeError: a link or a special file, or a folder with a link out of it.
    """
    if not os.path.lexists(path):
        return "not there"
    if not is_plain(path):
        raise GdeError(f"{path} is a link or a special file: name a plain one instead")
    if path.is_file():
        return f"{path.stat().st_size} bytes"
    n_files = 0
    for below in path.rglob("*"):
        n_files += 1
        if below.is_symlink() and not below.resolve().is_relative_to(path.resolve()):
            raise GdeError(f"{below} leads out of {path}: remove the link")
    return f"folder of {n_files} files"


def _models(ready: Ready) -> Iterator[str]:
    for label, model in ready.models.items():
        offer = model.entry.offer
        if isinstance(offer, ModelOffer) and offer.served:
            url = ready.how.settings.get(label, {}).get(URL)
            server = url or f"none yet: give {model.name}@URL"
            yield f"model {label} is asked at: {server}"
        elif model.absent:
            yield f"model {label} is asked where you say: {model.name}@URL"
        else:
            yield f"model {label} is loaded as {model.name}"
        for field, value in _chosen(model, ready.catalogue):
            yield f"model {label} has {field}={value}"


def _chosen(model: Chosen, catalogue: Catalogue) -> Iterator[tuple[str, Json]]:
    """The fields of a model's configuration that are not at their defaults."""
    defaults: dict[str, Json] = {}
    # Of a model that is not installed here, no default is known.
    with suppress(UnknownName):
        entry, _ = model_entry(model.choice, catalogue)
        for field, _, default, _ in describe(entry.offer.config):
            defaults[field] = default
    for field, value in model.choice.config.items():
        # TOML writes none as text.
        plain = None if value == NONE else value
        if field not in defaults or plain != defaults[field]:
            yield field, value


def _difference(before: str, now: str) -> Iterator[str]:
    lines = unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=0)
    for line in lines:
        if not line.startswith(("---", "+++", "@@")):
            yield line
