"""The suite of agents of which the truth is known."""

import pytest

from gde.data.plan import Choice
from gde.testing import check_reproduction
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.validity.arena import arenas
from gde_plugins.meg.validity.study import BEYOND, WITH, WITHOUT, called, validity_study
from gde_plugins.meg.validity.walkers import BLIND, SEEKING

pytestmark = pytest.mark.extended

STUDY = validity_study(ValidityConfig(samples=1, worlds=8, size=7))
"""Computes its tables once."""


def test_the_contract() -> None:
    check_reproduction(lambda: STUDY)


def test_every_agent_is_measured_in_every_kind_of_world_by_every_rule() -> None:
    rows = STUDY.compare({})
    assert len(rows) == 3 * (len(BLIND) + len(SEEKING))
    assert {row.table.partition(",")[0] for row in rows} == {"False positives", "Power"}
    for row in rows:
        assert row.others.keys() == {WITH, WITHOUT}
        assert row.ours.interval is not None
    optimal = [
        row
        for row in rows
        if row.quantity == "optimal" and row.ours.where["world"] != "open"
    ]
    assert all(row.others[WITHOUT].value == 1 for row in optimal)


def test_the_scale_is_that_of_the_number_of_runs() -> None:
    study = validity_study(ValidityConfig(samples=2, worlds=8, size=7))
    study.plans(0.5, Choice(name="random"))
    assert {row.ours.n for row in study.compare({})} == {1}


def test_nobody_is_called_anything_where_too_few_worlds_can_tell() -> None:
    config = ValidityConfig(samples=1, worlds=4, size=7)
    episodes = arenas(config, "mazes")(0).walked("optimal", SEEKING["optimal"])
    assert not called(episodes, 0)[BEYOND]
