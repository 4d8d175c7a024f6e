"""Events of a served model's own words are found at the tokens of local weights."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Choice, GdeError, Plan, evaluate
from gde.cli.main import build_app
from gde.request.catalogue import Catalogue
from gde.runs.remarking import remarks

N = 3
WORDS = {"agent": "(I) see", "goal": "", "move": "see", "last": "nothing"}


def plan(**settings: str) -> Plan:
    """Every reasoning is "I see.", in characters."""
    return Plan(
        environment=Choice(name="grid", config={"size": 5, "horizon": 1}),
        agent=Choice(name="gpt-oss", config={"model": "served-walker"}),
        metrics=(Choice(name="events", config=WORDS | settings),),
        episodes=N,
    )


def test_events_are_found_in_the_replayed_tokens(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(plan(weights="walker"), tmp_path / "run", catalogue)
    found = {
        one.where["event"]: one.value
        for one in result.measurements
        if one.name == "events.found"
    }
    assert found == dict.fromkeys(("before", "agent", "move", "after"), 1.0) | {
        "goal": 0.0,
        "last": 0.0,
    }


def test_a_server_alone_has_no_tokens(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(GdeError, match=r"events needs .* gives none; to read a served"):
        evaluate(plan(), tmp_path / "run", catalogue)
    # Nor do weights that give no activations.
    with pytest.raises(GdeError, match="'late-walker' gives none: wanted local"):
        evaluate(plan(weights="late-walker"), tmp_path / "run", catalogue)


def test_the_events_of_each_turn_are_listed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    small = Plan(
        environment=Choice(name="grid", config={"size": 5, "horizon": 1}),
        agent=Choice(name="gpt-oss"),
        metrics=(Choice(name="events", config={"last": "G"}),),
        episodes=N,
    )
    evaluate(small, run)
    lines = remarks(run, "events")
    assert [*lines] == [(f"0/{world}/0", 0) for world in range(N)]
    assert all("after at token " in line for line in lines.values())

    shown = CliRunner().invoke(build_app(), ["show", str(run), "events", "--json"])
    listed = json.loads(shown.stdout)["remarks"]
    assert [each["events"] for each in listed] == [*lines.values()]
    with pytest.raises(GdeError, match="accuracy says nothing of single turns"):
        remarks(run, "accuracy")
