"""`check_language_model` and `check_white_box` pass the kit's models and name what each broken twin breaks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pytest

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import ChatRequest, Completion, ModelInfo, Tokenization
from gde.testing import check_language_model, check_white_box
from gde.testing.parts import PlantedModel, ScriptedModel


def test_the_kit_models_keep_every_promise() -> None:
    check_language_model(ScriptedModel)
    check_language_model(lambda: ScriptedModel(lambda request: f"seed {request.seed % 1}"))
    check_white_box(PlantedModel)


class Lacking:
    info = ModelInfo(name="lacking")


class Nameless(ScriptedModel):
    info = ModelInfo(name="")


@dataclass
class SeesItsBatch(ScriptedModel):
    waiting: list[int] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Completion:
        self.waiting.append(request.seed)
        await asyncio.sleep(0)
        company = len(self.waiting)
        await asyncio.sleep(0)
        self.waiting.remove(request.seed)
        return replace(await super().complete(request), text=str(company))


@dataclass
class CountsItsObjects(ScriptedModel):
    made = 0

    def __post_init__(self) -> None:
        type(self).made += 1
        self.number = self.made

    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), text=str(self.number))


class Talks(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), n_completion=1000)


class MarksBeyondTheEnd(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), marks={"pre": (10_000,)})


class AlwaysSamples(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), text=str(request.seed))


@dataclass
class NamesItsObjects(CountsItsObjects):
    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name=f"model {self.number}")

    async def complete(self, request: ChatRequest) -> Completion:
        return await ScriptedModel.complete(self, request)


class SaysText(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return "RIGHT"  # type: ignore[return-value]


BROKEN_MODELS = [
    (Lacking, "must have close, complete to be a LanguageModel"),
    (Nameless, "must name the model"),
    (SeesItsBatch, "in any batch and order"),
    (CountsItsObjects, "in another object"),
    (NamesItsObjects, "info must be the same"),
    (SaysText, "must give a Completion"),
    (Talks, "at most max_tokens"),
    (MarksBeyondTheEnd, "mark 'pre' must hold indices"),
    (AlwaysSamples, "at temperature 0"),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN_MODELS, ids=[make.__name__ for make, _ in BROKEN_MODELS])
def test_a_broken_promise_of_a_language_model_is_named(make: Callable[[], ScriptedModel], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_language_model(make)


class Unmarked(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), marks={})


class WithoutTokens(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), prompt_tokens=(), tokens=(), marks={})


class Changed(PlantedModel):
    """Captures what a function makes of each array."""

    def change(self, values: Any) -> Any:
        return values

    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        return [self._changed(record.values) for record in super().capture(sequences, request)]

    def _changed(self, values: Mapping[tuple[int, str], Any]) -> ActivationRecord:
        return ActivationRecord(values={place: self.change(array) for place, array in values.items()})


class Doubles(Changed):
    def change(self, values: Any) -> Any:
        values = values.astype(np.float64)
        values.flags.writeable = False
        return values


class Writable(Changed):
    def change(self, values: Any) -> Any:
        return values.copy()


class Transposed(Changed):
    def change(self, values: Any) -> Any:
        values = np.asfortranarray(values)
        values.flags.writeable = False
        return values


class OneTokenOnly(Changed):
    def change(self, values: Any) -> Any:
        return values[:1]


class NotANumber(Changed):
    def change(self, values: Any) -> Any:
        values = values * np.float32("nan")
        values.flags.writeable = False
        return values


class MixesItsBatch(PlantedModel):
    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        records = super().capture(sequences, request)
        return records if len(records) == 1 else [self._louder(record) for record in records]

    def _louder(self, record: ActivationRecord) -> ActivationRecord:
        values = {place: array * np.float32(1.5) for place, array in record.values.items()}
        for array in values.values():
            array.flags.writeable = False
        return ActivationRecord(values=values)


class DropsARecord(PlantedModel):
    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        return super().capture(sequences[:1], request)


class KeepsOneLayer(PlantedModel):
    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        return super().capture(sequences, replace(request, layers=request.layers[:1]))


class InventsMarks(PlantedModel):
    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        marked = [replace(each, marks={"post": (0, 1, 2), **each.marks}) for each in sequences]
        return super().capture(marked, request)


class AnyLayer(PlantedModel):
    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        there = tuple(layer for layer in request.layers if layer < self.n_layers)
        return super().capture(sequences, replace(request, layers=there))


class SkipsCharacters(PlantedModel):
    def tokenize(self, text: str) -> Tokenization:
        whole = super().tokenize(text)
        return Tokenization(ids=whole.ids[1:], spans=whole.spans[1:])


class LosesSpans(PlantedModel):
    def tokenize(self, text: str) -> Tokenization:
        return replace(super().tokenize(text), spans=())


class Disordered(PlantedModel):
    def tokenize(self, text: str) -> Tokenization:
        return replace(super().tokenize(text), spans=super().tokenize(text).spans[::-1])


class StaysTrained(PlantedModel):
    def untrained(self, seed: int) -> Self:
        return self


@dataclass
class UntrainedByChance(PlantedModel):
    asked: int = 0

    def untrained(self, seed: int) -> Self:
        self.asked += 1
        return super().untrained(seed + self.asked)


class UntrainedIsLarger(PlantedModel):
    def untrained(self, seed: int) -> Self:
        return replace(self, n_layers=self.n_layers + 1, untrained_seed=seed)


class ForgetsItsTokenizer(PlantedModel):
    def tokenize(self, text: str) -> Tokenization:
        return super().tokenize(text if self.untrained_seed is None else text.upper().replace("A", "B"))


BROKEN_BOXES = [
    (ScriptedModel, "must have .*capture.* to be a WhiteBox"),
    (lambda: PlantedModel(n_layers=0), "must tell n_layers and width"),
    (Unmarked, "must mark the tokens `pre`"),
    (WithoutTokens, "must hold the prompt's token ids"),
    (Doubles, "must be float32"),
    (Writable, "must be read-only"),
    (Transposed, "must be C-ordered"),
    (OneTokenOnly, r"must be \(tokens of the mark, width\)"),
    (NotANumber, "must be finite"),
    (MixesItsBatch, "same activations in any batch"),
    (DropsARecord, "one record a sequence"),
    (KeepsOneLayer, "exactly the asked-for layers"),
    (InventsMarks, "exactly the asked-for layers|leave out marks"),
    (AnyLayer, "must raise GdeError for layer 2"),
    (SkipsCharacters, "must cover the text"),
    (LosesSpans, "one span a token"),
    (Disordered, "ordered character ranges"),
    (StaysTrained, "other weights than the model"),
    (UntrainedByChance, "function of its seed"),
    (ForgetsItsTokenizer, "the same tokenizer"),
    (UntrainedIsLarger, "the same architecture"),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN_BOXES, ids=[getattr(make, "__name__", "?") for make, _ in BROKEN_BOXES]
)
def test_a_broken_promise_of_a_white_box_is_named(make: Callable[[], PlantedModel], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_white_box(make)
