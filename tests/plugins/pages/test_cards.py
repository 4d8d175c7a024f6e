"""The three answers: each number where its part says that it belongs, beside what it is
to be compared with.
"""

from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Outcome
from gde_plugins.pages.cards import Card, cards
from gde_plugins.pages.figures.scales import Mark, Scale

UNHEARD = (
    Measure(
        name="sway",
        title="Sway towards {thing}",
        unit="nats",
        better="more",
        headline=True,
        question="wants",
    ),
    Measure(
        name="sway.odds", title="Odds of {thing}", unit="probability", question="wants"
    ),
    Measure(name="luck", title="guessing", unit="share", beside="success"),
)


def by_question(result: Result) -> dict[str, Card]:
    return {card.question: card for card in cards(result)}


def sway(name: str, thing: str, value: float, unit: str = "nats") -> Measurement:
    return Measurement(name=name, value=value, unit=unit, n=9, where={"thing": thing})


def unheard(result: Result, *found: Measurement) -> Result:
    """With numbers of a plugin that nobody has heard of."""
    return replace(
        result,
        measurements=(*result.measurements, *found),
        measures=(*result.measures, *UNHEARD),
    )


def test_a_run_without_probes_and_goals_has_one_card(result: Result) -> None:
    plain = replace(
        result, measurements=tuple(one for one in result.measurements if not one.where)
    )
    (card,) = cards(plain)
    assert card.question == "did"
    assert card.lines[0].title == "Success rate"
    assert all(line.value and line.picture for line in card.lines)


def test_a_declared_mark_stands_beside_its_number_and_nowhere_else(
    result: Result,
) -> None:
    luck = Measurement(name="luck", value=0.25, unit="share", n=9)
    success, *others = by_question(unheard(result, luck))["did"].lines
    assert success.note.endswith("guessing 25\u00a0%")
    assert "<title>guessing</title>" in success.picture
    assert not any("guessing" in f"{line.title}{line.note}" for line in others)


def test_each_number_of_a_probe_stands_over_its_strongest_control(
    result: Result,
) -> None:
    card = by_question(result)["believes"]
    first, *others = card.lines
    assert [line.title for line in card.lines] == [
        "Agent found",
        "Goal found",
        "Agent found early",
        "Goal found early",
        "Wall code length",
    ]
    assert first.head == (
        "cogmap (places, layer 3, before reasoning): better than its best control in "
        "all 5 numbers (paired tests over worlds)."
    )
    assert not any(line.head for line in others)
    for line in card.lines:
        (control,) = line.beneath
        assert control.title == "strongest control: random weights"
        assert control.note.endswith(", outside all 19 random initialisations")
        assert "p\u00a0" not in control.note


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        (["worse"], "better than its best control in 4 of 5 numbers, worse in 1"),
        (
            ["worse", "none"],
            "better than its best control in 3 of 5 numbers, worse in 1",
        ),
        (["none"] * 5, "better than its best control in none of 5 numbers"),
    ],
)
def test_the_head_counts_the_outcomes(
    result: Result, outcomes: list[Outcome], told: str
) -> None:
    """Those of all but the first numbers are better."""
    names = [
        "code.wall",
        "top1.agent",
        "top1.goal",
        "early.top1.agent",
        "early.top1.goal",
    ]
    chosen = {f"cogmap.{name}": one for name, one in zip(names, outcomes, strict=False)}
    changed = []
    for one in result.measurements:
        if one.verdict is not None and one.name in chosen:
            verdict = replace(one.verdict, outcome=chosen[one.name])
            one = replace(one, verdict=verdict)
        changed.append(one)
    card = by_question(replace(result, measurements=tuple(changed)))["believes"]
    _, _, head = card.lines[0].head.partition(": ")
    assert head == f"{told} (paired tests over worlds)."


def test_every_probe_has_a_head_and_a_baseline_no_control(result: Result) -> None:
    guess = Measure(
        name="other.guess", title="Guess", unit="share", headline=True, question="wants"
    )
    of_fits = [
        Measurement(
            name=guess.name,
            value=0.5,
            unit="share",
            n=9,
            where=Fit(
                probe="other", variant="v", layer=1, position="pre", control=control
            ).where,
            source="other",
        )
        for control in ("none", "shuffled", "untrained")
    ]
    found = replace(
        result,
        measurements=(*result.measurements, *of_fits),
        measures=(*result.measures, guess),
    )
    *_, baseline = by_question(found)["believes"].lines
    assert baseline.title == "Guess"
    assert baseline.head == "other (v, layer 1, before reasoning)"
    assert baseline.beneath == ()


def test_a_probe_that_was_not_tested_is_not_said_to_fail(result: Result) -> None:
    untested = [
        replace(one, verdict=replace(one.verdict, p=None, reason="1 world"))
        if one.verdict
        else one
        for one in result.measurements
    ]
    card = by_question(replace(result, measurements=tuple(untested)))["believes"]
    assert card.lines[0].head.endswith(": not tested against its controls")


def test_layers_make_a_curve_with_the_best_control_of_each(result: Result) -> None:
    assert by_question(result)["believes"].figures == ()
    deeper = [
        replace(one, where={**one.where, "layer": 5})
        for one in result.measurements
        if "layer" in one.where
    ]
    (figure,) = by_question(
        replace(result, measurements=(*result.measurements, *deeper))
    )["believes"].figures
    points = [(row["layer"], row["of"]) for row in figure.spec["data"]["values"]]  # type: ignore[index,call-overload]
    assert points == [
        (3, "decoded"),
        (3, "best control"),
        (5, "decoded"),
        (5, "best control"),
    ]


def test_rivals_are_ranked_on_one_scale(result: Result) -> None:
    found = [sway("sway", "lamp", -0.001), sway("sway", "door", 2.0)]
    lines = by_question(unheard(result, *found))["wants"].lines
    assert [(line.title, line.value) for line in lines] == [
        ("Sway towards door", "2.00\u00a0nats"),
        ("Sway towards lamp", "0.00\u00a0nats"),
    ]
    assert 'cx="100.0"' in lines[0].picture and 'cx="0.0"' in lines[1].picture


def test_a_title_names_its_object() -> None:
    measure = UNHEARD[0]
    assert measure.titled({"thing": "door", "size": 7}) == (
        "Sway towards door",
        {"size": 7},
    )
    assert measure.titled({}) == ("Sway towards it", {})


def test_numbers_share_a_line_that_has_room_for_all_of_them() -> None:
    low, high = sway("sway", "lamp", -1.0), sway("sway", "door", 3.0)
    scale = Scale.of([low, high])
    assert 'cx="0.0"' in scale.picture(low) and 'cx="100.0"' in scale.picture(high)
    assert "M25.0 0v12" in scale.picture(high, [Mark(title="nobody", value=0.0)])
    labelled = scale.picture(low, labelled=True)
    assert ">\N{MINUS SIGN}1.00</text>" in labelled and ">3.00</text>" in labelled
    share = Measurement(name="share", value=0.5, unit="share", n=1)
    assert Scale.of([share]) == Scale() and 'cx="50.0"' in scale.of([share]).picture(
        share
    )
