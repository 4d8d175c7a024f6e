"""Facts that are told as an episode ends are those of the record."""

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from odd_parts import Certified

from gde import Choice, GdeError, Plan, Result, evaluate, load_evidence, rescore
from gde.before.preparing import prepare
from gde.data.how import How
from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Model
from gde.request.catalogue import Catalogue
from gde.request.ready import Chosen
from gde.stages.context import Resources
from gde.stages.telling import Teller, telling
from gde.store.facts import begin_sets, known_sets
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.store.rows import as_read
from gde.testing.samples import sample_evidence
from gde_plugins.behaviour.performance import length

METRICS = ("success", "efficiency", "references", "recovery", "exploration", "outcomes")


def plan_of(agent: Any = "noisy", **config: Any) -> Plan:
    return Plan(
        environment=Choice(name="grid", config={"size": 5, **config}),
        agent=agent,
        metrics=METRICS,
        episodes=4,
        repeats=2,
    )


PLANS = {
    "grid": plan_of(),
    "perturbed": plan_of(perturbation="close_path", perturbation_turn=1),
    "another goal": plan_of(perturbation="move_goal", perturbation_turn=0),
    "fog": plan_of(view_radius=1),
    "keys": replace(plan_of(), environment="two-path-key"),
    "model": plan_of(Choice(name="gpt-oss", config={"model": "nano"})),
    "simulator": plan_of(
        Choice(name="lookahead", config={"plans": 2, "reward": "oracle"})
    ),
    "processes": plan_of(),
}
HOWS = {"processes": How(executor=Choice(name="processes", config={"workers": 2}))}
ROW = EpisodeMetric.row
Told = Mapping[str, Mapping[str, object]]


def kept(result: Result) -> Told:
    """The kept facts by the episode's key and the metric's name."""
    with closing(RunFolder.open(Path(result.run)).journal()) as journal:
        names = {}
        for row in journal.query("SELECT * FROM fact_sets"):
            _, _, metric, _ = json.loads(row["made_by"])
            names[str(row["number"])] = metric.split(":")[1].split()[0]
        found = {}
        for row in journal.query("SELECT * FROM episode_facts ORDER BY episode"):
            told = json.loads(row["facts"])
            found[row["episode"]] = {names[number]: told[number] for number in told}
        return found


SLOW = [pytest.param("model", marks=pytest.mark.extended)]


@pytest.mark.parametrize("name", [*sorted(PLANS.keys() - {"model"}), *SLOW])
def test_facts_are_those_that_the_record_gives(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def row(metric: EpisodeMetric, one: Trajectory, model: Model) -> object:
        asked.append(str(one.key))
        return ROW(metric, one, model)

    with monkeypatch.context() as patch:
        patch.setattr(EpisodeMetric, "row", row)
        result = evaluate(PLANS[name], tmp_path / "run", how=HOWS.get(name))
    told = kept(result)
    assert len(told) == 8
    assert all(each.keys() == {*METRICS} for each in told.values())
    # Workers ask in processes of their own; whoever concludes the run asks no more.
    assert len(asked) == (0 if name == "processes" else 8 * len(METRICS))
    assert result.failures == ()

    again = rescore(result.run, METRICS)
    assert (kept(again), again.measurements) == (told, result.measurements)


def test_a_metric_that_fails_as_an_episode_ends_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of()
    wanted = evaluate(plan, tmp_path / "wanted")
    failed = set()

    def row(metric: EpisodeMetric, one: Trajectory, model: Model) -> object:
        if (metric, one.key) not in failed:
            failed.add((metric, one.key))
            raise ZeroDivisionError("no walls")
        return ROW(metric, one, model)

    monkeypatch.setattr(EpisodeMetric, "row", row)
    result = evaluate(plan, tmp_path / "run")
    assert len(failed) == 8 * len(METRICS)
    assert result.measurements == wanted.measurements
    assert kept(result) == kept(wanted)


CERTIFIED = replace(plan_of(), environment="certified", agent="random")


@pytest.mark.parametrize("error", [GdeError("too large"), ZeroDivisionError("odd")])
def test_a_process_that_cannot_be_had_matters_to_facts_alone(
    error: Exception,
    tmp_path: Path,
    catalogue: Catalogue,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Certified, "error", error)
    plan = replace(CERTIFIED, metrics=("success", "efficiency", "references"))
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert (result.subject.episodes, result.subject.failed) == (8, 0), result.failures
    # References go without a process, where the environment says that there is none.
    refused = {"efficiency"}
    if not isinstance(error, GdeError):
        refused.add("references")
    assert {one.subject for one in result.failures} == refused
    assert all(str(error) in one.reason for one in result.failures)
    assert {*kept(result)["0/0/0"]} == {"success", "efficiency", "references"} - refused


def test_no_process_is_made_where_no_metric_asks_for_it(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Certified, "asked", [])
    plan = replace(CERTIFIED, metrics=("success", "recovery"))
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert (result.status, Certified.asked) == ("ok", [])
    assert {*kept(result)["0/0/0"]} == {"success", "recovery"}


def test_metrics_tell_whose_offers_say_so_and_that_are_not_objects(
    catalogue: Catalogue,
) -> None:
    plan = replace(plan_of(), metrics=("success", "calibration", length, "accuracy"))
    ready = prepare(plan, catalogue)
    assert [one.label for one in telling(ready).values()] == ["success", "accuracy"]
    absent = [
        replace(one, absent="not here") if one.label == "success" else one
        for one in ready.metrics
    ]
    left = telling(replace(ready, metrics=tuple(absent)))
    assert [one.label for one in left.values()] == ["accuracy"]


def test_a_metric_that_cannot_be_made_keeps_no_other_from_telling(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Resources.make

    def make(resources: Resources, chosen: Chosen, *more: Any) -> object:
        if chosen.label == "success":
            raise OSError("no file")
        return made(resources, chosen, *more)

    monkeypatch.setattr(Resources, "make", make)
    plan = replace(CERTIFIED, metrics=("success", "length", "accuracy"))
    result = evaluate(plan, tmp_path / "run", catalogue)
    assert {*kept(result)["0/0/0"]} == {"length", "accuracy"}
    assert [one.subject for one in result.failures] == ["success"]


def test_nothing_is_told_for_which_the_run_has_no_place(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    ready = prepare(CERTIFIED, catalogue)
    episode = sample_evidence().trajectories[0]
    with (
        closing(Journal.create(tmp_path / "run.sqlite")) as journal,
        closing(Resources(ready, journal)) as resources,
    ):
        assert Teller(ready, resources, journal).facts(episode, None) == {}
        begin_sets(journal, telling(ready))
        teller = Teller(ready, resources, journal)
        assert teller.wants_process(0)
        sets = set(known_sets(journal).values())
        assert teller.facts(episode, None).keys() < sets


def test_an_episode_is_told_as_it_is_read() -> None:
    for one in sample_evidence().trajectories:
        assert as_read(one) == one
    odd = replace(
        one,
        world=replace(one.world, facts={"walls": ({1: "a"}, (2, 3))}),
        final_state=State(facts={"agent": (1, 2)}, index=4),
    )
    read = as_read(odd)
    assert read.world.facts == {"walls": [{"1": "a"}, [2, 3]]}
    assert read.final_state == State(facts={"agent": [1, 2]}, index=4)


def test_answers_are_told_as_they_are_read(tmp_path: Path) -> None:
    result = evaluate(PLANS["model"], tmp_path / "run")
    recorded = load_evidence(result.run).trajectories
    assert [as_read(one) for one in recorded] == [*recorded]
    assert recorded[0].turns[0].decision.completion is not None
