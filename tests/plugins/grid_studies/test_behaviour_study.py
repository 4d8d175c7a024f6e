"""The behavioural study of Arghal et al. (2026): published sizes, what is paired with
what, a small run of it all.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, Measurement
from gde.parts.reproduction import Comparison, Reproduction
from gde.studies.reproducing import Request, reproduce
from gde.studies.study import Study
from gde.testing.context import PlainContext
from gde_plugins.grid_studies.behaviour_study import (
    DENSITIES,
    LARGER_PATHS,
    SIZES,
    TRANSFORMS,
    BehaviourStudy,
)
from gde_plugins.grid_studies.cogmap_study import CogmapStudy
from gde_plugins.grid_studies.config import BehaviourConfig
from gde_plugins.grid_studies.lookup import find
from gde_plugins.grid_studies.probes_study import ProbesStudy

AGENT = Choice(name="gpt-oss", config={"model": "nano"})


def test_at_full_scale_the_plans_are_the_published_ones() -> None:
    plans = BehaviourStudy(BehaviourConfig(), PlainContext()).plans(1.0, AGENT)
    conditions = len(SIZES) * len(DENSITIES)
    assert conditions * plans["grids"].episodes == 300
    assert conditions * len(TRANSFORMS) * plans["transforms"].episodes == 1200
    assert {
        plan.repeats for name, plan in plans.items() if name in {"grids", "transforms"}
    } == {10}
    assert [
        plans[name].episodes for name in ("key-door", "key-no-door", "two-path-key")
    ] == [100, 100, 49]
    assert "size" not in plans["two-path-key"].environment.config


def test_two_path_worlds_are_played_again_where_they_can_be_tested() -> None:
    plans = BehaviourStudy(BehaviourConfig(), PlainContext()).plans(1.0, AGENT)
    published, larger = plans["two-path-key"], plans[LARGER_PATHS]
    assert larger.episodes == 100
    environment = larger.environment
    config = {key: environment.config[key] for key in published.environment.config}
    assert config == published.environment.config
    assert (environment.config["size"], environment.config["horizon"]) == (17, 60)
    alike = replace(larger, environment=published.environment, episodes=49)
    assert alike == published


def test_scaled_down_there_are_fewer_worlds_and_still_several_trajectories() -> None:
    plans = BehaviourStudy(BehaviourConfig(), PlainContext()).plans(0.1, AGENT)
    assert (
        plans["grids"].episodes,
        plans["grids"].repeats,
        plans["key-door"].episodes,
    ) == (1, 4, 10)


def test_reasoning_is_longer_in_key_worlds_unless_said_otherwise() -> None:
    def efforts(agent: Choice) -> list[object]:
        plans = BehaviourStudy(BehaviourConfig(), PlainContext()).plans(1.0, agent)
        return [
            plans[name].agent.config.get("effort") for name in ("grids", "key-door")
        ]

    assert efforts(AGENT) == [None, "medium"]
    assert efforts(replace(AGENT, config={"effort": "high"})) == ["high", "high"]
    assert efforts(Choice(name="random")) == [None, None]


@pytest.mark.parametrize(
    "study",
    [
        BehaviourStudy(BehaviourConfig(), PlainContext()),
        CogmapStudy(),
        ProbesStudy(),
    ],
)
def test_answers_are_read_as_published_unless_said_otherwise(
    study: Reproduction,
) -> None:
    def strict(agent: Choice) -> set[object]:
        plans = study.plans(1.0, agent).values()
        return {plan.agent.config.get("strict") for plan in plans}

    assert strict(AGENT) == {True}
    assert strict(replace(AGENT, config={"strict": False})) == {False}
    assert strict(Choice(name="random")) == {None}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A twentieth of the study, played by an agent that takes an optimal action with
    probability .7 or by luck.
    """
    out = tmp_path_factory.mktemp("study") / "telos"
    agent = Choice(name="noisy", config={"p": 0.3})
    return reproduce(Request(name="telos-behaviour", scale=0.05, agent=agent), out)


def rows(study: Study) -> Mapping[str, Comparison]:
    return {f"{row.table}: {row.quantity}": row for row in study.rows}


@pytest.mark.extended
def test_every_row_has_a_number_or_a_reason_and_every_run_is_whole(
    study: Study,
) -> None:
    assert study.status == "ok"
    missing = {
        row.quantity: row.ours.reason for row in study.rows if row.ours.value is None
    }
    assert "not in the run" not in missing.values(), missing
    assert len(study.rows) > 60


@pytest.mark.extended
def test_the_agents_accuracy_is_what_its_slips_make_of_it(study: Study) -> None:
    # A slip is uniform over four actions, of which one or two are optimal: between 1 -
    # .3 * 3/4 and 1 - .3 * 1/2.
    accuracy = rows(study)["Base grids (section 4.1): accuracy"].ours
    assert accuracy.value is not None and 0.72 < accuracy.value < 0.88


@pytest.mark.extended
def test_two_path_worlds_stand_beside_those_of_more_base_grids(study: Study) -> None:
    tables: dict[str, list[Comparison]] = {}
    for row in study.rows:
        if row.table.startswith("2PathKey"):
            tables.setdefault(row.table, []).append(row)
    published, larger = tables.values()
    assert [row.quantity for row in published] == [row.quantity for row in larger]
    assert any(row.paper is not None for row in published)
    assert all(row.paper is None for row in larger)
    assert all(
        row.ours.value is not None for row in larger if "p value" not in row.quantity
    )


@pytest.mark.extended
def test_a_transform_is_held_against_the_base_grids_of_the_other_run(
    study: Study,
) -> None:
    differences = [
        row.ours
        for row in study.rows
        if row.quantity.endswith("difference from the base grids")
    ]
    assert [one.n for one in differences] == [len(SIZES) * len(DENSITIES)] * 8
    corrected = [
        row.ours.value
        for row in study.rows
        if row.quantity.endswith("corrected after Holm")
    ]
    assert all(value is not None and value > 0.05 for value in corrected)


@pytest.mark.extended
def test_the_figures_are_those_published(study: Study) -> None:
    titles = [figure.title for figure in study.figures]
    assert "Accuracy by distance" in titles
    assert titles[-2:] == ["What a transform changes", "With a useless key and without"]
    assert (study.folder / "grids" / "report.html").is_file()


def test_grids_can_come_from_a_file(tmp_path: Path) -> None:
    plans = BehaviourStudy(
        BehaviourConfig(grids=str(tmp_path / "grids.jsonl")), PlainContext()
    ).plans(1.0, AGENT)
    config = plans["transforms"].environment.config
    assert config["transform"] == list(TRANSFORMS)
    assert "size" not in config
    assert plans["grids"].episodes == 300


def test_what_is_not_measured_says_so() -> None:
    here = Measurement(
        name="success", value=0.5, unit="share", n=2, where={"artefact": "key"}
    )
    assert find([here], "success", artefact="key") is here
    assert find([here], "success").reason == "not in the run"
