"""Makes the simulators beside it importable, here and in processes of their own, and
makes environments as offered.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gde.request.settings import build
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.environment import Made, SimulatedEnvironment
from gde_plugins.text_worlds.plugin import gde_environments

sys.path.insert(0, str(Path(__file__).parent))

OFFERS = {offer.name: offer for offer in gde_environments()}
Make = Callable[..., SimulatedEnvironment]


def fresh(context: PlainContext, name: str, **settings: Any) -> SimulatedEnvironment:
    """A new environment, with a simulator of its own."""
    offer = OFFERS[name]
    if lacking := (*offer.missing(), *offer.missing_programs()):
        pytest.skip(f"{name} needs {', '.join(lacking)}")
    environment: SimulatedEnvironment = offer.made(
        build(offer.config, settings, "env"), context
    )
    return environment


@pytest.fixture(scope="module")
def context() -> PlainContext:
    """One for all, so that a game is made once."""
    return PlainContext()


@pytest.fixture(scope="module")
def made(context: PlainContext) -> Iterator[Make]:
    """Makes an environment by name and settings; the same one for the same settings."""
    environments: dict[str, SimulatedEnvironment] = {}

    def make(name: str, **settings: Any) -> SimulatedEnvironment:
        key = f"{name} {settings}"
        if key not in environments:
            environments[key] = fresh(context, name, **settings)
        return environments[key]

    yield make
    for each in environments.values():
        each.close()


def playing(environment: SimulatedEnvironment, **settings: Any) -> SimulatedEnvironment:
    """The simulator of an environment with games of other settings: starting one takes
    longer than most tests.
    """
    return SimulatedEnvironment(environment._host, Made(settings), horizon=50)


def followed(environment: SimulatedEnvironment, seed: int) -> list[Any]:
    """The outcomes of the demonstration in the world of a seed."""
    environment.reset(seed)
    way = environment.demonstration()
    assert way, f"no demonstration in {environment.world()}"
    return [environment.step(action) for action in way]
