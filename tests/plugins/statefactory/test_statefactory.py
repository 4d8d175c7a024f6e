"""Extraction by rules, and rewards that rise on the way to a goal."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gde.data.plan import Choice, Plan
from gde.data.transcript import Transcript
from gde.errors import GdeError
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.settings import build
from gde.runs.evaluating import evaluate
from gde.testing import check_plugin, check_reward_model
from gde.testing.context import PlainContext
from gde_plugins.statefactory import plugin
from gde_plugins.statefactory.embedding import HashedWords, embedder
from gde_plugins.statefactory.model import StateFactory
from gde_plugins.statefactory.rules.extractor import RulesExtractor
from gde_plugins.statefactory.rules.shop import page, wish
from gde_plugins.statefactory.rules.worlds import blocks
from gde_plugins.statefactory.state import Item, sentences

GOAL = "Bring it about that block c is on block b and block b is on the table."
WISH = (
    "Find me blackout, solid wood table lamp with color: teal, and "
    "size: pack of 2, and price lower than 40.00 dollars"
)


@pytest.fixture
def rewards(episode: Callable[..., Transcript]) -> Callable[..., np.ndarray]:
    def judged(objective: object, *seen: str) -> np.ndarray:
        trace = asyncio.run(
            StateFactory(RulesExtractor(4), HashedWords()).rewards(
                episode(objective, *seen)
            )
        )
        assert not trace.failure
        return trace.values

    return judged


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


def test_blocks_of_both_wordings_are_the_same() -> None:
    plain = "Block b is on block c. Block c is on the table. The hand holds block a. Nothing is on block b."
    colored = (
        "the blue block is clear, the hand is currently holding red block, "
        "the blue block is on top of the orange block and the orange block is on the table"
    )
    for letter, color in (("a", "red"), ("b", "blue"), ("c", "orange")):
        plain = plain.replace(f"lock {letter}", f"lock {color}")
    assert blocks(colored) == blocks(plain)


def test_wishes_and_pages_are_products() -> None:
    (wanted,) = wish(WISH)
    assert wanted.name == "blackout, solid wood table lamp"
    assert wanted.attributes == {
        "color": "teal",
        "size": "pack of 2",
        "status": "bought",
    }
    assert wish("i need a lamp, and price lower than 9.00 dollars") == [
        Item("i need a lamp", {"status": "bought"})
    ]
    open_page = (
        "[button] < Prev [button_]\ncolor\n  [button] black [button_]\n"
        "  [clicked button] teal [clicked button_]\nDunwick Table Lamp\nPrice: $30.0\n"
        "[button] Buy Now [button_]"
    )
    open_lamp = page(open_page, [])
    assert open_lamp == [
        Item("Dunwick Table Lamp", {"color": "teal", "status": "open"})
    ]
    assert page("[button] < Prev [button_]\nA lamp.", open_lamp) == open_lamp
    bought = page("Thank you for shopping with us!", open_lamp)
    assert bought[0].attributes == {"color": "teal", "status": "bought"}
    listed = page(
        "Page 1 (Total results: 2)\n\n[button] B012345678 [button_]\nA Lamp\n$3.0\n\n"
        "[clicked button] B112345678 [clicked button_]\nB Lamp, solid\n$4.5",
        open_lamp,
    )
    assert [item.name for item in listed] == ["A Lamp", "B Lamp, solid"]
    assert page("[button] Search [button_]", open_lamp) == []


def test_what_no_rule_knows_and_level_1_are_read_as_sentences(
    episode: Callable[..., Transcript],
) -> None:
    found = [
        RulesExtractor(level).reading(episode(objective, "Block a is on block b."))  # type: ignore[arg-type]
        for objective, level in (("Clean the fridge. Now!", 4), (GOAL, 1), (GOAL, 2))
    ]
    assert [one.made_by for one in found] == [
        "sentences as they stand, level 1, no rules know this world",
        "sentences as they stand, level 1",
        "rules for blocks, level 2",
    ]
    assert found[0].goals == [[Item("Clean the fridge."), Item("Now!")]]
    assert found[1].states == [[Item("Block a is on block b.")]]
    assert sentences("You see a fridge. It is open!\nDone") == [
        Item("You see a fridge."),
        Item("It is open!"),
        Item("Done"),
    ]


def test_rewards_rise_with_what_is_fulfilled(
    rewards: Callable[..., np.ndarray],
) -> None:
    states = (
        "Block c is on the table. Block b is on block a. Block a is on the table.",
        "Block c is on the table. Block b is on the table. Block a is on the table.",
        "Block c is on block b. Block b is on the table. Block a is on the table.",
    )
    values = rewards(GOAL, *states)
    assert values[0] < values[1] < values[2] == pytest.approx(1)


def test_an_episode_without_a_goal_in_words_has_no_rewards_and_says_why(
    episode: Callable[..., Transcript],
) -> None:
    for objective in (None, "", 3):
        trace = asyncio.run(
            StateFactory(RulesExtractor(1), HashedWords()).rewards(
                episode(objective, "x")
            )
        )
        assert (len(trace.values), "no fact `objective`" in trace.failure) == (0, True)


def test_empty_states_are_worth_nothing_and_counted(
    episode: Callable[..., Transcript],
) -> None:
    model = StateFactory(RulesExtractor(4), HashedWords())
    trace = asyncio.run(model.rewards(episode(GOAL, "", "Block c is on block b.", "")))
    assert (trace.values[[0, 2]].tolist(), trace.counts) == (
        [0, 0],
        {"empty states": 2},
    )
    assert trace.made_by == "rules for blocks, level 4; embedder words"
    trace = asyncio.run(model.rewards(episode("Do something.", "Do something.")))
    assert (trace.values.tolist(), trace.counts) == ([pytest.approx(1)], {})


def test_the_offer_keeps_the_contract_and_refuses_what_is_not_there() -> None:
    check_plugin(plugin)
    (offer,) = plugin.gde_reward_models()
    check_reward_model(
        lambda: offer.made(build(offer.config, {}, "statefactory"), PlainContext())
    )
    with pytest.raises(
        GdeError, match="wanted words, minilm or the folder of a model, got '/no/such'"
    ):
        embedder("/no/such")


def test_it_comes_closer_to_the_truth_than_time_and_flat_text(tmp_path: Path) -> None:
    """In the blocks world, on trajectories of the benchmark."""
    flat = Choice(name="statefactory", alias="flat", config={"level": 1})
    plan = Plan(
        environment=Choice(name="rewardbench", config={"share": 0.1}),
        agent=Choice(name="random"),
        rewards=("statefactory", "monotonic", flat),  # type: ignore[arg-type]
        metrics=("epic",),  # type: ignore[arg-type]
        episodes=50,
    )
    result = evaluate(plan, tmp_path / "run")
    found = {
        one.where["reward"]: one.value
        for one in result.measurements
        if one.name == "epic"
    }
    assert (
        found["statefactory"] < found["monotonic"]
        and found["statefactory"] < found["flat"]
    )  # type: ignore[operator]


def test_reward_models_of_a_run_read_one_extraction(tmp_path: Path) -> None:
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin",)))
    n_calls = {}
    for name, others in (
        ("alone", ()),
        ("three", ({"decimals": 2}, {"goal": "oracle"})),
    ):
        settings = [{"model": "planted", **other} for other in ({}, *others)]
        plan = Plan(
            environment=Choice(
                name="rewardbench", config={"share": 0.004, "show_success": True}
            ),
            agent=Choice(name="random"),
            rewards=[
                Choice(name="statefactory", alias=f"m{i}", config=each)
                for i, each in enumerate(settings)
            ],
            metrics=("epic",),  # type: ignore[arg-type]
            episodes=2,
        )
        result = evaluate(plan, tmp_path / name, catalogue)
        (asked,) = [one for one in result.models if one.kind == "reward_model"]
        assert asked.part == "statefactory"
        n_calls[name] = asked.usage.calls
    assert n_calls["alone"] == n_calls["three"] > 0
