"""The ranking: the best first, each against it, and equal ranks where no test tells
variants apart.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import Compared, Row, Side
from gde.comparisons.ranking import Ranked, rank
from gde.data.json import Json
from gde.data.measure import Better, Measure
from gde.data.model_use import ModelUse, Usage
from gde.data.result import Failure, Measurement, Result, Subject
from gde.reporting.ranking import ABSENT, BY_WORLD, ranking
from gde.reporting.terminal.contest_screen import contest_screen
from gde_plugins.pages.contest_page import ranking_table

FOLDER = Path("contest")


def result(value: float | None, better: Better = "more", **changes: object) -> Result:
    number = Measurement(
        name="success",
        value=value,
        unit="share",
        n=40,
        interval=None if value is None else (0.0, 1.0),
        reason="" if value is not None else "no episode was finished",
    )
    measure = Measure(
        name="success", title="Success rate", better=better, headline=True
    )
    made = Result(
        run="run",
        status="ok",
        plan_hash="0",
        measurements=(number,),
        failures=(),
        subject=Subject(
            agent="a", environment="grid", episodes=10, turns=50, unusable=5
        ),
        measures=(measure,),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def row(name: str, a: float, b: float, p: float | None, tested_as: str = "") -> Row:
    return Row(
        name=name,
        better="more",
        where={},
        unit="share",
        n=40,
        clusters=40,
        n_different=20,
        a=a,
        b=b,
        difference=b - a,
        interval=(b - a - 0.1, b - a + 0.2),
        p_permutation=None,
        p_wilcoxon=None,
        rank_biserial=None,
        effect_paper=None,
        mde=0.3,
        p=p,
        reason="" if p is not None else "not measured: 2 of 40 pairs differ, needs 6",
        tested_as=tested_as,
    )


def compared(a: str, b: str, *rows: Row) -> Compared:
    sides = tuple(Side(run=str(FOLDER / name), subject=Subject()) for name in (a, b))
    return Compared(runs=sides, rows=rows, notes=())


def by_name(ranked: tuple[Ranked, ...]) -> Mapping[str, Ranked]:
    return {one.variant: one for one in ranked}


THREE = {"a": result(0.5), "b": result(0.9), "c": result(0.8)}
PAIRS = {
    ("a", "b"): compared("a", "b", row("success", 0.5, 0.9, 0.001)),
    ("a", "c"): compared("a", "c", row("success", 0.5, 0.8, 0.01)),
    ("b", "c"): compared("b", "c", row("success", 0.9, 0.8, 0.4)),
}


def comparison(
    results: Mapping[str, Result],
    *pairs: Compared,
    differing: Mapping[str, Mapping[str, Json]] = MappingProxyType({}),
    reason: str = "",
) -> Comparison:
    return Comparison(
        runs={name: FOLDER / name for name in results},
        results=results,
        differing=differing or {name: {} for name in results},
        compared=pairs,
        reason=reason,
    )


def test_of_equals_the_one_with_the_most_worlds_is_the_best() -> None:
    few = result(1.0)
    few = replace(few, measurements=(replace(few.measurements[0], n=5),))
    ranked = rank({"few": few, "many": result(1.0), "worst": result(0.2)}, {})
    assert [one.variant for one in ranked] == ["many", "few", "worst"]


def test_variants_that_no_test_tells_apart_share_a_rank() -> None:
    ranked = rank(THREE, PAIRS)
    assert [(one.variant, one.rank) for one in ranked] == [("b", 1), ("c", 1), ("a", 3)]


def test_each_verdict_is_against_the_best_whichever_way_it_was_compared() -> None:
    best, second, last = rank(THREE, PAIRS)
    assert best.verdict is None
    assert second.verdict is not None and last.verdict is not None
    assert (second.verdict.control, second.verdict.outcome) == ("b", "none")
    assert (last.verdict.outcome, last.verdict.p) == ("worse", 0.001)
    assert last.verdict.difference == pytest.approx(-0.4)
    assert last.verdict.interval == pytest.approx((-0.6, -0.3))


def test_less_may_be_better() -> None:
    less = {
        name: result(one.measurements[0].value, "less") for name, one in THREE.items()
    }
    pairs = {}
    for names, one in PAIRS.items():
        rows = [replace(each, better="less") for each in one.rows]
        pairs[names] = replace(one, rows=tuple(rows))
    ranked = rank(less, pairs)
    assert [(one.variant, one.rank) for one in ranked] == [("a", 1), ("c", 2), ("b", 2)]


def test_a_row_with_the_test_of_another_has_its_p_value() -> None:
    same = row("success", 0.5, 0.9, None, tested_as="length")
    pair = compared("a", "b", same, row("length", 9.0, 5.0, 0.02))
    ranked = by_name(rank({"a": result(0.5), "b": result(0.9)}, {("a", "b"): pair}))
    verdict = ranked["a"].verdict
    assert verdict is not None
    assert (ranked["a"].rank, verdict.p, verdict.reason) == (2, 0.02, "")


def test_without_a_test_nothing_is_told_apart() -> None:
    pair = compared("a", "b", row("success", 0.5, 0.9, None))
    runs = {"a": result(0.5), "b": result(0.9)}
    found = comparison(runs, pair)
    first, second = (ranking(found) or pytest.fail("no ranking")).lines
    assert (first.rank, second.rank) == ("1", "1")
    assert second.verdict == "not tested against b: 2 of 40 pairs differ, needs 6"
    alone = ranking(comparison(runs, reason="no world is shared"))
    assert alone is not None
    assert [one.verdict for one in alone.lines] == ["", "not compared"]


def test_a_variant_without_a_number_is_last_and_says_why() -> None:
    runs = {"lost": result(None), "b": result(0.9)}
    last = rank(runs, {})[-1]
    assert (last.variant, last.rank, last.verdict) == ("lost", None, None)
    found = ranking(comparison(runs))
    assert found is not None
    assert found.lines[-1].verdict == "not measured: no episode was finished"


def test_none_is_the_best_where_all_have_failed_and_each_says_why() -> None:
    lost = Failure(stage="rollout", subject="0/0/0", reason="the server is gone")
    failed = result(3.0, "less", status="failed", failures=(lost,))
    found = comparison({"a": failed, "b": failed})
    table = ranking(found) or pytest.fail("no ranking")
    assert {line.against for line in table.lines} == {ABSENT}
    assert table.lines[0].verdict == "rollout: the server is gone"
    screen = "\n".join(contest_screen(found))
    assert "a: rollout: the server is gone" in screen
    assert "b: rollout: the server is gone" in screen


def test_numbers_without_a_better_direction_rank_nothing() -> None:
    assert rank({"a": result(0.5, ""), "b": result(0.9, "")}, {}) == ()


def test_spending_is_per_episode_and_unknown_where_a_part_is() -> None:
    usage = Usage(
        calls=50, prompt_tokens=900, answer_tokens=100, seconds=20.0, cost=5.0
    )
    use = ModelUse(name="m", model="m", kind="agent", part="a", usage=usage)
    (one,) = rank({"a": result(0.5, models=(use,))}, {})
    assert (one.usable, one.calls, one.tokens) == (0.9, 5.0, 100.0)
    assert (one.seconds, one.cost) == (2.0, 0.5)
    untold = replace(use, usage=replace(usage, untold=1))
    (one,) = rank({"a": result(0.5, models=(untold,))}, {})
    assert (one.calls, one.tokens, one.cost) == (5.0, None, None)


@pytest.mark.parametrize("n", [2, 3, 9, 40])
def test_however_many_variants_there_are_they_fit_on_a_screen(n: int) -> None:
    runs = {}
    for i in range(n):
        name = f"gpt-oss-openai-a-rather-long-name-of-a-model-{i}"
        usage = Usage(
            calls=640,
            prompt_tokens=10**8,
            answer_tokens=10**7,
            seconds=1e5,
            cost=1234.5,
        )
        use = ModelUse(name=name, model=name, kind="agent", part="a", usage=usage)
        runs[name] = result(i / n, models=(use,))
    lines = contest_screen(comparison(runs))
    assert len(lines) <= 20 and max(map(len, lines)) <= 80
    best = next(line for line in lines if line.startswith(" 1 "))
    assert f"-{n - 1} " in best and " best " in best


def test_the_settings_that_differ_are_columns_where_names_do_not_say_them() -> None:
    runs = {"noisy-0.1": result(0.9), "noisy-0.2": result(0.5)}
    differing = {
        "noisy-0.1": {"agent.p": 0.1, "env.size": 5},
        "noisy-0.2": {"agent.p": 0.2},
    }
    found = ranking(comparison(runs, differing=differing))
    assert found is not None
    assert found.settings == ("env.size",)
    assert [one.settings for one in found.lines] == [("5",), ("",)]
    table = ranking_table(found)
    assert table.columns[:2] == ("rank", "env.size")
    screen = contest_screen(comparison(runs, differing=differing))
    assert any(line.split()[:1] == ["env.size"] for line in screen)


def test_settings_without_room_are_named() -> None:
    runs = {"a": result(0.9), "b": result(0.5)}
    settings = {f"agent.setting{i}": i for i in range(9)}
    differing = {"a": settings, "b": dict.fromkeys(settings, -1)}
    found = comparison(runs, differing=differing)
    lines = contest_screen(found)
    assert max(map(len, lines)) <= 80
    assert any("they also differ in agent.setting" in line for line in lines)
    table = ranking_table(ranking(found) or pytest.fail("no ranking"))
    assert "agent.setting5, agent.setting6" in table.note


@pytest.mark.parametrize(("by_world", "is_said"), [(0.8, False), (0.7, True)])
def test_a_difference_by_world_says_so_where_the_values_differ_by_another(
    by_world: float, is_said: bool
) -> None:
    two = {"b": result(0.9), "c": result(0.8)}
    found = comparison(two, compared("b", "c", row("success", 0.9, by_world, 0.4)))
    ranked = ranking(found)
    assert ranked is not None
    assert (ranked.note == BY_WORLD) is is_said
    assert (BY_WORLD in contest_screen(found)) is is_said
    assert (BY_WORLD in ranking_table(ranked).note) is is_said
