"""Probes read a served model by replay through local weights, during the run and
later; a turn that cannot be replayed is counted and never read.
"""

import json
from contextlib import closing
from pathlib import Path

import pytest

from gde import Choice, GdeError, How, Plan, Result, evaluate, probe, resume
from gde.data.json import Json
from gde.request.catalogue import Catalogue, load_plugins
from gde.store.folder import RunFolder


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return Catalogue(
        load_plugins(modules=("gde.testing.plugin", "odd_parts", "served_parts"))
    )


def plan(model: str = "served", weights: str | None = "planted", **how: Json) -> Plan:
    probes = ()
    if weights is not None:
        probes = (Choice(name="cells", config={"weights": weights}),)
    return Plan(
        environment="long-corridor",
        agent=Choice(name="asking", config={"model": model}),
        models=(Choice(name=model, config=how),),
        probes=probes,
        metrics=("success",),
        episodes=6,
        learning=False,
        initialisations=1,
    )


def numbers(result: Result) -> list[tuple[object, ...]]:
    return [
        (one.name, one.where, one.value, one.n)
        for one in result.measurements
        if one.source == "cells"
    ]


def sources(result: Result) -> set[str]:
    with closing(RunFolder.open(Path(result.run)).journal()) as journal:
        found = journal.query("SELECT DISTINCT source FROM activations")
        return {row["source"] for row in found}


@pytest.fixture(scope="module")
def local(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Result:
    return evaluate(
        plan("planted", ""), tmp_path_factory.mktemp("local") / "run", catalogue
    )


@pytest.mark.parametrize("gives_ids", [False, True])
def test_a_served_model_has_the_numbers_of_the_local_one(
    local: Result, catalogue: Catalogue, tmp_path: Path, gives_ids: bool
) -> None:
    served = evaluate(plan(gives_ids=gives_ids), tmp_path / "run", catalogue)
    assert served.status == local.status == "ok"
    assert numbers(served) == numbers(local) != []
    # They are those of the weights, and not of the agent's own model.
    assert not sources(served) & sources(local)


def test_the_same_numbers_come_later_and_elsewhere(
    local: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    """The server need not be there."""
    run = evaluate(plan(weights=None), tmp_path / "run", catalogue)
    assert numbers(run) == []
    moved = (tmp_path / "run").rename(tmp_path / "moved")
    cells = Choice(name="cells", config={"weights": "planted"})
    later = probe(moved, [cells], catalogue)
    assert numbers(later) == numbers(local)
    # What was replayed once is kept.
    assert numbers(probe(moved, catalogue=catalogue)) == numbers(local)


def test_a_run_that_stops_after_its_episodes_is_read_when_the_server_has_gone(
    local: Result,
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    how = How(stop_after="rollout")
    first = evaluate(plan(), tmp_path / "run", catalogue, how=how)
    (failure,) = first.failures
    assert failure.reason == "probe not fitted; resume with `gde resume`"
    monkeypatch.setattr("served_parts.Served.complete", None)
    later = resume(tmp_path / "run", catalogue)
    assert later.status == "ok"
    assert numbers(later) == numbers(local)


def test_a_turn_with_other_tokens_is_counted_and_not_read(
    local: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    result = evaluate(plan(miscounts="AG"), tmp_path / "run", catalogue)
    (failure,) = result.failures
    assert (failure.stage, failure.subject) == ("probe", "cells")
    assert failure.reason == (
        "6 of 34 turns: tokens of the server could not be reconstructed:"
        " counted 32 and 21 tokens"
    )
    assert result.status == "partial"
    assert [n for *_, n in numbers(result)] != [n for *_, n in numbers(local)]
    with closing(RunFolder.open(tmp_path / "run").journal()) as journal:
        unread = journal.query("SELECT * FROM replays WHERE status <> 'replayed'")
        (read,) = journal.query(
            "SELECT count(DISTINCT episode || '/' || turn) AS n FROM activations"
        )
    assert {row["status"] for row in unread} == {"not reconstructed"}
    assert len(unread) == 6
    assert read["n"] == 34 - 6


def test_weights_that_were_not_served_give_no_numbers(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    result = evaluate(plan(logprob=-2.0), tmp_path / "run", catalogue)
    values = [one.value for one in result.measurements if one.source == "cells"]
    assert set(values) <= {None}
    assert sources(result) == set()
    reasons = {failure.reason for failure in result.failures}
    assert all("weights are not those that were served" in each for each in reasons)
    assert any("the median difference is 1.5" in each for each in reasons)
    assert result.status == "partial"


def test_weights_that_were_served_have_the_log_probabilities_of_the_server(
    local: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    result = evaluate(plan(logprob=-0.51), tmp_path / "run", catalogue)
    assert numbers(result) == numbers(local)


def test_each_probe_reads_its_own_weights(catalogue: Catalogue, tmp_path: Path) -> None:
    both = (
        Choice(name="cells", config={"weights": "planted"}),
        Choice(name="cells", alias="slim", config={"weights": "small"}),
    )
    small = Choice(name="planted", alias="small", config={"width": 8})
    wanted = plan(weights=None)
    wanted = Plan(**{**vars(wanted), "probes": both, "models": (small,)})
    result = evaluate(wanted, tmp_path / "run", catalogue)
    assert result.status == "ok", result.failures
    assert {one.source for one in result.measurements} >= {"cells", "slim"}
    # The model and one initialisation of each.
    assert len(sources(result)) == 2 * 2


def test_weights_that_cannot_be_replayed_are_refused_before_the_run(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    for weights, message in (
        ("", "to read a served model's, give local weights, e.g. hf:PATH_OR_ID$"),
        ("served", "'served' gives none: wanted local weights"),
        ("gone", "unknown language model 'gone'"),
    ):
        with pytest.raises(GdeError, match=message):
            evaluate(plan(weights=weights), tmp_path / "run", catalogue)
    assert not (tmp_path / "run").exists()


def test_the_record_says_which_weights_were_read(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    result = evaluate(plan(), tmp_path / "run", catalogue)
    with closing(RunFolder.open(tmp_path / "run").journal()) as journal:
        rows = journal.query("SELECT report FROM probes")
        reports = [json.loads(row["report"]) for row in rows]
    assert {each["model"] for each in reports} == {"planted"}
    assert "planted" in json.dumps(result.provenance, default=str)


def test_other_settings_of_the_weights_are_tried_anew_and_kept(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    evaluate(plan(weights=None), tmp_path / "run", catalogue)
    cells = Choice(name="cells", config={"weights": "small"})
    found = []
    for width in (8, 16):
        small = Choice(name="planted", alias="small", config={"width": width})
        result = probe(tmp_path / "run", [cells], catalogue, models=[small])
        found.append((numbers(result), sources(result)))
    assert len(found[0][1]) == 2
    assert len(found[1][1]) == 4
    # The model's settings belong to the run from then on.
    again = probe(tmp_path / "run", catalogue=catalogue)
    assert (numbers(again), sources(again)) == found[1]
