"""Two runs compared: over the worlds they share, or over worlds of their own."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest

from gde import Choice, GdeError, Plan, episodes_frame, load_evidence
from gde.comparisons.comparing import compare
from gde.comparisons.differences import (
    Compared,
    Row,
    corrected,
    few_worlds,
    same_tests,
)
from gde.data.trajectory import Trajectory
from gde.errors import UnknownName
from gde.numerics.by_world import Quantity
from gde.numerics.episode_metric import EpisodeMetric, Model
from gde.request.catalogue import Catalogue
from gde.runs.evaluating import evaluate
from gde.store.journal import Journal

MakeRun = Callable[..., Path]
ACCURACY = Choice(name="accuracy")


@pytest.fixture
def make_run(tmp_path: Path, catalogue: Catalogue) -> MakeRun:
    """(name, agent, length, metrics) to the folder of a run."""

    def make(
        name: str,
        agent: str = "scripted",
        length: int = 12,
        metrics: tuple[Choice, ...] = (ACCURACY,),
        seed: int = 0,
    ) -> Path:
        environment = Choice(name="corridor", config={"length": length})
        plan = Plan(
            environment=environment,
            agent=Choice(name=agent),
            episodes=30,
            metrics=metrics,
            seed=seed,
        )
        evaluate(plan, tmp_path / name, catalogue)
        return tmp_path / name

    return make


def row(compared: Compared, name: str) -> Row:
    (found,) = [each for each in compared.rows if each.name == name and not each.where]
    return found


def test_a_row_has_every_test_of_its_pairs(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    compared = compare(make_run("a"), make_run("b", "random"), catalogue)
    accuracy = row(compared, "accuracy")
    assert (accuracy.n, accuracy.n_different) == (11, 10)
    assert accuracy.a == 1.0 > accuracy.b == pytest.approx(1 + accuracy.difference)
    assert accuracy.rank_biserial == -1.0
    assert accuracy.effect_paper == 1.0
    assert accuracy.p_wilcoxon == pytest.approx(2 / 2**10)
    assert (accuracy.p_wilcoxon or 1) <= (accuracy.q or 0) <= (accuracy.p or 0) < 0.01
    assert (accuracy.interval or (0, 0))[1] < 0 < (accuracy.mde or 0)
    json.dumps(asdict(compared))


def test_the_other_way_round_only_signs_change(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    a, b = make_run("a"), make_run("b", "random")
    there, back = (
        row(compare(a, b, catalogue), "accuracy"),
        row(compare(b, a, catalogue), "accuracy"),
    )
    assert (there.p, there.mde) == (back.p, back.mde)
    assert there.difference == -back.difference


def test_breakdowns_are_families_of_their_own(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    tested = partial(a_row, n=9)
    assert tested("accuracy").family == tested("success").family
    assert tested("accuracy", size=7).family == tested("accuracy", size=9).family
    assert (
        len(
            {
                tested("accuracy").family,
                tested("accuracy", size=7).family,
                tested("success", size=7).family,
            }
        )
        == 3
    )


def test_runs_that_share_no_world_are_refused(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    a, b = make_run("a"), make_run("b", "random", length=20)
    with pytest.raises(GdeError, match=r"share no world: use the same environment"):
        compare(a, b, catalogue)


def test_metrics_are_configured_as_in_the_first_run(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    one, other = (
        Choice(name="pairs", config={"measures": (measure,)})
        for measure in ("success", "accuracy")
    )
    a, b = (
        make_run("a", metrics=(ACCURACY, one)),
        make_run("b", metrics=(ACCURACY, other)),
    )
    (note,) = compare(a, b, catalogue).notes
    assert (
        note
        == f"metric 'pairs' is configured differently in {b}: both are measured as in {a}"
    )
    assert (
        compare(a, make_run("counterfactual", metrics=(ACCURACY, one)), catalogue).notes
        == ()
    )


def test_runs_without_a_metric_in_common_are_refused(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    a, b = make_run("a"), make_run("b", metrics=(Choice(name="success"),))
    with pytest.raises(GdeError, match="share no metric"):
        compare(a, b, catalogue)


def test_only_metrics_need_their_packages(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    a, b = make_run("a"), make_run("b", "random")
    before = compare(a, b, catalogue)
    plan = (b / "plan.toml").read_text()
    (b / "plan.toml").write_text(plan.replace('"random"', '"needs-absent"'))
    assert "needs-absent" in (b / "plan.toml").read_text()
    assert compare(a, b, catalogue).rows == before.rows


def test_a_metric_that_raises_is_named_with_its_world(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    metrics = (ACCURACY, Choice(name="broken"))
    a, b = make_run("a", metrics=metrics), make_run("b", metrics=metrics)
    with pytest.raises(
        GdeError, match=r"metric 'broken' fails on world .*: ZeroDivisionError"
    ):
        compare(a, b, catalogue)


def a_row(name: str, n: int, different: int | None = None, **where: int) -> Row:
    numbers = {
        "n": n,
        "clusters": n,
        "n_different": different or n,
        "a": 0.0,
        "b": 0.0,
        "difference": 0.0,
        "p": 1.0,
    }
    rest = dict.fromkeys(
        (
            "interval",
            "p_permutation",
            "p_wilcoxon",
            "rank_biserial",
            "effect_paper",
            "mde",
        )
    )
    return Row(name=name, where=where, unit="share", reason="", **numbers, **rest)  # type: ignore[arg-type]


def test_of_a_pairs_two_tests_wilcoxons_is_corrected() -> None:
    both = replace(a_row("accuracy", n=9), p_wilcoxon=0.02, p_permutation=0.03)
    other = replace(a_row("success", n=9), p_wilcoxon=0.4, p_permutation=0.001)
    found = corrected([both, other])
    assert [one.p for one in found] == pytest.approx([0.04, 0.4])
    assert [one.q for one in found] == pytest.approx([0.04, 0.4])


def test_of_two_numbers_that_are_equal_in_a_world_one_is_tested(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    """Else the same test would count twice in its family, and every corrected p value
    be too large.
    """
    compared = compare(make_run("a"), make_run("b", "random"), catalogue)
    assert [each.name for each in compared.rows] == ["accuracy"]
    accuracy = row(compared, "accuracy")
    assert accuracy.p == accuracy.p_wilcoxon
    assert accuracy.title == "Accuracy"


def test_a_comparison_says_what_was_compared(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    a, b = make_run("a"), make_run("b", "random")
    one, other = compare(a, b, catalogue).runs
    assert (one.run, one.subject.agent, other.subject.agent) == (
        str(a),
        "scripted",
        "random",
    )
    assert (one.subject.environment, one.subject.episodes, one.subject.worlds) == (
        "corridor",
        30,
        11,
    )


def test_a_run_is_not_compared_with_itself_but_with_another_of_its_plan(
    make_run: MakeRun,
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = make_run("a")
    (tmp_path / "link").symlink_to(a)
    monkeypatch.chdir(tmp_path)
    for other in ("a", "./a", "a/../a/", tmp_path / "link"):
        with pytest.raises(GdeError, match=r"are the same run; choose two"):
            compare(a, other, catalogue)
        with pytest.raises(GdeError, match=r"are the same run; choose two"):
            compare(other, a, catalogue)
    same = compare(a, make_run("counterfactual"), catalogue).rows
    assert {(row.n_different, row.difference, row.p) for row in same} == {
        (0, 0.0, None)
    }


def test_what_ends_in_one_of_two_ways_is_tested_once(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    """Success, the share that ended by it and the share that did not are one
    quantity.
    """
    metrics = (Choice(name="outcomes"), Choice(name="success"))
    compared = compare(
        make_run("a", metrics=metrics),
        make_run("b", "random", metrics=metrics),
        catalogue,
    )
    success, terminated, horizon = (
        row(compared, name)
        for name in ("success", "endings.terminated", "endings.horizon")
    )
    assert success.p == success.p_wilcoxon, "it is the only member of its family"
    for other in (terminated, horizon):
        assert (other.p, other.tested_as, other.reason) == (
            None,
            "success",
            "tested as Success rate",
        )
        assert other.p_wilcoxon == success.p_wilcoxon and abs(
            other.difference
        ) == pytest.approx(-success.difference)


def test_the_same_test_is_found_whatever_its_sign_and_none_where_nothing_differs() -> (
    None
):
    def runs(*numbers: float) -> tuple[dict[str, float], dict[str, float]]:
        half = len(numbers) // 2
        return tuple(
            {str(i): each for i, each in enumerate(part)}
            for part in (numbers[:half], numbers[half:])
        )  # type: ignore[return-value]

    names = ("one", "less", "twice", "still", "calm")
    one, less, twice, still, calm = (Quantity(name=name, unit="") for name in names)
    values = {
        one: runs(0, 1, 1, 0.5),
        less: runs(3, 2, 2, 2.5),
        twice: runs(0, 2, 2, 1),
    }
    same = {still: runs(1, 1, 1, 1), calm: runs(2, 2, 2, 2)}
    assert same_tests({**values, **same}) == {less: one}
    apart = Quantity(name="apart", unit="")
    assert same_tests({**values, **same, apart: runs(5, 1, 6, 0.5)}) == {
        less: one,
        apart: one,
    }


def test_headlines_are_compared_in_each_condition(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    compared = compare(
        make_run("a", length=(5, 9)), make_run("b", "random", length=(5, 9)), catalogue
    )
    conditions = [each for each in compared.rows if each.where]
    assert [each.where for each in conditions] == [{"length": 5}, {"length": 9}]
    assert {each.family for each in conditions} == {("accuracy", "length")}
    assert sum(each.n for each in conditions) == row(compared, "accuracy").n
    assert all(
        each.p is None or each.p >= (each.p_wilcoxon or 0) for each in conditions
    )


def test_conditions_stand_in_the_order_of_the_plan(
    make_run: MakeRun, catalogue: Catalogue
) -> None:
    compared = compare(
        make_run("a", length=(9, 5)), make_run("b", "random", length=(9, 5)), catalogue
    )
    assert [each.where for each in compared.rows if each.where] == [
        {"length": 9},
        {"length": 5},
    ]
    assert compared.swept == ("length",)


def test_few_worlds_are_a_warning(make_run: MakeRun, catalogue: Catalogue) -> None:
    compared = compare(
        make_run("a", length=4), make_run("b", "random", length=4), catalogue
    )
    assert (
        "compared over 3 worlds, fewer than 10: too few for a conclusion"
        in compared.notes
    )


def test_a_warning_of_few_worlds_says_of_which_rows() -> None:
    """Some numbers have fewer worlds than others, e.g. those of errors."""
    rows = [a_row("accuracy", 12), a_row("slips", 2), a_row("plans", 9)]
    warning, no_interval = few_worlds(rows)
    assert warning == (
        "2 of 3 rows compared over 2 to 9 worlds, fewer than 10: "
        "too few for a conclusion"
    )
    assert no_interval == "no interval from fewer than 6 clusters"
    assert few_worlds(rows[:1]) == []
    assert few_worlds([a_row("slips", 2, density=1), rows[0]]) == []


def _facts(run: Path, statement: str = "") -> list[dict[str, object]]:
    """The facts that a run keeps, after a change."""
    with closing(Journal.open(run / "run.sqlite")) as journal:
        if statement:
            journal.write([(statement, ())])
        return [dict(row) for row in journal.query("SELECT * FROM episode_facts")]


CHANGED = "UPDATE episode_facts SET facts = replace(facts, '1.0', '0.0')"


def test_facts_are_read_where_a_run_keeps_them_else_asked_for_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(
        environment="grid", agent="random", metrics=["success", "length"], episodes=8
    )
    a, b = tmp_path / "a", tmp_path / "b"
    evaluate(plan, a)
    evaluate(replace(plan, agent=Choice(name="optimal")), b)
    found = compare(a, b)

    def unasked(*_: object) -> None:
        raise GdeError("nothing is kept")

    with monkeypatch.context() as patch:
        patch.setattr(EpisodeMetric, "row", unasked)
        assert compare(a, b) == found
    changed = _facts(a, CHANGED)
    assert (compare(a, b).rows, _facts(a)) == (found.rows, changed)
    _facts(a, "DELETE FROM fact_sets")
    assert (compare(a, b).rows, _facts(a)) == (found.rows, changed)


def test_a_fact_that_fails_costs_its_worlds_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(environment="grid", agent="random", metrics=["length"], episodes=8)
    a, b = tmp_path / "a", tmp_path / "b"
    evaluate(plan, a)
    evaluate(replace(plan, agent=Choice(name="optimal")), b)
    row_of = EpisodeMetric.row

    def failing(self: EpisodeMetric, one: Trajectory, model: Model) -> object:
        if one.key.world == 3:
            raise ZeroDivisionError("no walls")
        return row_of(self, one, model)

    _facts(b, "DELETE FROM fact_sets")
    monkeypatch.setattr(EpisodeMetric, "row", failing)
    compared = compare(a, b)
    assert row(compared, "length").n == 7
    told = f"{b}: metric 'length' fails in 1 of 8 episodes, first in episode 0/3/0"
    assert any(note.startswith(told) for note in compared.notes)


def test_worlds_in_which_one_run_is_better_are_listed_with_their_episodes(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment="grid",
        agent=Choice(name="noisy", config={"p": 0.5}),
        metrics=["success", "efficiency", "length"],
        episodes=8,
        repeats=2,
    )
    a, b = tmp_path / "a", tmp_path / "b"
    evaluate(plan, a)
    evaluate(replace(plan, agent=Choice(name="noisy", config={"p": 0.6})), b)
    regrets: list[dict[str, float]] = []
    for run in (a, b):
        own = episodes_frame(run).groupby("world")["efficiency.regret"]
        regrets.append(own.mean().to_dict())
    found = compare(a, b, episodes="efficiency.regret").worlds
    assert found
    assert found.equal == sum(regrets[0][one] == regrets[1][one] for one in regrets[0])
    assert {one.world: (one.a, one.b) for one in found.worlds} == {
        one: pytest.approx((regrets[0][one], regrets[1][one]))
        for one in regrets[0]
        if regrets[0][one] != regrets[1][one]
    }
    assert {one.better for one in found.worlds} == {"a", "b"}
    assert all((one.b < one.a) == (one.better == "b") for one in found.worlds)
    # A's come first, and of each the clearest.
    order = [(one.better, -abs(one.b - one.a)) for one in found.worlds]
    assert order == sorted(order)
    shares = compare(a, b, episodes="efficiency.spl").worlds
    assert shares
    assert {one.better for one in shares.worlds} == {"a", "b"}
    assert all((one.b > one.a) == (one.better == "b") for one in shares.worlds)
    assert any(abs(one.b - one.a) < 1 for one in shares.worlds if one.better == "b")
    first = found.worlds[0]
    worlds = {str(one.key): one.world.id for one in load_evidence(b).trajectories}
    assert [worlds[key] for key in first.episodes_b] == [first.world] * 2
    with pytest.raises(UnknownName, match="better direction 'length'"):
        compare(a, b, episodes="length")
