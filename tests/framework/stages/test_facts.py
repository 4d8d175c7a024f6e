"""Facts of episodes are asked for once, kept with the run, and made anew where they are
missing, damaged or of another version.
"""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import Choice, Plan, Result, evaluate, rescore
from gde.data.measure import Measures
from gde.data.result import Failure, Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean
from gde.parts.metric import Declared
from gde.runs.verifying import verify
from gde.stages.evidence import load_evidence
from gde.stages.facts import know_facts
from gde.stages.scoring import score
from gde.store.folder import RunFolder
from gde.store.journal import Journal

PLAN = Plan(
    environment=Choice(name="grid", config={"size": [5, 7]}),
    agent="random",
    metrics=["success", "accuracy", "efficiency"],
    episodes=6,
    repeats=2,
)


@pytest.fixture
def run(tmp_path: Path) -> Result:
    return evaluate(PLAN, tmp_path / "run")


class Asked:
    """Counts the episodes whose worlds are asked for."""

    def __init__(self, fails: tuple[str, ...] = ()) -> None:
        self.asked: list[str] = []
        self.fails = fails

    def __call__(self, one: Trajectory, _: Model) -> Facts:
        self.asked.append(str(one.key))
        if str(one.key) in self.fails:
            raise ZeroDivisionError("no walls")
        return {"turns": len(one.turns), "nothing": None}


def declared(facts: Callable[[Trajectory, Model], Facts], made_by: str) -> Declared:
    metric = EpisodeMetric(
        columns=("turns", "nothing"),
        facts=facts,
        numbers=(
            Mean("turns", "turns", share=False),
            Mean("nothing", "nothing", reason="there is nothing"),
        ),
    )
    return Declared(metric, Measures(), made_by)


def scored(
    run: Result, one: Declared, *anew: str
) -> tuple[dict[str, Measurement], tuple[Failure, ...]]:
    """The numbers of a whole run by name, and all failures."""
    evidence = load_evidence(run.run)
    metrics = [("mine", lambda: one)]
    with closing(Journal.open(Path(run.run) / "run.sqlite")) as journal:
        failures = know_facts(evidence, metrics, journal, None, anew)
    found, failed = score(metrics, evidence, [{"size": 5}, {"size": 7}])
    return {each.label: each for each in found}, (*failures, *failed)


def change(run: Result, statement: str) -> None:
    with closing(Journal.open(Path(run.run) / "run.sqlite")) as journal:
        journal.write([(statement, ())])


def test_every_episode_is_asked_once_for_all_conditions_and_times(run: Result) -> None:
    asked = Asked()
    first, failures = scored(run, declared(asked, "v1"))
    assert (len(asked.asked), len(set(asked.asked)), failures) == (24, 24, ())
    evidence = load_evidence(run.run)
    (alone, _) = declared(asked, "").metric(evidence)
    assert first["turns"] == replace(alone, source="mine")
    assert first["nothing"].reason == "there is nothing"
    again = Asked()
    assert scored(run, declared(again, "v1"))[0] == first
    assert again.asked == []


@pytest.mark.parametrize(("made_by", "anew"), [("v2", ()), ("", ()), ("v1", ("mine",))])
def test_another_version_an_object_and_what_is_to_be_made_anew_are_asked(
    run: Result, made_by: str, anew: tuple[str, ...]
) -> None:
    first, _ = scored(run, declared(Asked(), "v1"))
    asked = Asked()
    assert scored(run, declared(asked, made_by), *anew)[0] == first
    assert len(asked.asked) == 24


@pytest.mark.parametrize(
    ("damage", "n_asked"),
    [
        ("DELETE FROM episode_facts WHERE episode = '0/3/1'", 1),
        ("UPDATE episode_facts SET facts = '{' WHERE episode = '0/3/1'", 1),
        ("UPDATE episode_facts SET facts = '[]' WHERE episode = '0/3/1'", 1),
        (
            "UPDATE episode_facts SET facts = replace(facts, ',null]', ']') WHERE episode = '0/3/1'",
            1,
        ),
        ("DELETE FROM fact_sets", 24),
    ],
)
def test_what_is_missing_or_no_row_is_made_anew_alone(
    run: Result, damage: str, n_asked: int
) -> None:
    first, _ = scored(run, declared(Asked(), "v1"))
    change(run, damage)
    asked = Asked()
    assert scored(run, declared(asked, "v1"))[0] == first
    assert len(asked.asked) == n_asked
    assert scored(run, declared(again := Asked(), "v1"))[0] == first
    assert again.asked == []


@pytest.mark.parametrize(
    "row",
    [
        *(5, None, "one", {}, [], ["one", None], ["7", None], [True, None]),
        *([{}, None], [10**400, None], [1e999, None]),
    ],
)
def test_a_forged_row_is_made_anew(run: Result, row: object) -> None:
    first, _ = scored(run, declared(Asked(), "v1"))
    path = Path(run.run) / "run.sqlite"
    with closing(Journal.open(path)) as journal:
        (made,) = journal.query("SELECT number FROM fact_sets WHERE made_by = 'v1'")
    forged = json.dumps({made["number"]: row, "99": [1.0]})
    change(run, f"UPDATE episode_facts SET facts = '{forged}' WHERE episode = '0/3/1'")
    asked = Asked()
    assert scored(run, declared(asked, "v1"))[0] == first
    assert asked.asked == ["0/3/1"]


def test_facts_that_fail_cost_their_episodes_and_are_asked_again(run: Result) -> None:
    whole, _ = scored(run, declared(Asked(), "v1"))
    lost = ("0/0/0", "1/2/1")
    found, (failure,) = scored(run, declared(Asked(lost), "v2"))
    assert found["turns size=5"].n == whole["turns size=5"].n - 1
    assert found["turns"].n == whole["turns"].n - 2
    assert failure.subject == "mine"
    assert failure.reason == (
        "fails in 2 of 24 episodes, first in episode 0/0/0: ZeroDivisionError: no walls"
    )
    assert "in __call__" in failure.traceback
    asked = Asked()
    assert scored(run, declared(asked, "v2")) == (whole, ())
    assert asked.asked == [*lost]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"turn": 1.0}, "its facts are turn: it declares turns, nothing"),
        (
            {"turns": "one", "nothing": None},
            "its fact 'turns' is 'one': give a finite number or None",
        ),
        (
            {"turns": float("inf"), "nothing": None},
            "its fact 'turns' is inf: give a finite number or None",
        ),
    ],
)
def test_facts_that_are_not_as_declared_give_no_number(
    run: Result, facts: Facts, message: str
) -> None:
    found, (failure,) = scored(run, declared(lambda *_: facts, "v1"))
    assert found["turns"].reason == "the facts of 24 of 24 episodes failed"
    assert found["turns size=7"].reason == "the facts of 12 of 12 episodes failed"
    assert failure.reason.endswith(f"first in episode 0/0/0: {message}")


def test_a_changed_fact_is_noticed_and_made_anew(run: Result) -> None:
    path = Path(run.run)
    before = run.measurements
    change(run, "UPDATE episode_facts SET facts = replace(facts, '1.0', '0.0')")
    assert rescore(path).measurements == before
    text = "SELECT sum(facts LIKE '%1.0%') AS n FROM episode_facts"
    with closing(RunFolder.open(path).journal()) as journal:
        assert journal.query(text)[0]["n"] > 0


def test_doctor_says_how_changed_facts_are_made_anew(run: Result) -> None:
    change(run, "DELETE FROM episode_facts WHERE episode = '0/3/1'")
    remedy = f"make them anew with `gde rescore {run.run}`"
    assert verify(run.run) == (
        f"run.sqlite: episode_facts is not as gde wrote it: {remedy}",
    )
    rescore(run.run)
    assert verify(run.run) == ()


def test_a_run_keeps_the_facts_of_its_metrics(run: Result) -> None:
    with closing(RunFolder.open(Path(run.run)).journal()) as journal:
        sets = journal.query("SELECT made_by FROM fact_sets ORDER BY made_by")
        (row,) = journal.query("SELECT count(*) AS n FROM episode_facts")
    assert [json.loads(each["made_by"])[2] for each in sets] == [
        "gde-eval:accuracy v1",
        "gde-eval:efficiency v1",
        "gde-eval:success v1",
    ]
    assert row["n"] == 24
