"""Plans as files: what is written is what is read, and what cannot be read is refused
in a sentence.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde import Choice, ConfigError, How, Plan, UnknownName
from gde.request.catalogue import Catalogue
from gde.request.howfile import configure_how
from gde.request.planfile import (
    configure_run,
    plan_hash,
    plan_of,
    plan_tables,
    read_plan,
    write_plan,
)
from gde.request.refusing import refuse_how
from gde.request.resolve import resolve
from gde.validating import Text, marked

RESERVED = {"use", "as"}
"""Words of plan files; the second is no name of a field in Python either."""
names = st.text(min_size=1, max_size=20)
values = st.one_of(
    st.integers(-(2**60), 2**60),
    st.booleans(),
    names,
    st.floats(allow_nan=False, allow_infinity=False),
)
configs = st.dictionaries(
    names.filter(lambda name: name not in RESERVED),
    st.one_of(values, st.lists(values, max_size=3)),
)
choices = st.builds(Choice, name=names, config=configs)
plans = st.builds(
    Plan,
    environment=choices,
    agent=choices,
    models=st.lists(choices, max_size=2).map(tuple),
    probes=st.lists(choices, max_size=2).map(tuple),
    metrics=st.lists(choices, max_size=2).map(tuple),
    episodes=st.integers(1, 10**6),
    repeats=st.integers(1, 100),
    seed=st.integers(0, 2**60),
)


MUCH = How(
    concurrency=1,
    executor="processes",
    reporters=["html"],
    turn_seconds=9,
    max_tokens=9,
    cache="answers",
    settings={"model": {"retries": 1}, "html": {}},
)
"""Another way to run a plan."""


@given(plan=plans)
def test_a_plan_survives_its_file(
    plan: Plan, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    path.write_text(write_plan(plan), encoding="utf-8")
    read = read_plan(path)
    assert write_plan(read) == write_plan(plan)
    assert plan_hash(read) == plan_hash(plan)


def test_the_hash_sees_what_changes_results_and_nothing_else(
    catalogue: Catalogue,
) -> None:
    plan = Plan(environment=Choice(name="grid"), agent=Choice(name="random"))
    others = [
        replace(plan, seed=1),
        replace(plan, episodes=21),
        replace(plan, agent=Choice(name="optimal")),
    ]
    assert len({plan_hash(each) for each in [plan, *others]}) == 4

    hashes = set()
    for url, config in (("http://a/v1", {}), ("https://b/v1", {"timeout": 3})):
        named = Choice(name="react", config={"model": f"openai:m@{url}"})
        own = Choice(name="", config=config)
        asked = replace(plan, agent=named, models=(own,))
        for how in (How(), MUCH):
            hashes.add(plan_hash(resolve(asked, catalogue, how).plan))
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 2", "wanted version 3, got 2; use the gde-eval that wrote it"),
        ("[env]\nuse = 'grid'", r"wanted a table \[agent\]"),
        (
            "[env]\nuse = 'grid'\n[agent]\nname = 'x'",
            r"wanted \[agent\] with `use = NAME`",
        ),
        (
            "[env]\nuse='grid'\n[agent]\nuse='x'\n[run]\nepisodes=0",
            r"run\.episodes: wanted .*equal to 1, got 0",
        ),
        (
            "[env]\nuse='grid'\n[agent]\nuse='x'\n[run]\nseed=1.5",
            r"run\.seed: wanted a whole number, got 1\.5",
        ),
        ("[probe]\nuse = 'x'", r"wanted \[\[probe\]\] in double brackets"),
        ("model = 'nano'", r"wanted \[\[model\]\] in double brackets"),
        ("version = 9", "wanted version 3, got 9; upgrade gde-eval to read it"),
        ("version = 1", "wanted version 3, got 1; use the gde-eval that wrote it"),
        ("run = 7", r"wanted a table \[run\], got 7"),
        ("probe = 7", r"wanted \[\[probe\]\] in double brackets"),
        (
            "probe = [7.5]\nenv.use='grid'\nagent.use='x'",
            r"wanted \[probe\] with `use = NAME`, got 7\.5",
        ),
        (
            "env.use='grid'\nagent.use='x'\nadded = 7",
            r"wanted \[\[added\.metric\]\] or the like",
        ),
        (
            "env.use='grid'\nagent.use='x'\nadded.executor = [{use = 'x'}]",
            r"wanted \[\[added\.metric\]\] or the like",
        ),
        (
            f"env.use='grid'\nagent.use='x'\nrun.seed='{'[' * 100_000}'",
            r"run\.seed: wanted a whole number",
        ),
        (
            f"env.use='grid'\nagent.use='x'\nrun.seed='{'7' * 10_000}'",
            r"run\.seed: wanted a whole number of fewer digits",
        ),
        ("this is no toml", r"plan: .*plan\.toml: wanted TOML, got "),
    ],
)
def test_what_is_no_plan_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_plan(path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_plan_of_another_editor_is_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    text = "env.use='grid'\r\nagent.use='random' # gelöst"
    path.write_text(text, encoding="utf-8")
    wanted = read_plan(path)
    path.write_text(text, encoding=encoding)
    assert read_plan(path) == wanted


def test_unknown_tables_and_fields_suggest_near_ones(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("[agents]\nuse = 'x'")
    with pytest.raises(
        UnknownName, match=r"unknown table of a plan 'agents'\. Did you mean agent"
    ):
        read_plan(path)
    path.write_text("[env]\nuse='grid'\n[agent]\nuse='x'\n[run]\nepisode=3")
    with pytest.raises(UnknownName, match="Did you mean episodes"):
        read_plan(path)
    path.write_text(f"[env]\nuse='grid'\n[agent]\nuse='x'\n[run]\n{'9' * 5000} = 3")
    with pytest.raises(UnknownName, match="unknown field of run '999") as told:
        read_plan(path)
    assert len(str(told.value)) < 1000


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: .*No such file"):
        read_plan(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("text", "setting", "option"),
    [
        ("[executor]\nuse = 'processes'", r"\[executor\]", "an executor"),
        ("[[report]]\nuse = 'html'", r"\[report\]", "a reporter"),
        ("[run]\nconcurrency = 4", r"run\.concurrency", "run.concurrency=4"),
        ("[run]\nmax_cost = 4", r"run\.max_cost", "run.max_cost=4"),
    ],
)
def test_a_plan_that_says_how_it_is_run_is_refused(
    text: str, setting: str, option: str, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f"env.use='grid'\nagent.use='x'\n{text}")
    with pytest.raises(ConfigError, match=rf"{setting} says how .*: give {option}, or"):
        read_plan(path)


@pytest.mark.parametrize(
    ("text", "setting", "option"),
    [
        (
            "[agent]\nuse='react'\nmodel='openai:m@http://a/v1'",
            "the server of openai:m",
            "openai:m@URL",
        ),
        (
            "[agent]\nuse='react'\nmodel='openai:m'\n[[model]]\ntimeout=3",
            r"model\.timeout",
            "model.timeout=VALUE",
        ),
        (
            "[agent]\nuse='react'\nmodel='a'\n[[model]]\nas='a'\nuse='openai:m@http://a/v1'",
            "the server of a",
            "a@URL",
        ),
    ],
)
def test_a_plan_file_sets_no_field_of_a_part_that_says_how(
    text: str, setting: str, option: str, tmp_path: Path, catalogue: Catalogue
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f"env.use='corridor'\n{text}")
    with pytest.raises(ConfigError, match=rf"{setting} says how .*: give {option}, or"):
        refuse_how(read_plan(path), catalogue, f"plan {path}")


def test_money_can_be_set_on_the_command_line() -> None:
    assert configure_how(How(), {"max_cost": Text("5")}).max_cost == 5.0
    for wrong in ("0", "-1", "nan", "much"):
        with pytest.raises(
            ConfigError,
            match=r"run\.max_cost: wanted .*, got",
        ):
            configure_how(How(), {"max_cost": Text(wrong)})


def test_a_plan_is_given_nothing_that_says_how() -> None:
    plan = Plan(environment=Choice(name="grid"), agent=Choice(name="random"))
    with pytest.raises(ConfigError, match=r"run\.max_cost says how a run is done"):
        configure_run(plan, {"max_cost": "5"})


def test_tables_of_a_plan_need_no_file_to_be_read() -> None:
    """As those in a log of another program, or of a child process."""
    plan = Plan(environment="grid", agent="random", metrics=["success"], seed=3)
    assert plan.initialisations is None
    assert plan_tables(plan_of(marked(plan_tables(plan)), "here")) == plan_tables(plan)
