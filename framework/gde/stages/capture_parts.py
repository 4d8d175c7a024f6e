"""A capture in parts: turns that one model replays, here or wherever an executor works."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.parts.language_model import WhiteBox
from gde.stages.elsewhere import Elsewhere
from gde.stages.failing import pass_on, reason_of
from gde.stages.models import Models
from gde.store.activations import Row

Turns = Sequence[tuple[Row, TokenSequence]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some turns, and the model whose activations are wanted. It can be pickled."""

    number: int
    """Its place among all parts."""
    source: str
    """Under which the activations are stored."""
    seed: int | None
    """Draws random weights; None for the trained ones."""
    packed: bytes
    """The pickled turns: as integers of Python, tokens take twelve times the room."""

    @classmethod
    def of(cls, number: int, source: str, seed: int | None, turns: Turns) -> "Part":
        """Pack the turns."""
        packed = pickle.dumps(tuple(turns))
        return cls(number=number, source=source, seed=seed, packed=packed)


@dataclass(frozen=True, kw_only=True)
class Captured:
    """What was made of a part."""

    number: int
    source: str
    records: Sequence[tuple[Row, ActivationRecord]] = ()
    reason: str = ""
    """Why there is no model with random weights: it is a control, whose failure must not
    cost the run.
    """


class Capture:
    """Replays parts in this process. One model with random weights is there at a time."""

    def __init__(self, models: Models, name: str, request: CaptureRequest) -> None:
        self._models = models
        self._name = name
        self._request = request
        self._drawn: tuple[int, WhiteBox] | None = None

    def __call__(self, part: Part) -> Captured:
        """Capture the activations of a part."""
        trained = self._models.white_box(self._name)
        try:
            model = (
                trained if part.seed is None else self._untrained(part.seed, trained)
            )
        except Exception as error:
            pass_on(error)
            reason = f"no model with random weights: {reason_of(error)}"
            return Captured(number=part.number, source=part.source, reason=reason)
        turns: Turns = pickle.loads(part.packed)
        records = model.capture([sequence for _, sequence in turns], self._request)
        rows = [row for row, _ in turns]
        return Captured(
            number=part.number,
            source=part.source,
            records=tuple(zip(rows, records, strict=True)),
        )

    def close(self) -> None:
        """Release the model with random weights."""
        if self._drawn is not None:
            _, model = self._drawn
            self._drawn = None
            model.close()

    def _untrained(self, seed: int, trained: WhiteBox) -> WhiteBox:
        if self._drawn is None or self._drawn[0] != seed:
            self.close()
            self._drawn = seed, trained.untrained(seed)
        return self._drawn[1]


@dataclass(frozen=True, kw_only=True)
class CaptureElsewhere:
    """Replays parts in a worker process. It can be pickled."""

    where: Elsewhere
    request: CaptureRequest

    def __call__(self, part: Part) -> Captured:
        """Capture the activations of a part; the models stay for the next one.

        Raises:
            GdeError: the model or its software is another one here.
        """
        return self.where.work(self._begin)(part)

    def _begin(self, models: Models) -> Capture:
        return Capture(models, self.where.name, self.request)


def in_order(done: Iterable[Captured]) -> Iterator[Captured]:
    """Give what workers make in the order of the parts, so that the same is written
    whoever is quicker.
    """
    waiting: dict[int, Captured] = {}
    number = 0
    for captured in done:
        waiting[captured.number] = captured
        while number in waiting:
            yield waiting.pop(number)
            number += 1
