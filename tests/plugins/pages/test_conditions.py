"""A sweep of two or three settings is told by heat maps, whatever their values are."""

import re
from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from gde.data.json import Json, Labels
from gde.data.measure import Measure
from gde.data.result import Measurement, Result, Subject
from gde.reporting.drawing import svg
from gde_plugins.pages.conditions import ROWS, condition_maps, condition_table

SIZES, KINDS = (7, 9, 11), ("none", "fog")
MEASURES = (
    Measure(name="success", title="Success", headline=True),
    Measure(name="usable", title="Usable answers", headline=True),
    Measure(name="length", title="Turns"),
)


def number(
    name: str, value: float | None, where: Labels, unit: str = "share"
) -> Measurement:
    interval = None if value is None else (value - 0.125, value + 0.125)
    reason = "" if value is not None else "too few worlds"
    return Measurement(
        name=name,
        value=value,
        unit=unit,
        n=17,
        interval=interval,
        where=where,
        reason=reason,
    )


def run(measurements: Sequence[Measurement], env: Mapping[str, Json]) -> Result:
    return Result(
        run="runs/r",
        status="ok",
        plan_hash="0",
        measurements=tuple(measurements),
        failures=(),
        provenance={"plan": {"env": {"use": "any", **env}}},
        subject=Subject(agent="a", environment="any", worlds=20, episodes=20, turns=20),
        measures=MEASURES,
    )


def swept(env: Mapping[str, Sequence[Json]], usable: float = 1.0) -> Result:
    whole = [
        number("success", 0.5, {}),
        number("usable", usable, {}),
        number("length", 3.0, {}, "turns"),
    ]
    conditions = [
        dict(zip(env, values, strict=True)) for values in product(*env.values())
    ]
    parts = [
        number(name, value, where, unit)  # type: ignore[arg-type]
        for i, where in enumerate(conditions)
        for name, value, unit in (
            ("success", i / 20, "share"),
            ("usable", usable, "share"),
            ("length", 2.0 + i, "turns"),
        )
    ]
    return run([*whole, *parts], {name: list(values) for name, values in env.items()})


@pytest.mark.parametrize(
    "env",
    [{"size": SIZES, "density": (0.0, 0.5)}, {"fog.kind": KINDS, "value": (1, 2, 3)}],
)
def test_every_headline_over_any_two_settings_is_a_map_of_values_intervals_and_n(
    env: Mapping[str, Json],
) -> None:
    (headline,) = condition_maps(swept(env))  # type: ignore[arg-type]
    told = re.findall(r"<text[^>]*>([^<]+)</text>", svg(headline))
    assert {f"{5 * i}%" for i in range(6)} <= set(told)
    assert told.count("n 17") == 6
    assert sum(text.startswith("[") for text in told) == 6
    axes = [value for values in env.values() for value in values]  # type: ignore[union-attr]
    assert {value if isinstance(value, str) else f"{value:g}" for value in axes} <= set(
        told
    )


def test_a_third_setting_gives_panels_and_one_or_four_nothing() -> None:
    (figure,) = condition_maps(
        swept({"size": SIZES, "density": (0.0, 1.0), "kind": KINDS})
    )
    assert figure.title == "Success by density, size and kind"
    assert {*KINDS} <= set(re.findall(r">([^<]+)</text>", svg(figure)))
    four = {"size": SIZES, "a": (1, 2), "b": (1, 2), "c": (1, 2)}
    for env in ({"size": SIZES}, four):
        assert condition_maps(swept(env)) == []


def test_a_condition_without_a_value_stays_empty_and_the_caption_says_so() -> None:
    result = swept({"size": SIZES, "density": (0.0, 0.5)})
    *others, last = (one for one in result.measurements if one.name == "success")
    (figure,) = condition_maps(
        run(
            [*others, number("success", None, last.where)],
            {"size": [7], "density": [0]},
        )
    )
    assert "Empty cells" in figure.caption
    assert svg(figure).count(">n 17<") == 5


def test_words_keep_the_order_of_the_plan_and_numbers_rise() -> None:
    (figure,) = condition_maps(swept({"kind": ("z", "a"), "size": (11, 7, 9)}))
    x, y = (figure.spec["encoding"][axis]["sort"] for axis in "xy")  # type: ignore[index,call-overload]
    assert (x, y) == ([7, 9, 11], ["z", "a"])


def test_the_headlines_stand_in_a_table_by_condition() -> None:
    found = condition_table(swept({"size": SIZES}), frozenset({"size"}))
    assert found is not None
    assert found.columns == ("Success, %", "Usable answers, %")
    (group,) = found.groups
    cells = [(row.head, *(each.text for each in row.cells)) for row in group.rows]
    assert cells == [
        ("size\u00a07", "0.0", "100.0"),
        ("size\u00a09", "5.0", "100.0"),
        ("size\u00a011", "10.0", "100.0"),
    ]
    assert condition_table(swept({}), frozenset()) is None


def test_thousands_of_conditions_are_told_by_the_first_rows() -> None:
    sizes = [*range(ROWS + 5)]
    parts = [number("success", 0.5, {"size": size}) for size in sizes]
    result = run([number("success", 0.5, {}), *parts], {"size": sizes})
    made = condition_table(result, frozenset({"size"}))
    assert made is not None and len(made.groups[0].rows) == ROWS
    assert made.note == f"The first {ROWS} of {ROWS + 5} rows; result.json has all."
