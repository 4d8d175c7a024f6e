"""The figures of MacDermott et al. (2024), as Vega-Lite specifications."""

from collections.abc import Iterator, Sequence

from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import occupancy
from gde.parts.reproduction import Comparison

CELL = 34
"""Pixels a cell."""


def curve(
    title: str,
    axis: str,
    rows: Sequence[Comparison],
    parameter: str,
) -> Figure:
    """Plot MEG against a parameter of the policies: known and unknown utility, ours and
    printed.
    """
    import altair as alt

    points: list[dict[str, Json]] = []
    values: set[float] = set()
    for row in rows:
        # The other table varies another parameter.
        if parameter in row.ours.where:
            points += _points(row, parameter)
            values.add(float(row.ours.where[parameter]))

    chart = alt.Chart({"values": points}, width=420, height=260).mark_line()
    spec = chart.encode(
        x=alt.X("at:Q", title=axis, axis=alt.Axis(values=sorted(values))),
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
    """Yield the printed value, where there is one, and ours."""
    utility = row.ours.name.removeprefix("meg.")
    where = {"at": row.ours.where[parameter], "utility": utility}
    if row.paper is not None:
        yield {**where, "nats": row.paper, "numbers": "paper"}
    yield {**where, "nats": row.ours.value, "numbers": "ours"}


def visits(
    title: str,
    mdp: TabularMDP,
    policy: Policy,
    horizon: int,
) -> Figure:
    """Draw how often a policy is expected in each cell, as a heat map of the world."""
    import altair as alt

    expected = occupancy(mdp, policy, horizon).sum(axis=1)
    rows = mdp.labels["row"]
    columns = mdp.labels["column"]
    goals = mdp.labels["goal"]
    cells = []
    for state in range(mdp.n_states):
        cell = {
            "row": int(rows[state]),
            "column": int(columns[state]),
            "goal": bool(goals[state]),
            "steps": float(expected[state]),
        }
        cells.append(cell)

    height = CELL * (int(rows.max()) + 1)
    width = CELL * (int(columns.max()) + 1)
    chart = alt.Chart({"values": cells}, width=width, height=height).mark_rect()
    # The square root keeps cells visible that are visited now and then.
    spec = chart.encode(
        x=alt.X("column:O", title=None),
        y=alt.Y("row:O", title=None),
        color=alt.Color(
            "steps:Q", title="steps", scale=alt.Scale(scheme="viridis", type="sqrt")
        ),
        stroke=alt.condition("datum.goal", alt.value("red"), alt.value(None)),
    )
    caption = f"Expected number of the {horizon} steps spent in each cell; cells of the goal have a red border."
    return Figure(title=title, caption=caption, spec=spec.to_dict())
