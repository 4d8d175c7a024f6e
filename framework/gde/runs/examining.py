"""Examine an installation: what works, and what to install for what does not."""

import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from platform import python_version
from tempfile import TemporaryDirectory

from gde.data.how import How
from gde.data.plan import Choice, Plan
from gde.errors import FAULTS
from gde.offers import EnvironmentOffer, ModelOffer
from gde.request.catalogue import Catalogue, Entry, PluginRecord, load_plugins
from gde.request.kinds import KINDS
from gde.runs.evaluating import evaluate

OURS = "gde-eval"
KIT = "gde.testing.plugin"
SECONDS = 10.0
"""Time limit of the self-test."""
EPISODES = 6


@dataclass(frozen=True)
class Finding:
    """One thing that was examined."""

    subject: str
    ok: bool
    detail: str
    vital: bool = False
    """Whether nothing can be trusted without it."""


def examine() -> Iterator[Finding]:
    """Examine the installation and the machine, and do a small run.

    It covers Python, plugins, packages, programs, weights and data, accelerator and disk.
    """
    catalogue = Catalogue.default()
    entries: list[tuple[str, Entry]] = []
    for kind in KINDS:
        for entry in catalogue.entries(kind):
            entries.append((kind, entry))

    yield Finding(
        "python", True, f"{python_version()}, {OURS} {version(OURS)}, {sys.executable}"
    )
    yield from _plugins(catalogue.plugins.records)
    yield from _extras(entries)
    yield from _programs(entries)
    yield from _local_weights(entries)
    yield _accelerator()
    yield _disk()
    yield self_test()


def _plugins(records: Sequence[PluginRecord]) -> Iterator[Finding]:
    loaded = [record.name for record in records if not record.error]
    yield Finding("plugins", True, f"{len(loaded)} loaded: {', '.join(loaded)}")
    for record in records:
        if record.error:
            yield Finding(f"plugin {record.name}", False, record.error, vital=True)


def _extras(entries: Sequence[tuple[str, Entry]]) -> Iterator[Finding]:
    """Find the packages that parts lack, by the extra that installs them."""
    users: dict[str, list[str]] = defaultdict(list)
    lacking: dict[str, set[str]] = defaultdict(set)
    for kind, entry in entries:
        if missing := entry.offer.missing():
            extra = entry.offer.extra or "all"
            package = f"{entry.distribution}[{extra}]"
            users[package].append(f"{KINDS[kind].title} {entry.offer.name}")
            lacking[package].update(missing)

    for package, modules in sorted(lacking.items()):
        lost = ", ".join(users[package])
        detail = f"missing; {lost} unavailable: pip install '{package}'"
        yield Finding(f"package {', '.join(sorted(modules))}", False, detail)


def _programs(entries: Sequence[tuple[str, Entry]]) -> Iterator[Finding]:
    users: dict[str, list[str]] = defaultdict(list)
    advice: dict[str, str] = {}
    for kind, entry in entries:
        offer = entry.offer
        for program, installed_by in offer.programs.items():
            users[program].append(f"{KINDS[kind].title} {offer.name}")
            advice.setdefault(program, installed_by)

    for program, names in sorted(users.items()):
        listed = ", ".join(names)
        place = shutil.which(program)
        detail = f"{place}, for {listed}"
        if place is None:
            detail = f"missing; {listed} unavailable: {advice[program]}"
        yield Finding(f"program {program}", place is not None, detail)


def _local_weights(entries: Sequence[tuple[str, Entry]]) -> Iterator[Finding]:
    """Find the weights and data that parts would use without a download."""
    for kind, entry in entries:
        offer = entry.offer
        if not isinstance(offer, EnvironmentOffer | ModelOffer):
            continue
        if offer.local_weights is None:
            continue

        subject = f"{KINDS[kind].title} {offer.name}"
        try:
            for line in offer.local_weights():
                yield Finding(subject, True, line)
        except FAULTS as error:
            reason = f"search failed: {type(error).__name__}: {error}"
            yield Finding(subject, False, reason)


def _accelerator() -> Finding:
    if find_spec("torch") is None:
        advice = f"torch is not installed: pip install '{OURS}[llm]'"
        return Finding("accelerator", False, advice)
    import torch

    devices = range(torch.cuda.device_count())
    detail = f"torch {torch.__version__} on the CPU, which suffices for embedded models"
    if devices:
        names = ", ".join(map(torch.cuda.get_device_name, devices))
        detail = f"{names}, with torch {torch.__version__}"
    return Finding("accelerator", True, detail)


def _disk() -> Finding:
    free = shutil.disk_usage(".").free / 2**30
    detail = f"{free:.1f} GiB free here; a default run needs about 30 MiB"
    return Finding("disk", free > 1, detail)


def self_test() -> Finding:
    """Run the test kit's agent in its corridor.

    A probe and a page are included if their packages are installed.
    """
    began = time.monotonic()

    # Parts are named in full: another plugin may have such names too.
    probes = []
    can_probe = find_spec("safetensors") is not None
    if can_probe:
        probes.append(Choice(name=f"{KIT}:moves", alias="moves"))
    plan = Plan(
        environment=Choice(name=f"{KIT}:corridor", config={"length": 5}),
        agent=f"{KIT}:asking",
        probes=probes,
        episodes=EPISODES,
    )
    try:
        with TemporaryDirectory(prefix="gde-doctor-") as folder:
            catalogue = Catalogue(load_plugins(modules=(KIT,)))
            how = How(run_seconds=SECONDS)
            result = evaluate(plan, Path(folder) / "run", catalogue, how=how)
    except FAULTS as error:
        return Finding(
            "self-test", False, f"{type(error).__name__}: {error}", vital=True
        )

    seconds = time.monotonic() - began
    detail = f"{len(result.measurements)} numbers in {seconds:.1f} s"
    if not can_probe:
        detail += f", without a probe: pip install '{OURS}[probes]'"
    for failure in result.failures:
        detail += f"; {failure.stage} of {failure.subject}: {failure.reason}"
    return Finding("self-test", result.status == "ok", detail, vital=True)
