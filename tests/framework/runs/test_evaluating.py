"""A whole run: what it leaves behind, what it records of what goes wrong, and what it
is refused for.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odd_parts import WhereProbe

from gde import (
    Choice,
    GdeError,
    How,
    Measurement,
    Plan,
    Result,
    load_evidence,
    probe,
    report,
    rescore,
)
from gde.request.catalogue import Catalogue
from gde.request.planfile import plan_hash
from gde.runs.evaluating import evaluate
from gde.stages.alike_worlds import joined_clusters
from gde.stages.fits import MODEL, untrained_sources
from gde.store.folder import RunFolder, result_json

Values = dict[str, float | None]


def plan(agent: str = "scripted", env: str = "corridor", **config: object) -> Plan:
    return Plan(
        environment=Choice(name=env),
        agent=Choice(name=agent, config=config),  # type: ignore[arg-type]
        episodes=6,
        metrics=(
            Choice(name="success"),
            Choice(name="accuracy"),
            Choice(name="outcomes"),
        ),
    )


def overall(result: Result) -> Values:
    return {each.name: each.value for each in result.measurements if not each.where}


@pytest.fixture
def run(tmp_path: Path, catalogue: Catalogue) -> Callable[[Plan], Result]:
    return lambda plan: evaluate(plan, tmp_path / "run", catalogue)


def test_a_run_leaves_plan_record_result_and_page(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan())
    assert result.status == "ok"
    assert overall(result)["success"] == overall(result)["accuracy"] == 1.0
    folder = Path(result.run)
    assert {"plan.toml", "run.sqlite", "result.json", "report.html"} <= {
        path.name for path in folder.iterdir()
    }
    stored = RunFolder(folder).read_result()
    assert stored == replace(result, provenance=stored.provenance)
    assert json.loads(json.dumps(result.provenance)) == stored.provenance
    written = json.loads((folder / "result.json").read_text())
    assert written == json.loads(json.dumps(result_json(result)))
    kept = RunFolder(folder).plan()
    complete = replace(
        plan(actions=["RIGHT"]),
        environment=Choice(name="corridor", config={"length": 3}),
    )
    assert kept == complete
    assert plan_hash(kept) == result.plan_hash


def test_every_trajectory_is_in_the_record_with_the_certified_optimum(
    run: Callable[[Plan], Result],
) -> None:
    trajectories = load_evidence(Path(run(plan()).run)).trajectories
    assert [str(each.key) for each in trajectories] == [f"0/{i}/0" for i in range(6)]
    for trajectory in trajectories:
        assert trajectory.ending == "terminated"
        assert [turn.index for turn in trajectory.turns] == list(
            range(len(trajectory.turns))
        )
        assert all(turn.optimal == ("RIGHT",) for turn in trajectory.turns)
        assert [turn.value for turn in trajectory.turns] == [
            -float(n) for n in range(len(trajectory.turns), 0, -1)
        ]


def test_unusable_answers_are_counted_and_leave_the_world_as_it_is(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan("moody"))
    values = overall(result)
    assert result.status == "ok"
    assert (
        values["outcomes.unparsable"]
        == values["outcomes.empty"]
        == values["outcomes.refusal"]
    )
    assert values["outcomes.ok"] is not None and 0 < values["outcomes.ok"] < 1
    for trajectory in load_evidence(Path(result.run)).trajectories:
        states = [turn.state.index for turn in trajectory.turns if turn.state]
        stays = [turn.decision.action is None for turn in trajectory.turns]
        assert all(
            b == a
            for a, b, stay in zip(states, states[1:], stays, strict=False)
            if stay
        )


def test_an_action_that_is_not_admissible_is_an_outcome(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan("moody", statuses=["wild"]))
    (first, *_) = load_evidence(Path(result.run)).trajectories
    assert overall(result)["outcomes.invalid_action"] == 1.0
    detail = first.turns[0].decision.detail
    assert detail.startswith("'JUMP' is no action: give a name as it is written")
    assert detail.endswith("one of LEFT, RIGHT")
    assert first.ending == "horizon" and len(first.turns) == first.horizon


@pytest.mark.parametrize(
    ("status", "reason"),
    [("crash", "KeyError: 'lost'"), ("unreachable", "the server is gone")],
)
def test_an_agent_that_fails_ends_its_episode_with_the_reason(
    run: Callable[[Plan], Result], status: str, reason: str
) -> None:
    result = run(plan("moody", statuses=[status]))
    assert result.status == "failed"
    assert {failure.reason for failure in result.failures} == {reason}
    assert len(result.failures) == 6


def test_a_simulator_that_breaks_fails_only_the_episodes_that_meet_it(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan(env="trapdoor"))
    endings = {
        str(each.key): each.ending
        for each in load_evidence(Path(result.run)).trajectories
    }
    assert set(endings.values()) == {"failed", "terminated"}
    assert result.status == "partial"
    assert {failure.subject for failure in result.failures} == {
        key for key, end in endings.items() if end == "failed"
    }
    assert {failure.reason for failure in result.failures} == {
        "RuntimeError: the floor gave way"
    }


def test_a_world_that_cannot_be_made_is_a_failed_episode(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan(env="bottomless"))
    assert [(failure.subject, failure.reason) for failure in result.failures] == [
        ("0/1/0", "no such corridor")
    ]
    assert result.status == "partial"
    assert overall(result)["success"] == 1.0


def test_an_environment_that_cannot_be_made_fails_every_episode(
    run: Callable[[Plan], Result],
) -> None:
    result = run(plan(env="unmakable"))
    assert result.status == "failed"
    assert {failure.reason for failure in result.failures} == {
        "OSError: no simulator here"
    }
    assert len(result.failures) == 6


def test_what_the_record_cannot_hold_fails_its_episode_and_no_other(
    run: Callable[[Plan], Result],
) -> None:
    swept = replace(
        plan(), environment=Choice(name="careless", config={"length": [3, 4]})
    )
    result = run(swept)
    trajectories = load_evidence(Path(result.run)).trajectories
    lost = {each.ending for each in trajectories if each.world.id.startswith("0 ")}
    assert lost == {"failed"}
    assert {
        each.ending for each in trajectories if not each.world.id.startswith("0 ")
    } == {"terminated"}
    assert {each.labels["length"] for each in trajectories} == {
        3,
        4,
    }  # the sweep's word, not the world's


def test_a_metric_that_raises_is_a_failure_and_the_others_stand(
    run: Callable[[Plan], Result],
) -> None:
    result = run(
        replace(plan(), metrics=(Choice(name="broken"), Choice(name="success")))
    )
    assert result.status == "partial"
    assert [failure.subject for failure in result.failures][:1] == ["broken"]
    assert overall(result)["success"] == 1.0


def test_sweeps_become_conditions_on_common_worlds(
    run: Callable[[Plan], Result],
) -> None:
    swept = replace(
        plan(), environment=Choice(name="corridor", config={"length": [3, 5]})
    )
    result = run(swept)
    assert {
        each.where.get("length")
        for each in result.measurements
        if each.name == "success"
    } == {None, 3, 5}
    trajectories = load_evidence(Path(result.run)).trajectories
    seeds = [
        [each.seed for each in trajectories if each.labels["length"] == length]
        for length in (3, 5)
    ]
    assert seeds[0] == seeds[1] and len(set(seeds[0])) == 6


def test_repeats_share_the_world_and_differ_in_the_agents_seed(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    noisy = replace(plan("noisy", env="long-corridor", p=0.9), repeats=3, episodes=2)
    trajectories = load_evidence(
        Path(evaluate(noisy, tmp_path / "run", catalogue).run)
    ).trajectories
    first = [each for each in trajectories if each.key.world == 0]
    assert len({each.world.id for each in first}) == 1
    assert (
        len({tuple(turn.decision.action for turn in each.turns) for each in first}) > 1
    )


def test_probes_come_with_every_control(run: Callable[[Plan], Result]) -> None:
    planted = replace(
        plan("asking", env="long-corridor"), probes=(Choice(name="where"),), episodes=30
    )
    result = run(planted)
    found = {
        each.where["control"]: each.value
        for each in result.measurements
        if each.name == "where.accuracy"
    }
    assert found.keys() == {"none", "no_activations", "prompt", "shuffled", "untrained"}
    assert found["none"] == 1.0
    # The planted texts recur in other worlds, so even a random embedding of whole texts
    # can be learned by heart.
    blind = [found[control] for control in ("no_activations", "shuffled")]
    assert all(value is not None and value < 0.6 for value in blind)
    assert result.provenance["notice"] == "No real model: planted."
    reports = load_evidence(Path(result.run)).probe_reports
    n_fits = {each.fit.control: 1 + len(each.further) for each in reports}
    assert n_fits == {
        "none": 1,
        "no_activations": 1,
        "prompt": 1,
        "shuffled": 5,
        "untrained": 5,
    }
    tested = {episode for each in reports for episode, _ in each.rows}
    assert all({episode for episode, _ in each.rows} == tested for each in reports)
    assert 0 < len(tested) < 30


class OneTurn(WhereProbe):
    """Reads one turn of each world."""

    one_turn = True


def turns_of_sources(run: str) -> dict[str, set[tuple[str, int]]]:
    """The turns whose activations are stored, by source."""
    found: dict[str, set[tuple[str, int]]] = {}
    with closing(RunFolder.open(Path(run)).journal()) as journal:
        for row in journal.query("SELECT source, episode, turn FROM activations"):
            found.setdefault(row["source"], set()).add((row["episode"], row["turn"]))
    return found


def sources(initialisations: int) -> list[str]:
    return [MODEL, *untrained_sources(initialisations)]


def test_random_weights_are_read_in_one_turn_of_each_world_where_no_other_counts(
    run: Callable[[Plan], Result],
) -> None:
    asking = plan("asking", env="long-corridor")
    result = run(replace(asking, probes=(OneTurn,), episodes=12, learning=False))
    evidence = load_evidence(Path(result.run))
    worlds = joined_clusters(evidence.trajectories)
    stored = turns_of_sources(result.run)
    every = set()
    for one in evidence.trajectories:
        every.update((str(one.key), turn.index) for turn in one.turns)
    chosen = stored["untrained"]
    assert sorted(worlds[one] for one, _ in chosen) == sorted(set(worlds.values()))
    assert stored == {MODEL: every, **dict.fromkeys(untrained_sources(19), chosen)}

    for each in evidence.probe_reports:
        # Of the model's own activations all held-out turns are decoded.
        is_read = chosen if each.fit.control == "untrained" else every
        held_out = {row for row in is_read if worlds[row[0]] in each.worlds}
        assert set(each.rows) == held_out
        assert len(each.decoded) == len(held_out)
        assert each.n_test == len(set(each.worlds))
        assert each.n_train == len(chosen) - each.n_test


@pytest.mark.parametrize(
    ("probes", "width", "wanted", "drawn"),
    [
        ((OneTurn,), 64, None, 19),
        # A model of two layers has about a billion parameters from here on.
        ((OneTurn,), 6454, None, 19),
        ((OneTurn,), 6455, None, 5),
        ((OneTurn,), 64, 2, 2),
        ((WhereProbe,), 64, None, 5),
        ((OneTurn, WhereProbe), 64, None, 19),
    ],
)
def test_a_small_model_read_in_one_turn_a_world_is_initialised_most_often(
    run: Callable[[Plan], Result],
    probes: tuple[type[WhereProbe], ...],
    width: int,
    wanted: int | None,
    drawn: int,
) -> None:
    result = run(
        replace(
            plan("asking"),
            models=(Choice(name="planted", config={"width": width}),),
            probes=probes,
            episodes=2,
            learning=False,
            initialisations=wanted,
        )
    )
    found = turns_of_sources(result.run)
    assert sorted(found) == sorted(sources(drawn))
    # What a probe reads in all turns, it reads of five initialisations.
    every = WhereProbe in probes
    assert (found["untrained"] == found[MODEL]) == every
    if drawn == 19:
        assert (found["untrained-4"] == found[MODEL]) == every
        assert found["untrained-5"] < found[MODEL]


def test_a_wrong_number_of_turns_is_refused_by_name(
    run: Callable[[Plan], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OneTurn, "one_turn", 1)
    with pytest.raises(
        GdeError, match="one_turn of OneTurn: wanted True or False, got 1"
    ):
        run(replace(plan("asking"), probes=(OneTurn,)))


def test_one_world_is_too_few_to_probe_and_the_table_says_so(
    run: Callable[[Plan], Result],
) -> None:
    result = run(replace(plan("asking"), probes=(Choice(name="where"),), episodes=1))
    assert result.status == "partial"
    reasons = {each.reason for each in result.measurements if each.name == "where"}
    assert reasons == {"wanted worlds to train on and worlds to test on, got 0 and 1"}


class StutteringProbe(WhereProbe):
    """Says everything twice."""

    def score(self, *args: Any) -> tuple[Measurement, ...]:
        return (*super().score(*args), *super().score(*args))


def test_a_probe_that_gives_a_measurement_twice_has_none(
    run: Callable[[Plan], Result],
) -> None:
    result = run(replace(plan("asking"), probes=(StutteringProbe,), episodes=6))
    found = [each for each in result.measurements if each.source == "StutteringProbe"]
    assert (
        result.status == "partial"
        and found
        and all(each.value is None for each in found)
    )
    assert {each.reason.partition(":")[0] for each in found} == {
        "the probe gives 'accuracy' twice"
    }


def test_later_stages_can_be_run_again_from_the_folder(
    run: Callable[[Plan], Result], catalogue: Catalogue
) -> None:
    result = run(replace(plan("asking"), probes=(Choice(name="where"),)))
    folder = Path(result.run)
    trajectories = load_evidence(folder).trajectories
    assert rescore(folder, catalogue=catalogue).measurements == result.measurements
    assert probe(folder, catalogue=catalogue).measurements == result.measurements
    more = rescore(folder, ["length"], catalogue)
    assert {each.source for each in more.measurements} == {
        "success",
        "accuracy",
        "outcomes",
        "where",
        "length",
    }
    assert [each for each in more.measurements if each.source != "length"] == [
        *result.measurements
    ]
    assert rescore(folder, catalogue=catalogue).measurements == more.measurements
    assert [path.name for path in report(folder, catalogue=catalogue)] == [
        "report.html"
    ]
    assert load_evidence(folder).trajectories == trajectories


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"agent": Choice(name="asking", config={"model": "blackbox"})},
            "where needs an agent whose language model",
        ),
        (
            {"agent": Choice(name="scripted")},
            r"where needs .* agent 'scripted' asks no language model",
        ),
        (
            {"agent": Choice(name="needs-absent")},
            r"needs-absent needs not_there: pip install 'gde-eval\[x\]'",
        ),
        (
            {"agent": Choice(name="asking", config={"model": "plantet"})},
            "Did you mean planted",
        ),
        (
            {"agent": Choice(name="asking", config={"model": "planted:x"})},
            r"agent\.model: wanted planted, got",
        ),
        ({"probes": (Choice(name="deep"),)}, "layer: the model has 2"),
        (
            {"models": [Choice(name="", config={"depth": 3})]},
            "unknown field of model 'depth'",
        ),
        (
            {"probes": (Choice(name="where"), Choice(name="where"))},
            "probe 'where' is listed twice",
        ),
        (
            {"environment": Choice(name="corridor", config={"length": 1})},
            r"env\.length: wanted .* got 1",
        ),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_written(
    change: dict[str, object], message: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    wrong = replace(plan("asking"), **{"probes": (Choice(name="where"),), **change})  # type: ignore[arg-type]
    with pytest.raises(GdeError, match=message):
        evaluate(wrong, tmp_path / "run", catalogue)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_left_alone(tmp_path: Path, catalogue: Catalogue) -> None:
    (tmp_path / "precious").write_text("data")
    for taken in (tmp_path, tmp_path / "precious"):
        with pytest.raises(GdeError, match=r"exists: choose another folder$"):
            evaluate(plan(), taken, catalogue)
    with pytest.raises(
        GdeError,
        match=r"run: File exists \(.*precious\); choose another one$",
    ):
        evaluate(plan(), tmp_path / "precious" / "run", catalogue)
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]
    evaluate(plan(), tmp_path / "run", catalogue)
    with pytest.raises(
        GdeError,
        match=r"exists: choose another folder, or resume it with `gde resume .*run`$",
    ):
        evaluate(plan(), tmp_path / "run", catalogue)


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_plugins_are_told_of_the_run_as_it_goes(
    executor: str, tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_PARTS_EVENTS", str(tmp_path / "events"))
    evaluate(plan(), tmp_path / "run", catalogue, how=How(executor=executor))
    events = (tmp_path / "events").read_text().splitlines()
    episodes = [f"episode terminated {done}/6" for done in range(1, 7)]
    assert events == ["started 6", *episodes, "finished ok"]


def test_the_record_is_plain_sql(run: Callable[[Plan], Result]) -> None:
    result = run(plan())
    with closing(sqlite3.connect(Path(result.run) / "run.sqlite")) as connection:
        rows = connection.execute(
            "SELECT action, optimal, count(*) FROM turns JOIN episodes USING (episode) GROUP BY 1, 2"
        ).fetchall()
    assert [(action, json.loads(optimal)) for action, optimal, _ in rows] == [
        ("RIGHT", ["RIGHT"])
    ]
