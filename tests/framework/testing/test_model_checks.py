"""`check_language_model` and `check_white_box` pass the kit's models and name what each
broken counterfactual breaks.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pytest
from promised import caught

from gde.data.activations import (
    ActivationRecord,
    CaptureRequest,
    Intervention,
    TokenSequence,
)
from gde.data.completion import (
    ChatRequest,
    Completion,
    FirstAnswer,
    ModelInfo,
    Tokenization,
)
from gde.errors import GdeError
from gde.testing import check_language_model, check_served, check_white_box
from gde.testing.parts import PlantedModel, ScriptedModel


def named(make: Callable[[], ScriptedModel]) -> str:
    return "no-layers" if make.__name__ == "<lambda>" else make.__name__


def test_the_kit_models_keep_every_promise() -> None:
    check_language_model(ScriptedModel)
    check_language_model(
        lambda: ScriptedModel(lambda request: f"seed {request.seed % 1}")
    )
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


class PositionsBeyondTheEnd(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), positions={"pre": (10_000,)})


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


class Unmoved(ScriptedModel):
    """Answers as if no intervention had been asked for."""

    async def complete(self, request: ChatRequest) -> Completion:
        return await super().complete(replace(request, interventions=()))


class UnmovedThoughItIsDeep(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return await super().complete(replace(request, interventions=()))


class StumblesOverInterventions(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        if request.interventions:
            raise TypeError("unhashable")
        return await super().complete(request)


@dataclass
class ReadsEqualPromptsOnce(PlantedModel):
    """Merges requests that differ in their interventions alone."""

    waiting: dict[str, list[ChatRequest]] = field(default_factory=dict)

    async def complete(self, request: ChatRequest) -> Completion:
        prompt = replace(request, interventions=()).identity
        alike = self.waiting.setdefault(prompt, [])
        alike.append(request)
        await asyncio.sleep(0)
        merged = alike[0]
        await asyncio.sleep(0)
        self.waiting.pop(prompt, None)
        return await super().complete(merged)


class Lenient(PlantedModel):
    """Leaves out interventions that do not fit."""

    def fits(self, each: Intervention) -> bool:
        return (
            each.layer < self.n_layers
            and each.position == "pre"
            and each.vector.shape[-1] == self.width
        )

    async def complete(self, request: ChatRequest) -> Completion:
        fitting = tuple(each for each in request.interventions if self.fits(each))
        return await super().complete(replace(request, interventions=fitting))


class AnyDepth(Lenient):
    def fits(self, each: Intervention) -> bool:
        return each.layer < self.n_layers


class AnyPosition(Lenient):
    def fits(self, each: Intervention) -> bool:
        return each.position == "pre"


class AnyWidth(Lenient):
    def fits(self, each: Intervention) -> bool:
        return each.vector.shape[-1] == self.width


class AnyPlace(Lenient):
    def fits(self, each: Intervention) -> bool:
        return each.place == "residual"


class HasNoHeads(PlantedModel):
    """Gives its residual stream for everything."""

    @property
    def info(self) -> ModelInfo:
        return replace(super().info, n_heads=1, head_width=self.width)


class IgnoresPrefills(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return await super().complete(replace(request, prefill=()))


class GoesOnOtherwise(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        answer = await super().complete(request)
        return replace(answer, text=f"{answer.text}!") if request.prefill else answer


class SaysText(ScriptedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return "RIGHT"  # type: ignore[return-value]


BROKEN_MODELS = [
    (Lacking, "must have close, complete to be a LanguageModel"),
    (Nameless, "must name the model"),
    (SeesItsBatch, "in any batch and order"),
    (CountsItsObjects, "in another object"),
    (NamesItsObjects, "info must be the same"),
    (SaysText, "must return a Completion"),
    (Talks, "at most max_tokens"),
    (PositionsBeyondTheEnd, "position 'pre' must hold indices"),
    (AlwaysSamples, "at temperature 0"),
    (Unmoved, "must refuse interventions, or its info tell n_layers"),
    (UnmovedThoughItIsDeep, "must change the answer"),
    (
        StumblesOverInterventions,
        "must refuse interventions with a GdeError; got TypeError",
    ),
    (ReadsEqualPromptsOnce, "beside equal prompts without them"),
    (IgnoresPrefills, "must refuse a prefill, or begin its completion with it"),
    (GoesOnOtherwise, "given its own first tokens must be the same"),
    (AnyDepth, "must raise GdeError for an intervention at layer 2"),
    (AnyPosition, "must raise GdeError for an intervention at a position"),
    (AnyPlace, "must raise GdeError for an intervention at a place that is not there"),
    (AnyWidth, "must raise GdeError for an intervention at a vector that is too wide"),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN_MODELS, ids=[make.__name__ for make, _ in BROKEN_MODELS]
)
def test_a_broken_promise_of_a_language_model_is_named(
    make: Callable[[], ScriptedModel], promise: str
) -> None:
    with caught(named(make), promise):
        check_language_model(make)


class Unmarked(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(await super().complete(request), positions={})


class WithoutTokens(PlantedModel):
    async def complete(self, request: ChatRequest) -> Completion:
        return replace(
            await super().complete(request), prompt_tokens=(), tokens=(), positions={}
        )


class Changed(PlantedModel):
    """Captures what a function makes of each array."""

    def change(self, values: Any) -> Any:
        return values

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return [
            self._changed(record.values)
            for record in super().capture(sequences, request)
        ]

    def _changed(self, values: Mapping[tuple[int, str], Any]) -> ActivationRecord:
        return ActivationRecord(
            values={place: self.change(array) for place, array in values.items()}
        )


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
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        records = super().capture(sequences, request)
        return (
            records
            if len(records) == 1
            else [self._louder(record) for record in records]
        )

    def _louder(self, record: ActivationRecord) -> ActivationRecord:
        values = {
            place: array * np.float32(1.5) for place, array in record.values.items()
        }
        for array in values.values():
            array.flags.writeable = False
        return ActivationRecord(values=values)


class DropsARecord(PlantedModel):
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return super().capture(sequences[:1], request)


class KeepsOneLayer(PlantedModel):
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return super().capture(sequences, replace(request, layers=request.layers[:1]))


class InventsPositions(PlantedModel):
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        marked = [
            replace(each, positions={"post": (0, 1, 2), **each.positions})
            for each in sequences
        ]
        return super().capture(marked, request)


class AnyLayer(PlantedModel):
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
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
        return super().tokenize(
            text if self.untrained_seed is None else text.upper().replace("A", "B")
        )


class Replays(PlantedModel):
    """Replays other interventions than it was asked for."""

    def other(
        self, interventions: tuple[Intervention, ...]
    ) -> tuple[Intervention, ...]:
        return interventions

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        asked = [
            replace(each, interventions=self.other(each.interventions))
            for each in sequences
        ]
        return super().capture(asked, request)


class ReplaysNone(Replays):
    def other(
        self, interventions: tuple[Intervention, ...]
    ) -> tuple[Intervention, ...]:
        return ()


class AddsTwice(Replays):
    def other(
        self, interventions: tuple[Intervention, ...]
    ) -> tuple[Intervention, ...]:
        return (*interventions, *(each for each in interventions if each.kind == "add"))


class NeverProjects(Replays):
    def other(
        self, interventions: tuple[Intervention, ...]
    ) -> tuple[Intervention, ...]:
        return tuple(each for each in interventions if each.kind != "project_out")


class ChangesWhatComesBefore(PlantedModel):
    """Changes the token before the position as well."""

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return super().capture([self._spilt(each) for each in sequences], request)

    def _spilt(self, sequence: TokenSequence) -> TokenSequence:
        if "before" not in sequence.positions:
            return sequence
        spilt = tuple(
            replace(each, position="before")
            for each in sequence.interventions
            if each.vector.ndim == 1
        )
        return replace(sequence, interventions=(*sequence.interventions, *spilt))


class ChangesItsLayerAlone(PlantedModel):
    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        records = [
            super(ChangesItsLayerAlone, self).capture([each], request)[0]
            for each in sequences
        ]
        clean = super().capture(
            [replace(each, interventions=()) for each in sequences], request
        )
        return [
            self._mixed(*each) for each in zip(sequences, records, clean, strict=True)
        ]

    def _mixed(
        self,
        sequence: TokenSequence,
        changed: ActivationRecord,
        clean: ActivationRecord,
    ) -> ActivationRecord:
        at = {each.layer for each in sequence.interventions}
        values = {
            place: (changed if place[0] in at else clean).values[place]
            for place in clean.values
        }
        return replace(clean, values=values)


class ChangesBelow(PlantedModel):
    """Makes every change in the embeddings already."""

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return super().capture(
            [replace(each, interventions=self._lower(each)) for each in sequences],
            request,
        )

    def _lower(self, sequence: TokenSequence) -> tuple[Intervention, ...]:
        added = [
            each
            for each in sequence.interventions
            if each.kind == "add" and 0 <= each.layer < self.n_layers
        ]
        low = (replace(each, layer=-1) for each in added)
        return (*(each for each in sequence.interventions if each not in added), *low)


class MixesInterventions(PlantedModel):
    """Changes every sequence of a batch as it changes the last."""

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        if len(sequences) > 1:
            changes = sequences[-1].interventions
            sequences = [replace(each, interventions=changes) for each in sequences]
        return super().capture(sequences, request)


class RefusesToAnswerAlone(PlantedModel):
    """Takes no interventions when asked, and passes over them when it replays."""

    async def complete(self, request: ChatRequest) -> Completion:
        if request.interventions:
            raise GdeError("takes none")
        return await super().complete(request)

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        return super().capture(
            [replace(each, interventions=()) for each in sequences], request
        )


class ReplaysAtAnyPosition(Replays):
    def other(
        self, interventions: tuple[Intervention, ...]
    ) -> tuple[Intervention, ...]:
        return tuple(each for each in interventions if each.position == "pre")


class RendersAgain(PlantedModel):
    """Puts tokens of its own in the place of a server's."""

    def retokenize(self, completion: Completion) -> Completion:
        found = super().retokenize(completion)
        return replace(found, tokens=found.tokens[:-1])


class FindsNoReasoning(PlantedModel):
    def retokenize(self, completion: Completion) -> Completion:
        found = super().retokenize(completion)
        return replace(found, positions={"pre": found.positions["pre"]})


class ScoresNothing(PlantedModel):
    def scores(self, n: int) -> tuple[float, ...]:
        return ()


class IsTooSure(PlantedModel):
    def scores(self, n: int) -> tuple[float, ...]:
        return (0.1,) * n


class ScoresElsewhere(PlantedModel):
    """Reads another pass where it scores."""

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        found = super().capture(sequences, request)
        if sequences[0].scored:
            values = {place: each + 1 for place, each in found[0].values.items()}
            return [replace(found[0], values=values)]
        return found


class CountsNothing(PlantedModel):
    def retokenize(self, completion: Completion) -> Completion:
        n_prompt = sum(len(f"{e.role}: {e.content}\n") for e in completion.prompt)
        return super().retokenize(replace(completion, n_prompt=n_prompt + 10))


class RendersNothing(PlantedModel):
    def retokenize(self, completion: Completion) -> Completion:
        found = super().retokenize(completion)
        return replace(found, prompt_tokens=completion.prompt_tokens)


BROKEN_BOXES = [
    (ScriptedModel, "must have .*capture.* to be a WhiteBox"),
    (lambda: PlantedModel(n_layers=0), "must tell n_layers and width"),
    (Unmarked, "must name the position `pre`"),
    (WithoutTokens, "must hold the prompt's token ids"),
    (Doubles, "must be C-ordered float32"),
    (Writable, "must be read-only"),
    (Transposed, "must be C-ordered float32"),
    (OneTokenOnly, r"must be \(tokens of the position, width\)"),
    (NotANumber, "must be finite"),
    (MixesItsBatch, "same activations in any batch"),
    (DropsARecord, "one record for each sequence"),
    (KeepsOneLayer, "the requested layers at those positions"),
    (InventsPositions, "the requested layers at those positions"),
    (AnyLayer, "must raise GdeError for a missing layer such as 2"),
    (SkipsCharacters, "must cover the text"),
    (LosesSpans, "one span for each token"),
    (Disordered, "ordered character ranges"),
    (StaysTrained, "other weights than the model"),
    (UntrainedByChance, "function of its seed"),
    (ForgetsItsTokenizer, "the same tokenizer"),
    (UntrainedIsLarger, "the same architecture"),
    (RendersAgain, "must keep the tokens that a server gave"),
    (FindsNoReasoning, "the positions that it has here"),
    (ScoresNothing, "one log-probability for each scored token"),
    (IsTooSure, "log-probabilities must be finite and at most 0"),
    (ScoresElsewhere, "whether its tokens are scored or not"),
    (CountsNothing, "must refuse a prompt of which a server counted others"),
    (RendersNothing, "must render a prompt as it is asked here"),
    (ReplaysNone, "'add' at layer .*must be changed as Intervention.applied does"),
    (AddsTwice, "'add' at layer .*must be changed as Intervention.applied does"),
    (
        NeverProjects,
        "'project_out' at layer .*must be changed as Intervention.applied does",
    ),
    (ChangesWhatComesBefore, "must not change tokens before the position"),
    (ChangesItsLayerAlone, "must change the layers above"),
    (ChangesBelow, "must not change layers below"),
    (MixesInterventions, "same activations in any batch"),
    (RefusesToAnswerAlone, "must refuse them in a replay"),
    (HasNoHeads, "read at attention must not be the residual stream"),
    (
        ReplaysAtAnyPosition,
        "capture must raise GdeError for an intervention at a position",
    ),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN_BOXES, ids=[named(make) for make, _ in BROKEN_BOXES]
)
def test_a_broken_promise_of_a_white_box_is_named(
    make: Callable[[], PlantedModel], promise: str
) -> None:
    with caught(named(make), promise):
        check_white_box(make)


class Elsewhere(ScriptedModel):
    """Has the method of a served model."""

    async def first(self, request: ChatRequest) -> FirstAnswer:
        completion = await self.complete(request)
        return FirstAnswer(completion=completion, settings={}, seconds=0.0)


class AnswersElse(Elsewhere):
    async def first(self, request: ChatRequest) -> FirstAnswer:
        first = await super().first(request)
        return replace(first, completion=replace(first.completion, text="yes"))


def test_a_served_model_answers_first_as_later() -> None:
    check_served(Elsewhere)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (ScriptedModel, "must have first to be a Served"),
        (AnswersElse, "first must answer a greedy request as complete does"),
    ],
)
def test_a_served_model_without_a_true_first_answer_is_caught(
    make: Callable[[], ScriptedModel], message: str
) -> None:
    with caught(make.__name__, message):
        check_served(make)
