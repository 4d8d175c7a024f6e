"""A score is one only where the judge says one, whatever else it says."""

import pytest
from judge_answers import Answer, answers

from gde.data.completion import Completion
from gde_plugins.reward_judge.scores import (
    LONGEST_BELIEF,
    NoScore,
    parse_belief,
    parse_score,
)

CORPUS = [*answers()]


def said(answer: Answer) -> Completion:
    return Completion(text=answer.text, reasoning=None, finish=answer.finish)


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len({*CORPUS}) >= 300
    assert sum(each.score is None for each in CORPUS) >= 200


@pytest.mark.parametrize("answer", CORPUS, ids=range(len(CORPUS)))
def test_every_answer_has_the_score_that_it_says_or_none(answer: Answer) -> None:
    if answer.score is None:
        with pytest.raises(NoScore) as refused:
            parse_score(said(answer))
        assert len(str(refused.value)) < 600
    else:
        assert parse_score(said(answer)) == answer.score


@pytest.mark.parametrize(
    ("text", "belief"),
    [
        ("belief: the mug is found\nscore: 0.5", "the mug is found"),
        (
            "Belief: old\nbelief: new\nand more\nscore: 0.1\nscore: 0.2",
            "new\nand more\nscore: 0.1",
        ),
        ("belief: no score follows", "no score follows"),
        ("score: 0.5", ""),
        ("belief: \ud800x", "?x"),
    ],
)
def test_a_belief_stands_before_the_score(text: str, belief: str) -> None:
    assert parse_belief(text) == belief
    assert len(parse_belief("belief: " + "x" * 1_000_000)) == LONGEST_BELIEF
