"""A part by the path of its class or function."""

from typing import Any

import pytest

from gde.data.plan import Choice
from gde.errors import GdeError
from gde.offers import NoConfig, Offer
from gde.parts.context import Context, OutsideRun

CONTEXT = OutsideRun()


class Bare:
    pass


class Configured:
    def __init__(self, *, more: str = "", config: NoConfig) -> None:
        self.taken: tuple[object, ...] = (config,)


def both(context: Context, config: NoConfig) -> tuple[object, ...]:
    return config, context


def offer(**where: str) -> Offer[NoConfig, Any]:
    return Offer(name="mine", summary="s", config=NoConfig, **where)  # type: ignore[arg-type]


def test_what_a_path_names_is_called_with_what_it_has_parameters_for() -> None:
    config = NoConfig()
    assert isinstance(offer(make=f"{__name__}:Bare").made(config, CONTEXT), Bare)
    one = offer(make=f"{__name__}:Configured").made(config, CONTEXT)
    assert one.taken == (config,)
    assert offer(make=f"{__name__}:both").made(config, CONTEXT) == (config, CONTEXT)


def test_a_part_that_needs_no_making_is_itself_imported() -> None:
    assert offer(part=f"{__name__}:both").made(NoConfig(), CONTEXT) is both


@pytest.mark.parametrize(
    "path", ["no_such_module:Part", f"{__name__}:NoSuchPart", "no path", ""]
)
def test_a_path_that_leads_nowhere_is_named(path: str) -> None:
    with pytest.raises(GdeError, match=f"mine: cannot import '{path}' .*correct the"):
        offer(make=path).made(NoConfig(), CONTEXT)


def test_a_plan_names_the_module_that_a_path_leads_to() -> None:
    assert Choice.of(offer(make="own.parts:Agent")).name == "python:own.parts.mine"
    assert Choice.of(offer(part="own.parts:agent")).name == "python:own.parts.mine"
