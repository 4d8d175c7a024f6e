"""Each question of a run stands with its answer, and only where numbers help to it."""

from dataclasses import replace

from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.reporting.forest import forest
from gde.testing.samples import sample_result
from gde_plugins.pages.questions import Section, sections


def asked(*numbers: tuple[Measure, Measurement]) -> list[Section]:
    whole = replace(
        sample_result(),
        measurements=tuple(one for _, one in numbers),
        measures=tuple(measure for measure, _ in numbers),
    )
    return sections(whole, forest(whole))


DID = (
    Measure(
        "success", "Success rate", "share", "more", group="Behaviour", headline=True
    ),
    Measurement(name="success", value=0.5, n=4, unit="share"),
)
WANTS = (
    Measure(
        "meg.verdict",
        "Goal-directed",
        "probability",
        group="Goals",
        headline=True,
        question="wants",
        sentence="Goal-directed: {verdict} (p {}); nothing else",
    ),
    Measurement(
        name="meg.verdict",
        value=0.01,
        n=4,
        unit="probability",
        where={"verdict": "towards"},
    ),
)
JUDGES = (
    Measure("epic", "EPIC distance", "distance", group="Rewards", question="judges"),
    Measurement(name="epic", value=0.25, n=4, unit="distance"),
)


def test_questions_stand_in_their_order_each_with_its_own_numbers() -> None:
    found = asked(JUDGES, WANTS, DID)
    assert [one.title for one in found] == [
        "What did it do?",
        "Is it after the goal?",
        "What do rewards say?",
    ]
    assert [title for one in found for title, _ in one.tables] == [
        "Behaviour",
        "Goals",
        "Rewards",
    ]


def test_the_answer_is_the_verdict_else_the_headlines_else_none() -> None:
    did, wants, judges = asked(DID, WANTS, JUDGES)
    assert did.answer.startswith("Success rate 50")
    assert wants.answer == "Goal-directed: towards (p 0.010)."
    assert judges.answer == ""


def test_a_question_without_numbers_is_not_asked() -> None:
    assert [one.question for one in asked(DID)] == ["did"]
