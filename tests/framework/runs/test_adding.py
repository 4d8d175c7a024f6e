"""What is added to a finished run is added: nothing that was there is lost, and nobody
is asked again.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest
from forging import forge

from gde import (
    Choice,
    Evidence,
    GdeError,
    Measurement,
    Plan,
    Result,
    evaluate,
    load_evidence,
    probe,
    report,
    rescore,
    resume,
)
from gde.comparisons.contest import rescore_contest
from gde.errors import RunFolderError, UnknownName
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.trusting import trust_run
from gde.store.folder import CONTEST, RunFolder
from gde.store.journal import Journal

PLAN = Plan(
    environment="long-corridor",
    agent="asking",
    probes=["where"],
    metrics=["success", "accuracy"],
    episodes=12,
)


@pytest.fixture
def run(tmp_path: Path, asking: Catalogue) -> Result:
    return evaluate(PLAN, tmp_path / "run", asking)


def by_source(result: Result) -> dict[str, list[Measurement]]:
    found: dict[str, list[Measurement]] = {}
    for one in result.measurements:
        found.setdefault(one.source, []).append(one)
    return found


def without(
    *plugins: str, modules: tuple[str, ...] = ("gde.testing.plugin", "odd_parts")
) -> Catalogue:
    return Catalogue(load_plugins(disable=plugins, modules=modules))


def now(folder: str) -> Plan:
    return RunFolder.open(Path(folder)).plan()


def test_metrics_are_added_and_the_rest_is_kept(run: Result, asking: Catalogue) -> None:
    before = by_source(run)
    more = by_source(rescore(run.run, ["length"], asking))
    assert {source: more[source] for source in before} == before
    assert more.keys() - before.keys() == {"length"}
    again = rescore(run.run, ["length"], asking)
    assert by_source(again) == more
    assert [choice.label for choice in now(run.run).metrics] == [
        "success",
        "accuracy",
        "length",
    ]
    recorded = RunFolder.open(Path(run.run)).recorded()
    assert recorded.begun.metrics == PLAN.metrics
    assert [choice.label for choice in recorded.added["metrics"]] == ["length"]
    assert again.plan_hash == run.plan_hash


def change(run: Result, *statements: str) -> None:
    """Write to the record as gde does."""
    forge(Path(run.run), *statements)


def test_a_number_that_another_metric_gave_is_not_given_twice(
    run: Result, asking: Catalogue
) -> None:
    result = rescore(run.run, [Choice(name="success", alias="rival")], asking)
    after = by_source(result)
    (row,) = after.pop("rival")
    assert after == by_source(run)
    (failure,) = result.failures
    assert (row.value, row.reason) == (None, failure.reason)
    assert failure.reason.startswith(
        "metrics 'success' and 'rival' both give 'success'"
    )


def test_a_metric_that_is_asked_for_again_replaces_its_own_numbers_alone(
    run: Result, asking: Catalogue
) -> None:
    change(run, "UPDATE turns SET success = 0")
    after = by_source(rescore(run.run, ["success"], asking))
    assert after["success"][0].value == 0
    assert after["accuracy"] == by_source(run)["accuracy"]


class Asking:
    """A metric that needs something which may be gone."""

    there = True

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        if not self.there:
            raise GdeError("no weights here")
        return (
            Measurement(
                name="asked", value=1.0, unit="share", n=len(evidence.trajectories)
            ),
        )


@pytest.fixture
def asked(asking: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan of a run that is finished, with a metric that fails now."""
    plan = replace(PLAN, metrics=(*PLAN.metrics, Choice.of(Asking, alias="asked")))
    evaluate(plan, tmp_path / "asked", asking)
    monkeypatch.setattr(Asking, "there", False)
    return plan


def test_a_metric_that_fails_now_loses_nothing_that_it_measured(
    asked: Plan, asking: Catalogue, tmp_path: Path
) -> None:
    before = RunFolder.open(tmp_path / "asked").read_result()
    for _ in range(2):
        for after in (
            probe(
                tmp_path / "asked",
                [Choice(name="where", alias="counterfactual")],
                asking,
                plan=asked,
            ),
            rescore(tmp_path / "asked", (), asking, plan=asked),
        ):
            assert by_source(after)["asked"] == by_source(before)["asked"]
            assert after.status == "partial"
            (failure,) = after.failures
            assert failure.reason == "no weights here (keeps its earlier numbers)"


def test_the_failure_of_a_metric_that_is_not_asked_again_is_kept(
    asking: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asking, "there", False)
    plan = replace(PLAN, metrics=("success", Choice.of(Asking, alias="asked")))
    before = evaluate(plan, tmp_path / "run", asking)
    after = rescore(tmp_path / "run", catalogue=asking)
    assert [one.reason for one in after.failures] == ["no weights here"]
    assert (after.failures, after.status) == (before.failures, "partial")
    assert by_source(after) == by_source(before)

    # A number that was missing earlier is no number that is kept.
    again = rescore(tmp_path / "run", catalogue=asking, plan=plan)
    assert by_source(again) == by_source(before)
    assert [one.reason for one in again.failures] == ["no weights here"]


@pytest.mark.parametrize(
    "other",
    [
        "UPDATE episodes SET ending = 'failed' WHERE world = 3",
        "UPDATE turns SET status = 'unparsable', action = NULL WHERE turn = 0",
        """UPDATE probes SET report = replace(report, '"unit":"', '"unit":"other ')""",
    ],
    ids=["an episode", "answers", "a probe"],
)
def test_what_was_measured_of_another_record_is_not_kept(
    other: str, asked: Plan, asking: Catalogue, tmp_path: Path
) -> None:
    change(RunFolder.open(tmp_path / "asked").read_result(), other)
    after = rescore(tmp_path / "asked", (), asking, plan=asked)
    (row,) = by_source(after)["asked"]
    assert (row.value, row.reason) == (None, "no weights here")
    assert "no weights here" in {one.reason for one in after.failures}


def test_what_was_measured_with_another_configuration_is_not_kept(
    run: Result, asking: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll = Choice(name="poll", config={"model": f"noted:{tmp_path / 'log'}"})
    before = by_source(rescore(run.run, [poll], asking))["poll"]

    def gone(self: object, evidence: Evidence) -> Sequence[Measurement]:
        raise GdeError("no weights here")

    monkeypatch.setattr("asking_parts.Poll.__call__", gone)
    assert by_source(rescore(run.run, [poll], asking))["poll"] == before
    changed = replace(poll, config={**poll.config, "adviser": poll.config["model"]})
    (row,) = by_source(rescore(run.run, [changed], asking))["poll"]
    assert (row.value, row.reason) == (None, "no weights here")


def indexed(folder: str) -> set[tuple[object, ...]]:
    """File, source, layer, position, episode and turn of all stored activations."""
    with closing(sqlite3.connect(Path(folder) / "run.sqlite")) as connection:
        query = "SELECT file, source, layer, position, episode, turn FROM activations"
        return {tuple(row) for row in connection.execute(query)}


def test_probes_are_added_under_their_names_and_by_layer(
    run: Result, asking: Catalogue
) -> None:
    deep = Choice(name="layered", alias="deep", config={"layer": [0, 1]})
    stored = indexed(run.run)
    result = probe(
        run.run, [deep, Choice(name="where", alias="counterfactual")], asking
    )
    assert stored < indexed(run.run)
    assert all(
        (Path(run.run) / "activations" / file).is_file()
        for file, *_ in indexed(run.run)
    )
    after, before = by_source(result), by_source(run)
    assert {source: after[source] for source in before} == before
    assert {one.where["layer"] for one in after["deep"]} == {0, 1}
    assert {one.name for one in after["deep"]} == {"deep.accuracy"}
    assert [(one.value, one.where) for one in after["counterfactual"]] != []
    main = [
        one.value for one in after["counterfactual"] if one.where["control"] == "none"
    ]
    assert main == [
        one.value for one in after["where"] if one.where["control"] == "none"
    ]
    controls = {
        one.where["control"] for one in after["deep"] if one.where["layer"] == 1
    }
    assert controls == {"none", "shuffled", "untrained"}
    assert [choice.label for choice in now(run.run).probes] == [
        "where",
        "deep",
        "counterfactual",
    ]
    assert by_source(probe(run.run, catalogue=asking)) == after


def files(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((run / "probes").iterdir())}


def test_what_is_stored_is_probed_without_the_model(
    run: Result, asking: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the weights are gone, what is fitted to the same places is what it was with
    them, to the last byte.
    """
    copytree(run.run, tmp_path / "copy")
    added = [
        Choice(name="layered", alias="again", config={"layer": [1]}),
        Choice(name="where", alias="counterfactual"),
    ]
    expected = probe(tmp_path / "copy", added, asking)

    def gone(**_: object) -> None:
        raise GdeError("no weights here")

    monkeypatch.setattr("gde.testing.plugin.PlantedModel", gone)
    assert probe(run.run, added, asking).measurements == expected.measurements
    assert files(Path(run.run)) == files(tmp_path / "copy")
    assert {"again", "counterfactual"} <= by_source(expected).keys()
    with pytest.raises(GdeError, match=r"^no weights here$"):
        probe(
            run.run,
            [Choice(name="layered", alias="deep", config={"layer": [0]})],
            asking,
        )
    change(run, "DELETE FROM activations WHERE source = 'untrained' AND turn = 0")
    with pytest.raises(GdeError, match=r"^no weights here$"):
        probe(run.run, [Choice(name="where", alias="third")], asking)


def test_a_run_that_notes_no_model_is_probed_with_it(
    run: Result, asking: Catalogue
) -> None:
    change(run, "DELETE FROM facts WHERE name = 'models'")
    expected = by_source(run)["where"]
    assert by_source(probe(run.run, ["where"], asking))["where"] == expected
    with closing(Journal.open(Path(run.run) / "run.sqlite")) as journal:
        assert journal.noted("models")["planted"]["n_layers"] == 2


def test_what_was_added_is_still_there_when_the_run_is_gone_on_with(
    run: Result, asking: Catalogue
) -> None:
    added = rescore(run.run, ["length"], asking)
    assert resume(run.run, asking).measurements == added.measurements


def test_a_run_that_is_not_finished_says_partial_until_it_is(
    run: Result, asking: Catalogue
) -> None:
    whole = by_source(rescore(run.run, ["length"], asking))
    change(
        run,
        "UPDATE episodes SET ending = NULL WHERE world > 7",
        "DELETE FROM turns WHERE episode IN ('0/8/0', '0/9/0', '0/10/0', '0/11/0') AND turn > 0",
    )
    part = rescore(run.run, catalogue=asking)
    assert part.status == "partial"
    (unfinished,) = [one for one in part.failures if one.subject == "run"]
    assert (
        unfinished.reason == "8 of 12 episodes are finished; resume with `gde resume`"
    )
    assert by_source(part)["success"][0].n == 8
    finished = resume(run.run, asking)
    assert finished.status == "ok"
    assert by_source(finished) == whole


@pytest.mark.parametrize(
    "add",
    [
        lambda run, catalogue: rescore(run, catalogue=catalogue),
        lambda run, catalogue: probe(run, ["where"], catalogue),
        lambda run, catalogue: report(run, catalogue=catalogue),
        lambda run, catalogue: resume(run, catalogue),
    ],
    ids=["rescore", "probe", "report", "resume"],
)
def test_an_edited_plan_is_refused(
    add: Callable[[str, Catalogue], object], run: Result, asking: Catalogue
) -> None:
    path = Path(run.run) / "plan.toml"
    begun = path.read_text(encoding="utf-8")
    path.write_text(begun.replace("seed = 0", "seed = 1"), encoding="utf-8")
    with pytest.raises(GdeError, match=r"its plan was edited: .* `gde trust"):
        add(run.run, asking)
    trust_run(Path(run.run))
    with pytest.raises(
        GdeError,
        match=r"plan\.toml was changed after the run had begun \(plan \w+, now \w+\): restore",
    ):
        add(run.run, asking)
    path.write_text(begun, encoding="utf-8")
    add(run.run, asking)


def test_without_the_environment_s_plugin_the_rest_is_still_scored_and_reported(
    run: Result,
) -> None:
    bare = without(modules=("asking_parts",))
    assert [path.name for path in report(run.run, catalogue=bare)] == ["report.html"]
    result = rescore(run.run, ["success", "length"], bare)
    assert {source: len(each) for source, each in by_source(result).items()} == {
        **{source: len(each) for source, each in by_source(run).items()},
        "length": len(by_source(result)["length"]),
    }
    assert result.status == "ok"
    parts = result.provenance["parts"]
    assert (
        parts["environment long-corridor"]
        == parts["agent asking"]
        == "not installed here"
    )  # type: ignore[index, call-overload]
    needy = rescore(run.run, ["efficiency"], bare)
    (failure,) = needy.failures
    assert (failure.stage, failure.subject) == ("metric", "efficiency")
    assert "unknown environment 'long-corridor'" in failure.reason


def test_a_metric_that_is_not_installed_keeps_its_numbers(run: Result) -> None:
    result = rescore(run.run, catalogue=without("behaviour"))
    assert by_source(result) == by_source(run)
    assert (result.failures, result.status) == ((), "ok")
    assert {one.name for one in result.measures} == {one.name for one in run.measures}


def test_a_grid_run_outlives_the_grid_plugin(tmp_path: Path) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": [5, 7]}),
        agent="random",
        metrics=["success"],
        episodes=3,
    )
    whole = evaluate(plan, tmp_path / "run")
    bare = Catalogue(load_plugins(disable=["grid"]))
    assert rescore(tmp_path / "run", catalogue=bare).measurements == whole.measurements
    assert report(tmp_path / "run", catalogue=bare)
    with pytest.raises(GdeError, match="unknown metric 'succes'"):
        rescore(tmp_path / "run", ["succes"], bare)
    assert len(load_evidence(tmp_path / "run", bare).trajectories) == 6
    with pytest.raises(UnknownName, match="unknown environment 'grid'"):
        resume(tmp_path / "run", bare)


def test_what_is_asked_for_must_be_there(run: Result, asking: Catalogue) -> None:
    before = (Path(run.run) / "result.json").read_bytes()
    for wanted, message in (
        ("gone", "unknown metric 'gone'"),
        ("epic", "epic needs a reward model; add one"),
    ):
        with pytest.raises(GdeError, match=message):
            rescore(run.run, [wanted], asking)
    with pytest.raises(GdeError, match="unknown probe 'gone'"):
        probe(run.run, ["gone"], asking)
    assert (Path(run.run) / "result.json").read_bytes() == before


def test_a_damaged_result_is_made_again_but_not_added_to(
    run: Result, asking: Catalogue
) -> None:
    path = Path(run.run) / "result.json"
    path.write_text(json.dumps({"schema": 2}))
    with pytest.raises(
        RunFolderError, match=r"is not as gde wrote it: make it again with `gde rescore"
    ):
        rescore(run.run, ["length"], asking)
    assert rescore(run.run, catalogue=asking).measurements == run.measurements


def test_a_run_without_rewards_stays_one(run: Result, asking: Catalogue) -> None:
    assert load_evidence(run.run, asking).reward_traces == ()
    assert now(run.run).rewards == ()


@pytest.mark.parametrize(
    "refused",
    [
        lambda run, parts: probe(run, ["nobody-offers-it"], parts),
        lambda run, parts: rescore(run, ["nobody-offers-it"], parts),
        lambda run, parts: report(run, ["nobody-offers-it"], parts),
        lambda run, parts: resume(run, parts),
        lambda run, parts: rescore_contest(run.parent, ["nobody-offers-it"], parts),
    ],
    ids=["probe", "rescore", "report", "resume", "contest"],
)
def test_a_refusal_leaves_a_folder_from_elsewhere_as_it_is(
    tmp_path: Path,
    run: Result,
    asking: Catalogue,
    refused: Callable[[Path, Catalogue], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "of another user"))
    foreign = copytree(tmp_path / "run", tmp_path / "in" / "contest" / "run")
    (foreign.parent / CONTEST).write_text('version = 1\nvariants = ["run"]\n')
    before = contents(tmp_path / "in")
    with pytest.raises(GdeError, match="gde trust"):
        refused(foreign, asking)
    assert contents(tmp_path / "in") == before
    assert not (tmp_path / "of another user").exists()


def contents(folder: Path) -> dict[Path, bytes]:
    return {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
