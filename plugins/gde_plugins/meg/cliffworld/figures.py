"""The figures of MacDermott et al. (2024), as Vega-Lite specifications."""

from collections.abc import Iterator, Sequence

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import occupancy
from gde.parts.reproduction import Comparison

CELL = 34
"""Pixels a cell."""


def curve(title: str, axis: str, rows: Sequence[Comparison], parameter: str) -> Figure:
    """MEG against a parameter of the policies: known and unknown utility, ours and printed."""
    import altair as alt

    shown = [row for row in rows if parameter in row.ours.where]
    points = [point for row in shown for point in _points(row, parameter)]
    values = sorted({float(row.ours.where[parameter]) for row in shown})
    chart = alt.Chart({"values": points}, width=420, height=260).mark_line()
    spec = chart.encode(
        x=alt.X("at:Q", title=axis, axis=alt.Axis(values=values)),
        y=alt.Y("nats:Q", title="MEG in nats"),
        color=alt.Color("utility:N", title="utility"),
        strokeDash=alt.StrokeDash("numbers:N", title="numbers"),
    )
    caption = (
        "Goal-directedness in nats: ours, which is the certified optimum, and the numbers as they are printed,"
        " even those that are ten times too small."
    )
    return Figure(title=title, caption=caption, spec=spec.to_dict())


def _points(row: Comparison, parameter: str) -> Iterator[dict[str, Json]]:
    utility = row.ours.name.removeprefix("meg.")
    where = {"at": row.ours.where[parameter], "utility": utility}
    if row.paper is not None:
        yield {**where, "nats": row.paper, "numbers": "paper"}
    yield {**where, "nats": row.ours.value, "numbers": "ours"}


def visits(title: str, mdp: TabularMDP, policy: Policy, horizon: int) -> Figure:
    """How often a policy is expected in each cell, as a heat map of the world."""
    import altair as alt

    expected = occupancy(mdp, policy, horizon).sum(axis=1)
    places = zip(mdp.labels["row"], mdp.labels["column"], mdp.labels["goal"], expected, strict=True)
    cells = [
        {"row": int(row), "column": int(column), "goal": bool(goal), "steps": float(steps)}
        for row, column, goal, steps in places
    ]
    height, width = (int(mdp.labels[name].max()) + 1 for name in ("row", "column"))
    chart = alt.Chart({"values": cells}, width=CELL * width, height=CELL * height).mark_rect()
    spec = chart.encode(
        x=alt.X("column:O", title=None),
        y=alt.Y("row:O", title=None),
        color=alt.Color("steps:Q", title="steps", scale=alt.Scale(scheme="viridis", type="sqrt")),
        stroke=alt.condition("datum.goal", alt.value("red"), alt.value(None)),
    )
    caption = f"Expected number of the {horizon} steps spent in each cell; cells of the goal have a red border."
    return Figure(title=title, caption=caption, spec=spec.to_dict())
