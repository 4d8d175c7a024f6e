"""Everything that made the numbers is named, each once and in an order of its own."""

from dataclasses import replace
from importlib.metadata import version

import pytest

from gde import Choice, Plan
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash, plan_tables
from gde.request.provenance import provenance
from gde.request.resolve import resolve

PLAN = Plan(environment="corridor", agent="asking", metrics=["success"])


def test_parts_are_named_with_plugin_and_version(catalogue: Catalogue) -> None:
    found = provenance(resolve(PLAN, catalogue), {})
    assert found["parts"]["success"] == "behaviour:success v1"  # type: ignore[index, call-overload]
    assert set(found["parts"]) >= {"corridor", "asking", "planted", "serial", "success"}  # type: ignore[arg-type]


def test_parts_of_two_kinds_that_are_called_the_same_are_both_there(
    catalogue: Catalogue,
) -> None:
    plan = replace(PLAN, rewards=(Choice(name="random"),), agent=Choice(name="random"))
    parts = provenance(resolve(plan, catalogue), {})["parts"]
    assert parts["agent random"] == "baselines:random v1"  # type: ignore[index, call-overload]
    assert parts["reward model random"] == "reward_baselines:random v1"  # type: ignore[index, call-overload]
    assert "random" not in parts  # type: ignore[operator]


def test_the_plan_is_there_whole(catalogue: Catalogue) -> None:
    ready = resolve(PLAN, catalogue)
    found = provenance(ready, {})
    assert (found["plan"], found["plan_hash"]) == (
        plan_tables(ready.plan),
        plan_hash(ready.plan),
    )
    assert found["packages"]["numpy"] == version("numpy")  # type: ignore[index, call-overload]


@pytest.mark.parametrize("order", [1, -1])
def test_models_and_notices_come_in_one_order_whoever_answered_first(
    order: int, catalogue: Catalogue
) -> None:
    told = {
        "b": {"notice": "Not real.", "versions": {}},
        "a": {"notice": "Small.", "versions": {}},
        "c": {"notice": "Not real.", "versions": {}},
        "d": {"notice": "", "versions": {}},
    }
    found = provenance(resolve(PLAN, catalogue), dict([*told.items()][::order]))
    assert [*found["models"]] == ["a", "b", "c", "d"]  # type: ignore[arg-type, misc]
    assert found["notice"] == "Small. Not real."


def test_what_is_not_installed_here_is_said(catalogue: Catalogue) -> None:
    ready = resolve(
        replace(PLAN, metrics=(Choice(name="gone"),)), catalogue, absent=True
    )
    assert provenance(ready, {})["parts"]["gone"] == "not installed here"  # type: ignore[index, call-overload]
