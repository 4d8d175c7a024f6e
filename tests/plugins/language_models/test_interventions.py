"""Interventions are made where and how they say, in answers and in replays, and nowhere
else.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
from held import held
from torch import Tensor

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    Intervention,
    TokenSequence,
)
from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.errors import GdeError
from gde.testing import check_white_box
from gde_plugins.language_models import generation, places
from gde_plugins.language_models.generation import Decoder, Reading
from gde_plugins.language_models.nano import NOTICES, folder
from gde_plugins.language_models.residual_stream import Change
from gde_plugins.language_models.transformers_model import TransformersModel

MODELS = ("gpt-oss", "llama", "nano")


@pytest.fixture(scope="module")
def models(
    tiny_folder: Path, llama_folder: Path
) -> Iterator[dict[str, TransformersModel]]:
    """All in float64."""
    places = {"gpt-oss": tiny_folder, "llama": llama_folder, "nano": folder()}
    made = {
        name: TransformersModel.load(
            place,
            device="cpu",
            dtype="float64",
            batch_size=16,
            name=name,
            notice=NOTICES["auxiliary"],
        )
        for name, place in places.items()
    }
    yield made
    for model in made.values():
        model.close()


@pytest.fixture(params=MODELS)
def model(
    request: pytest.FixtureRequest, models: dict[str, TransformersModel]
) -> TransformersModel:
    return models[request.param]


def request(n: int = 0, *interventions: Intervention) -> ChatRequest:
    words = " ".join(
        f"w{word}" for word in np.random.default_rng(n).integers(40, size=3 + 4 * n)
    )
    sampling = Sampling(temperature=1.0, max_tokens=12)
    messages = (Message(role="user", content=words),)
    return ChatRequest(
        messages=messages, seed=n, sampling=sampling, interventions=interventions
    )


def vector(model: TransformersModel, scale: float = 1.0, seed: int = 0) -> Any:
    return (scale * np.random.default_rng(seed).normal(size=model.info.width)).astype(
        np.float32
    )


def changes(model: TransformersModel, scale: float = 3.0) -> list[Intervention]:
    """Every kind, at the embeddings and at all layers."""
    return [
        Intervention(
            layer=layer,
            position="pre",
            kind=kind,
            vector=vector(model, scale, layer + 5),
        )
        for layer in range(EMBEDDING, model.info.n_layers)
        for kind in ("add", "replace", "project_out")
    ]


def answers(model: TransformersModel, asked: Sequence[ChatRequest]) -> list[Completion]:
    async def together() -> list[Completion]:
        return await asyncio.gather(*map(model.complete, asked))

    return asyncio.run(together())


@cache
def said(model: TransformersModel) -> Completion:
    (completion,) = answers(model, [request(2)])
    return completion


def sequence(model: TransformersModel, *interventions: Intervention) -> TokenSequence:
    whole = said(model).prompt_tokens + said(model).tokens
    return TokenSequence(
        tokens=whole, positions=said(model).positions, interventions=interventions
    )


def streams(
    model: TransformersModel, *interventions: Intervention
) -> dict[tuple[int, str], Any]:
    every = CaptureRequest(
        layers=(EMBEDDING, *range(model.info.n_layers)), positions=("pre",)
    )
    (record,) = model.capture([sequence(model, *interventions)], every)
    return dict(record.values)


def logits(model: TransformersModel, *interventions: Intervention) -> Tensor:
    """(V,) of the first token of an answer."""
    prompt = said(model).prompt_tokens
    positions = {"pre": tuple(range(len(prompt) - 3, len(prompt)))}
    with torch.inference_mode():
        (first,) = Decoder.begin(
            held(model).original,
            [(prompt, Change.of(interventions, positions))],
            Event(),
        ).logits
    return first


def same(
    first: dict[tuple[int, str], Any],
    second: dict[tuple[int, str], Any],
    tolerance: float = 0.0,
) -> bool:
    """Whether streams differ by no more than this share of the norm at each token.

    Rounding in float32 is as large as the stream calls for: an element that is small
    beside the others can change by more than its own share.
    """
    for place, values in second.items():
        apart = np.linalg.norm(first[place] - values, axis=-1)
        if (apart > tolerance * np.linalg.norm(values, axis=-1)).any():
            return False
    return True


@pytest.mark.parametrize(
    "name",
    [pytest.param("tiny_folder", marks=pytest.mark.extended), "llama_folder"],
)
def test_the_contract_is_kept(name: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue(name)
    check_white_box(
        lambda: TransformersModel.load(
            place, device="cpu", dtype="float64", name="tiny"
        )
    )


def test_a_zero_vector_changes_no_bit(model: TransformersModel) -> None:
    clean, plain = streams(model), logits(model)
    for layer in range(EMBEDDING, model.info.n_layers):
        nothing = Intervention(
            layer=layer, position="pre", kind="add", vector=0 * vector(model)
        )
        assert same(streams(model, nothing), clean)
        assert torch.equal(logits(model, nothing), plain)
    first, second = answers(model, [request(2), request(2, nothing)])
    assert first == second


def test_in_half_precision_a_zero_vector_changes_no_bit_and_a_large_one_does(
    llama_folder: Path,
) -> None:
    half = TransformersModel.load(
        llama_folder, device="cpu", dtype="bfloat16", batch_size=1, name="half"
    )
    nothing, much = (
        Intervention(layer=1, position="pre", kind="add", vector=vector(half, scale))
        for scale in (0, 100)
    )
    assert same(streams(half, nothing), streams(half))
    assert torch.equal(logits(half, nothing), logits(half))
    assert not torch.equal(logits(half, much), logits(half))
    half.close()


def test_a_large_vector_changes_the_logits(model: TransformersModel) -> None:
    plain = logits(model)
    for change in changes(model, scale=30):
        assert (logits(model, change) - plain).abs().max() > 1e-3, change


def test_projecting_out_twice_is_projecting_out_once(model: TransformersModel) -> None:
    for layer in range(EMBEDDING, model.info.n_layers):
        change = Intervention(
            layer=layer, position="pre", kind="project_out", vector=vector(model)
        )
        once, twice = streams(model, change), streams(model, change, change)
        assert same(twice, once, 1e-5)
        direction = change.vector / np.linalg.norm(change.vector)
        assert (
            np.abs(once[layer, "pre"] @ direction).max()
            < 1e-5 * np.linalg.norm(once[layer, "pre"], axis=1).max()
        )
        assert torch.allclose(
            logits(model, change, change), logits(model, change), rtol=0, atol=1e-10
        )


def test_replacing_an_activation_by_itself_changes_nothing(
    model: TransformersModel,
) -> None:
    clean, plain = streams(model), logits(model)
    for (layer, position), values in clean.items():
        itself = Intervention(
            layer=layer, position=position, kind="replace", vector=values
        )
        assert same(streams(model, itself), clean, 1e-6)
        assert torch.allclose(logits(model, itself), plain, rtol=0, atol=1e-3)


def test_at_the_last_layer_the_logits_are_those_of_the_vector(
    model: TransformersModel,
) -> None:
    """Told from the model's own last steps, not from hooks."""
    top = Intervention(
        layer=model.info.n_layers - 1,
        position="pre",
        kind="replace",
        vector=vector(model),
    )
    with torch.inference_mode():
        stream = torch.tensor(top.vector, dtype=torch.float64)
        expected = held(model).original.lm_head(held(model).original.model.norm(stream))
    assert torch.allclose(logits(model, top), expected, rtol=0, atol=1e-10)


def test_at_the_embeddings_the_logits_are_those_of_changed_embeddings(
    model: TransformersModel,
) -> None:
    change = Intervention(
        layer=EMBEDDING, position="pre", kind="add", vector=vector(model)
    )
    prompt = torch.tensor([said(model).prompt_tokens])
    with torch.inference_mode():
        embedded = held(model).original.get_input_embeddings()(prompt)
        embedded[0, -3:] += torch.tensor(change.vector, dtype=torch.float64)
        expected = held(model).original(inputs_embeds=embedded).logits[0, -1]
    assert torch.allclose(logits(model, change), expected, rtol=0, atol=1e-10)


def test_several_are_made_in_their_order_and_add_up(model: TransformersModel) -> None:
    one, other = (
        Intervention(
            layer=1, position="pre", kind="add", vector=vector(model, seed=seed)
        )
        for seed in (1, 2)
    )
    both = replace(one, vector=one.vector + other.vector)
    assert same(streams(model, one, other), streams(model, both), 1e-5)
    blank = replace(one, kind="replace")
    assert same(streams(model, other, blank), streams(model, blank), 1e-6)
    assert not same(streams(model, blank, other), streams(model, blank), 1e-3)


def test_each_token_can_have_a_vector_of_its_own(model: TransformersModel) -> None:
    clean = streams(model)
    rows = np.stack([vector(model, seed=seed) for seed in range(3)])
    changed = streams(
        model, Intervention(layer=0, position="pre", kind="add", vector=rows)
    )
    assert changed[0, "pre"] - clean[0, "pre"] == pytest.approx(rows, abs=1e-4)


def test_alone_and_in_company_the_answer_is_the_same(model: TransformersModel) -> None:
    every = [None, *changes(model)]
    asked = [
        request((2, 0, 2, 5)[n % 4], *([change] if change else []))
        for n, change in enumerate(every)
    ]
    asked = [*asked, request(2), request(0)]
    alone = [answers(model, [each])[0] for each in asked]
    assert answers(model, asked) == alone
    assert answers(model, asked[::-1])[::-1] == alone
    assert len({each.tokens for each in alone}) > 4


def test_a_prompt_that_is_read_in_pieces_is_changed_as_one(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = np.stack([vector(model), -vector(model), 2 * vector(model)])
    sets = [
        (),
        changes(model),
        (Intervention(layer=1, position="pre", kind="add", vector=several),),
    ]
    whole = [logits(model, *each) for each in sets]
    monkeypatch.setattr(generation, "PIECE_CPU", 2)
    for expected, each in zip(whole, sets, strict=True):
        assert torch.allclose(logits(model, *each), expected, rtol=0, atol=1e-10)
    assert not torch.allclose(whole[0], whole[2], rtol=0, atol=1e-6)


def test_equal_prompts_under_different_interventions_are_read_apart(
    models: dict[str, TransformersModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, read = models["gpt-oss"], []
    begin = Decoder.__init__

    def noted(
        self: Decoder, whose: Any, readings: Sequence[Reading], halt: Event
    ) -> None:
        read.extend(readings)
        begin(self, whose, readings, halt)

    monkeypatch.setattr(Decoder, "__init__", noted)
    nudged = vector(model)
    nudged[-1] = np.nextafter(nudged[-1], np.float32(np.inf))
    one, other = (
        Intervention(layer=1, position="pre", kind="add", vector=each)
        for each in (vector(model), nudged)
    )
    answers(
        model,
        [request(), request(), request(0, one), request(0, one), request(0, other)],
    )
    assert len(read) == 3
    assert len({prompt for prompt, _ in read}) == 1


def test_replays_are_read_after_the_change_and_batches_of_them_are_those_alone(
    model: TransformersModel,
) -> None:
    every = CaptureRequest(layers=(EMBEDDING, 1), positions=("pre",))
    asked = [
        sequence(model),
        *(sequence(model, change) for change in changes(model)),
        sequence(model),
    ]
    alone = [model.capture([each], every)[0] for each in asked]

    def equal(
        first: Sequence[ActivationRecord],
        second: Sequence[ActivationRecord],
        tolerance: float,
    ) -> bool:
        pairs = zip(first, second, strict=True)
        return all(
            same(dict(one.values), dict(other.values), tolerance)
            for one, other in pairs
        )

    assert equal(model.capture(asked, every), alone, 0.0)
    held(model)._batch_size = 16  # as on an accelerator
    assert equal(model.capture(asked, every), alone, 1e-3)
    held(model)._batch_size = 1
    for change, record in zip(changes(model), alone[1:], strict=False):
        if change.layer == 1:
            assert record.values[1, "pre"] == pytest.approx(
                change.applied(alone[0].values[1, "pre"]), abs=1e-3
            )


def test_a_request_that_does_not_fit_fails_alone(
    models: dict[str, TransformersModel],
) -> None:
    model = models["gpt-oss"]
    wide = Intervention(layer=0, position="pre", kind="add", vector=np.ones(17))
    rows = Intervention(layer=0, position="pre", kind="add", vector=np.ones((5, 16)))
    misfits = {
        "at layer 4 and position 'pre': wanted a layer from -1": replace(wide, layer=4),
        "position 'post': wanted a position of the tokens that are there: pre": replace(
            wide, position="post"
        ),
        "wanted a vector of width 16, got 17": wide,
        "wanted one vector, or 3 for as many tokens, got 5": rows,
    }

    async def together() -> list[Completion | BaseException]:
        asked = [request(), *(request(0, change) for change in misfits.values())]
        return await asyncio.gather(*map(model.complete, asked), return_exceptions=True)

    first, *others = asyncio.run(together())
    assert first == answers(model, [request()])[0]
    for wanted, error in zip(misfits, others, strict=True):
        assert isinstance(error, GdeError) and wanted in str(error)
        change = misfits[wanted]
        if change.position == "pre":
            with pytest.raises(GdeError, match="gpt-oss: intervention"):
                model.capture([sequence(model, change)], CaptureRequest(layers=(0,)))


def test_an_intervention_that_no_pass_goes_through_is_an_error(
    models: dict[str, TransformersModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = models["llama"]
    elsewhere = [torch.nn.Identity() for _ in range(model.info.n_layers)]
    monkeypatch.setattr(places, "decoder_layers", lambda _: elsewhere)
    with pytest.raises(
        GdeError,
        match="an intervention was not made: no forward pass went through layer 1",
    ):
        answers(model, [request(0, changes(model)[6])])
    layers = held(model).original.model.layers
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in layers)
