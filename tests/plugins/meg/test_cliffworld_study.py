"""The published tables of MacDermott et al. (2024), and what is and is not the same in
ours.
"""

from functools import partial
from math import floor
from typing import Any

import pytest

from gde import Choice, GdeError
from gde.data.figure import Figure
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde.studies.reproducing import Request, reproduce
from gde.testing import check_reproduction
from gde_plugins.meg.cliffworld.policies import (
    HORIZON,
    erring_policies,
    optimal_policies,
)
from gde_plugins.meg.cliffworld.printed_rule import published_known_utility
from gde_plugins.meg.cliffworld.study import COMPATIBLE, TENTH, CliffWorldStudy
from gde_plugins.meg.config import CliffWorldStudyConfig
from gde_plugins.meg.solvers.known import known_utility
from gde_plugins.meg.solvers.neural import Training, perceptron
from gde_plugins.meg.solvers.unknown import unknown_utility

EXACT = (40.2025, 21.3672, 19.4146, 18.8806)
PUBLISHED = (37.8398, 21.3672, 16.7935, 18.8806)
KNOWN_ERRING = (
    23.7886,
    15.4281,
    9.4688,
    5.0472,
    2.0113,
    0.4694,
    0.03066,
    0.01749,
    0.08878,
)
"""Independently computed, with ties between equally good actions broken by rounding
errors.
"""
UNKNOWN_ERRING = (26.794, 18.039, 11.389, 6.440, 3.047, 1.021, 0.1072, 0.1036, 0.9355)
"""Likewise, maximised over all utilities of the 40 states."""


STUDY = CliffWorldStudy(CliffWorldStudyConfig(starts=1, steps=2))
"""With a network that hardly learns; computes its tables once."""


def table(heading: str) -> list[Comparison]:
    rows = [row for row in STUDY.compare({}) if row.table == heading]
    assert rows
    return rows


def values(measurements: list[Measurement]) -> list[float]:
    found = [measurement.value for measurement in measurements]
    assert None not in found
    return [value for value in found if value is not None]


@pytest.mark.extended
def test_the_contract() -> None:
    check_reproduction(lambda: STUDY)


def test_known_utility_by_the_length_of_the_goal() -> None:
    rows = table("Known utility, optimal policy by length k of the goal")
    exact = values([row.ours for row in rows])
    assert exact == pytest.approx(EXACT, abs=1e-3)
    assert exact == sorted(exact, reverse=True), "a larger goal is easier"
    compatible = values([row.others[COMPATIBLE] for row in rows])
    assert compatible == pytest.approx(PUBLISHED, abs=1e-3)
    assert [round(value, 1) for value in compatible] == [row.paper for row in rows]


def test_known_utility_of_erring_policies() -> None:
    rows = table("Known utility, erring policy, error probability eps")
    exact = values([row.ours for row in rows])
    assert exact[:5] == pytest.approx(KNOWN_ERRING[:5], rel=1e-3)
    assert exact == pytest.approx(KNOWN_ERRING, rel=0.06)
    tenths = values([row.others[TENTH] for row in rows])
    printed = [row.paper for row in rows]
    assert [round(tenths[i], 2) for i in (2, 3, 4)] == [printed[i] for i in (2, 3, 4)]
    assert [round(tenths[i], 1) for i in (0, 1)] == printed[:2]
    assert all("ten times too small" in row.source for row in rows)


def test_the_printed_rows_from_epsilon_4_on_are_cut_off() -> None:
    """Cut off at its last printed digit, a tenth is what is printed, by either rule;
    rounded, it is not.
    """
    rows = table("Known utility, erring policy, error probability eps")[3:]
    digits = (2, 2, 2, 3, 3, 3)
    printed = [row.paper for row in rows]
    tenths = values([row.others[TENTH] for row in rows])
    for exact in (tenths, [value / 10 for value in values([row.ours for row in rows])]):
        units = [10**n for n in digits]
        cut = [floor(x * unit) / unit for x, unit in zip(exact, units, strict=True)]
        assert cut == pytest.approx(printed, abs=1e-9)
        rounded = [round(x, n) for x, n in zip(exact, digits, strict=True)]
        off = [
            row.quantity for row, x in zip(rows, rounded, strict=True) if x != row.paper
        ]
        assert off == ["eps = 0.6", "eps = 0.8"]


def test_unknown_utility_of_erring_policies() -> None:
    rows = table("Unknown utility, erring policy, error probability eps")
    optimum = values([row.ours for row in rows])
    assert optimum[:6] == pytest.approx(UNKNOWN_ERRING[:6], rel=5e-3)
    assert optimum == pytest.approx(UNKNOWN_ERRING, rel=0.01)
    for row, best in zip(rows[:-1], optimum, strict=False):
        assert row.paper is not None
        assert row.paper < best, "a network cannot do better than the best utility"
    assert [row.quantity for row in rows if TENTH in row.others] == ["eps = 0.9"]


def test_what_the_publication_does_not_pin() -> None:
    rows = table("Unknown utility, optimal policy by length k of the goal")
    assert all("no fixed value" in row.source for row in rows)
    for row, known in zip(rows, EXACT, strict=True):
        assert row.ours.value is not None
        assert row.ours.value >= known - 1e-6, "the reward is one of the utilities"


@pytest.mark.slow
@pytest.mark.parametrize("index", [3, 5, 7])
def test_a_fitted_network_comes_out_where_the_published_one_does(index: int) -> None:
    case = [*erring_policies()][index]
    fitted = unknown_utility(
        case.mdp, case.policy, perceptron(2), HORIZON, training=Training()
    )
    assert fitted.value == pytest.approx(case.unknown, rel=0.03)
    assert fitted.value < fitted.bounds[1]


def test_the_published_rule_is_never_more_accurate_than_the_exact_one() -> None:
    for case in (*optimal_policies(), *erring_policies()):
        exact = known_utility(case.mdp, case.policy, HORIZON)
        published = published_known_utility(case.mdp, case.policy, HORIZON)
        assert published.value <= exact.value + 1e-9
        assert (published.beta > 0) == (exact.beta > 0)


@pytest.mark.extended
def test_what_is_not_certified_has_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    hurried = partial(known_utility, iterations=0)
    monkeypatch.setattr("gde_plugins.meg.cliffworld.study.known_utility", hurried)
    study = CliffWorldStudy(CliffWorldStudyConfig(starts=1, steps=1))
    row = next(
        row
        for row in study.compare({})
        if row.table.startswith("Known utility, erring policy")
    )
    assert row.ours.value is None
    assert row.ours.reason.startswith("not certified: proven only to lie in [0, ")


def cells_of(figure: Figure) -> list[dict[str, Any]]:
    datasets: Any = figure.spec["datasets"]
    (cells,) = datasets.values()
    return list(cells)


def test_the_figures() -> None:
    figures = STUDY.figures({})
    assert [figure.title.partition(":")[0] for figure in figures] == [
        "Fig. 3b",
        "Fig. 3c",
        "Fig. 5a",
        "Fig. 5b",
    ]
    near, far = (cells_of(figure) for figure in figures[2:])
    for cells in (near, far):
        assert sum(cell["steps"] for cell in cells) == pytest.approx(HORIZON)
    most = max(far, key=lambda cell: cell["steps"])
    assert (most["row"], most["column"]) in {(0, 6), (0, 7)}, (
        "the nearest cells of the goal"
    )
    assert sum(cell["goal"] for cell in far) == 7


def test_nobody_can_take_part() -> None:
    with pytest.raises(
        GdeError,
        match="meg-cliffworld has agents of its own or none: leave out agent and model",
    ):
        reproduce(Request(name="meg-cliffworld", agent=Choice(name="random")))
