"""The headlines of probes of several variants: on one screen and on one page."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde.comparisons.comparison import Comparison
from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.reporting.contest import Contended, contended, side_by_side
from gde.reporting.probe_differences import against_control
from gde.reporting.terminal.contest_screen import contest_screen
from gde.reporting.wording import SPACE
from gde_plugins.pages.contest_page import contest_page

REASON = "no turn has activations"


@pytest.fixture
def found(result: Result) -> Comparison:
    """One variant with a probe, one whose probe found nothing, and one without."""
    metrics = [one for one in result.measurements if Fit.of(one) is None]
    nothing = Measurement(
        name="cogmap",
        value=None,
        unit="",
        n=0,
        where=Fit(probe="cogmap", variant="places", layer=3, position="pre").where,
        reason=REASON,
        source="cogmap",
    )
    results = {
        "probed": result,
        "mute": replace(result, measurements=(*metrics, nothing)),
        "bare": replace(result, measurements=tuple(metrics)),
    }
    return Comparison(
        runs={name: Path(name) for name in results},
        results=results,
        differing={name: {} for name in results},
    )


def of_probes(found: Comparison) -> dict[str, Contended]:
    return {one.measure.name: one for one in contended(found) if one.probe}


def test_a_headline_of_a_probe_is_that_of_its_main_fit(
    found: Comparison, result: Result
) -> None:
    listed = of_probes(found)
    assert [*listed] == [
        "cogmap.top1.agent",
        "cogmap.top1.goal",
        "cogmap.early.top1.agent",
        "cogmap.early.top1.goal",
        "cogmap.code.wall",
    ]
    one = listed["cogmap.top1.agent"]
    assert one.title == "cogmap (places, layer 3, before reasoning): agent found"
    ours = one.numbers["probed"]
    assert ours in result.measurements
    # The verdict is the one that the variant's own result has.
    assert ours is not None and ours.verdict is not None
    assert one.numbers["bare"] is None
    mute = one.numbers["mute"]
    assert mute is not None and mute.reason == REASON


def test_the_page_shows_every_verdict(found: Comparison) -> None:
    text = contest_page(found)
    for one in of_probes(found).values():
        assert one.title in text
        ours = one.numbers["probed"]
        assert ours is not None and against_control(ours) in text


def test_a_crowded_screen_shows_whole_groups_and_how_many_rows_are_left_out(
    found: Comparison,
) -> None:
    lines = contest_screen(found, width=100)
    assert max(map(len, lines)) <= 100 and len(lines) <= 20
    title = next(i for i, line in enumerate(lines) if line.startswith("Accuracy, %"))
    shown = [line.split()[0] for line in lines[title + 1 : title + 4]]
    assert shown == ["probed", "mute", "bare"]
    assert REASON in contest_page(found)
    # The first number of each source comes first.
    first, second, *_ = side_by_side(found, "success")
    assert first.title.startswith("Accuracy") and second.title.startswith("cogmap")


def test_what_a_variant_did_stands_beside_the_number_of_random_moves(
    found: Comparison, result: Result
) -> None:
    accuracy = next(one for one in result.measurements if one.name == "accuracy")
    chance = replace(accuracy, name="chance", value=0.25)
    measure = Measure("chance", "random moves", "share", beside="accuracy")
    result = replace(
        result,
        measurements=(*result.measurements, chance),
        measures=(*result.measures, measure),
    )
    found = replace(found, results=dict.fromkeys(found.results, result))
    accuracies, *_ = side_by_side(found, "success")
    assert {row.control for row in accuracies.rows} == {"random moves 25"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"outcome": "worse"}, "random weights \u25bc worse"),
        ({"outcome": "none", "outside": False}, "random weights ~ unclear"),
        (
            {"outcome": "untested", "p": None, "outside": None},
            "random weights ? untested",
        ),
        (
            {"control": "no_activations", "outside": None, "outcome": "better"},
            "no activations \u25b2 better",
        ),
        (
            {"control": "conditions", "outside": None, "outcome": "worse"},
            "condition only \u25bc worse",
        ),
        (None, "%"),
    ],
)
def test_the_test_of_a_probe_is_told_in_short(
    found: Comparison, result: Result, changes: dict[str, Any] | None, told: str
) -> None:
    swapped = []
    for one in result.measurements:
        verdict = one.verdict
        if verdict is not None:
            verdict = replace(verdict, p=0.02)
            verdict = replace(verdict, **changes) if changes is not None else None
        swapped.append(replace(one, verdict=verdict))
    changed = replace(result, measurements=tuple(swapped))
    lines = contest_screen(replace(found, results={"probed": changed}))
    title = next(i for i, line in enumerate(lines) if line.startswith("cogmap (places"))
    assert lines[title + 1].replace(SPACE, " ").endswith(told)
