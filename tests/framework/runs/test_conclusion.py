"""The result of a run: its status, its failures, what its numbers mean, and events on
the way.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gde import (
    Choice,
    Evidence,
    GdeError,
    How,
    Measure,
    Measurement,
    MetricOffer,
    NoConfig,
    Plan,
    Result,
    evaluate,
    load_evidence,
    report,
)
from gde.request.catalogue import Catalogue
from gde.store.folder import RunFolder

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=4)


def constant(name: str, value: float = 1.0) -> Choice:
    """A metric that gives one number of this name."""

    def metric(_: Evidence) -> Sequence[Measurement]:
        return (Measurement(name=name, value=value, unit="count", n=1),)

    return Choice(name=f"python:{name}", alias=f"metric-{name}", part=metric)


class Unprintable:
    """A reporter that fails."""

    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        raise OSError("out of ink")


def finished(
    plan: Plan, folder: Path, catalogue: Catalogue, how: How | None = None
) -> Result:
    result = evaluate(plan, folder, catalogue, how=how)
    stored = RunFolder.open(folder).read_result()
    assert (stored.status, stored.failures, stored.measurements) == (
        result.status,
        result.failures,
        result.measurements,
    )
    return result


@pytest.mark.parametrize(
    ("change", "status", "stages"),
    [
        ({}, "ok", set()),
        (
            {"metrics": (Choice(name="success"), Choice(name="broken"))},
            "partial",
            {"metric"},
        ),
        ({"metrics": (Choice(name="broken"),)}, "failed", {"metric"}),
        ({"environment": Choice(name="bottomless")}, "partial", {"rollout"}),
        ({"environment": Choice(name="unmakable")}, "failed", {"rollout"}),
        (
            {"agent": Choice(name="moody", config={"statuses": ["crash"]})},
            "failed",
            {"rollout"},
        ),
        ({"agent": Choice(name="moody", config={"statuses": ["empty"]})}, "ok", set()),
        (
            {"rewards": (Choice(name="progress-judge", config={"model": "planted"}),)},
            "partial",
            {"reward"},
        ),
    ],
)
def test_the_status_says_how_much_can_be_relied_on(
    change: Mapping[str, object],
    status: str,
    stages: set[str],
    tmp_path: Path,
    catalogue: Catalogue,
) -> None:
    result = finished(replace(PLAN, **change), tmp_path / "run", catalogue)  # type: ignore[arg-type]
    assert result.status == status
    assert {one.stage for one in result.failures} == stages
    assert all(one.subject and one.reason for one in result.failures)


def test_a_report_that_fails_costs_no_number(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    how = How(reporters=(Choice.of(Unprintable), Choice(name="html")))
    result = finished(PLAN, tmp_path / "run", catalogue, how)
    assert [(one.subject, one.reason) for one in result.failures] == [
        ("Unprintable", "OSError: out of ink")
    ]
    assert result.measurements[0].value == 1
    assert (tmp_path / "run" / "report.html").is_file()


class Unwritten:
    """A reporter that gives no file."""

    def __init__(self, page: object) -> None:
        self.page = page

    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        return self.page  # type: ignore[return-value]


@pytest.mark.parametrize(
    "page", [None, "report.txt", Path("nowhere/report.txt"), Path()], ids=repr
)
def test_a_report_that_is_no_file_is_a_failure(
    page: object, tmp_path: Path, catalogue: Catalogue
) -> None:
    how = How(reporters=(Choice.of(lambda: Unwritten(page), alias="mine"),))
    result = finished(PLAN, tmp_path / "run", catalogue, how)
    reason = f"reporter 'mine': wanted the Path of a file that is there, got {page!r}; "
    assert result.status == "partial"
    assert [
        (one.stage, one.subject, one.reason.startswith(reason))
        for one in result.failures
    ] == [("report", "mine", True)]
    with pytest.raises(GdeError, match="wanted the Path of a file that is there"):
        report(tmp_path / "run", how.reporters, catalogue)


def test_a_number_that_is_given_twice_is_kept_once_and_the_second_is_named(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN,
        metrics=(
            constant("a"),
            replace(constant("a", 2.0), alias="rival"),
            constant("b"),
        ),
    )
    result = finished(plan, tmp_path / "run", catalogue)
    assert [(one.name, one.value, one.source) for one in result.measurements] == [
        ("a", 1.0, "metric-a"),
        ("b", 1.0, "metric-b"),
        ("rival", None, "rival"),
    ]
    (failure,) = result.failures
    assert (
        failure.reason
        == result.measurements[-1].reason
        == "metrics 'metric-a' and 'rival' both give 'a': leave one out, or rename what it gives"
    )


def test_what_numbers_mean_is_in_the_result(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    plan = replace(
        PLAN, rewards=(Choice(name="oracle"),), metrics=(Choice(name="epic"),)
    )
    result = finished(plan, tmp_path / "run", catalogue)
    meaning = result.meanings["epic"]
    assert (meaning.title, meaning.better, meaning.headline) == (
        "EPIC distance",
        "less",
        True,
    )
    assert RunFolder.open(tmp_path / "run").read_result().measures == result.measures


def test_a_probe_s_measures_bear_its_name_in_the_run(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    entry = catalogue.find("probe", "where")
    declared = replace(
        entry.offer, measures=(Measure(name="accuracy", title="cells found"),)
    )
    object.__setattr__(entry, "offer", declared)
    plan = replace(
        PLAN, agent=Choice(name="asking"), probes=(Choice(name="where", alias="deep"),)
    )
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert result.meanings["deep.accuracy"].title == "cells found"


def test_offers_without_measures_leave_names_for_titles() -> None:
    offer = MetricOffer(name="x", summary="s", config=NoConfig, make=lambda _, __: None)
    assert (
        Result(run="", status="ok", plan_hash="", measurements=(), failures=())
        .meanings["x.y"]
        .title
        == "x.y"
    )
    assert offer.measures == ()


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_every_turn_is_told_once_and_in_its_order(
    executor: str, tmp_path: Path, asking: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "turns"
    monkeypatch.setitem(os.environ, "ASKING_PARTS_TURNS", str(told))
    plan = replace(PLAN, agent=Choice(name="asking"))
    evaluate(plan, tmp_path / "run", asking, how=How(executor=executor))
    lines = told.read_text().splitlines()
    for one in load_evidence(tmp_path / "run", asking).trajectories:
        mine = [line for line in lines if line.startswith(f"{one.key} ")]
        assert mine == [
            f"{one.key} {turn.index} {turn.decision.action} None" for turn in one.turns
        ]
    assert len(lines) == sum(
        len(one.turns) for one in load_evidence(tmp_path / "run", asking).trajectories
    )
