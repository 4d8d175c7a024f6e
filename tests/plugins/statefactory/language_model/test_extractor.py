"""States and goals by a language model: three questions a turn, asked again, held, or
given up with a reason.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, resume
from gde.data.completion import AnswerForm
from gde.data.transcript import Transcript
from gde.errors import ConfigError, GdeError, Unavailable
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.testing.parts import AnsweringModel
from gde_plugins.statefactory.config import StateFactoryConfig
from gde_plugins.statefactory.language_model.answers import parse_items
from gde_plugins.statefactory.language_model.extractor import ModelExtractor
from gde_plugins.statefactory.language_model.prompts import TASKS, written
from gde_plugins.statefactory.state import Item, Level, Reading

GOOD = '{"state": [{"object": {"mug": [{"place": "The mug is here."}]}}]}'


def read(
    model: AnsweringModel, trajectory: Transcript, hold: bool = False, level: Level = 4
) -> Reading:
    config = StateFactoryConfig(
        model="m", level=level, repairs=2, unread="hold" if hold else "stop"
    )
    return asyncio.run(ModelExtractor(config, model).read(trajectory))


def test_each_turn_asks_what_is_seen_what_is_known_and_what_is_wanted(
    episode: Callable[..., Transcript],
) -> None:
    model = AnsweringModel([GOOD])
    reading = read(model, episode("Fetch the mug.", "A mug is here.", "You take it."))
    assert (reading.failure, reading.made_by) == ("", "language model m, level 4")
    assert (
        reading.states
        == reading.goals
        == [[Item("mug", {"place": "The mug is here."})]] * 2
    )
    told = [request.messages[-1].content for request in model.asked]
    assert [
        next(name for name, task in TASKS.items() if task in text) for text in told
    ] == [
        "current",
        "state",
        "goal",
    ] * 2
    assert all("Fetch the mug." in text for text in told)
    shown = '[{"object": {"mug": [{"place": "The mug is here."}]}}]'
    assert "# Previous States\nNone" in told[0]
    assert f"# Previous States\n{shown}" in told[3]
    assert "You take it." in told[3]
    assert f"# Current State\n{shown}" in told[1]
    assert f"# Current State\n{shown}" in told[2]
    assert "# Step\n1, " in told[5]
    assert {request.form for request in model.asked} == {AnswerForm(kind="json")}


@pytest.mark.parametrize(
    ("level", "answer"),
    [
        (2, '["The mug is here."]'),
        (3, '[{"object": {"mug": ["The mug is here.", "It is clean."]}}]'),
        (
            4,
            '[{"object": {"mug": [{"place": "Here it is."}, {"state": "It is clean."}]}}]',
        ),
    ],
)
def test_what_was_read_is_shown_so_that_it_reads_the_same(
    level: Level, answer: str
) -> None:
    items = parse_items(answer, empty=False)
    assert parse_items(written(items, level), empty=False) == items


def test_an_answer_that_cannot_be_used_is_asked_for_again_with_the_reason(
    episode: Callable[..., Transcript],
) -> None:
    model = AnsweringModel(["no", GOOD, "{", GdeError("too long"), GOOD])
    reading = read(model, episode("Fetch the mug.", "A mug is here."))
    assert (reading.failure, dict(reading.counts)) == ("", {"asked again": 3})
    assert "wanted a JSON object, got 'no'" in model.asked[1].messages[-1].content
    assert model.asked[1].messages[-2].content == "no"
    assert len({request.identity for request in model.asked}) == len(model.asked)


def test_what_stays_unreadable_ends_the_episode_or_what_was_read_holds(
    episode: Callable[..., Transcript],
) -> None:
    answers = [GOOD, GOOD, GOOD, "no"]
    trajectory = episode("Fetch the mug.", "A mug is here.", "Fog.")
    reading = read(AnsweringModel(answers), trajectory)
    assert reading.failure.startswith("turn 1: current: wanted a JSON object")
    assert (reading.states, reading.counts["asked again"]) == ((), 2)
    held = read(AnsweringModel(answers), trajectory, hold=True)
    assert (held.failure, held.counts["unread, held"], held.states[1]) == (
        "",
        3,
        held.states[0],
    )
    # There is nothing to hold in the first turn.
    assert read(AnsweringModel(["no"]), trajectory, hold=True).failure.startswith(
        "turn 0: current"
    )


def test_a_goal_without_objects_is_no_goal_and_a_state_without_is_one(
    episode: Callable[..., Transcript],
) -> None:
    reading = read(AnsweringModel(['{"state": []}']), episode("Fetch the mug.", "Fog."))
    assert reading.failure == "turn 0: goal: wanted at least one object, got none"
    reading = read(
        AnsweringModel(['{"state": []}', '{"state": []}', GOOD]),
        episode("Fetch the mug.", "Fog."),
    )
    assert (reading.states, reading.failure) == ([[]], "")


def test_a_model_that_answers_nobody_is_no_bad_answer(
    episode: Callable[..., Transcript],
) -> None:
    with pytest.raises(Unavailable):
        read(AnsweringModel([Unavailable("gone")]), episode("Fetch the mug.", "Fog."))
    assert (
        "no fact `objective`"
        in read(AnsweringModel([GOOD]), episode(None, "Fog.")).failure
    )


def test_a_run_is_gone_on_with_without_asking_twice(tmp_path: Path) -> None:
    """The planted model says nothing of use: every episode has a reason, all of it is
    counted, and nothing raised.
    """
    config = {"model": "planted", "repairs": 1}
    plan = Plan(
        environment=Choice(name="rewardbench", config={"share": 0.02}),
        agent=Choice(name="random"),
        rewards=(Choice(name="statefactory", config=config), "monotonic"),  # type: ignore[arg-type]
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=2,
    )
    from gde.request.catalogue import Catalogue, load_plugins

    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    result = evaluate(plan, tmp_path / "run", catalogue)
    found = {
        (one.name, one.where.get("what", "")): one.value
        for one in result.measurements
        if one.where.get("reward") == "statefactory"
    }
    assert (
        result.status,
        found["epic.unjudged", ""],
        found["rewards.counted", "asked again"],
    ) == ("partial", 1, 4)
    assert all(
        "wanted a JSON object, got" in one.reason
        for one in result.failures
        if one.stage == "reward"
    )
    assert resume(tmp_path / "run", catalogue).measurements == result.measurements
    assert (
        json.loads((tmp_path / "run" / "result.json").read_text())["status"]
        == "partial"
    )


def test_nano_is_refused_as_a_reader_of_states() -> None:
    nano = Choice(name="statefactory", config={"model": "nano"})
    plan = Plan(
        environment=Choice(name="rewardbench"),
        agent=Choice(name="random"),
        rewards=(nano,),
        episodes=1,
    )
    with pytest.raises(
        ConfigError,
        match=r"statefactory\.model: wanted a model that can be asked anything",
    ):
        resolve(plan, Catalogue.default())
