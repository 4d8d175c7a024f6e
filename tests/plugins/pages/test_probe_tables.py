"""The table of a probe has a row for each layer and position, with the test there."""

from dataclasses import replace

from gde.data.evidence import Evidence
from gde.data.result import Result
from gde.data.verdict import Verdict
from gde_plugins.pages.probe_tables import probe_tables

NAME = "cogmap.top1.agent"
VERDICT = Verdict(
    control="untrained",
    difference=0.25,
    interval=(0.125, 0.375),
    p=0.01,
    outcome="better",
    worlds=9,
)


def test_a_headline_has_the_verdict_of_its_own_place(
    result: Result, evidence: Evidence
) -> None:
    """One position alone is tested: its row says so, and no other."""
    measurements = []
    for one in result.measurements:
        is_here = one.name == NAME and one.where.get("position") == "post"
        is_own = is_here and one.where.get("control") == "none"
        measurements.append(replace(one, verdict=VERDICT if is_own else None))
    tested = replace(result, measurements=tuple(measurements))

    ((name, table),) = probe_tables(evidence, frozenset(), tested)
    place = table.columns.index(f"{result.meanings[NAME].title}, %")
    told = {
        (group.title, row.head): row.cells[place].reason.replace("\u00a0", " ")
        for group in table.groups
        for row in group.rows
    }
    assert name == "cogmap"
    expected = "better than random weights by 25.0 points [12.5, 37.5], p 0.010"
    found = {place for place, reason in told.items() if reason}
    assert found and all(told[place] == expected for place in found)
    assert all(
        title == "Decoded from the model" and head.endswith("after reasoning")
        for title, head in found
    )
    assert any(head.endswith("before reasoning") for _, head in told)
