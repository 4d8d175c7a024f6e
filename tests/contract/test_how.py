"""How a run is done changes no result, or the documentation says why it may."""

import io
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from sources import ROOT

from gde import Choice, How, Plan, evaluate
from gde.request.catalogue import Catalogue
from gde.request.kinds import KINDS
from gde.request.settings import how_fields
from gde.runs.exporting import export

PAGE = ROOT / "docs" / "determinism.md"
SECTION = re.compile(r"^## What and how\n(.*)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (`.*`) \| (.+) \|$", re.MULTILINE)
NEUTRAL = "yes"
"""How the page says that a field never changes a result."""
EXECUTORS = ("serial", "processes")
NUMBERS = (1, 8)


def told() -> dict[str, str]:
    """What the page says of each field: neutral, or why not."""
    found = SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    said = {}
    for names, effect in ROW.findall(found[1]):
        for name in re.findall(r"`(\w+)`", names):
            assert name not in said
            said[name] = effect
    return said


def marked() -> Iterator[str]:
    """Every field that says how: those of a run, and the marked ones of bundled parts.

    All fields of executors and reporters say how; they themselves are such fields.
    """
    for field in fields(How):
        if field.name != "settings":
            yield field.name
    catalogue = Catalogue.default()
    for kind in KINDS.values():
        for entry in catalogue.entries(kind.name):
            if entry.module.startswith(("gde.", "gde_plugins.")):
                yield from how_fields(entry.offer.config)


def test_the_page_says_of_every_field_whether_it_changes_results() -> None:
    said = told()
    assert {*said} == {*marked()}
    for name in ("turn_seconds", "episode_seconds", "timeout", "step_seconds"):
        assert "fails" in said[name]
    for name in ("batch_size", "device"):
        assert "float64" in said[name]
    assert [*said.values()].count(NEUTRAL) < len(said) / 2


def episodes(plan: Plan, out: Path, how: How) -> str:
    """The hash of the run's plan, and its episodes as exported."""
    result = evaluate(plan, out, how=how)
    assert result.status == "ok"
    written = io.StringIO()
    assert export(out, "jsonl", written) == plan.episodes
    return f"{result.plan_hash} {written.getvalue()}"


@pytest.mark.extended
def test_executor_and_concurrency_change_no_episode(tmp_path: Path) -> None:
    said = told()
    assert {said["executor"], said["concurrency"]} == {NEUTRAL}
    plan = Plan(
        environment="grid",
        agent=Choice(name="noisy", config={"p": 0.5}),
        metrics=["success"],
        episodes=9,
    )
    played = set()
    for executor in EXECUTORS:
        for number in NUMBERS:
            place = tmp_path / f"{executor}-{number}"
            how = How(executor=executor, concurrency=number)
            played.add(episodes(plan, place, how))
    assert len(played) == 1


@pytest.mark.extended
def test_a_batch_in_float64_changes_no_episode(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"temperature": 1.0, "max_tokens": 60}),
        models=[Choice(name="nano", config={"dtype": "float64"})],
        metrics=["success"],
        episodes=4,
    )
    played = set()
    for number in NUMBERS:
        how = How(concurrency=8, settings={"nano": {"batch_size": number}})
        played.add(episodes(plan, tmp_path / str(number), how))
    assert len(played) == 1
