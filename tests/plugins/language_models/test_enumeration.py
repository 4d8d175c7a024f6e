"""What a model can answer, against what it does answer."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Message, Sampling, WeighedCompletion
from gde.errors import GdeError
from gde.parts.language_model import HasProbabilities
from gde_plugins.language_models.transformers_model import TransformersModel

SHORT = Sampling(temperature=0.7, top_p=0.6, max_tokens=3)
SAMPLES = 1500


def request(
    sampling: Sampling = SHORT, words: str = "w1 w2", seed: int = 0
) -> ChatRequest:
    return ChatRequest(
        messages=(Message(role="user", content=words),), seed=seed, sampling=sampling
    )


def enumerated(
    model: TransformersModel, asked: Sequence[ChatRequest], least: float = 1e-9
) -> list[list[WeighedCompletion]]:
    async def together() -> list[list[WeighedCompletion]]:
        return await asyncio.gather(*(model.completions(each, least) for each in asked))

    return asyncio.run(together())


@pytest.mark.extended
def test_probabilities_are_the_frequencies_of_samples(tiny: TransformersModel) -> None:
    assert isinstance(tiny, HasProbabilities)
    (answers,) = enumerated(tiny, [request()])
    assert sum(each.probability for each in answers) == pytest.approx(1)
    assert len({each.completion.tokens for each in answers}) == len(answers) > 3

    async def draw() -> Counter[tuple[int, ...]]:
        drawn = await asyncio.gather(
            *(tiny.complete(request(seed=seed)) for seed in range(SAMPLES))
        )
        return Counter(each.tokens for each in drawn)

    drawn = asyncio.run(draw())
    probabilities = np.array([each.probability for each in answers])
    counts = np.array([drawn.pop(each.completion.tokens, 0) for each in answers])
    assert not drawn, "every sample is among the completions"
    deviations = (counts - SAMPLES * probabilities) / np.sqrt(
        SAMPLES * probabilities * (1 - probabilities) + 1
    )
    assert np.abs(deviations).max() < 4.5


def test_company_changes_nothing(tiny: TransformersModel) -> None:
    asked = [request(words=" ".join(["w3"] * n)) for n in (1, 9, 4)]
    alone = [enumerated(tiny, [each])[0] for each in asked]
    for one, other in zip(enumerated(tiny, asked), alone, strict=True):
        assert [each.completion for each in one] == [each.completion for each in other]
        np.testing.assert_allclose(
            [each.probability for each in one],
            [each.probability for each in other],
            rtol=1e-9,
        )


def test_what_is_rarer_than_the_floor_is_missing(tiny: TransformersModel) -> None:
    (every,), (few,) = (
        enumerated(tiny, [request()]),
        enumerated(tiny, [request()], least=0.05),
    )
    kept = [each.completion for each in every if each.probability >= 0.05]
    assert [each.completion for each in few] == kept
    assert 0 < len(kept) < len(every)


def test_the_likeliest_alone_at_temperature_zero(tiny: TransformersModel) -> None:
    (answers,) = enumerated(tiny, [request(Sampling(temperature=0, max_tokens=9))])
    assert [each.probability for each in answers] == [1.0]
    assert answers[0].completion == asyncio.run(
        tiny.complete(request(Sampling(temperature=0, max_tokens=9)))
    )


def test_a_prompt_that_fills_the_context_is_surely_answered_by_nothing(
    tiny: TransformersModel,
) -> None:
    (answers,) = enumerated(tiny, [request(words="w1 " * 300)])
    assert [
        (each.completion.tokens, each.completion.finish, each.probability)
        for each in answers
    ] == [((), "length", 1)]


def test_a_floor_of_nothing_is_refused(tiny: TransformersModel) -> None:
    with pytest.raises(GdeError, match="wanted a probability above 0, got 0"):
        enumerated(tiny, [request()], least=0)
