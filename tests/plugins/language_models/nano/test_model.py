"""nano walks."""

import asyncio
from collections.abc import Iterator

import pytest
from nano_training.samples import INSTRUCTION

from gde.data.completion import ChatRequest, Message, Sampling
from gde_plugins.language_models.nano import folder
from gde_plugins.language_models.transformers_model import TransformersModel

SIZE, GOAL = 7, (3, 3)
EASY = [
    ((3, 1), {"RIGHT"}),
    ((3, 5), {"LEFT"}),
    ((1, 3), {"DOWN"}),
    ((5, 3), {"UP"}),
    ((1, 1), {"DOWN", "RIGHT"}),
]


def room(agent: tuple[int, int]) -> str:
    """An open room of seven rows, the goal in its middle."""
    lines = ["  " + " ".join(map(str, range(SIZE))) + " "]
    for row in range(SIZE):
        symbols = [
            "#" if {row, column} & {0, SIZE - 1} else "_" for column in range(SIZE)
        ]
        for (r, c), symbol in ((GOAL, "G"), (agent, "A")):
            if r == row:
                symbols[c] = symbol
        lines.append(f"{row} " + " ".join(symbols) + " ")
    return "\n".join(lines)


def request(agent: tuple[int, int], temperature: float = 0.0) -> ChatRequest:
    message = Message(role="user", content=INSTRUCTION + room(agent))
    sampling = Sampling(temperature=temperature, max_tokens=200)
    return ChatRequest(messages=(message,), seed=0, sampling=sampling, effort="medium")


@pytest.fixture(scope="module")
def model() -> Iterator[TransformersModel]:
    loaded = TransformersModel.load(
        folder(), device="cpu", dtype="float32", name="nano"
    )
    yield loaded
    loaded.close()


@pytest.mark.parametrize(("agent", "optimal"), EASY)
def test_it_finds_the_way_in_an_open_room(
    model: TransformersModel, agent: tuple[int, int], optimal: set[str]
) -> None:
    completion = asyncio.run(model.complete(request(agent)))
    assert completion.finish == "stop"
    assert completion.text in {f'{{"action": "{move}"}}' for move in optimal}


def test_it_reasons_before_it_answers_and_the_template_tokens_are_marked(
    model: TransformersModel,
) -> None:
    completion = asyncio.run(model.complete(request((3, 1))))
    assert completion.reasoning is not None
    assert completion.reasoning.split("path")[0].split() == ["A", "3,1", "G", "3,3"]
    everything = completion.prompt_tokens + completion.tokens
    said = {
        position: [
            model._tokenizer.convert_ids_to_tokens(everything[place])
            for place in places
        ]
        for position, places in completion.positions.items()
    }
    assert said["pre"] == said["post"] == ["<|end|>", "<|start|>", "assistant"]
    assert "".join(said["reasoning"]).split() == completion.reasoning.split()
