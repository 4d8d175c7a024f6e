"""Probes of two runs: their own verdicts, and B against A in the worlds of both."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.cli.compared_rows import _probe_lines
from gde.comparisons.differences import Compared, ProbeRow
from gde.comparisons.probes import ProbedRun, compare_probes, in_one_run, with_outcomes
from gde.data.episode_table import Head
from gde.data.measure import Better, Measure
from gde.data.probe import CodedTurns, Fit, ProbeReport
from gde.data.result import Measurement, Result
from gde.data.verdict import Outcome, Verdict
from gde.reporting.probe_differences import difference, probe_tables
from gde_plugins.pages.contest_page import difference_tables

MAIN = Fit(probe="p", variant="v", layer=1, position="pre")
DEEP = replace(MAIN, layer=2)
OWN = Verdict(
    control="untrained",
    difference=-1.0,
    p=0.01,
    outcome="better",
    worlds=9,
    draws=19,
    outside=True,
    assumes="normal",
)
WORLDS = 20
MEASURES = (
    Measure(name="p.error", title="Error", better="less", headline=True),
    Measure(name="p.code.it", title="Code", better="less", headline=True),
    Measure(name="p.other", title="Other", better="less"),
)


def of_worlds(mean: float, worlds: int = WORLDS) -> NDArray[np.float64]:
    """(worlds,) scores that share the difficulty of each world."""
    difficulty = np.random.default_rng(5).normal(scale=3, size=worlds)
    noise = np.random.default_rng(int(100 * mean)).normal(scale=0.2, size=worlds)
    return mean + difficulty + noise


def report(
    fit: Fit,
    scores: NDArray[np.float64],
    turns: int = 1,
    name: str = "error",
    first: int = 0,
) -> ProbeReport:
    """So many turns of each world with its score; `first` is the first world."""
    n = len(scores) * turns
    rows = tuple((f"0/{first + i // turns}/0", i % turns) for i in range(n))
    of_turns = np.repeat(scores, turns)[None].astype(np.float32)
    worlds = tuple(f"c{first + i // turns}" for i in range(n))
    whole = ProbeReport(
        fit=fit,
        measurements=(),
        n_train=1,
        n_test=n,
        rows=rows,
        decoded=np.zeros((n, 1), np.float32),
        worlds=worlds,
        scores={name: of_turns},
    )
    if name == "error":
        return whole
    coded = CodedTurns(rows=rows, worlds=worlds, scores={name: of_turns})
    return replace(whole, scores={}, coded=coded)


def run(
    name: str, reports: Sequence[ProbeReport], measures: Sequence[Measure] = MEASURES
) -> ProbedRun:
    """A run whose result has the mean of each score, and numbers that are not compared."""
    numbers = []
    for each in reports:
        for score, values in {**each.scores, **each.coded.scores}.items():
            number = Measurement(
                name=f"{each.fit.probe}.{score}",
                value=float(np.nanmean(values)),
                unit="cells",
                n=9,
                interval=(0.0, 9.0),
                where=each.fit.where,
                source=each.fit.probe,
                verdict=OWN,
            )
            part = replace(number, where={**number.where, "size": 5})
            control = replace(number, where={**number.where, "control": "shuffled"})
            other = replace(number, name="p.other")
            numbers += [number, part, control, other]
    episodes = {
        f"0/{i}/0": Head(f"0/{i}/0", 0, f"w{i}", f"c{i}", "horizon")
        for i in range(2 * WORLDS)
    }
    result = Result(
        run=name,
        status="ok",
        plan_hash="0",
        measurements=tuple(numbers),
        failures=(),
        measures=tuple(measures),
    )
    return ProbedRun(result=result, reports=reports, episodes=episodes)


def held_out(one: ProbedRun) -> set[str]:
    """The held-out episodes of a run."""
    return {episode for report in one.reports for episode, _ in report.rows}


def compared(a: ProbedRun, b: ProbedRun) -> list[ProbeRow]:
    return with_outcomes(list(compare_probes(a, b)))


def between(row: ProbeRow) -> Verdict:
    assert row.between is not None
    return row.between


@pytest.mark.parametrize(
    ("better", "outcome"), [("less", "better"), ("more", "worse"), ("", "different")]
)
def test_b_is_tested_against_a_in_pairs_of_worlds(
    better: Better, outcome: Outcome
) -> None:
    """Worlds differ by 3, the runs by .5 in every world, with other turns in it."""
    measures = [replace(MEASURES[0], better=better)]
    a = run("a", [report(MAIN, of_worlds(2.0), turns=3)], measures)
    b = run("b", [report(MAIN, of_worlds(1.5), turns=2)], measures)
    (row,) = compared(a, b)
    assert (row.name, row.title) == ("p.error", "Error")
    assert row.a.verdict == row.b.verdict == OWN
    found = between(row)
    assert (found.control, found.outcome, found.worlds) == ("A", outcome, WORLDS)
    assert (found.draws, found.outside, found.assumes) == (1, None, "")
    assert found.difference == pytest.approx(-0.5, abs=0.2)
    assert found.interval is not None and found.interval[1] < 0
    assert found.p is not None and found.p < 0.01


def test_only_worlds_that_both_held_out_are_pairs() -> None:
    a = run("a", [report(MAIN, of_worlds(2.0))])
    b = run("b", [report(MAIN, of_worlds(1.5, 12), first=12)])
    assert between(*compared(a, b)).worlds == WORLDS - 12
    # Only episodes in worlds that both runs played are compared.
    played = {episode: head for episode, head in a.episodes.items() if "1" in episode}
    fewer = replace(a, episodes=played)
    assert between(*compared(fewer, a)).worlds == len(played.keys() & held_out(a))
    b = run("b", [report(MAIN, of_worlds(1.5), first=WORLDS)])
    found = between(*compared(a, b))
    assert (found.p, found.reason) == (None, "no world was held out in both runs")
    few = run("b", [report(MAIN, of_worlds(1.5, 4))])
    assert "needs 6" in between(*compared(a, few)).reason
    assert difference(*compared(a, few)) == ""


def test_all_turns_and_draws_of_a_world_are_averaged() -> None:
    """But for turns without a score."""
    of_a = report(MAIN, of_worlds(2.0), turns=4)
    scores = of_a.scores["error"]
    # Two fits, whose turns differ around the score of the world.
    around = np.tile([3.0, -1.0, -2.0, np.nan], WORLDS)
    several = np.concatenate([scores + around + 5, scores + around - 5])
    of_b = replace(of_a, scores={"error": several.astype(np.float32)})
    a, b = run("a", [of_a]), run("b", [replace(of_b, fit=MAIN)])
    found = between(*compared(a, b))
    assert found.difference == pytest.approx(0, abs=1e-5)
    assert found.worlds == WORLDS


def test_worlds_of_one_cluster_are_no_independent_pairs() -> None:
    a = run("a", [report(MAIN, of_worlds(2.0))])
    b = run("b", [report(MAIN, of_worlds(1.5))])
    alone = between(*compared(a, b))

    episodes = {
        f"0/{i}/0": Head(f"0/{i}/0", 0, f"w{i}", f"c{i // 2}", "horizon")
        for i in range(WORLDS)
    }
    found = between(
        *compared(replace(a, episodes=episodes), replace(b, episodes=episodes))
    )
    assert (alone.worlds, found.worlds) == (WORLDS, WORLDS / 2)
    assert found.difference == pytest.approx(alone.difference)
    # Ten signs can be flipped, not twenty.
    assert alone.p is not None and found.p is not None
    assert found.p >= 2 / 2**10


def test_codes_of_different_worlds_are_not_compared() -> None:
    """The code of a world depends on the worlds before it."""
    name = "code.it"
    a = run("a", [report(MAIN, of_worlds(2.0), name=name)])
    same = run("b", [report(MAIN, of_worlds(1.5), name=name)])
    assert between(*compared(a, same)).outcome == "better"
    fewer = run("b", [report(MAIN, of_worlds(1.5, 12), name=name)])
    found = between(*compared(a, fewer))
    assert (found.p, found.reason) == (None, "the runs code different worlds")


def test_equal_fits_are_compared_and_else_the_first_ones() -> None:
    a = run("a", [report(fit, of_worlds(2.0)) for fit in (MAIN, DEEP)])
    b = run("b", [report(DEEP, of_worlds(1.5))])
    (row,) = compared(a, b)
    assert row.a.where == row.b.where == DEEP.where
    (table,) = probe_tables([row])
    assert table.title == "p (v, layer 2, before reasoning)"

    deepest = replace(DEEP, layer=3)
    (row,) = compared(a, run("b", [report(deepest, of_worlds(1.5))]))
    assert (row.a.where["layer"], row.b.where["layer"]) == (1, 3)
    (table,) = probe_tables([row])
    assert table.title == (
        "p (A: v, layer 1, before reasoning; B: v, layer 3, before reasoning)"
    )


def test_p_values_are_corrected_over_the_headlines_of_a_fit_and_all_comparisons() -> (
    None
):
    a = run("a", [report(fit, of_worlds(2.0)) for fit in (MAIN, DEEP)])
    b = run("b", [report(fit, of_worlds(1.9)) for fit in (MAIN, DEEP)])
    rows = list(compare_probes(a, b))
    alone = [between(row).p or 0 for row in with_outcomes(rows)]
    assert alone == [between(row).p for row in rows]
    twice = [between(row).p for row in with_outcomes([*rows, *rows])]
    assert twice == pytest.approx([*alone, *alone] * np.array(2))


def test_another_probe_is_another_family() -> None:
    other = replace(MAIN, probe="q")
    measures = (*MEASURES, Measure(name="q.error", title="Error", headline=True))
    runs = []
    for name, mean in (("a", 2.0), ("b", 1.9)):
        reports = [report(fit, of_worlds(mean)) for fit in (MAIN, other)]
        runs.append(run(name, reports, measures))
    a, b = runs
    rows = list(compare_probes(a, b))
    assert [between(row).p for row in with_outcomes(rows)] == [
        between(row).p for row in rows
    ]
    assert [row.name for row in rows] == ["p.error", "q.error"]


def test_a_probe_of_one_run_is_noted() -> None:
    other = replace(MAIN, probe="q")
    measures = (*MEASURES, Measure(name="q.error", title="Error", headline=True))
    a = run("a", [report(fit, of_worlds(2.0)) for fit in (MAIN, other)], measures)
    b = run("b", [report(MAIN, of_worlds(1.5))], measures)
    assert in_one_run(a, b) == in_one_run(b, a) == ["probe 'q' has numbers in a alone"]
    assert [row.name for row in compared(a, b)] == ["p.error"]


def test_terminal_and_page_say_the_same() -> None:
    a = run("a", [report(MAIN, of_worlds(2.0))])
    b = run("b", [report(MAIN, of_worlds(1.5))])
    (row,) = compared(a, b)
    of_a, of_b, of_difference = _probe_lines(row)
    assert (
        of_a[3] == of_b[3] == "better than random weights by 1.00\u00a0cells,"
        " outside all 19 random initialisations"
    )
    assert of_difference[3].startswith("better than A by ")
    assert ", p\u00a0< 0.001" in of_difference[3]

    found = Compared(runs=(), rows=(), notes=(), probes=(row,))
    *_, (_, table) = difference_tables(found)
    (group,) = table.groups
    assert group.title == "p (v, layer 1, before reasoning)"
    (line,) = group.rows
    assert [one.reason for one in line.cells] == [
        of_a[3],
        of_b[3],
        of_difference[3],
    ]
    assert line.cells[2].text == of_difference[2]
