"""Answers of a server get tokens once; log-probabilities tell weights from others, and
whatever cannot be replayed has a reason.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from gde import Completion, Decision, EpisodeKey, GdeError, Trajectory
from gde.data.activations import ActivationRecord, CaptureRequest, TokenSequence
from gde.data.completion import Message, ModelInfo
from gde.errors import CannotReplay
from gde.stages import replaying
from gde.stages.replaying import check_weights, identity, problem_of, retokenize
from gde.store.journal import Journal
from gde.store.replays import known, read_replays, unread
from gde.testing.parts import PlantedModel, ScriptedModel
from gde.testing.samples import sample_evidence

SERVED = "openai:somewhere"
REQUEST = CaptureRequest(layers=(0,), positions=("pre",))
MINE = "mine"


@pytest.fixture(autouse=True)
def _every_turn_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replaying, "SCORED", 1)


@dataclass
class Local(PlantedModel):
    """Gives the scores that it is told; refuses the answer `lost`."""

    logprobs: tuple[float, ...] = ()
    deficits: tuple[float, ...] = ()
    tried: int = 0
    passes: int = 0

    def retokenize(self, completion: Completion) -> Completion:
        self.tried += 1
        if completion.text == "lost":
            raise CannotReplay("prompt has 351 tokens there and 347 here")
        return replace(
            completion,
            prompt_tokens=(1, 2),
            tokens=(3,) * len(self.logprobs or self.deficits),
            positions={"pre": (0, 1)},
        )

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        self.passes += len(sequences)
        found = super().capture(sequences, request)
        scores = {"logprobs": self.logprobs, "deficits": self.deficits}
        return [replace(each, **scores) for each in found]  # type: ignore[arg-type]


def said(
    text: str = "UP", logprobs: Sequence[float] = (), **change: object
) -> Completion:
    completion = Completion(
        text=text,
        reasoning=None,
        finish="stop",
        model=SERVED,
        logprobs=tuple(logprobs),
        prompt=(Message(role="user", content="where?"),),
    )
    return replace(completion, **change)  # type: ignore[arg-type]


def episode(*answers: Completion, world: int = 0) -> Trajectory:
    sample = sample_evidence(1).trajectories[0]
    turns = [
        replace(sample.turns[0], index=i, decision=Decision.act("UP", each))
        for i, each in enumerate(answers)
    ]
    return replace(sample, key=EpisodeKey(condition=0, world=world), turns=tuple(turns))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def replayed(
    journal: Journal, answers: Sequence[Completion], model: ScriptedModel
) -> set[int]:
    """The turns that have tokens."""
    captured(journal, answers, model)
    return {*read_replays(journal, MINE, "0/0/0")}


def captured(
    journal: Journal, answers: Sequence[Completion], model: ScriptedModel
) -> dict[int, ActivationRecord]:
    """The turns whose activations were read with their log-probabilities."""
    found = retokenize(
        [episode(*answers)],
        SERVED,
        lambda: model,  # type: ignore[arg-type, return-value]
        MINE,
        REQUEST,
        journal,
    )
    return {turn: record for (_, turn), record in found}


def test_answers_of_the_served_model_alone_get_tokens_and_positions(
    journal: Journal,
) -> None:
    answers = [said(), said(model="another"), said(positions={"pre": (1,)})]
    assert replayed(journal, answers, Local(logprobs=(-1.0,))) == {0}
    (sequence,) = read_replays(journal, MINE, "0/0/0").values()
    assert (sequence.tokens, sequence.positions) == ((1, 2, 3), {"pre": (0, 1)})
    assert read_replays(journal, "others", "0/0/0") == {}
    assert unread(journal, MINE) == ""


def test_an_answer_is_tried_once_and_a_model_made_only_for_a_new_one(
    journal: Journal,
) -> None:
    model = Local()
    replayed(journal, [said(), said("lost")], model)
    replayed(journal, [said(), said("lost"), said()], model)
    assert model.tried == 3
    broken = cast("ScriptedModel", None)
    captured(journal, [said()], broken)


def test_lost_answers_are_counted_with_the_most_frequent_reason(
    journal: Journal,
) -> None:
    @dataclass
    class Fussy(Local):
        def retokenize(self, completion: Completion) -> Completion:
            if completion.text == "odd":
                raise CannotReplay("the answer's tokens give another text here")
            return super().retokenize(completion)

    answers = [said("lost"), said("odd"), said("lost"), said()]
    assert replayed(journal, answers, Fussy()) == {3}
    assert unread(journal, MINE) == (
        "3 of 4 turns: tokens of the server could not be reconstructed:"
        " prompt has 351 tokens there and 347 here (and 1 more)"
    )


UNSURE = (-1.0, -2.0, -0.5, -3.0)


def near(distance: float) -> list[float]:
    return [each - distance for each in UNSURE]


@pytest.mark.parametrize(
    ("there", "turns", "kept"),
    [
        (near(0.049), 30, True),
        (near(0.051), 30, False),
        ([-1.04, -2.04, -9.0, -9.0], 30, True),
        ([-1.04, -9.0, -9.0, -9.0], 30, False),
        # 8 of 15 close tokens are known from other kernels.
        ([*near(0.04)] * 8 + [*near(1.0)] * 12, 6, True),
        # All of 8 differ, which 1 in 256 of the same weights do; of 12, 1 in 4,096.
        (near(1.0), 2, True),
        (near(1.0), 3, False),
    ],
)
def test_uncertain_tokens_must_have_the_servers_log_probabilities(
    journal: Journal, there: list[float], turns: int, kept: bool
) -> None:
    answers = [said(logprobs=there)] * turns
    here = UNSURE * (len(there) // len(UNSURE))
    found = replayed(journal, answers, Local(logprobs=here))
    assert found == (set(range(turns)) if kept else set())
    assert ("weights are not those that were served" in unread(journal, MINE)) != kept


def test_the_same_weights_are_refused_once_in_a_thousand_groups_at_most() -> None:
    rng = np.random.default_rng(0)
    # One group a row; 0 for a close token, 1 for one that is not.
    same = rng.random((20_000, 100)) > 0.5
    other = rng.random((20_000, 100)) > 0.07
    refused = [
        np.mean([bool(replaying._too_different(each)) for each in drawn.astype(float)])
        for drawn in (same, other)
    ]
    assert 0 < refused[0] <= 1.5e-3
    assert refused[1] == 1


def test_one_pass_gives_log_probabilities_and_activations(journal: Journal) -> None:
    """None are kept of weights that are not those of the server."""
    answers = [said(logprobs=UNSURE)] * 50 + [said(logprobs=near(1.0))] * 50 + [said()]
    model = Local(logprobs=UNSURE)
    found = captured(journal, answers, model)
    assert [*found] == [*range(50)]
    assert found[0].values[0, "pre"].shape == (2, model.width)
    assert model.passes == 100


def test_activations_that_wait_too_long_for_a_verdict_are_read_later(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "HELD_BYTES", 1)
    answers = [said(logprobs=UNSURE)] * 30
    assert captured(journal, answers, Local(logprobs=UNSURE)) == {}
    assert len(read_replays(journal, MINE, "0/0/0")) == 30


def test_turns_between_those_that_are_scored_share_their_verdict(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "SCORED", 4)
    many = UNSURE * 25
    answers = [said(logprobs=many)] * 9 + [said(logprobs=near(1.0) * 25)] * 8
    model = Local(logprobs=many)
    found = captured(journal, answers, model)
    assert [*found] == [0, 4, 8]
    assert model.passes == 5
    assert set(read_replays(journal, MINE, "0/0/0")) == set(range(9))


def ask(journal: Journal, *likeliest: bool | None) -> None:
    """Note answers of the served model that were asked for in these ways."""

    async def write() -> None:
        for turn, each in enumerate(likeliest):
            await journal.call("0/0/0", turn, said(request=str(turn), likeliest=each))

    asyncio.run(write())


@pytest.mark.parametrize(
    ("deficits", "asked", "kept"),
    [
        ((0.0,) * 17 + (0.6,) * 3, (True, True), False),
        ((0.0,) * 17 + (0.4,) * 3, (True, True), True),
        ((0.0,) * 18 + (0.6,) * 2, (True, True), True),
        ((0.0,) * 700 + (0.6,) * 3, (True, True), True),
        # Perhaps they are not the likeliest of the server either.
        ((0.0,) * 17 + (0.6,) * 3, (True, False), True),
        ((0.0,) * 17 + (0.6,) * 3, (None,), True),
    ],
)
def test_tokens_at_temperature_0_must_be_almost_the_likeliest(
    journal: Journal,
    deficits: tuple[float, ...],
    asked: tuple[bool | None, ...],
    kept: bool,
) -> None:
    ask(journal, *asked)
    found = replayed(journal, [said()], Local(deficits=deficits))
    assert found == ({0} if kept else set())
    said_of_it = unread(journal, MINE)
    wanted = "of 20 tokens at temperature 0, 3 are not the likeliest here, by 0.6"
    assert (wanted in said_of_it) != kept


def test_where_the_server_gives_log_probabilities_they_alone_tell(
    journal: Journal,
) -> None:
    ask(journal, True)
    model = Local(logprobs=UNSURE * 3, deficits=(9.0,) * 12)
    assert replayed(journal, [said(logprobs=UNSURE * 3)], model) == {0}


def test_long_answers_at_temperature_0_are_judged_apart(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by as many tokens as tell, however many turns these are."""
    monkeypatch.setattr(replaying, "DRAWN", 20)
    ask(journal, True)

    @dataclass
    class Changing(Local):
        def capture(
            self, sequences: Sequence[TokenSequence], request: CaptureRequest
        ) -> list[ActivationRecord]:
            n_far = 3 if self.passes else 0
            self.deficits = (0.0,) * (20 - n_far) + (2.0,) * n_far
            return super().capture(sequences, request)

    model = Changing(deficits=(0.0,) * 20)
    assert replayed(journal, [said()] * 3, model) == {0}


def test_tokens_that_both_are_sure_of_tell_nothing(journal: Journal) -> None:
    answers = [said(logprobs=[-0.1])] * 200
    assert len(replayed(journal, answers, Local(logprobs=(-0.0,)))) == 200


def test_the_numbers_of_other_weights_are_told(journal: Journal) -> None:
    replayed(journal, [said(logprobs=near(1.5))] * 25, Local(logprobs=UNSURE))
    assert unread(journal, MINE) == (
        "25 of 25 turns: weights are not those that were served: of 100 uncertain tokens,"
        " 0% have log-probabilities within 0.05 of the server's; the median difference is 1.5;"
        " set the probe's weights to those that are served"
    )


def test_a_server_that_changes_its_weights_is_found_out_where_it_does(
    journal: Journal,
) -> None:
    """Turns are judged with their neighbours, and the last few with those before."""
    answers = [said(logprobs=UNSURE)] * 50 + [said(logprobs=near(1.0))] * 53
    assert replayed(journal, answers, Local(logprobs=UNSURE)) == set(range(50))


def test_improbable_tokens_are_alike_whatever_number_stands_for_it(
    journal: Journal,
) -> None:
    answers = [said(logprobs=[-9999.0])] * 30
    assert len(replayed(journal, answers, Local(logprobs=(-25.0,)))) == 30


def test_the_log_probability_of_the_last_token_may_be_missing_and_no_other(
    journal: Journal,
) -> None:
    answers = [said(logprobs=UNSURE[:3]), said(logprobs=UNSURE[:2])]
    assert replayed(journal, answers, Local(logprobs=UNSURE)) == {0}
    assert "completion has 2 log-probabilities there and 4 here" in unread(
        journal, MINE
    )


def test_one_answer_tells_of_other_weights_where_it_is_long_enough() -> None:
    model = Local(logprobs=UNSURE * 3)
    assert problem_of(model, said(logprobs=UNSURE * 3)) == ""
    other = problem_of(model, said(logprobs=near(1.0) * 3))
    assert other.startswith("weights are not those that were served: of 12 uncertain")
    assert problem_of(Local(logprobs=UNSURE), said(logprobs=near(1.0))) == ""
    assert "351 tokens there and 347 here" in problem_of(model, said("lost"))
    unlikely = Local(deficits=(2.0,) * 12)
    assert "12 are not the likeliest" in problem_of(unlikely, said(likeliest=True))
    assert problem_of(unlikely, said(likeliest=False)) == ""


def test_a_model_that_cannot_retokenize_is_named(journal: Journal) -> None:
    with pytest.raises(GdeError, match="'scripted' cannot replay the answers of a ser"):
        replayed(journal, [said()], ScriptedModel())
    assert known(journal, MINE) == set()


def test_weights_are_told_apart_by_content_and_settings() -> None:
    info = ModelInfo(name="hf:x", versions={"weights": "abc", "torch": "2"})
    newer = replace(info, versions={"weights": "abc", "torch": "3"})
    other = replace(info, versions={"weights": "abd"})
    first = identity(info, {"date": "2026-01-01"})
    assert identity(newer, {"date": "2026-01-01"}) == first
    assert identity(other, {"date": "2026-01-01"}) != first
    assert identity(info, {"date": "2026-01-02"}) != first


def test_weights_that_are_known_to_be_others_are_refused() -> None:
    nano = ModelInfo(name="nano", versions={"weights": "a"})
    plain = ModelInfo(name="nano:plain", versions={"weights": "b"})
    with pytest.raises(GdeError, match=r"cells\.weights: the weights of 'nano:plain'"):
        check_weights("cells.weights", plain, nano)
    check_weights("cells.weights", nano, nano)
    check_weights("cells.weights", plain, ModelInfo(name="openai:x"))
