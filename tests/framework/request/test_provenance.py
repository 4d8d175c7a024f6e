"""Everything that made the numbers is named, each once and in an order of its own."""

from dataclasses import replace
from importlib.metadata import version

import pytest

from gde import Choice, Plan
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash, plan_tables
from gde.request.provenance import provenance
from gde.request.resolve import resolve
from gde.request.versions import VERSION_OF_STAGES

PLAN = Plan(environment="corridor", agent="asking", metrics=["success"])


def test_parts_are_named_with_distribution_and_version(catalogue: Catalogue) -> None:
    found = provenance(resolve(PLAN, catalogue))
    assert found["parts"]["metric success"] == "gde-eval:success v1"  # type: ignore[index, call-overload]
    assert found["parts"]["gde"] == f"gde-eval:stages v{VERSION_OF_STAGES}"  # type: ignore[index, call-overload]
    named = {"environment corridor", "agent asking", "language model planted"}
    assert set(found["parts"]) >= {*named, "executor serial", "metric success"}  # type: ignore[arg-type]


def test_parts_of_two_kinds_that_are_called_the_same_are_both_there(
    catalogue: Catalogue,
) -> None:
    plan = replace(PLAN, rewards=(Choice(name="random"),), agent=Choice(name="random"))
    parts = provenance(resolve(plan, catalogue))["parts"]
    assert parts["agent random"] == "gde-eval:random v1"  # type: ignore[index, call-overload]
    assert parts["reward model random"] == "gde-eval:random v1"  # type: ignore[index, call-overload]


def test_the_plan_is_there_whole(catalogue: Catalogue) -> None:
    ready = resolve(PLAN, catalogue)
    found = provenance(ready)
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
    models = dict([*told.items()][::order])
    found = provenance(resolve(PLAN, catalogue), models)
    assert [*found["models"]] == ["a", "b", "c", "d"]  # type: ignore[arg-type, misc]
    assert found["notice"] == "Small. Not real."


def test_what_is_not_installed_here_is_said(catalogue: Catalogue) -> None:
    ready = resolve(
        replace(PLAN, metrics=(Choice(name="gone"),)), catalogue, absent=True
    )
    assert provenance(ready)["parts"]["metric gone"] == "not installed here"  # type: ignore[index, call-overload]
