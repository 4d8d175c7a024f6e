"""Tasks to worlds, and the whole benchmark as files."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.errors import GdeError
from gde.executors.serial import Serial
from gde.parts.context import OutsideRun
from gde.request.catalogue import Catalogue
from gde_plugins.executors.config import ProcessesConfig
from gde_plugins.executors.processes import Processes
from gde_plugins.reward_prediction.building import (
    Order,
    build_domain,
    in_chunks,
    write_preferences,
)
from gde_plugins.reward_prediction.config import Recipe
from gde_plugins.reward_prediction.domains import (
    DOMAINS,
    TASK_TYPES,
    Domain,
    find_domain,
    opened,
)
from gde_plugins.reward_prediction.files import find_records
from gde_plugins.reward_prediction.maker import Maker
from gde_plugins.reward_prediction.published import ABLATIONS, TABLE_1

ALONE = Serial()


def order(
    folder: Path, name: str = "blocksworld", n_tasks: int = 6, **settings: Any
) -> Order:
    return Order(
        domain=find_domain(name),
        recipe=Recipe(),
        n_tasks=n_tasks,
        settings=settings,
        folder=folder / name,
    )


def quiet(domain: str, done: int, total: int) -> None:
    assert 0 <= done <= total


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_published_numbers() -> None:
    assert sum(domain.pairs for domain in DOMAINS.values()) == 1_227
    assert [domain.tasks(0.001) for domain in DOMAINS.values()] == [1] * 5
    for row in (*TABLE_1.values(), *ABLATIONS.values()):
        assert sum(row.values.values()) / 5 == pytest.approx(row.overall, abs=0.0101), (
            row.title
        )


@pytest.mark.parametrize("name", ["blocksworld", "webshop"])
def test_every_success_succeeds_and_no_failure_does(name: str, tmp_path: Path) -> None:
    built = build_domain(order(tmp_path, name, 12), ALONE, quiet)
    assert (built.pairs, built.failures) == (12, ())
    records = [(file.side, file.read()) for file in find_records(tmp_path)]
    assert len(records) == 24
    assert {(side, record.success) for side, record in records} == {
        ("positive", 1.0),
        ("negative", 0.0),
    }
    assert all(
        step.action in step.admissible for _, record in records for step in record.steps
    )


@pytest.mark.extended
def test_a_build_is_the_same_in_parts_and_in_processes(tmp_path: Path) -> None:
    whole, parts, spread = (tmp_path / name for name in ("whole", "parts", "spread"))
    build_domain(order(whole, n_tasks=12), ALONE, quiet)
    build_domain(order(parts, n_tasks=12), ALONE, quiet)
    for index, side in ((1, "negative_0"), (4, "negative_0"), (5, "positive")):
        (parts / "blocksworld" / f"blocksworld-000{index}" / f"{side}.json").unlink()
    assert build_domain(order(parts, n_tasks=12), ALONE, quiet).pairs == 12
    build_domain(order(spread, n_tasks=12), Processes(ProcessesConfig(2)), quiet)
    assert contents(whole) == contents(parts) == contents(spread)


@given(n_tasks=st.integers(0, 400), workers=st.integers(1, 8))
def test_every_worker_has_its_turns_at_the_tasks(n_tasks: int, workers: int) -> None:
    chunks = in_chunks(range(n_tasks), workers)
    assert [task for chunk in chunks for task in chunk] == [*range(n_tasks)]
    assert max(map(len, chunks), default=1) <= 25
    assert workers == 1 or len(chunks) >= min(n_tasks, 2 * workers)


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    build_domain(order(tmp_path), ALONE, quiet)
    marked = tmp_path / "blocksworld" / "blocksworld-0002" / "positive.json"
    marked.write_text("mine", encoding="utf-8")
    build_domain(order(tmp_path, n_tasks=7), ALONE, quiet)
    assert marked.read_text(encoding="utf-8") == "mine"
    assert len([*find_records(tmp_path)]) == 14


def test_settings_of_the_user_s_take_the_place_of_variants(tmp_path: Path) -> None:
    domain = find_domain("blocksworld")
    assert [domain.variant(i, {})["blocks"] for i in range(10)] == [5, *[4] * 8, 5]
    assert domain.variant(0, {"problems": "x"}) == {"play_on": True, "problems": "x"}
    build_domain(order(tmp_path, n_tasks=2, blocks=6), ALONE, quiet)
    assert {file.read().world["blocks"] for file in find_records(tmp_path)} == {6}


PROBLEM = "(define (problem p) (:domain d) (:objects a b c) (:init (handempty) {start}) (:goal (and (on {goal}))))"
START = "(ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c)"


def test_listed_worlds_are_used_once_and_one_that_cannot_be_used_is_replaced(
    tmp_path: Path,
) -> None:
    problems = tmp_path / "problems"
    problems.mkdir()
    goals = ("a b", "b c", "c a", "a c", "a a", "b a")
    for number, goal in enumerate(goals):
        text = PROBLEM.format(start=START, goal=goal)
        (problems / f"{number}.pddl").write_text(text, encoding="utf-8")
    three = replace(find_domain("blocksworld"), pairs=3)
    wanted = replace(
        order(tmp_path / "out", n_tasks=3, problems=str(problems)), domain=three
    )
    built = build_domain(wanted, ALONE, quiet)
    assert (built.pairs, built.failures) == (3, ())
    asked = [
        file.read().goal
        for file in find_records(tmp_path / "out")
        if file.side == "positive"
    ]
    assert len({*asked}) == 3
    # One of six cannot be solved: with six tasks nothing is left to take its place.
    built = build_domain(
        order(tmp_path / "all", n_tasks=6, problems=str(problems)), ALONE, quiet
    )
    assert built.pairs == 5
    assert "would be a circle" in built.failures[0]


def test_a_share_is_a_beginning_of_the_whole_where_worlds_are_listed(
    tmp_path: Path,
) -> None:
    """Also of those that take the place of others: every other problem cannot be
    solved.
    """
    problems = tmp_path / "problems"
    problems.mkdir()
    for number in range(30):
        text = PROBLEM.format(start=START, goal="a a" if number % 2 else "a b").replace(
            "problem p", f"problem p{number}"
        )
        (problems / f"{number}.pddl").write_text(text, encoding="utf-8")
    five = replace(find_domain("blocksworld"), pairs=5)
    whole, share = (
        replace(
            order(tmp_path / f"{n}", n_tasks=n, problems=str(problems)),
            domain=five,
            recipe=Recipe(seed=3),
        )
        for n in (5, 3)
    )
    for each in (whole, share):
        assert build_domain(each, ALONE, quiet).pairs == each.n_tasks
    assert contents(share.folder).items() < contents(whole.folder).items()


def test_worlds_that_a_variant_lists_are_for_the_tasks_of_that_variant(
    tmp_path: Path,
) -> None:
    """Four tasks of two variants with two worlds each: none is used twice, and none is
    kept for a task of the other variant.
    """
    variants = []
    for folder, goals in {"x": ("a b", "b c"), "y": ("c a", "a c")}.items():
        problems = tmp_path / folder
        problems.mkdir()
        variants.append({"problems": str(problems)})
        for goal in goals:
            text = PROBLEM.format(start=START, goal=goal)
            (problems / f"{goal[0]}.pddl").write_text(text)
    four = replace(
        find_domain("blocksworld"),
        pairs=4,
        variants=tuple(variants),
        instead=frozenset(),
    )
    built = build_domain(
        replace(order(tmp_path / "out", n_tasks=4), domain=four), ALONE, quiet
    )
    assert (built.pairs, built.failures) == (4, ())
    assert len({file.read().goal for file in find_records(tmp_path / "out")}) == 4


@pytest.mark.extended
@pytest.mark.timeout(1800)
def test_every_official_game_of_alfworld_gives_a_pair(tmp_path: Path) -> None:
    """Generated games in a folder of the official form: two for each of two types."""
    generation = pytest.importorskip("gde_plugins.text_worlds.alfworld.generation")
    official = tmp_path / "json_2.1.1" / "valid_unseen"
    shape = {"receptacles": 4, "objects": 2}
    for seed in range(4):
        task_type = TASK_TYPES[seed % 2]
        made = generation.made_game(
            tmp_path, {"seed": seed, "task_type": task_type, **shape}
        )
        trial = official / f"game-{seed}" / "trial"
        trial.parent.mkdir(parents=True)
        made.parent.rename(trial)
    settings = {"data": str(tmp_path), "split": "valid_unseen"}
    maker = Maker(find_domain("alfworld"), Recipe(), settings)
    tasks = range(0, 3 * len(TASK_TYPES), len(TASK_TYPES))
    try:
        pairs = [maker.pair(index + kind) for kind in (0, 1) for index in tasks[:2]]
        with pytest.raises(GdeError, match="task 12: it has no world left"):
            maker.pair(tasks[2])
    finally:
        maker.close()
    assert len({(pair.positive.goal, pair.positive.start) for pair in pairs}) == 4


def test_a_domain_that_cannot_be_had_is_one_failure(tmp_path: Path) -> None:
    nowhere = Domain(name="nowhere", title="Nowhere", pairs=3)
    wanted = Order(
        domain=nowhere, recipe=Recipe(), n_tasks=3, settings={}, folder=tmp_path
    )
    assert build_domain(wanted, ALONE, quiet).failures == (
        "domain nowhere: no environment of that name is installed",
    )
    with pytest.raises(
        GdeError, match="wanted an environment with the capability demonstration"
    ):
        opened(Domain(name="grid", title="Grid", pairs=1), {}, OutsideRun())
    failed = build_domain(
        order(tmp_path, n_tasks=2, problems=str(tmp_path / "none")), ALONE, quiet
    )
    assert (failed.pairs, len(failed.failures)) == (0, 1)
    assert failed.failures[0].startswith("domain blocksworld: env.problems")
    assert not (tmp_path / "blocksworld").exists()


def test_a_task_depends_on_nothing_but_itself() -> None:
    def made(maker: Maker, index: int) -> Any:
        return maker.pair(index)

    maker, other = (Maker(find_domain("blocksworld"), Recipe()) for _ in range(2))
    pairs = [made(maker, index) for index in (0, 1, 2)]
    assert [made(other, index) for index in (2, 1, 0)] == pairs[::-1]
    assert made(Maker(find_domain("blocksworld"), Recipe(seed=1)), 1) != pairs[1]
    assert (
        made(Maker(find_domain("blocksworld"), Recipe(), purpose="train"), 1)
        != pairs[1]
    )
    for each in (maker, other):
        each.close()


@pytest.mark.extended
def test_preferences_are_of_one_task_and_the_better_is_worth_more(
    tmp_path: Path,
) -> None:
    path = tmp_path / "blocksworld" / "train.jsonl"
    assert write_preferences(order(tmp_path), 35, ALONE, quiet)[:2] == (35, "")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 35
    for line in lines:
        goal = line["chosen"].splitlines()[0]
        assert goal.startswith("<GOAL> ")
        assert line["rejected"].startswith(goal)
        assert line["chosen"] != line["rejected"]
    assert len({line["task"] for line in lines}) == 4
    before = path.read_bytes()
    write_preferences(order(tmp_path), 35, Processes(ProcessesConfig(2)), quiet)
    assert path.read_bytes() == before


@pytest.mark.extended
def test_further_tasks_are_made_until_there_are_as_many_preferences(
    tmp_path: Path,
) -> None:
    """Successes of one or two steps give one to six."""
    short = replace(order(tmp_path / "a", blocks=3), recipe=Recipe(padding=0))
    assert write_preferences(short, 40, ALONE, quiet)[:2] == (40, "")
    tasks = list(dict.fromkeys(line["task"] for line in preferred(tmp_path / "a")))
    assert len(tasks) > 4
    assert write_preferences(
        replace(short, folder=tmp_path / "b"), 40, Processes(ProcessesConfig(2)), quiet
    )[:2] == (40, "")
    assert preferred(tmp_path / "b") == preferred(tmp_path / "a")


def test_preferences_that_cannot_be_had_are_told_of(tmp_path: Path) -> None:
    problems = tmp_path / "problems"
    problems.mkdir()
    for number, goal in enumerate(("a b", "b a", "a a")):
        (problems / f"{number}.pddl").write_text(
            PROBLEM.format(start=START, goal=goal), encoding="utf-8"
        )
    few = order(tmp_path / "few", n_tasks=1, problems=str(problems))
    n_written, said, _ = write_preferences(few, 100, ALONE, quiet)
    assert n_written == len(preferred(few.folder)) == 20
    assert said.endswith("it has no world left (20 preferences of 100, from 18 tasks)")
    none = order(tmp_path / "none", problems=str(tmp_path / "nope"))
    n_written, said, _ = write_preferences(none, 100, ALONE, quiet)
    assert (
        n_written == 0
        and said.startswith("domain blocksworld: env.problems")
        and "\n" not in said
    )
    assert not none.folder.exists()


def test_worlds_that_are_all_in_the_test_leave_none_to_train_on(
    tmp_path: Path,
) -> None:
    for number, goal in enumerate(("a b", "b a", "a a")):
        (tmp_path / f"{number}.pddl").write_text(
            PROBLEM.format(start=START, goal=goal), encoding="utf-8"
        )
    whole = order(tmp_path / "out", problems=str(tmp_path))
    n_written, said, _ = write_preferences(whole, 100, ALONE, quiet)
    assert n_written == 0 and "(0 preferences of 100" in said


def simulated(domain: str, **settings: Any) -> Any:
    """A domain whose simulator takes seconds to start."""
    marks = [pytest.mark.extended, pytest.mark.timeout(1800)]
    return pytest.param(domain, settings, marks=marks, id=f"{domain} {settings}")


@pytest.mark.parametrize(
    ("domain", "settings"),
    [
        ("blocksworld", {"blocks": 3}),
        ("webshop", {}),
        simulated("textworld", game="treasure-hunt", level=1),
        simulated("textworld", game="cooking", rooms=1, ingredients=1),
        simulated("alfworld", split="made", receptacles=4, objects=2),
        simulated("scienceworld", task="find-living-thing", listed=True),
    ],
)
def test_training_meets_no_task_and_no_text_of_the_test(
    domain: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    """Compared as plain texts, not by the digests that keep them apart."""
    offer = Catalogue.default().find("environment", domain).offer
    if lacking := (*offer.missing(), *offer.missing_programs()):
        pytest.skip(f"{domain} needs {', '.join(lacking)}")
    # Every game of a simulator is made for some seconds.
    n_tasks, n_preferences = (2, 10) if offer.imports else (6, 40)
    wanted = order(tmp_path / "all", domain, n_tasks, **settings)
    build_domain(wanted, ALONE, quiet)
    tested = set()
    for path in find_records(wanted.folder):
        record = path.read()
        first = record.steps[0]
        tested.add((record.goal, first.action, first.observation))
    assert len(tested) >= 3

    again = replace(wanted, folder=tmp_path / "train" / domain)
    for place, built in enumerate((None, tmp_path / "all")):
        there = replace(again, folder=again.folder / str(place))
        found = write_preferences(there, n_preferences, ALONE, quiet, built)
        assert found[:2] == (n_preferences, "")
        assert found[2]["tasks"][0] == 0
        for line in preferred(there.folder):
            for goal, action, observation in tested:
                begun = (
                    f"<GOAL> {goal} </GOAL>\n---\n<ACTION> {action} </ACTION>\n"
                    f"<STATE> {observation} "
                )
                assert not line["chosen"].startswith(begun)
                assert not line["rejected"].startswith(begun)


def test_training_apart_by_goals_shares_none_and_says_what_else_it_shares(
    tmp_path: Path,
) -> None:
    some = order(tmp_path / "some", n_tasks=40, blocks=3)
    apart = replace(some, folder=tmp_path / "apart")
    _, _, shared = write_preferences(some, 40, ALONE, quiet)
    assert shared["goals"][0] > 0 and shared["steps"][0] > 0
    n, _, shared = write_preferences(apart, 20, ALONE, quiet, apart=["goals"])
    assert n == len(preferred(apart.folder)) if n else not apart.folder.exists()
    assert shared["goals"][0] == shared["steps"][0] == 0


def preferred(folder: Path) -> list[dict[str, str]]:
    return [
        json.loads(line)
        for line in next(folder.rglob("train.jsonl"))
        .read_text(encoding="utf-8")
        .splitlines()
    ]
