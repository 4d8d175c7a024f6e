"""The identity of code: distribution, version and digest of the source of each part."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import SubprocessError, run
from typing import TypeVar

from gde.request.defaults import FRAMEWORK
from gde.request.kinds import KINDS
from gde.request.ready import Chosen, Ready

Codes = Mapping[str, Sequence[str]]
"""Parts, e.g. "agent random", each with distribution, version and digest."""
NumberT = TypeVar("NumberT")
COMPUTING = ("data", "numerics", "parts", "stages", "seeding.py")
"""What of gde can change a row; the rest reads requests, stores and shows."""
SHOWN = 12
"""Hexadecimal digits of a digest."""


def codes(parts: Iterable[Chosen]) -> Codes:
    """The identity of gde and of some parts. Of models, it is that of their code."""
    found = {"gde": (FRAMEWORK, version_of(FRAMEWORK), digest_of_gde())}
    for part in parts:
        if not part.absent:
            name = f"{KINDS[part.kind].title} {part.label}"
            found[name] = _code(part)
    return found


def playing(ready: Ready) -> Codes:
    """The identity of all that plays the episodes of a run."""
    judges = ready.judges.values()
    return codes((ready.environment, ready.agent, *ready.models.values(), *judges))


def differing(some: Codes, others: Codes) -> list[str]:
    """The parts that are not the same in both."""
    names = dict.fromkeys((*some, *others))
    return [name for name in names if some.get(name) != others.get(name)]


def described(codes: Codes, name: str) -> str:
    """One part in words."""
    if name not in codes:
        return "unknown code"
    distribution, found, digest = codes[name]
    return " ".join(filter(None, (distribution, found, f"({digest})")))


def told_apart(several: Mapping[NumberT, Codes]) -> dict[NumberT, str]:
    """Each identity in words, by what is not the same in all."""
    first, *others = several.values()
    names = dict.fromkeys(name for one in others for name in differing(first, one))
    labels = {}
    for number, one in several.items():
        parts = dict.fromkeys(described(one, name) for name in names)
        labels[number] = ", ".join(parts)
    return labels


@cache
def version_of(distribution: str) -> str:
    """The version of a distribution; empty where it is none."""
    # Cached, since a package's metadata are read and parsed whole.
    try:
        return version(distribution)
    except (PackageNotFoundError, ValueError):
        return ""


@cache
def commit() -> str:
    """The commit of gde's source, "-dirty" behind it where files were changed since;
    empty where it has none.
    """
    root = Path(__file__).parents[1]
    with suppress(OSError):
        return (root / "COMMIT").read_text().strip()
    # A repository around an installed gde is not its own.
    if not (root.parents[1] / ".git").exists():
        return ""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = run(
            git, check=False, cwd=root, capture_output=True, text=True, timeout=10
        )
    except (OSError, SubprocessError):
        return ""
    return found.stdout.strip()


@cache
def digest_of_gde() -> str:
    """The digest of what in gde computes rows."""
    root = Path(__file__).parents[1]
    files = [file for name in COMPUTING for file in _sources(root / name)]
    return _digest(root, files)


def _code(part: Chosen) -> tuple[str, str, str]:
    entry = part.entry
    found = [version_of(entry.distribution)]
    # A change of results needs a higher version of the offer.
    if entry.offer.version > 1:
        found.append(f"v{entry.offer.version}")
    source = digest_of_module(entry.module) if entry.module else ""
    return entry.distribution, " ".join(filter(None, found)), source


@cache
def digest_of_module(name: str) -> str:
    """The digest of the package that a module belongs to, or of the module alone.

    It is empty where the source cannot be read.
    """
    # A class or function within another has the name of that as well.
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    # A script changes between its runs although its parts do not.
    if module is None or file is None or name == "__main__":
        return ""
    path = Path(file)
    try:
        return _digest(
            path.parent, _sources(path.parent if module.__package__ else path)
        )
    except OSError:
        return ""


def _sources(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _digest(root: Path, files: Iterable[Path]) -> str:
    total = sha256()
    for file in files:
        content = file.read_bytes()
        total.update(f"{file.relative_to(root).as_posix()} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()[:SHOWN]
