"""The suite of agents of which the truth is known."""

import pytest

from gde.data.plan import Choice
from gde.testing import check_reproduction
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.validity.agents import SEEKING, blind
from gde_plugins.meg.validity.study import validity_study

pytestmark = pytest.mark.extended

STUDY = validity_study(ValidityConfig(samples=1, worlds=8, kinds=("maze", "key-door")))
"""Computes its tables once."""


def test_the_contract() -> None:
    check_reproduction(lambda: STUDY)


def test_every_agent_is_measured_in_every_kind_of_world() -> None:
    rows = STUDY.compare({})
    assert len(blind(None)) >= 25
    tables = {row.table for row in rows}
    assert "False positives, maze" in tables
    assert "Power, key-door" in tables
    for table in ("Power, maze", "Power, key-door"):
        named = {row.quantity for row in rows if row.table == table}
        assert named == SEEKING.keys()


def test_the_scale_is_that_of_the_number_of_runs() -> None:
    study = validity_study(ValidityConfig(samples=2, worlds=8, kinds=("maze",)))
    study.plans(0.5, Choice(name="random"))
    rows = [row for row in study.compare({}) if row.table == "Power, maze"]
    assert {row.ours.n for row in rows} == {1}
