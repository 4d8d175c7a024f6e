"""A finished run, opened in Python."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest

import gde
from gde import Catalogue, Choice, GdeError, Plan, Run, Table, evaluate
from gde.data.verdict import Verdict
from gde.store.folder import RunFolder

PLAN = Plan(
    environment=Choice(name="corridor", config={"length": 6}),
    agent="asking",
    probes=["where"],
    metrics=["success", "accuracy"],
    episodes=12,
)


@pytest.fixture(scope="module")
def run(asking: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("opened") / "run"
    evaluate(PLAN, path, asking)
    return gde.open(path)


def test_a_run_is_its_result_and_its_evidence(run: Run) -> None:
    assert run.result == RunFolder.open(run.path).read_result()
    episodes = run.evidence.trajectories
    assert run.episodes.n_rows == len(episodes) == 12
    assert run.turns.n_rows == sum(len(one.turns) for one in episodes)
    assert run.turns["action"] == [
        turn.decision.action for one in episodes for turn in one.turns
    ]
    assert run.messages.n_rows == run.turns.n_rows
    assert run.messages["action"] == run.turns["action"]
    first = run.messages["prompt"][0][-1]["content"]
    assert episodes[0].turns[0].observation.text in first


@pytest.mark.parametrize("shown", ["", "episodes", "turns", "messages", "evidence"])
def test_what_a_notebook_shows_is_short(run: Run, shown: str) -> None:
    value = getattr(run, shown) if shown else run
    assert 10 < len(repr(value)) < 1000


def test_tables_are_taken_by_others_as_they_are(run: Run) -> None:
    frame = run.turns.to_pandas()
    assert frame.equals(pandas.DataFrame(run.turns))
    assert pyarrow.table(run.turns).num_rows == len(frame) == run.turns.n_rows


def test_activations_are_rows_with_the_turns_that_they_belong_to(run: Run) -> None:
    values, labels = run.activations(1, "pre")
    assert values.shape[0] == labels.n_rows
    assert set(labels) == {*run.turns, "token"}
    assert (1, "pre", "model") in [*zip(*run.stored.values(), strict=True)]

    # The planted model writes the cell into its activations.
    cells: dict[Any, list[Any]] = {}
    for value, row in zip(values, zip(*labels.values(), strict=True), strict=True):
        cells.setdefault(dict(zip(labels, row, strict=True))["value"], []).append(value)
    assert len(cells) > 1
    means = np.array([np.mean(each, axis=0) for each in cells.values()])
    within = np.mean([np.var(each, axis=0).sum() for each in cells.values()])
    assert means.var(axis=0).sum() > within


def test_activations_that_are_not_stored_are_named(run: Run) -> None:
    with pytest.raises(GdeError, match=r"not stored\. Stored are 1, 'pre', 'model'"):
        run.activations(7, "pre")
    wrong: Any = "1"
    with pytest.raises(GdeError, match=r"^layer: wanted a whole number, got '1'"):
        run.activations(wrong, "pre")


def test_verdicts_are_the_tests_of_the_headlines(run: Run) -> None:
    verdict = Verdict(
        control="untrained",
        difference=0.5,
        interval=(0.25, 0.75),
        p=0.01,
        outcome="better",
        worlds=5,
    )
    fitted = [one for one in run.result.measurements if "control" in one.where]
    tested = replace(fitted[0], verdict=verdict)
    again = gde.open(run.path)
    again.result = replace(run.result, measurements=(tested, *fitted[1:]))
    (row,) = again.verdicts.to_pandas().to_dict("records")
    assert (row["name"], row["value"]) == (tested.name, tested.value)
    assert (row["low"], row["high"], row["p"]) == (0.25, 0.75, 0.01)
    assert (row["control"], row["where.control"]) == ("untrained", "none")
    assert run.verdicts.n_rows == 0


def test_a_run_is_compared_with_others(
    run: Run, asking: Catalogue, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    evaluate(PLAN, other, asking)
    found = run.compare(other)
    assert [*found.runs] == ["run", "other"]
    opened = gde.open(other)
    assert found.compared == gde.compare(run, opened).compared
    assert found.compared == gde.compare(str(run.path), other).compared
    assert found.compared == run.compare(opened).compared
    assert len(repr(found)) < 300


def test_it_is_exported_once(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    assert run.export(out) == 12
    assert len([*map(json.loads, out.read_text().splitlines())]) == 12
    with pytest.raises(GdeError, match=r"run\.jsonl: File exists"):
        run.export(out)
    wrong: Any = "pdf"
    with pytest.raises(GdeError, match=r"^form: wanted .*'jsonl'.* got 'pdf'"):
        run.export(tmp_path / "other", wrong)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda path: gde.open(path / "nothing"), "nothing"),
        (lambda path: gde.open(path), str),
        (lambda _: gde.open(None), "^path: wanted"),
        (lambda path: gde.compare(path), "wanted two runs; got 1"),
        (lambda path: gde.compare(path, path), "a run is named twice"),
        (lambda path: gde.compare(path, 5), "^run: wanted a Run or .*, got 5$"),
        (lambda path: gde.compare(path / "a", path / "b"), "no run|is not a run|a"),
    ],
)
def test_what_is_no_finished_run_is_refused(
    ask: Callable[[Any], object], said: Any, tmp_path: Path
) -> None:
    with pytest.raises(GdeError, match=said if isinstance(said, str) else None):
        ask(tmp_path)


def test_a_table_keeps_the_order_of_rows_and_fills_what_they_lack() -> None:
    table = Table.of([{"a": 1}, {"b": 2, "a": 3}], ["c"])
    assert table == {"c": [None, None], "a": [1, 3], "b": [None, 2]}
    assert table.rows([1, 1, 0])["a"] == [3, 3, 1]
    assert Table().n_rows == Table.of([], ["a"]).n_rows == 0
