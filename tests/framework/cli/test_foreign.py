"""What others wrote cannot steer a terminal."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Choice, Decision, Observation, Plan, evaluate
from gde.cli.foreign import LONGEST, STEERING, escaped, one_line, shown
from gde.cli.main import build_app
from gde.cli.output import show_table
from gde.request.catalogue import Catalogue
from gde.testing.parts import ScriptedAgent

EVIL = "\x1b]52;c;cm0gLXJmIH4=\x07[/x][bold]\x9b2J\u061c\u202etxt.exe\r[link=http://x]"


@dataclass
class Evil(ScriptedAgent):
    """Says what a terminal would obey."""

    async def act(self, observation: Observation) -> Decision:
        decision = await super().act(observation)
        return Decision.unusable("refusal", EVIL) if self._turn == 1 else decision


@pytest.fixture
def run(tmp_path: Path, catalogue: Catalogue) -> Path:
    agent = Choice.of(lambda: Evil(), alias="[/evil]")
    evaluate(
        Plan(environment="corridor", agent=agent, metrics=["success"], episodes=2),
        tmp_path / "run",
        catalogue,
    )
    return tmp_path / "run"


def test_nothing_that_steers_is_left_and_the_rest_is() -> None:
    assert shown("a\tb\n[x]\u00e9") == "a\tb\n[x]\u00e9"
    assert not STEERING.search(shown(EVIL))
    assert json.loads(escaped(json.dumps(EVIL, ensure_ascii=False))) == EVIL
    assert not STEERING.search(escaped(json.dumps(EVIL, ensure_ascii=False)))


def test_tables_take_text_for_text(capsys: pytest.CaptureFixture[str]) -> None:
    title = f"[/title]{EVIL}"
    show_table(title, ["[/column]"], [["[openai]"], [EVIL], ["[/x]"]])
    out = capsys.readouterr().out
    texts = ("[/title]", "[/column]", "[openai]", "[/x]", "[bold]")
    assert all(text in out for text in texts)
    assert not STEERING.search(out)


@pytest.mark.parametrize("arguments", [[], ["0/0/0"], ["--json"], ["0/0/0", "--json"]])
def test_viewing_a_run_is_safe(arguments: list[str], run: Path) -> None:
    outcome = CliRunner().invoke(build_app(), ["view", str(run), *arguments])
    assert outcome.exit_code == 0, outcome.output
    assert not STEERING.search(outcome.output)


@pytest.mark.parametrize("command", ["report", "compare"])
def test_so_are_the_other_commands_that_read_one(
    command: str, run: Path, tmp_path: Path
) -> None:
    second = (
        [str(shutil.copytree(run, tmp_path / "copy"))] if command == "compare" else []
    )
    outcome = CliRunner().invoke(build_app(), [command, str(run), *second])
    assert not STEERING.search(outcome.output)


def test_a_message_is_one_line_of_a_length_that_can_be_read() -> None:
    assert one_line("wanted 2,\n got \x1b[31m3") == "wanted 2, got \ufffd[31m3"
    assert len(one_line("x" * 2**20)) == LONGEST + 3


@pytest.mark.parametrize("form", ["jsonl", "messages", "chat", "csv"])
def test_an_export_to_the_terminal_is_safe_and_the_same_data(
    form: str, run: Path, tmp_path: Path
) -> None:
    asked = ["export", str(run), "--format", form]
    printed = CliRunner().invoke(build_app(), asked)
    assert printed.exit_code == 0, printed.output
    assert not STEERING.search(printed.stdout.replace("\r\n", "\n"))
    if form != "csv":
        file = tmp_path / "out"
        CliRunner().invoke(build_app(), [*asked, "--out", str(file)])
        written = file.read_text(encoding="utf-8").splitlines()
        shown = printed.stdout.splitlines()
        assert list(map(json.loads, shown)) == list(map(json.loads, written))
