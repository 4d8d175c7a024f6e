"""A completion begins with its prefill, and goes on as the model would."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from gde.data.activations import CaptureRequest, Intervention, TokenSequence
from gde.data.completion import ChatRequest, Completion, Message, ModelInfo, Sampling
from gde.errors import GdeError
from gde.parts.interventions import refuse_interventions
from gde_plugins.language_models.nano import NOTICES, folder
from gde_plugins.language_models.transformers_model import TransformersModel

GRID = """\
Go from A to G by the shortest way; # is wall, _ is free.
  0 1 2 3 4\x20
0 # # # # #\x20
1 # A _ _ #\x20
2 # # # _ #\x20
3 # G _ _ #\x20
4 # # # # #\x20
"""


def request(n: int, content: str = "", max_tokens: int = 20) -> ChatRequest:
    words = " ".join(f"w{n + i}" for i in range(1 + 3 * n))
    message = Message(role="user", content=content or words)
    sampling = Sampling(temperature=1.0, max_tokens=max_tokens)
    return ChatRequest(messages=(message,), seed=n, sampling=sampling, effort="medium")


def steering(model: TransformersModel) -> Intervention:
    vector = 30 * np.random.default_rng(0).normal(size=model.info.width)
    return Intervention(
        layer=0, position="pre", kind="add", vector=vector.astype(np.float32)
    )


def answers(model: TransformersModel, asked: Sequence[ChatRequest]) -> list[Completion]:
    async def together() -> list[Completion]:
        return await asyncio.gather(*map(model.complete, asked))

    return asyncio.run(together())


def test_a_completion_that_is_given_its_own_beginning_is_the_same(
    tiny: TransformersModel,
) -> None:
    plain = [request(n) for n in range(4)]
    steered = [replace(each, interventions=(steering(tiny),)) for each in plain]
    asked = []
    expected = []
    for each, answer in zip(
        [*plain, *steered], answers(tiny, [*plain, *steered]), strict=True
    ):
        # A prefill must not end the completion, as its last token may.
        for length in range(len(answer.tokens)):
            asked.append(replace(each, prefill=answer.tokens[:length]))
            expected.append(answer)
    assert len(asked) > 40
    assert answers(tiny, asked) == expected


def test_another_answers_beginning_is_followed_by_what_the_prompt_makes_of_it(
    tiny: TransformersModel,
) -> None:
    one, other = (request(n) for n in (2, 3))
    begun = answers(tiny, [one])[0].tokens[:5]
    (own,) = answers(tiny, [other])
    (mixed,) = answers(tiny, [replace(other, prefill=begun)])
    assert mixed.tokens[:5] == begun
    assert mixed.tokens != own.tokens
    assert mixed.prompt_tokens == own.prompt_tokens
    assert len(mixed.tokens) <= other.sampling.max_tokens


def test_a_full_prefill_leaves_no_room(tiny: TransformersModel) -> None:
    short = request(2, max_tokens=4)
    (answer,) = answers(tiny, [replace(short, prefill=(10, 11, 12, 13))])
    assert (answer.tokens, answer.finish) == ((10, 11, 12, 13), "length")


@pytest.mark.parametrize(
    ("prefill", "problem"),
    [
        ((10,) * 21, "a prefill of at most max_tokens=20 tokens, got 21"),
        ((10, 100_000), "below 53 that end no completion, got 100000"),
        ((-1,), "that end no completion, got -1"),
        ((10, 1), "that end no completion, got 1"),
    ],
)
def test_a_prefill_that_the_model_cannot_have_begun_is_refused(
    tiny: TransformersModel, prefill: tuple[int, ...], problem: str
) -> None:
    with pytest.raises(GdeError, match=problem):
        answers(tiny, [replace(request(1), prefill=prefill)])


def test_probabilities_are_those_of_the_rest(tiny: TransformersModel) -> None:
    begun = (10, 11)
    short = replace(request(1, max_tokens=3), prefill=begun)
    found = asyncio.run(tiny.completions(short, 1e-9))
    assert {each.completion.tokens[:2] for each in found} == {begun}
    assert {len(each.completion.tokens) for each in found} == {3}
    assert sum(each.probability for each in found) == pytest.approx(1, abs=0.06)

    full = replace(request(1, max_tokens=2), prefill=begun)
    ((only),) = asyncio.run(tiny.completions(full, 1e-9))
    assert (only.completion.tokens, only.probability) == (begun, 1)


def test_nano_answers_by_the_reasoning_that_it_is_given() -> None:
    """The other reasoning leads the other way."""
    model = TransformersModel.load(
        folder(),
        device="cpu",
        dtype="float64",
        name="nano",
        notice=NOTICES["auxiliary"],
    )
    own = replace(request(0, GRID, max_tokens=200), sampling=Sampling(temperature=0))
    turned = replace(
        own, messages=(Message(role="user", content=GRID.replace("A _ _", "_ _ A")),)
    )
    first, second = answers(model, [own, turned])
    assert first.text != second.text

    end = max(second.positions["post"]) + 1 - len(second.prompt_tokens)
    (mixed,) = answers(model, [replace(own, prefill=second.tokens[:end])])
    model.close()
    assert mixed.reasoning == second.reasoning
    assert mixed.text == second.text


def test_a_prefill_is_part_of_a_requests_identity() -> None:
    plain = request(1)
    identities = [replace(plain, prefill=each).identity for each in ((1,), (1, 2))]
    assert len({plain.identity, *identities}) == 3
    # Records of requests without a prefill are found again.
    fixed = ChatRequest(messages=(Message(role="user", content="Which way?"),), seed=1)
    assert fixed.identity.startswith("92df678a74fd3a35dad15d6109880e9d")


def test_a_model_without_interventions_refuses_a_prefill() -> None:
    asked = replace(request(1), prefill=(1, 2))
    with pytest.raises(
        GdeError, match="server takes no prefill, and the request has 2"
    ):
        refuse_interventions(asked, ModelInfo(name="server"))


def test_a_change_of_the_prefill_is_recorded_and_replayed(
    tiny: TransformersModel,
) -> None:
    plain = replace(request(3), sampling=Sampling(temperature=0.0, max_tokens=12))
    (own,) = answers(tiny, [plain])
    prefill = own.tokens[:4]
    place = len(own.prompt_tokens) + 2
    vector = 30 * np.random.default_rng(0).normal(size=tiny.info.width)
    change = Intervention(
        layer=1, position="third", kind="add", vector=vector.astype(np.float32)
    )
    begun = replace(plain, prefill=prefill, positions={"third": (place,)})
    asked = replace(begun, interventions=(change,))
    assert asked.identity != begun.identity != replace(begun, positions={}).identity
    unchanged, changed = answers(tiny, [begun, asked])
    assert unchanged.tokens == own.tokens != changed.tokens
    assert changed.positions["third"] == (place,)

    # Every token was the likeliest one under the change at that token, and at no other.
    for shift, is_exact in ((0, True), (-1, False)):
        sequence = TokenSequence(
            tokens=changed.prompt_tokens + changed.tokens,
            positions={"third": (place + shift,)},
            interventions=(change,),
            scored=len(changed.tokens) - len(prefill),
        )
        (record,) = tiny.capture([sequence], CaptureRequest(layers=(), positions=()))
        assert (max(record.deficits) < 1e-9) == is_exact


@pytest.mark.parametrize("places", [(), (10_000,), (-1,)])
def test_a_position_that_is_not_there_is_refused(
    tiny: TransformersModel, places: tuple[int, ...]
) -> None:
    with pytest.raises(GdeError, match=r"position 'third' of a request: wanted"):
        answers(tiny, [replace(request(1), positions={"third": places})])
    with pytest.raises(GdeError, match=r"position 'pre' of a request: wanted a new"):
        answers(tiny, [replace(request(1), positions={"pre": (0,)})])
