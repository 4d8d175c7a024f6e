"""`check_offer` and `check_plugin` pass the kit's plugin and name what broken
counterfactuals break.
"""

import sys
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from promised import caught, listed, promises, writing
from pydantic import Field

import gde.testing.plugin
from gde.data.measure import Measure
from gde.offers import AnyOffer, MetricOffer, NoConfig, Offer
from gde.testing import check_offer, check_plugin
from gde.testing.parts import ScriptedAgent

COUNTING: MetricOffer[Any, Any] = MetricOffer(
    name="counting", summary="Counts.", config=NoConfig, make=lambda _, __: lambda _: ()
)
GOOD: AnyOffer = Offer(
    name="good",
    summary="Goes right.",
    config=NoConfig,
    make=lambda _, __: ScriptedAgent(),
)


def test_the_kit_plugin_keeps_every_promise() -> None:
    check_plugin(gde.testing.plugin)
    check_offer(GOOD)


@dataclass
class Melting:
    """Not frozen."""


@dataclass(frozen=True)
class Undocumented:
    """One field without docstring."""

    told: int = 1
    """Told."""
    untold: int = 2


@dataclass(frozen=True)
class WrongDefault:
    """A default out of range."""

    size: Annotated[int, Field(ge=5)] = 3
    """Rows."""


@dataclass(frozen=True)
class Unrepeatable:
    """Says something else when it is written down."""

    size: int = 3
    """Rows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.size + 1)


@dataclass(frozen=True)
class Undescribable:
    """A field that pydantic knows nothing of."""

    part: type = ScriptedAgent
    """Anything."""


BROKEN_OFFERS: dict[str, tuple[Any, str]] = {
    "text": ("good", "must offer an Offer"),
    "two-words": (replace(GOOD, name="two words"), "free of blanks"),
    "a:b": (replace(GOOD, name="a:b"), "colons"),
    "two-lines": (replace(GOOD, summary="two\nlines"), "one line"),
    "no-part": (replace(GOOD, make=""), "one of `make` and `part`"),
    "version-0": (replace(GOOD, version=0), "must be at least 1"),
    "imports-without-extra": (
        replace(GOOD, imports=("torch",)),
        "how to install torch",
    ),
    "Melting": (replace(GOOD, config=Melting), "frozen dataclass"),
    "declared-twice": (
        replace(COUNTING, measures=(Measure(name="a", title="A"),) * 2),
        "declared once",
    ),
    "untitled": (
        replace(COUNTING, measures=(Measure(name="a", title=""),)),
        "'a' must have a title",
    ),
    "two-stars": (
        replace(COUNTING, measures=(Measure(name="a.*.*", title="A"),)),
        "at most one",
    ),
    "phrase-without-place": (
        replace(
            COUNTING,
            measures=(Measure(name="a", title="A", headline=True, phrase="went"),),
        ),
        "in its phrase",
    ),
    "phrase-off-the-headlines": (
        replace(
            COUNTING, measures=(Measure(name="a", title="A", phrase="went {} times"),)
        ),
        "must be a headline",
    ),
    "beside-itself": (
        replace(COUNTING, measures=(Measure(name="a", title="A", beside="a"),)),
        "must not be beside itself",
    ),
    "column-of-one": (
        replace(COUNTING, measures=(Measure(name="a", title="A", column=True),)),
        "to be a column",
    ),
    "Undocumented": (
        replace(GOOD, config=Undocumented),
        "Undocumented must have a docstring under untold",
    ),
    "Undescribable": (
        replace(GOOD, config=Undescribable),
        "Undescribable must have fields that pydantic knows",
    ),
    "WrongDefault": (
        replace(GOOD, config=WrongDefault),
        "WrongDefault must have valid defaults",
    ),
    "Unrepeatable": (
        replace(GOOD, config=Unrepeatable),
        "the same after being saved in a plan",
    ),
}


@pytest.mark.parametrize("counterfactual", BROKEN_OFFERS)
def test_a_broken_promise_of_an_offer_is_named(counterfactual: str) -> None:
    offer, promise = BROKEN_OFFERS[counterfactual]
    with caught(counterfactual, promise):
        check_offer(offer)


BROKEN_PLUGINS = {
    "plugin_without_hooks": ("x = 1", "must implement a hook"),
    "plugin_with_unknown_hook": (
        "@hookimpl\ndef gde_agentss(): return ()",
        "as they are specified",
    ),
    "plugin_with_extra_argument": (
        "@hookimpl\ndef gde_agents(colour): return ()",
        "as they are specified",
    ),
    "plugin_with_counterfactuals": (
        "@hookimpl\ndef gde_agents(): return (OFFER, OFFER)",
        "distinct, got good, good",
    ),
    "plugin_that_counts": (
        "names = iter('abcdef')\n@hookimpl\ndef gde_agents(): return (dataclasses.replace(OFFER, name=next(names)),)",
        "the same when called again",
    ),
    "plugin_that_is_heavy": (
        "import sqlite3, openai\n@hookimpl\ndef gde_agents(): return ()",
        "must not load openai",
    ),
    "plugin_that_gets_heavy": (
        "@hookimpl\ndef gde_agents():\n    import openai\n    return (OFFER,)",
        "must not load openai",
    ),
}
HEAD = """
import dataclasses
from gde.hookspecs import hookimpl
from gde.offers import NoConfig, Offer
OFFER = Offer(name="good", summary="Good.", config=NoConfig, make=lambda _, __: None)
"""


def test_a_plugin_must_be_importable_by_name() -> None:
    nowhere = ModuleType("plugin_from_nowhere")
    vars(nowhere)["gde_agents"] = gde.testing.plugin.gde_agents
    with caught("plugin_from_nowhere", "must be importable by name"):
        check_plugin(nowhere)


@pytest.mark.parametrize("name", BROKEN_PLUGINS)
def test_a_broken_promise_of_a_plugin_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, promise = BROKEN_PLUGINS[name]
    (tmp_path / f"{name}.py").write_text(HEAD + body)
    (tmp_path / "openai.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    # Set first, so that none stays behind where there was none.
    monkeypatch.setitem(sys.modules, "openai", sys)
    monkeypatch.delitem(sys.modules, "openai")
    plugin = import_module(name)
    sys.modules.pop("openai", None)
    with caught(name, promise):
        check_plugin(plugin)


def test_every_promise_is_seen_to_be_caught() -> None:
    """`checks.md` beside this file names a broken counterfactual for each; that each
    counterfactual is caught there, its own test says.
    """
    if writing():
        pytest.skip("the page is being written")
    wanted = {(each.module, each.title) for each in promises()}
    assert len(promises()) >= 60
    assert wanted == listed().keys(), (
        "GDE_WRITE_CHECKS=1 pytest tests/framework/testing"
    )
    untested = [
        promise
        for promise, counterfactuals in listed().items()
        if not counterfactuals.strip()
    ]
    assert not untested
