"""A model that is asked elsewhere answers as it does here, whoever is quicker."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gde.data.completion import ChatRequest, Completion, Message
from gde.errors import GdeError, RunFailed
from gde.parts.language_model import WhiteBox
from gde.stages import asking_elsewhere
from gde.stages.asking_elsewhere import AskedElsewhere, Piece, pieces_of
from gde.testing.parts import PlantedModel, ScriptedModel


def repeat(request: ChatRequest) -> str:
    said = request.messages[-1].content
    if said == "no":
        raise GdeError("refused")
    return said


MODEL = ScriptedModel(repeat)


@dataclass
class Backwards:
    """Does the last piece first, and keeps its workers."""

    workers: int = 2
    kept: list[str] = field(default_factory=list)
    sizes: list[list[int]] = field(default_factory=list)

    def map(self, job: Any, items: Sequence[Any]) -> Iterator[Any]:
        return map(job, reversed(items))

    def check(self, work: object) -> None:
        """Take any work."""

    def stop(self) -> None:
        """Nothing is under way."""

    @contextmanager
    def keeping(self) -> Iterator[None]:
        self.kept.append("begun")
        yield
        self.kept.append("ended")

    def spread(self, pieces: Sequence[Piece]) -> Iterator[Any]:
        self.sizes.append([*map(len, pieces)])
        return self.map(answered, pieces)


def answered(piece: Piece) -> dict[int, Any]:
    return asyncio.run(asking_elsewhere._answered(MODEL, piece))


def asked(content: str) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=content),), seed=0)


def elsewhere(executor: Backwards) -> AskedElsewhere:
    model = PlantedModel(_nothing_here)
    return AskedElsewhere(model, executor, executor.spread)


def _nothing_here(_: ChatRequest) -> str:
    raise AssertionError("asked in this process")


async def all_of(model: AskedElsewhere, contents: Sequence[str]) -> list[Any]:
    asks = [model.complete(asked(content)) for content in contents]
    return await asyncio.gather(*asks, return_exceptions=True)


def test_each_request_gets_its_own_answer() -> None:
    executor = Backwards()
    contents = [str(i) for i in range(7)]
    with closing(elsewhere(executor)) as model:
        found: list[Completion] = asyncio.run(all_of(model, contents))
    assert [each.text for each in found] == contents
    assert executor.sizes == [[4, 3]]


def test_workers_are_kept_from_wave_to_wave_and_end_with_the_model() -> None:
    executor = Backwards()
    with closing(elsewhere(executor)) as model:
        for content in "ab":
            (found,) = asyncio.run(all_of(model, [content]))
            assert found.text == content
        assert executor.kept == ["begun"]
    assert executor.kept == ["begun", "ended"]
    closing_unasked = Backwards()
    elsewhere(closing_unasked).close()
    assert closing_unasked.kept == []


def test_a_refusal_fails_its_own_request_alone() -> None:
    with closing(elsewhere(Backwards())) as model:
        first, _, last = asyncio.run(all_of(model, ["a", "no", "b"]))
        with pytest.raises(GdeError, match="refused"):
            asyncio.run(model.complete(asked("no")))
    assert (first.text, last.text) == ("a", "b")


def test_what_is_asked_meanwhile_is_answered_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking_elsewhere, "REQUESTS", 1)
    executor = Backwards()

    async def twice(model: AskedElsewhere, content: str) -> str:
        first = await model.complete(asked(content))
        return (await model.complete(asked(first.text * 2))).text

    async def work(model: AskedElsewhere) -> list[str]:
        return await asyncio.gather(*(twice(model, content) for content in "abc"))

    with closing(elsewhere(executor)) as model:
        assert asyncio.run(work(model)) == ["aa", "bb", "cc"]
    assert executor.sizes[0] == [1, 1, 1]
    assert sum(map(sum, executor.sizes)) == 6


def test_a_dead_worker_ends_the_wave() -> None:
    executor = Backwards()

    def spread(pieces: Sequence[Piece]) -> Iterator[Any]:
        yield answered(pieces[0])
        raise RunFailed("a worker has died")

    model = AskedElsewhere(PlantedModel(_nothing_here), executor, spread)
    with closing(model):
        first, second = asyncio.run(all_of(model, ["a", "b"]))
    assert first.text == "a"
    assert isinstance(second, RunFailed)


def test_all_else_is_asked_of_the_model_here() -> None:
    with closing(elsewhere(Backwards())) as model:
        assert isinstance(model, WhiteBox)
        assert model.tokenize("ab").ids == PlantedModel().tokenize("ab").ids


def test_pieces_are_equal_shares_of_at_most_so_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asking_elsewhere, "REQUESTS", 4)
    requests = [(i, replace(asked("a"), seed=i)) for i in range(10)]
    assert [len(piece) for piece in pieces_of(requests, 5)] == [2] * 5
    pieces = pieces_of(requests, 2)
    assert [len(piece) for piece in pieces] == [4, 4, 2]
    assert [each for piece in pieces for each in piece] == requests
