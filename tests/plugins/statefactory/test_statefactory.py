"""Extraction by rules, and rewards that rise on the way to a goal."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from gde.data.observation import Observation, World
from gde.data.plan import Choice, Plan
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_plugin, check_reward_model
from gde.testing.context import PlainContext
from gde.testing.samples import sample_evidence
from gde_plugins.statefactory import plugin
from gde_plugins.statefactory.embedding import HashedWords, embedder
from gde_plugins.statefactory.extraction import TEXT, blocks, extractor_for, page, wish
from gde_plugins.statefactory.model import StateFactory
from gde_plugins.statefactory.state import Item

GOAL = "Bring it about that block c is on block b and block b is on the table."
WISH = (
    "I am looking for table lamp: blackout, solid wood, in color teal and size pack of 2, for less than 40.00 dollars."
)


def episode(objective: object, *seen: str) -> Trajectory:
    one = next(one for one in sample_evidence(3).trajectories if one.turns)
    turns = [replace(one.turns[0], index=i, observation=Observation(text=text)) for i, text in enumerate(seen)]
    return replace(one, world=World(id="w", facts={"objective": objective}), turns=tuple(turns))  # type: ignore[dict-item]


def rewards(trajectory: Trajectory, rules: bool = True) -> np.ndarray:
    trace = asyncio.run(StateFactory(HashedWords(), rules).rewards(trajectory))
    assert not trace.failure
    return trace.values


def test_blocks_are_objects_with_what_they_stand_on() -> None:
    assert blocks(GOAL) == [
        Item("block c", {"stands on": "block b"}),
        Item("block b", {"stands on": "the table"}),
    ]
    told = "Block a is on the table. Block b is on block a. Nothing is on block b. The hand holds block c."
    assert {item.name: dict(item.attributes) for item in blocks(told)} == {
        "block a": {"stands on": "the table"},
        "block b": {"stands on": "block a", "above it": "nothing"},
        "block c": {"stands on": "in the hand"},
    }


def test_wishes_and_pages_are_products() -> None:
    (wanted,) = wish(WISH)
    assert wanted.name == "table lamp, blackout, solid wood"
    assert wanted.attributes == {"color": "teal", "size": "pack of 2", "status": "bought"}
    open_page = "Dunwick Table Lamp, blackout\nPrice: $30.00\ncolor: black, [teal], coral\nsize: pack of 1, pack of 2"
    (lamp,) = page(open_page)
    assert (lamp.name, lamp.attributes) == ("Dunwick Table Lamp, blackout", {"color": "teal", "status": "open"})
    assert page(open_page + "\nYou have bought it.")[0].attributes["status"] == "bought"
    listed = page('Page 1 of 1, 2 results for "lamp".\n[g1] A Lamp $3.00\n[g2] B Lamp, solid $4.50')
    assert [item.name for item in listed] == ["A Lamp", "B Lamp, solid"]
    assert page("You are at the shop's search page.") == []


def test_what_no_rule_knows_is_read_as_sentences() -> None:
    assert extractor_for("Find the fridge. Cook it!", rules=True) is TEXT
    assert extractor_for(GOAL, rules=False) is TEXT
    assert TEXT.state("You see a fridge. It is open!\nDone") == [
        Item("You see a fridge."),
        Item("It is open!"),
        Item("Done"),
    ]


def test_rewards_rise_with_what_is_fulfilled() -> None:
    states = (
        "Block c is on the table. Block b is on block a. Block a is on the table.",
        "Block c is on the table. Block b is on the table. Block a is on the table.",
        "Block c is on block b. Block b is on the table. Block a is on the table.",
    )
    values = rewards(episode(GOAL, *states))
    assert values[0] < values[1] < values[2] == pytest.approx(1)


def test_an_episode_without_a_goal_in_words_has_no_rewards_and_says_why() -> None:
    for objective in (None, "", 3):
        trace = asyncio.run(StateFactory(HashedWords(), True).rewards(episode(objective, "x")))
        assert (len(trace.values), "no fact `objective`" in trace.failure) == (0, True)


def test_empty_states_and_single_turns_are_judged() -> None:
    assert rewards(episode(GOAL, "")).tolist() == [0]
    assert rewards(episode("Do something.", "Do something.")).tolist() == [pytest.approx(1)]


def test_the_offer_keeps_the_contract_and_refuses_what_is_not_there() -> None:
    check_plugin(plugin)
    (offer,) = plugin.gde_reward_models()
    check_reward_model(lambda: offer.make(build(offer.config, {}, "statefactory"), PlainContext()))
    with pytest.raises(GdeError, match="wanted words, minilm or the folder of a model, got '/no/such'"):
        embedder("/no/such")


def test_it_comes_closer_to_the_truth_than_time_and_flat_text(tmp_path: object) -> None:
    """In the blocks world, on trajectories of the benchmark."""
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    flat = Choice(name="statefactory", alias="flat", config={"extractor": "text"})
    plan = Plan(
        environment=Choice(name="rewardbench", config={"share": 0.1}),
        agent=Choice(name="random"),
        rewards=("statefactory", "monotonic", flat),  # type: ignore[arg-type]
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=50,
    )
    result = evaluate(plan, tmp_path / "run")
    found = {one.where["reward"]: one.value for one in result.measurements if one.name == "epic"}
    assert found["statefactory"] < found["monotonic"] and found["statefactory"] < found["flat"]  # type: ignore[operator]
