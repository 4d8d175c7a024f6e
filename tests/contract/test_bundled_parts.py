"""Every bundled part keeps the promises of its protocol, as it is offered: looked up by name and made from defaults."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gde.offers import Facet
from gde.parts.environment import Environment
from gde.parts.language_model import WhiteBox
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS
from gde.request.settings import build
from gde.testing import (
    check_agent,
    check_environment,
    check_executor,
    check_language_model,
    check_metric,
    check_probe,
    check_reporter,
    check_reproduction,
    check_reward_model,
    check_white_box,
)
from gde.testing.context import PlainContext
from gde.testing.worlds import Recipe

CATALOGUE = Catalogue.default()
QUICK: dict[str, dict[str, Any]] = {
    "cogmap": {"epochs": 3, "hidden": 8},
    "processes": {"workers": 2},
    "meg-cliffworld": {"starts": 1, "steps": 2},
    "meg-rivals": {"samples": 1, "worlds": 8, "size": 7},
    "meg-validity": {"samples": 1, "worlds": 8, "size": 7},
}
"""Configurations that make a check quick; what matters is that the promises are kept, not how good the part is."""
SIMULATORS = dict.fromkeys(("textworld", "alfworld", "scienceworld"), "takes long: tests/plugins/text_worlds checks it")
TRAINED = dict.fromkeys(("supervised", "vlwm"), "needs the folder of a trained model")
CANNOT = {"hf": "needs a folder with weights", "openai": "needs a server", **SIMULATORS, **TRAINED}
"""Offers that nothing is made of here; their own tests use stand-ins, or small worlds."""


def offered(kind: str) -> list[Any]:
    """Every offer of this distribution as a test parameter."""
    entries = [entry for entry in CATALOGUE.entries(kind) if entry.module.startswith(("gde.", "gde_plugins."))]
    return [pytest.param(entry, id=entry.offer.name) for entry in entries]


def maker(entry: Entry) -> Callable[[], Any]:
    offer = entry.offer
    if reason := CANNOT.get(offer.name):
        pytest.skip(reason)
    if missing := offer.missing():
        pytest.skip(f"{', '.join(missing)} not installed")
    return partial(offer.make, build(offer.config, QUICK.get(offer.name, {}), offer.name), PlainContext())


def make_grid(size: int = 5) -> Environment:
    """The bundled world that most parts are made for."""
    offer = CATALOGUE.find("environment", "grid").offer
    grid: Environment = offer.make(build(offer.config, {"size": size}, "env"), PlainContext())
    return grid


@pytest.mark.parametrize("entry", offered("environment"))
def test_environment(entry: Entry) -> None:
    check_environment(maker(entry), actions=("an answer",), gives=entry.offer.gives)


@pytest.mark.parametrize("entry", offered("agent"))
def test_agent(entry: Entry) -> None:
    check_agent(maker(entry), environment=Recipe if Facet.DEMONSTRATION in entry.offer.needs else make_grid)


@pytest.mark.parametrize("entry", offered("language_model"))
def test_language_model(entry: Entry) -> None:
    make = maker(entry)
    model = make()
    (check_white_box if isinstance(model, WhiteBox) else check_language_model)(make)


@pytest.mark.parametrize("entry", offered("probe"))
def test_probe(entry: Entry) -> None:
    check_probe(maker(entry))


@pytest.mark.parametrize("entry", offered("reward_model"))
def test_reward_model(entry: Entry) -> None:
    check_reward_model(maker(entry))


@pytest.mark.parametrize("entry", offered("metric"))
def test_metric(entry: Entry) -> None:
    check_metric(maker(entry))


@pytest.mark.parametrize("entry", offered("executor"))
def test_executor(entry: Entry) -> None:
    check_executor(maker(entry))


@pytest.mark.parametrize("entry", offered("reporter"))
def test_reporter(entry: Entry, tmp_path: Path) -> None:
    check_reporter(maker(entry), tmp_path)


@pytest.mark.parametrize("entry", offered("reproduction"))
def test_reproduction(entry: Entry) -> None:
    check_reproduction(maker(entry))


def test_every_kind_is_checked() -> None:
    assert {f"test_{kind}" for kind in KINDS} <= set(globals())
