"""The suite of agents of which the truth is known."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from meg_studies.config import ValidityConfig
from meg_studies.validity.agents import SEEKING, blind
from meg_studies.validity.study import validity_study

from gde.data.plan import Choice
from gde.testing import check_reproduction

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


def test_the_studies_are_reproductions_once_their_plugin_is_loaded() -> None:
    folder = Path(__file__).parents[2] / "benchmarks"
    there = {"PYTHONPATH": str(folder), "GDE_LOAD_PLUGINS": "meg_studies"}
    listed = subprocess.run(
        [sys.executable, "-m", "gde", "list", "reproductions"],
        env={**os.environ, **there},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert all(name in listed for name in ("validity", "baselines", "logits"))
