"""The course of nano, small: its events, its numbers, and the study that shows them."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import altair
import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.result import Measurement, Result
from gde.parts.reproduction import Comparison, Run
from gde.runs.adding import rescore
from gde.store.folder import RunFolder
from gde_plugins.probes.course.config import ACTION_RISES, MAP_FALLS
from gde_plugins.probes.course.events import EVENTS, NOT_SAID, Found
from gde_plugins.probes.course.sources import FOREIGN, MODEL, RANDOM, TEXT
from gde_plugins.probes.course.study import CourseStudy
from gde_plugins.probes.course.told import told

pytest.importorskip("transformers", reason="needs the extra llm")
pytestmark = pytest.mark.extended
WORLDS = 40
SMALL = {"initialisations": 5, "splits": 5}


def plan(**fields: object) -> Plan:
    grids = Choice(name="grid", config={"size": 7, "density": 0.5, "horizon": 1})
    metrics = (
        Choice(name="events"),
        Choice(name="course", config=SMALL),
        Choice(name="course-causes", config={"layers": [3], "pairs": 4}),
    )
    whole = Plan(
        environment=grids,
        agent=Choice(name="gpt-oss"),
        metrics=metrics,
        episodes=WORLDS,
    )
    return replace(whole, **fields)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("course") / "nano"
    evaluate(plan(), folder)
    return folder


@pytest.fixture(scope="module")
def result(folder: Path) -> Result:
    return RunFolder.open(folder).read_result()


def find(result: Result, name: str, **where: str | int) -> Measurement:
    (one,) = [
        each
        for each in result.measurements
        if each.name == name and each.where == where
    ]
    return one


def found(result: Result, thing: str, event: str, source: str) -> float:
    one = find(result, "course.found", thing=thing, event=event, source=source)
    assert one.value is not None
    return one.value


def test_every_event_is_counted(result: Result) -> None:
    shares = {
        event: find(result, "events.found", event=event).value for event in EVENTS
    }
    assert all(shares[event] == 1 for event in EVENTS if event != "last")
    missing = [one for one in result.measurements if one.name == "events.missing"]
    (short,) = missing
    assert short.value == round((1 - (shares["last"] or 0)) * WORLDS)


def test_what_is_said_is_set_beside_what_is_so(folder: Path, result: Result) -> None:
    assert find(result, "events.true", event="agent").value == 1
    moves = find(result, "events.true", event="move")
    assert 0.9 < (moves.value or 0) <= 1

    trajectory = load_evidence(folder).trajectories[0]
    turn = trajectory.turns[0]
    said = {"agent": "9,9", "goal": "nowhere", "move": "LEFT"}
    agent, move = told(trajectory, turn, Found(said=said))
    assert (agent.event, agent.said, agent.agrees) == ("agent", "9,9", False)
    assert (move.said, move.real) == ("LEFT", turn.decision.action)
    row, column = map(int, agent.real.split(","))
    (down,) = told(trajectory, turn, Found(said={"move": f"{row + 1},{column}"}))
    assert down.said == "DOWN"


def test_activations_lead_a_text_that_says_nothing_yet(result: Result) -> None:
    for source in (TEXT, FOREIGN):
        lead = find(
            result, "course.lead", thing="action", event="before", source=source
        )
        own, other = (
            found(result, "action", "before", each) for each in (MODEL, source)
        )
        assert lead.value == pytest.approx(own - other)
        assert lead.interval is not None


def test_a_token_holds_mostly_itself(result: Result) -> None:
    for source in (MODEL, RANDOM, TEXT, FOREIGN):
        assert found(result, "agent", "agent", source) > 0.7
        assert found(result, "goal", "agent", source) < 0.4
        assert found(result, "goal", "goal", source) > 0.7
    assert found(result, "map", "before", MODEL) > 0.9
    assert found(result, "map", "before", TEXT) < 0.3
    assert found(result, "map", "before", FOREIGN) < 0.3
    assert found(result, "action", "move", MODEL) > 0.75


def test_changes_have_their_parts_and_a_verdict(result: Result) -> None:
    for change in (MAP_FALLS, ACTION_RISES):
        assert find(result, "course.p", change=change).value is not None
        for part in ("within", "beyond"):
            find(result, f"course.change.{part}", change=change)
    assert find(result, "course.change.text", change=ACTION_RISES).value
    foreign = find(result, "course.change.foreign_prompt", change=ACTION_RISES)
    assert 30 <= foreign.n <= WORLDS
    assert find(result, "course.reorganises").value == 0


def test_another_form_finds_no_events_and_gives_no_verdict(tmp_path: Path) -> None:
    form = {"goal": "Goal: (.)"}
    metrics = (
        Choice(name="events", config=form),
        Choice(
            name="course",
            config={**SMALL, **form, "changes": ["map falls from goal to after"]},
        ),
    )
    result = evaluate(plan(metrics=metrics, episodes=12), tmp_path / "run")
    assert rescore(tmp_path / "run").measurements == result.measurements
    assert find(result, "events.missing", event="goal", why=NOT_SAID).value == 12
    one = find(result, "course.holds", change="map falls from goal to after")
    assert one.value is None
    assert one.reason == "0 worlds have both events; a verdict needs 30"
    assert find(result, "course.found", thing="map", event="goal", source=MODEL).reason


def test_a_changed_token_changes_what_is_written(folder: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    copytree(folder, run)
    config = {"texts": ["goes on"], "layers": [3], "pairs": 4}
    result = rescore(run, [Choice(name="course-causes", config=config)])
    where = {"layer": 3, "text": "goes on", "change": "patch", "control": "none"}

    def at(event: str, name: str) -> float:
        measured = find(result, f"course-causes.{name}", event=event, **where)
        assert measured.value is not None
        return measured.value

    assert at("move", "moved") >= 0.5
    assert at("move", "rewritten") >= 0.5
    assert at("after", "rewritten") == 0
    assert find(result, "course-causes.unchanged").value == 1


def test_a_random_agent_has_no_course(tmp_path: Path) -> None:
    agent = Choice(name="random")
    with pytest.raises(Exception, match="activations"):
        evaluate(plan(agent=agent, episodes=2), tmp_path / "run")


def test_the_study_shows_changes_events_curves_and_published_numbers(
    folder: Path, result: Result
) -> None:
    study = CourseStudy()
    plans = study.plans(1.0, Choice(name="gpt-oss"))
    assert plans["course"].environment.config["horizon"] == 1
    run = Run(result=result, evidence=load_evidence(folder))
    runs = {"course": run, "published": run}
    rows = study.compare(runs)
    of_map = [row for row in rows if row.quantity == MAP_FALLS]
    assert of_map[0].ours == find(result, "course.change.within", change=MAP_FALLS)
    assert {*of_map[0].others} == {
        "beyond random",
        "beyond text",
        "beyond foreign prompt",
        "p",
        "shown",
    }
    cell = matching(rows, "random weights, goal", "By event: agent found")
    assert cell.ours.value == found(result, "agent", "goal", RANDOM)
    printed = [row.paper for row in rows if row.paper is not None]
    assert printed == [0.75, 0.60, 0.4031, 0.5392]
    used = matching(rows, "patch at layer 3, move", "Read where, used where")
    assert used.ours.value == 1
    assert used.others["same move"].value == 0
    read = matching(rows, "read, move", "Read where, used where")
    assert read.ours.value == found(result, "action", "move", MODEL)

    (figure,) = study.figures(runs)
    altair.Chart.from_dict(dict(figure.spec))
    above, below = figure.spec["vconcat"]  # type: ignore[misc]
    assert {each["event"] for each in above["data"]["values"]} == {*EVENTS}  # type: ignore
    drawn = {
        (each["change"], each["event"]): each["found"]
        for each in below["data"]["values"]  # type: ignore
    }
    assert drawn["patch", "move"] == 1
    assert drawn["patch", "after"] == 0


def test_the_study_foresees_its_forward_passes() -> None:
    study = CourseStudy()
    (one,) = study.estimate(study.plans(0.1, Choice(name="gpt-oss")))
    assert one.note.startswith("420 forward passes to read 20 turns with 19 random")


def matching(rows: object, quantity: str, table: str) -> Comparison:
    (one,) = [
        row
        for row in rows  # type: ignore[attr-defined]
        if row.quantity == quantity and row.table.startswith(table)
    ]
    return one
