"""The map of layers and positions: every cell has its number and its own verdict."""

from dataclasses import replace
from typing import Any

import pytest

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.probe import Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Outcome, Verdict
from gde.reporting.drawing import svg
from gde.reporting.findings import probed
from gde_plugins.pages.figures.layer_map import layer_map
from gde_plugins.pages.run_page import page

BEFORE, AFTER = "before reasoning", "after reasoning"
OUTCOMES: dict[tuple[int, str], Outcome | None] = {
    (3, "pre"): "better",
    (3, "post"): "none",
    (5, "pre"): "worse",
    (5, "post"): None,
}
"""None without a test."""


def at(one: Measurement, layer: int, position: str, **where: int) -> Measurement:
    """The number at this place, with the outcome that it has there."""
    outcome = OUTCOMES[layer, position]
    verdict = Verdict(
        control="untrained",
        difference=-2.0,
        interval=(-3.0, -1.0),
        p=None if outcome is None else 0.5,
        detectable=0.25,
        outcome=outcome or "untested",
        worlds=9,
        draws=19,
        outside=None if outcome is None else outcome != "none",
        assumes="normal",
        reason="" if outcome else "3 worlds; a test needs 6",
    )
    place: Labels = {**one.where, "layer": layer, "position": position, **where}
    return replace(one, where=place, verdict=verdict)


def own_numbers(result: Result) -> list[Measurement]:
    """The numbers of the main fit over all worlds."""
    main = probed(result)[0].fit
    return [
        one
        for one in result.measurements
        if Fit.of(one) == main and one.where.keys() == main.where.keys()
    ]


def of_metrics(result: Result) -> list[Measurement]:
    return [one for one in result.measurements if Fit.of(one) is None]


@pytest.fixture
def everywhere(result: Result) -> Result:
    """With the probe's numbers at every layer and position."""
    own = own_numbers(result)
    placed = [at(one, *place) for place in OUTCOMES for one in own]
    return replace(result, measurements=(*of_metrics(result), *placed))


def drawn(result: Result) -> Figure:
    figure = layer_map(probed(result)[0], result)
    assert figure is not None
    return figure


def panels(figure: Figure, block: int = 0) -> dict[str, Any]:
    """Title to panel."""
    blocks: Any = figure.spec["vconcat"]
    return {
        " ".join(panel["title"]["text"]): panel for panel in blocks[block]["concat"]
    }


def cells(panel: Any, field: str) -> dict[tuple[int, str], Any]:
    return {
        (row["layer"], row["position"]): row.get(field)
        for row in panel["data"]["values"]
    }


def test_each_cell_has_its_own_number_and_mark(everywhere: Result) -> None:
    found = panels(drawn(everywhere))
    assert list(found) == [
        "Agent found, %",
        "Goal found, %",
        "Agent found early, %",
        "Goal found early, %",
        "Wall code length, bits",
    ]
    for panel in found.values():
        assert cells(panel, "mark") == {
            (3, BEFORE): "better",
            (3, AFTER): "no difference shown",
            (5, BEFORE): "worse",
            (5, AFTER): "not tested",
        }
    texts = {title: {*cells(panel, "text").values()} for title, panel in found.items()}
    assert texts == {
        "Agent found, %": {"49"},
        "Goal found, %": {"43"},
        "Agent found early, %": {"37"},
        "Goal found early, %": {"31"},
        "Wall code length, bits": {"0.36"},
    }
    picture = svg(drawn(everywhere))
    assert ">no difference shown</text>" in picture and ">different</" not in picture


def test_a_colour_is_the_lead_whichever_direction_is_better(
    everywhere: Result,
) -> None:
    found = panels(drawn(everywhere))
    assert set(cells(found["Wall code length, bits"], "lead").values()) == {2.0}
    for title in ("Agent found, %", "Goal found early, %"):
        assert set(cells(found[title], "lead").values()) == {-2.0}


def domain(result: Result, title: str) -> list[float]:
    colored: Any = panels(drawn(result))[title]["layer"][0]
    bounds: list[float] = colored["encoding"]["color"]["scale"]["domain"]
    return bounds


def test_a_colour_is_full_at_a_lead_that_could_be_found(everywhere: Result) -> None:
    assert domain(everywhere, "Wall code length, bits") == [-2.0, 0, 2.0]
    # No share can lead by more than all.
    assert domain(everywhere, "Agent found, %") == [-1.0, 0, 1.0]
    assert domain(everywhere, "Agent found early, %") == [-1.0, 0, 1.0]
    noisy = []
    for one in everywhere.measurements:
        if one.verdict is not None:
            one = replace(one, verdict=replace(one.verdict, detectable=5.0))
        noisy.append(one)
    unclear = replace(everywhere, measurements=tuple(noisy))
    assert domain(unclear, "Wall code length, bits") == [-5.0, 0, 5.0]


def test_a_cell_tells_its_test_under_the_mouse(everywhere: Result) -> None:
    told = cells(panels(drawn(everywhere))["Wall code length, bits"], "told")
    assert told[3, BEFORE].replace("\u00a0", " ").splitlines() == [
        "layer 3, before reasoning",
        "Wall code length 0.36 bits [0.33, 0.40]",
        "better than random weights by 2.00 bits [1.00, 3.00], outside all 19 random initialisations",
    ]
    *_, outcome, difference = told[3, AFTER].replace("\u00a0", " ").splitlines()
    assert outcome == "no difference from random weights shown; detectable: 0.25 bits"
    assert difference.startswith("difference \u22122.00 bits [\u22123.00, \u22121.00]")
    assert "not tested against random weights: 3 worlds" in told[5, AFTER]
    titles = svg(drawn(everywhere)).count("<title>layer ")
    assert titles == 5 * len(OUTCOMES)


def test_a_cell_has_a_p_value_only_against_a_control_that_is_fitted_once(
    everywhere: Result,
) -> None:
    """That of a control of several draws rests on draws of which few are known."""
    for panel in panels(drawn(everywhere)).values():
        assert not [text for text in cells(panel, "told").values() if "p\u00a0" in text]

    once = []
    for one in everywhere.measurements:
        if one.verdict is not None:
            verdict = replace(
                one.verdict, control="no_activations", draws=1, outside=None, assumes=""
            )
            one = replace(one, verdict=verdict)
        once.append(one)
    found = panels(drawn(replace(everywhere, measurements=tuple(once))))
    told = cells(found["Wall code length, bits"], "told")
    assert told[3, BEFORE].endswith("[1.00,\u00a03.00], p\u00a00.500")
    assert told[3, AFTER].endswith("[\u22123.00,\u00a0\u22121.00], p\u00a00.500")


def test_an_empty_cell_says_why(everywhere: Result) -> None:
    """The fit failed at one place, one number is missing at another."""
    kept = []
    for one in everywhere.measurements:
        place = (one.where.get("layer"), one.where.get("position"))
        if place == (5, "post"):
            continue
        if place == (5, "pre") and one.name == "cogmap.top1.goal":
            one = replace(one, value=None, interval=None, reason="no goal there")
        kept.append(one)
    where: Labels = {**probed(everywhere)[0].fit.where, "layer": 5, "position": "post"}
    failed = Measurement(
        name="cogmap",
        value=None,
        unit="",
        n=0,
        where=where,
        reason="no turn has activations",
        source="cogmap",
    )
    figure = drawn(replace(everywhere, measurements=(*kept, failed)))
    told = cells(panels(figure)["Goal found, %"], "told")
    assert told[5, AFTER].endswith("not measured (no turn has activations)")
    assert told[5, BEFORE].endswith("not measured (no goal there)")
    lead = cells(panels(figure)["Goal found, %"], "lead")
    assert lead[5, AFTER] is None and lead[3, BEFORE] is not None
    assert svg(figure).count("stroke-dasharray") == 5 + 1


def test_conditions_have_maps_of_their_own(everywhere: Result) -> None:
    """A condition whose worlds were not held out at one place says so there."""
    own = own_numbers(everywhere)
    parts = [
        at(one, *place, size=size)
        for one in own
        for size in (7, 9)
        for place in OUTCOMES
        if (size, place) != (9, (5, "post"))
    ]
    fit = probed(everywhere)[0].fit
    missing = Measurement(
        name="cogmap.all",
        value=None,
        unit="",
        n=0,
        where={**fit.where, "layer": 5, "position": "post", "size": 9},
        reason="no world of this condition was held out",
        source="cogmap",
    )
    settings = {**everywhere.provenance, "plan": {"env": {"size": [7, 9]}}}
    swept = replace(
        everywhere,
        measurements=(*everywhere.measurements, *parts, missing),
        provenance=settings,
    )
    figure = drawn(swept)
    blocks: Any = figure.spec["vconcat"]
    titles = [block["title"]["text"].replace("\u00a0", " ") for block in blocks]
    assert titles == ["all worlds", "size 7", "size 9"]
    of_nine = cells(panels(figure, 2)["Agent found, %"], "told")
    assert of_nine[5, AFTER].endswith("(no world of this condition was held out)")
    assert cells(panels(figure, 1)["Agent found, %"], "mark")[3, BEFORE] == "better"


def test_two_positions_of_one_layer_make_a_map_and_one_place_none(
    result: Result, everywhere: Result
) -> None:
    one_place = replace(
        result, measurements=(*of_metrics(result), *own_numbers(result))
    )
    assert layer_map(probed(one_place)[0], one_place) is None
    (panel, *_) = panels(drawn(result)).values()
    assert cells(panel, "mark").keys() == {(3, BEFORE), (3, AFTER)}


def test_a_number_that_no_control_has_leaves_the_map_to_those_that_are_tested(
    everywhere: Result,
) -> None:
    untested = tuple(
        replace(one, verdict=None) if one.name == "cogmap.top1.goal" else one
        for one in everywhere.measurements
    )
    assert "Goal found, %" not in panels(
        drawn(replace(everywhere, measurements=untested))
    )


def test_the_page_shows_the_map(everywhere: Result, evidence: Evidence) -> None:
    plan = Plan(environment=Choice(name="grid"), agent=Choice(name="gpt-oss"))
    text = page(plan, everywhere, evidence)
    assert "<strong>Layers and positions, cogmap (places)</strong>" in text
