"""Every command line in the pages is one that runs: all are planned, and `nox -s slow`
runs them, each page in order.

Where a page has a name for what a reader has, the embedded model and small runs stand
in. Lines whose data nobody but a reader has (`FOLDER`, `FILE`) are not run; that the
data are read, tests of their plugins say.
"""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from sources import ROOT
from typer.testing import CliRunner

from gde.cli.main import build_app
from gde.errors import GdeError

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(
    r"^```(?:sh|console|shell|bash)\n(.*?)^```", re.MULTILINE | re.DOTALL
)
INSTALLED = re.compile(r"^pip install -e '(?P<folder>gde-(?P<name>\w+))\[test\]'$")
"""A skeleton that the line before has written: it is put on the path instead, where an
installation would put it.
"""
LINE = re.compile(
    r"(?:^|[\s/])(?P<settings>(?:[A-Z_]+=\S+ )*)(?P<program>gde|pytest) (?P<rest>[a-z][^#&|]*)"
)
NANO = (
    ROOT
    / "plugins"
    / "gde_plugins"
    / "language_models"
    / "nano"
    / "models"
    / "auxiliary"
)
STAND_INS = {
    r"hf:PATH(_OR_ID)?": f"hf:{NANO}",
    r"openai:\S+": f"hf:{NANO}",
    r"\bRUN(?= --metric causes| --probe cogmap)": "stand-in-probed",
    r"\bRUN(_A)?\b": "stand-in-a",
    r"\bRUN_B\b": "stand-in-b",
    r"--domain all": "--domain blocksworld",
    r"run\.repeats=\d+": "run.repeats=2",
    r"(--agent (mcts|react\S*) .*hf:)": r"--set agent.max_tokens=8 \1",
    r"(reproduce babybench)(?=.*hf:)": r"\1 --set agent.max_tokens=8",
}
READERS_OWN = re.compile(r"FOLDER|\bFILE\b|my-grids\.jsonl|\bLOG\b|runs/theirs")
ENDLESS = re.compile(r"--serve")
"""Served until it is stopped: the viewer's own tests do that."""
SIMULATORS = re.compile(r"--env (textworld|alfworld|scienceworld)")
SMALLER = {"eval": ("--episodes", "4"), "reproduce": ("--scale", "0.005")}
"""Options of commands that would take minutes."""
EXAMPLES = {
    "gde_leftist": "examples/third_party",
    "own_executor": "examples",
    "meg_studies": "benchmarks",
    "reward_control": "benchmarks",
}
"""Where modules are that a line loads by name."""
FINISHED, WITH_FAILURES = 0, 3
"""A handful of worlds is too few for some numbers, which is a failure with a reason."""
SETTING_UP = (
    "eval --env grid --agent noisy --episodes 3 --out stand-in-a",
    "eval --env grid --agent random --episodes 3 --out stand-in-b",
    "eval --env grid --agent gpt-oss --probe cogmap --set cogmap.variants=bilinear"
    " --set cogmap.turns=all --episodes 6 --out stand-in-probed",
)


@dataclass(frozen=True)
class Line:
    """One command as a page has it, stand-ins put in."""

    page: str
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    program: str = "gde"


def lines(page: Path) -> list[Line]:
    found = []
    installed: tuple[tuple[str, str], ...] = ()
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for text in block.replace("\\\n", " ").splitlines():
            if skeleton := INSTALLED.match(text):
                installed = (
                    ("GDE_LOAD_PLUGINS", f"gde_{skeleton['name']}"),
                    ("PYTHONPATH", skeleton["folder"]),
                )
            match = LINE.search(text)
            if match and not READERS_OWN.search(text) and not ENDLESS.search(text):
                rest = match["rest"]
                for name, stand_in in STAND_INS.items():
                    rest = re.sub(name, stand_in, rest)
                settings = tuple(
                    tuple(each.split("=", 1)) for each in match["settings"].split()
                )
                words, environment = tuple(shlex.split(rest)), (*installed, *settings)
                found.append(Line(page.name, words, environment, match["program"]))  # type: ignore[arg-type]
    return found


COMMANDS = [line for page in PAGES for line in lines(page)]
PLANNED = [
    each for each in COMMANDS if each.words[0] == "eval" and not each.environment
]


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 60
    assert {
        "doctor",
        "eval",
        "rescore",
        "compare",
        "reproduce",
        "export",
        "new-plugin",
    } <= {c.words[0] for c in COMMANDS}


SLOW = {"planning-agents.md", "text-worlds.md"}
"""Pages whose planners and simulators take seconds to begin."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.extended] if page in SLOW else [])
        for page in sorted({each.page for each in PLANNED})
    ],
)
def test_every_evaluation_of_a_page_can_be_planned(page: str) -> None:
    for line in (each for each in PLANNED if each.page == page):
        if find_spec("textworld") or not SIMULATORS.search(" ".join(line.words)):
            # A dry run begins every world, of which a few tell as much as 200.
            few = () if "--episodes" in line.words else SMALLER["eval"]
            done = CliRunner().invoke(build_app(), [*line.words, *few, "--dry-run"])
            refused = done.exception if isinstance(done.exception, GdeError) else ""
            assert done.exit_code == 0, (
                f"{page}: gde {shlex.join(line.words)}: {refused or done.output}"
            )


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)
def test_every_command_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    found = lines(page)
    if not found:
        pytest.skip("no command that can be run")
    for words in SETTING_UP:
        if any(words.split()[-1] in " ".join(each.words) for each in found):
            run(Line(page.name, tuple(words.split())), tmp_path)
    for line in found:
        if SIMULATORS.search(" ".join(line.words)):
            pytest.importorskip("textworld")
        if home := EXAMPLES.get(dict(line.environment).get("GDE_LOAD_PLUGINS", "")):
            line = Line(
                line.page,
                line.words,
                (*line.environment, ("PYTHONPATH", str(ROOT / home))),
            )
        run(line, tmp_path)


def shortened(words: tuple[str, ...]) -> tuple[str, ...]:
    if words[0] not in SMALLER or "stand-in" in " ".join(words):
        return words
    option, value = SMALLER[words[0]]
    at = words.index(option) if option in words else len(words)
    return (*words[:at], option, value, *words[at + 2 :])


def run(line: Line, folder: Path) -> None:
    settings = dict(line.environment)
    if "PYTHONPATH" in settings:
        settings["PYTHONPATH"] = os.pathsep.join(
            [settings["PYTHONPATH"], os.environ.get("PYTHONPATH", "")]
        )
    done = subprocess.run(
        [sys.executable, "-m", line.program, *shortened(line.words)],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    said = f"{line.program} {shlex.join(line.words)}: {done.stderr}{done.stdout}"
    assert done.returncode in {FINISHED, WITH_FAILURES}, said
    assert "Traceback" not in done.stderr
