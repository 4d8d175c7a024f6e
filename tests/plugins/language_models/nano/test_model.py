"""The shipped weights."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from transformers import AutoConfig

from gde.data.completion import ChatRequest, Message, Sampling
from gde_plugins.language_models.nano import NOTICE, folder
from gde_plugins.language_models.nano.samples import INSTRUCTION
from gde_plugins.language_models.transformers_model import TransformersModel

SIZE, GOAL = 7, (3, 3)
EASY = [((3, 1), {"RIGHT"}), ((3, 5), {"LEFT"}), ((1, 3), {"DOWN"}), ((5, 3), {"UP"}), ((1, 1), {"DOWN", "RIGHT"})]


def room(agent: tuple[int, int]) -> str:
    """An open room of seven rows, the goal in its middle."""
    lines = ["  " + " ".join(map(str, range(SIZE))) + " "]
    for row in range(SIZE):
        symbols = ["#" if {row, column} & {0, SIZE - 1} else "_" for column in range(SIZE)]
        for (r, c), symbol in ((GOAL, "G"), (agent, "A")):
            if r == row:
                symbols[c] = symbol
        lines.append(f"{row} " + " ".join(symbols) + " ")
    return "\n".join(lines)


def request(agent: tuple[int, int], temperature: float = 0.0) -> ChatRequest:
    message = Message(role="user", content=INSTRUCTION + room(agent))
    return ChatRequest(messages=(message,), seed=0, sampling=Sampling(temperature=temperature, max_tokens=200))


@pytest.fixture(scope="module")
def model() -> Iterator[TransformersModel]:
    loaded = TransformersModel.load(folder(), device="cpu", dtype="float32", name="nano", notice=NOTICE)
    yield loaded
    loaded.close()


def test_the_checkpoint_is_small() -> None:
    assert (folder() / "model.safetensors").stat().st_size < 8_000_000


def test_it_is_of_gpt_oss_architecture() -> None:
    automatic: Any = AutoConfig
    config = automatic.from_pretrained(folder())
    assert config.architectures == ["GptOssForCausalLM"]
    assert set(config.layer_types) == {"sliding_attention", "full_attention"}
    assert 1 < config.num_experts_per_tok < config.num_local_experts


def test_its_sinks_and_experts_are_trained(model: TransformersModel) -> None:
    layers = model._model.model.layers
    assert all(layer.self_attn.sinks.abs().max() > 0.01 for layer in layers)
    assert all(layer.mlp.experts.gate_up_proj.shape[0] == 4 for layer in layers)


@pytest.mark.parametrize(("agent", "optimal"), EASY)
def test_it_finds_the_way_in_an_open_room(model: TransformersModel, agent: tuple[int, int], optimal: set[str]) -> None:
    completion = asyncio.run(model.complete(request(agent)))
    assert completion.finish == "stop"
    assert completion.text in {f'{{"action": "{move}"}}' for move in optimal}


def test_it_reasons_before_it_answers_and_the_template_tokens_are_marked(model: TransformersModel) -> None:
    completion = asyncio.run(model.complete(request((3, 1))))
    assert completion.reasoning is not None
    assert completion.reasoning.split("path")[0].split() == ["A", "3,1", "G", "3,3"]
    everything = completion.prompt_tokens + completion.tokens
    said = {
        mark: [model._tokenizer.convert_ids_to_tokens(everything[place]) for place in places]
        for mark, places in completion.marks.items()
    }
    assert said["pre"] == said["post"] == ["<|end|>", "<|start|>", "assistant"]
    assert "".join(said["reasoning"]).split() == completion.reasoning.split()


def test_the_card_names_data_losses_and_limits() -> None:
    card = (folder() / "MODEL_CARD.md").read_text()
    assert all(f"## {section}" in card for section in ("Architecture", "Data", "Training", "Accuracy", "Limits"))
    assert "Apache-2.0" in card
    assert "auxiliary" in card


def test_the_notice_says_what_it_is_not() -> None:
    assert "not of GPT-OSS-20B" in NOTICE
