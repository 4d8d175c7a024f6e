"""Makes the simulators beside it importable, here and in processes of their own, and makes environments as offered."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gde.errors import GdeError
from gde.request.settings import build
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.environment import SimulatedEnvironment
from gde_plugins.text_worlds.plugin import gde_environments

sys.path.insert(0, str(Path(__file__).parent))

OFFERS = {offer.name: offer for offer in gde_environments()}
Make = Callable[..., SimulatedEnvironment]


@pytest.fixture(scope="module")
def made() -> Iterator[Make]:
    """Makes an environment by name and settings, all in one context, and closes them in the end."""
    context, environments = PlainContext(), []

    def make(name: str, **settings: Any) -> SimulatedEnvironment:
        offer = OFFERS[name]
        if lacking := (*offer.missing(), *offer.missing_programs()):
            pytest.skip(f"{name} needs {', '.join(lacking)}")
        environments.append(offer.make(build(offer.config, settings, "env"), context))
        return environments[-1]

    yield make
    for each in environments:
        each.close()


def followed(environment: SimulatedEnvironment, seed: int) -> list[Any]:
    """The outcomes of the demonstration in the world of a seed."""
    environment.reset(seed)
    way = environment.demonstration()
    if not way:
        raise GdeError(f"no demonstration for {environment.world()}")
    return [environment.step(action) for action in way]
