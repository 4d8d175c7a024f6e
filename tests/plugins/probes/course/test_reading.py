"""Readers find what is planted at an event, and controls hold what they should alone."""

import asyncio
from dataclasses import replace
from typing import Any

import numpy as np

from gde import ChatRequest, Message
from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.cell_map import KINDS, CellMap, Thing
from gde.testing.parts import PlantedModel
from gde_plugins.probes.arrays import Doubles, Floats
from gde_plugins.probes.course.config import THINGS
from gde_plugins.probes.course.events import EVENTS, NOT_SAID, PREFIX, Found
from gde_plugins.probes.course.reading import Truth, read, splits_of
from gde_plugins.probes.course.sources import foreign, own, random_weights, said
from gde_plugins.probes.course.turns import CourseTurn, located

SIDE, WIDTH, TURNS = 5, 64, 80
ACTIONS = ("DOWN", "LEFT", "RIGHT", "UP")
EMPTY, AGENT, GOAL, WALL = range(4)
NOWHERE: Any = None
"""No turn is asked again."""


def turns(number: int = TURNS, last_in: int = TURNS) -> list[CourseTurn]:
    """Rooms of 5x5 in which the text says both places; the first ones also a last step."""
    rng = np.random.default_rng(0)
    made = []
    for i in range(number):
        codes = np.full((SIDE, SIDE), WALL)
        codes[1:-1, 1:-1] = EMPTY
        agent, goal = (
            (int(1 + cell // 3), int(1 + cell % 3))
            for cell in rng.choice(9, 2, replace=False)
        )
        codes[agent], codes[goal] = AGENT, GOAL
        said = {
            "agent": f"{agent[0]},{agent[1]}",
            "goal": f"{goal[0]},{goal[1]}",
            "move": "1,1",
            "last": f"{goal[0]},{goal[1]}",
        }
        events = [event for event in EVENTS if event != "last" or i < last_in]
        prompt = f"prompt {i:03}: "
        tokens = {event: len(prompt) - 1 + j for j, event in enumerate(events)}
        found = Found(
            tokens=tokens,
            said={event: said[event] for event in events if event in said},
            reasons={} if "last" in tokens else {"last": NOT_SAID},
        )
        things = (
            Thing(name="agent", place=agent, kind="agent"),
            Thing(name="goal", place=goal, kind="goal"),
        )
        made.append(
            CourseTurn(
                world=str(i),
                sequence=TokenSequence(
                    tokens=tuple(map(ord, f"{prompt}{'x' * len(events)}")),
                    positions=found.positions,
                ),
                n_prompt=len(prompt),
                found=found,
                map=CellMap(kinds=KINDS, codes=codes, things=things),
                optimal=(ACTIONS[i % 4],),
                action=ACTIONS[i % 4],
                trajectory=NOWHERE,
            )
        )
    return made


def truth(made: list[CourseTurn]) -> Truth:
    return Truth.of(made, np.random.default_rng(0))


def planted(values: Floats, seed: int) -> Floats:
    """(N, WIDTH) linear in one-hot values (N, K), with noise."""
    rng = np.random.default_rng(seed)
    basis = rng.normal(size=(values.shape[1], WIDTH))
    noise = rng.normal(scale=0.1, size=(len(values), WIDTH))
    return (values @ basis + noise).astype(np.float32)


def rate(hits: Doubles, thing: str) -> float:
    return float(np.nanmean(hits[:, THINGS.index(thing)]))


def test_each_thing_is_found_where_it_is_planted_alone() -> None:
    made = turns()
    true = truth(made)
    places = [
        [*np.eye(SIDE)[list(turn.map.place_of("agent"))].ravel()] for turn in made
    ]
    by_event = {
        "before": planted(np.array(places), 1),
        "after": planted(np.eye(4)[true.action], 2),
    }
    found = read(by_event, true, splits_of(TURNS, 3, np.random.default_rng(1)))
    assert rate(found["before"], "agent") > 0.95
    assert rate(found["before"], "goal") < 0.4
    assert rate(found["before"], "action") < 0.5
    assert rate(found["after"], "action") > 0.95
    assert rate(found["after"], "optimal") > 0.95
    assert rate(found["after"], "agent") < 0.4


def test_the_map_is_the_mean_of_agent_and_goal() -> None:
    made = turns()
    noise = {"before": planted(np.zeros((TURNS, 1)), 1)}
    (hits,) = read(noise, truth(made), splits_of(TURNS, 2, np.random.default_rng(1)))[
        "before"
    ][:1]
    agent, goal, both = (hits[THINGS.index(each)] for each in ("agent", "goal", "map"))
    assert np.allclose(both, (agent + goal) / 2, equal_nan=True)


def test_only_held_out_turns_with_the_event_count() -> None:
    made = turns(last_in=50)
    splits = splits_of(TURNS, 4, np.random.default_rng(2))
    inputs = planted(np.zeros((TURNS, 1)), 1)
    inputs[50:] = np.nan
    hits = read({"last": inputs}, truth(made), splits)["last"]
    for of_split, (train, test) in zip(hits, splits, strict=True):
        assert not {*train} & {*test}
        tested = np.flatnonzero(np.isfinite(of_split[0]))
        assert {*tested} == {row for row in test if row < 50}


def test_the_text_holds_what_is_said_by_then_and_no_more() -> None:
    made = turns()
    found = read(said(made), truth(made), splits_of(TURNS, 3, np.random.default_rng(3)))
    assert rate(found["before"], "agent") < 0.4
    assert rate(found["agent"], "agent") > 0.95
    assert rate(found["agent"], "goal") < 0.4
    assert rate(found["goal"], "goal") > 0.95
    # A bag of cells would not tell which of them is the agent's.
    assert rate(found["after"], "agent") > 0.95
    assert rate(found["after"], "goal") > 0.95


def test_what_the_text_says_later_is_not_known_yet() -> None:
    made = turns()
    for turn in made:
        tokens = turn.found.tokens
        swapped = {"agent": tokens["goal"], "goal": tokens["agent"]}
        turn.found.tokens.update(swapped)  # type: ignore[attr-defined]
    found = read(said(made), truth(made), splits_of(TURNS, 3, np.random.default_rng(3)))
    assert rate(found["goal"], "agent") < 0.4
    assert rate(found["agent"], "goal") > 0.95


def test_turns_without_an_event_have_no_inputs_there() -> None:
    made = turns(number=6, last_in=2)
    for inputs in (said(made), own(PlantedModel(), made, 1)):
        assert (
            np.isfinite(inputs["last"]).all(axis=1).tolist() == [True] * 2 + [False] * 4
        )
        assert np.isfinite(inputs["after"]).all()


def test_activations_are_those_of_the_events_tokens() -> None:
    made = turns(number=3)
    model = PlantedModel()
    request = CaptureRequest(layers=(1,), positions=(f"{PREFIX}goal",))
    records = model.capture([turn.sequence for turn in made], request)
    expected = [record.values[1, f"{PREFIX}goal"][0] for record in records]
    assert np.array_equal(own(model, made, 1)["goal"], expected)


def test_a_foreign_prompt_is_never_the_turns_own_and_the_text_is() -> None:
    made = turns(number=7)
    seen: list[TokenSequence] = []

    class Seeing(PlantedModel):
        def capture(self, sequences, request):  # type: ignore[no-untyped-def]
            seen.extend(sequences)
            return super().capture(sequences, request)

    foreign(Seeing(), made, 1, np.random.default_rng(4))
    prompts = [each.tokens[: made[0].n_prompt] for each in seen]
    assert len({*prompts}) == len(made)
    for sequence, turn in zip(seen, made, strict=True):
        own_prompt = turn.sequence.tokens[: turn.n_prompt]
        assert sequence.tokens[: turn.n_prompt] != own_prompt
        assert sequence.tokens[turn.n_prompt :] == turn.sequence.tokens[turn.n_prompt :]


def test_a_foreign_prompt_of_another_length_moves_the_events() -> None:
    first, second = turns(number=2)
    prompt = (*first.sequence.tokens[:4], *second.sequence.tokens[: second.n_prompt])
    longer = CourseTurn(
        **{
            **vars(second),
            "n_prompt": len(prompt),
            "sequence": TokenSequence(tokens=prompt, positions={}),
        }
    )
    moved = first.after_prompt(longer)
    assert moved.positions[f"{PREFIX}goal"] == (first.found.tokens["goal"] + 4,)


def test_initialisations_differ() -> None:
    made = turns(number=3)
    first, second = random_weights(PlantedModel(), made, 1, 2, seed=0)
    assert not np.allclose(first["before"], second["before"])


def test_an_answer_of_a_server_is_found_in_the_weights_own_tokens() -> None:
    model = PlantedModel()
    request = ChatRequest(messages=(Message(role="user", content="go"),), seed=0)
    local = asyncio.run(model.complete(request))
    served = replace(
        local, prompt_tokens=(), tokens=(), positions={}, prompt=request.messages
    )
    patterns = dict.fromkeys(EVENTS, "") | {"agent": "I", "move": "see"}
    for completion in (local, served):
        answer = located(completion, patterns, model)
        assert answer is not None
        whole, found = answer
        assert whole.tokens == local.tokens
        assert [*found.tokens] == ["before", "agent", "move", "after"]
    other = replace(served, n_completion=1)
    assert located(other, patterns, model) is None
