"""A capture in parts: turns that one model replays, here or wherever an executor works."""

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.parts.language_model import WhiteBox
from gde.request.ready import Ready
from gde.request.versions import Versions, check_worker, versions
from gde.stages.context import Resources
from gde.stages.failing import pass_on, reason_of
from gde.stages.models import Models, check_identity
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
    """Replays parts in a process that has nothing of the run. It can be pickled."""

    ready: Ready
    name: str
    """Of the model."""
    request: CaptureRequest
    identity: Mapping[str, str]
    """The versions of the model that answered."""
    versions: Versions
    """What the run has, of that which makes activations."""
    token: str
    """Tells one capture from any other."""

    def __call__(self, part: Part) -> Captured:
        """Capture the activations of a part; the models stay for the next one.

        Raises:
            GdeError: the model or its software is another one here.
        """
        if self.token not in _here:
            for another in [*_here]:
                resources, capture = _here.pop(another)
                capture.close()
                resources.close()
            check_worker(self.versions, versions((self.ready.models[self.name],)))
            resources = Resources(self.ready)
            info = resources.models.get(self.name).info
            check_identity(self.name, self.identity, info)
            capture = Capture(resources.models, self.name, self.request)
            _here[self.token] = resources, capture
        _, capture = _here[self.token]
        return capture(part)


_here: dict[str, tuple[Resources, Capture]] = {}
"""The capture of this worker process, which does one at a time."""


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
