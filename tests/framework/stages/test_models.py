"""Language models are asked once for everything, on behalf of whoever asked, and what
they answered is kept.
"""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gde import ChatRequest, Completion, GdeError, Message, RunFailed
from gde.data.completion import ModelInfo
from gde.parts.language_model import WhiteBox
from gde.stages.asking import check_known
from gde.stages.models import NOTED, Models
from gde.store.journal import Journal
from gde.testing.parts import PlantedModel, ScriptedModel


def request(text: str = "?", seed: int = 0) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), seed=seed)


@dataclass
class Drifting(ScriptedModel):
    """Never gives the same answer twice, as a server may; fails as often as it is told
    to.
    """

    failures: int = 0
    asked: list[ChatRequest] = field(default_factory=list)
    closed: int = 0

    async def complete(self, request: ChatRequest) -> Completion:
        self.asked.append(request)
        await asyncio.sleep(0.001)
        if len(self.asked) <= self.failures:
            raise GdeError("the server is gone")
        return replace(
            await super().complete(request), text=f"answer {len(self.asked)}"
        )

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def test_the_same_request_is_asked_once_in_a_scope(journal: Journal) -> None:
    model = Drifting()
    asking = Models(lambda _: model, journal).scope("0/0/0").model("m")
    first, second = (asyncio.run(asking.complete(request())) for _ in range(2))
    assert first == second
    assert len(model.asked) == 1
    asyncio.run(asking.complete(request(seed=1)))
    assert len(model.asked) == 2


def test_also_when_it_is_asked_at_once(journal: Journal) -> None:
    model = Drifting()
    asking = Models(lambda _: model, journal).scope("0/0/0").model("m")

    async def at_once() -> list[Completion]:
        return await asyncio.gather(*(asking.complete(request()) for _ in range(5)))

    assert {each.text for each in asyncio.run(at_once())} == {"answer 1"}
    assert len(model.asked) == 1


@pytest.mark.parametrize("kept", [True, False], ids=["journal", "no journal"])
def test_a_failure_is_the_asker_s_and_the_next_one_asks_again(
    kept: bool, journal: Journal
) -> None:
    model = Drifting(failures=1)
    asking = (
        Models(lambda _: model, journal if kept else None).scope("0/0/0").model("m")
    )

    async def at_once() -> list[Completion | BaseException]:
        return await asyncio.gather(
            *(asking.complete(request()) for _ in range(3)), return_exceptions=True
        )

    first, *others = asyncio.run(at_once())
    assert isinstance(first, GdeError)
    assert {each.text for each in others if isinstance(each, Completion)} == {
        "answer 2"
    }
    assert len(model.asked) == 2


def test_what_was_answered_is_not_asked_by_a_later_process(journal: Journal) -> None:
    model = Drifting()
    first = asyncio.run(
        Models(lambda _: model, journal)
        .scope("reward judge")
        .model("m")
        .complete(request())
    )
    again = asyncio.run(
        Models(lambda _: model, journal)
        .scope("reward judge")
        .model("m")
        .complete(request())
    )
    assert again == first
    assert len(model.asked) == 1


def test_models_of_two_names_and_two_scopes_share_no_answers(journal: Journal) -> None:
    model = Drifting()
    models = Models(lambda _: model, journal)
    here, there = models.scope("0/0/0"), models.scope("0/1/0")
    askings = here.model("a"), here.model("b"), there.model("a")
    answers = [asyncio.run(asking.complete(request())) for asking in askings]
    assert len({each.text for each in answers}) == len(model.asked) == 3
    assert [each.model for each in answers] == ["a", "b", "a"]
    assert answers[0].request != answers[1].request
    assert answers[0].request == answers[2].request


def test_a_completion_keeps_its_identity_when_it_is_changed(journal: Journal) -> None:
    models = Models(lambda _: ScriptedModel(), journal)
    scope = models.scope("0/0/0")
    completion = asyncio.run(scope.model("m").complete(request()))
    check_known(scope, replace(completion, text="trimmed", tokens=()))
    check_known(scope, None)
    assert completion.request in scope.answers
    assert completion.request not in models.scope("0/1/0").answers


@pytest.mark.parametrize("identity", ["", "0" * 64])
def test_a_completion_from_nowhere_is_refused(identity: str, journal: Journal) -> None:
    scope = Models(lambda _: ScriptedModel(), journal).scope("0/0/0")
    forged = Completion(text="RIGHT", reasoning=None, finish="stop", request=identity)
    with pytest.raises(
        GdeError, match=r"in no journal: .RIGHT.*context\.model.* keeps `request`"
    ):
        check_known(scope, forged)


def test_a_record_that_cannot_be_kept_is_told_whatever_the_asker_makes_of_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise RunFailed("cannot write the journal: full")

    monkeypatch.setattr(journal, "call", full)
    scope = Models(lambda _: ScriptedModel(), journal).scope("0/0/0")
    with pytest.raises(RunFailed):
        asyncio.run(scope.model("m").complete(request()))
    with pytest.raises(RunFailed, match="full"):
        check_known(scope, None)


def test_the_turn_is_in_the_record(journal: Journal) -> None:
    scope = Models(lambda _: ScriptedModel(), journal).scope("0/0/0")
    for scope.turn in (None, 3):
        asyncio.run(scope.model("m").complete(request(seed=scope.turn or 0)))
    rows = journal.query("SELECT scope, turn, model FROM calls ORDER BY turn")
    assert [tuple(row) for row in rows] == [("0/0/0", None, "m"), ("0/0/0", 3, "m")]


def test_what_was_sent_and_how_long_it_took_is_in_the_record(journal: Journal) -> None:
    scope = Models(lambda _: ScriptedModel(), journal).scope("0/0/0")
    answer = asyncio.run(scope.model("m").complete(request()))
    assert answer.prompt == request().messages and (answer.seconds or -1) >= 0
    (kept,) = journal.calls("0/0/0").values()
    assert (kept, kept.seconds) == (answer, answer.seconds)
    assert kept == replace(answer, seconds=1e9), "a second time takes another time"


def test_a_name_is_one_model_that_is_noted_and_closed_once(journal: Journal) -> None:
    made: list[Drifting] = []

    def make(_: str) -> Drifting:
        made.append(Drifting())
        return made[-1]

    models = Models(make, journal)
    first, second = models.scope("0/0/0").model("a"), models.scope("0/1/0").model("a")
    models.scope("0/0/0").model("b")
    first.close()
    second.close()
    assert [each.closed for each in made] == [0, 0]
    models.close()
    assert [each.closed for each in made] == [1, 1]
    assert {name: info["name"] for name, info in journal.noted(NOTED).items()} == {
        "a": "scripted",
        "b": "scripted",
    }


def test_what_a_model_can_do_beyond_completing_it_still_can(journal: Journal) -> None:
    models = Models(
        lambda name: PlantedModel() if name == "white" else ScriptedModel(), journal
    )
    white, black = (models.scope("0/0/0").model(name) for name in ("white", "black"))
    assert isinstance(white, WhiteBox)
    assert not isinstance(black, WhiteBox)
    assert white.info.name == "planted"
    with pytest.raises(AttributeError):
        black.capture  # noqa: B018


@pytest.mark.parametrize("identity", ["weights", "config", "tokenizer", "revision"])
def test_a_model_that_is_another_by_now_is_refused(
    journal: Journal, identity: str
) -> None:
    def made(versions: dict[str, str]) -> Models:
        return Models(lambda _: Versioned(versions), journal)

    made({identity: "one", "torch": "1"}).get("m")
    assert made({identity: "one", "torch": "2"}).get("m").info.versions["torch"] == "2"
    with pytest.raises(
        GdeError,
        match=rf"'m' has changed .* {identity} one, now other; restore it",
    ):
        made({identity: "other"}).get("m")
    with pytest.raises(GdeError, match="now unknown"):
        made({}).get("m")


def test_what_was_noted_of_a_model_is_known_without_making_it(journal: Journal) -> None:
    made = []

    def make(name: str) -> PlantedModel:
        made.append(name)
        return PlantedModel()

    known = Models(make, journal).info("m")
    assert Models(make, journal).info("m") == known == PlantedModel().info
    assert made == ["m"]


def test_a_model_without_activations_is_no_white_box(journal: Journal) -> None:
    with pytest.raises(GdeError, match="language model 'm' gives no activations"):
        Models(lambda _: ScriptedModel(), journal).white_box("m")


class Versioned(ScriptedModel):
    """A model of certain versions."""

    def __init__(self, versions: dict[str, str]) -> None:
        super().__init__()
        self.versions = versions

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name="versioned", versions=self.versions)
