"""The check of plugin modules (`gde.hookspecs`)."""

import subprocess
import sys
from types import ModuleType

import pluggy

from gde import hookspecs
from gde.request.kinds import KINDS
from gde.testing.offer import check_offer
from gde.testing.promises import calling, promise, promise_equal

HEAVY = (
    "torch",
    "transformers",
    "sklearn",
    "gymnasium",
    "minigrid",
    "openai",
    "jinja2",
    "pandas",
    "ray",
)
"""Packages that listing offers must not load."""


def check_plugin(plugin: ModuleType) -> None:
    """Register the module and check its hooks and every offer, without making a part.

    Raises:
        AssertionError: a promise is broken.
    """
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    name = plugin.__name__

    def register() -> None:
        manager.register(plugin, name)
        manager.check_pending()

    calling(register, f"{name} must implement hooks of gde as they are specified")
    callers = manager.get_hookcallers(plugin) or []
    promise(callers, f"{name} must implement a hook, marked with `gde.hookimpl`")

    implemented = {caller.name for caller in callers}
    collecting = {kind.hook for kind in KINDS.values()}
    for hook in sorted(collecting & implemented):
        _check_hook(plugin, hook)
    _check_weight(name)


def _check_hook(plugin: ModuleType, hook: str) -> None:
    collect = getattr(plugin, hook)
    offers = list(collect())
    for offer in offers:
        check_offer(offer)
    names = [offer.name for offer in offers]
    promise(
        len(set(names)) == len(names),
        f"{hook}: names must be distinct, got {', '.join(names)}",
    )
    promise_equal(
        names,
        [offer.name for offer in collect()],
        f"{hook} must offer the same when called again",
    )


def _check_weight(name: str) -> None:
    """Check which packages are loaded by the plugin's offers."""
    hooks = sorted(kind.hook for kind in KINDS.values())
    program = f"""
import importlib, sys
plugin = importlib.import_module({name!r})
for hook in {hooks!r}:
    if hasattr(plugin, hook):
        getattr(plugin, hook)()
print(*[package for package in {HEAVY!r} if package in sys.modules])
"""
    # In a fresh interpreter, because this one may have loaded anything.
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    promise(
        done.returncode == 0,
        f"{name} must be importable by name: {done.stderr.strip()[-300:]}",
    )
    promise(
        not done.stdout.strip(),
        f"importing {name} must not load {', '.join(done.stdout.split())}",
    )
