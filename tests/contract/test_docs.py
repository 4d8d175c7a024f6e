"""The documentation says what the code does."""

import ast
import json
import re
import runpy
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from sources import ROOT, sources

import gde
from gde.cli.main import build_app
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.request.catalogue import Catalogue
from gde.request.howfile import KNOWN, TRUSTED, read_settings
from gde.request.planfile import read_plan
from gde.request.resolve import resolve
from gde.request.settings import build
from gde.seeding import derive
from gde.store import schema
from gde.store.folder import result_json
from gde.testing import check_agent
from gde.testing.parts import ScriptedModel
from gde.testing.samples import sample_result

DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("**/*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


REFERENCE = runpy.run_path(str(DOCS / "reference.py"))


@pytest.mark.parametrize("page", REFERENCE["PARTS"])
def test_a_reference_page_agrees_with_the_code(page: str) -> None:
    assert REFERENCE["rendered"](page) == (DOCS / page).read_text(encoding="utf-8"), (
        "run python docs/reference.py"
    )


def test_the_data_page_lists_the_tables_of_the_journal() -> None:
    text = (DOCS / "data.md").read_text(encoding="utf-8")
    listed = text.partition("| a row is |")[2].partition("\n## ")[0]
    rows = re.findall(r"^\|(.*?)\|", listed, flags=re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", "".join(rows))) == sorted(schema.tables())


def test_every_column_of_the_journal_says_what_it_holds() -> None:
    said = set(re.findall(r"^    (\w+) [^\n]*-- \S", schema.TABLES, re.MULTILINE))
    columns = {name for table in schema.tables().values() for name in table.columns}
    assert columns == said


@pytest.mark.extended
def test_the_gallery_can_be_made_anew(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "gallery.py"))["main"](tmp_path)
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")}
    shown = DOCS / "gallery"
    assert made == {path.relative_to(shown) for path in shown.rglob("*.*")}


def test_links_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            inside = not target.startswith(("http://", "https://", "#"))
            if inside and not (page.parent / target.partition("#")[0]).exists():
                broken.append(f"{page.name} links to {target}")
    assert not broken


def test_every_page_stands_in_the_navigation() -> None:
    navigation = (
        (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    )
    listed = set(re.findall(r"[\w/-]+\.md", navigation))
    assert listed == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


def test_every_page_is_reached_from_the_index() -> None:
    linked = {
        target.partition("#")[0]
        for target in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    }
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert pages <= linked


def test_every_error_of_a_docstring_has_a_line_of_its_own() -> None:
    """Else the reference joins it to the one before, or shows half a sentence as one."""
    offenders = []
    n_sections = 0
    for source in sources().values():
        for node in ast.walk(source.tree):
            if not isinstance(node, DOCUMENTED):
                continue
            text = ast.get_docstring(node) or ""
            for section in re.findall(r"^Raises:\n((?: +.*\n?)+)", text, re.MULTILINE):
                n_sections += 1
                for line in section.splitlines():
                    is_item = re.match(r"    [\w.]+: ", line)
                    joined = re.search(r"\. [A-Z]\w*(Error|Extra|Failed|Name): ", line)
                    if not (is_item or line.startswith(" " * 8)) or joined:
                        offenders.append(f"{source.name}: {line.strip()}")
    assert n_sections > 100
    assert offenders == []


def test_code_blocks_are_valid() -> None:
    parsers = {"python": ast.parse, "toml": tomllib.loads, "json": json.loads}
    invalid = []
    for page in PAGES:
        for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
            try:
                parsers.get(language, str)(code)
            except (SyntaxError, ValueError) as error:
                invalid.append(f"{page.name}: {language}: {error}")
    assert not invalid


def blocks(page: str, language: str) -> list[str]:
    return [
        code
        for each, code in BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
        if each == language
    ]


def test_the_tutorial_shows_the_examples_as_they_are() -> None:
    agent, _, test, offered, counter = blocks("plugin-tutorial.md", "python")
    leftist = (ROOT / "examples" / "third_party" / "gde_leftist.py").read_text(
        encoding="utf-8"
    )
    assert agent in leftist
    assert test.partition("\n\n\n")[2] in (
        ROOT / "examples/third_party/test_leftist.py"
    ).read_text(encoding="utf-8")
    assert counter in (ROOT / "examples" / "own_environment.py").read_text(
        encoding="utf-8"
    )
    assert offered in (ROOT / "examples/third_party/gde_tunnel.py").read_text(
        encoding="utf-8"
    )
    assert "measures=" in offered
    (entry_points,) = blocks("plugin-tutorial.md", "toml")
    assert "[project.entry-points.gde]" in entry_points
    assert entry_points in (
        ROOT / "examples" / "third_party" / "pyproject.toml"
    ).read_text(encoding="utf-8")


def test_the_asking_agent_of_the_tutorial_is_an_agent() -> None:
    _, asker, *_ = blocks("plugin-tutorial.md", "python")
    names: dict[str, Any] = {name: getattr(gde, name) for name in gde.__all__}
    names |= {"dataclass": dataclass, "derive": derive}
    exec(asker, names)
    check_agent(lambda: names["Asker"](ScriptedModel(lambda _: "RIGHT")))
    assert build(names["AskerConfig"], {}, "agent").model == "nano"


def test_the_plan_file_of_the_command_line_page_is_a_plan(tmp_path: Path) -> None:
    (plan,) = blocks("cli.md", "toml")
    path = tmp_path / "plan.toml"
    path.write_text(plan, encoding="utf-8")
    ready = resolve(read_plan(path), Catalogue.default())
    assert len(ready.conditions) == 9


def test_the_settings_page_shows_a_file_of_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shown,) = blocks("settings.md", "toml")
    (tmp_path / "settings.toml").write_text(shown, encoding="utf-8")
    monkeypatch.setenv("GDE_SETTINGS", str(tmp_path / "settings.toml"))
    found = read_settings()
    assert found.how.executor.config == {"workers": 4}
    assert found.trusted_folders == (Path("/shared/runs"),)
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    for name in (*KNOWN, TRUSTED):
        assert f"`{name}`" in page or f"`[{name}." in page, name
    # What it sets is taken by the parts that it names.
    agent = Choice(name="gpt-oss", config={"model": "openai:gpt-5-mini"})
    plan = Plan(environment="grid", agent=agent)
    settings = resolve(plan, Catalogue.default(), found.how).how.settings
    assert settings["openai:gpt-5-mini"]["timeout"] == 120.0
    assert found.how.prices == {"openai:gpt-5-mini": (0.25, 2.0)}


def test_the_result_of_the_data_page_has_the_fields_of_a_result() -> None:
    (shown,) = (json.loads(code) for code in blocks("data.md", "json"))
    assert shown.keys() == result_json(sample_result()).keys()
    assert shown["measurements"][0].keys() == {
        field.name for field in fields(Measurement)
    }


@pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)
def test_commands_and_options_in_the_pages_exist(page: Path) -> None:
    known = (DOCS / "cli.md").read_text(encoding="utf-8")
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in {"sh", "shell", "bash"}:
            for line in re.findall(
                r"(?:^|[\s/])gde ((?:[a-z]\S*)[^\n#&|]*)", code, flags=re.MULTILINE
            ):
                check_command(line.split(), known)


def check_command(words: list[str], known: str) -> None:
    section = (
        known.partition(f"### `gde {words[0]}`")[2]
        or known.partition(f"### `gde {' '.join(words[:2])}`")[2]
    )
    assert section, f"there is no command gde {words[0]}"
    options = section.partition("\n### ")[0]
    for option in (word.partition("=")[0] for word in words if word.startswith("--")):
        assert option == "--help" or f"`{option}`" in options, (
            f"gde {words[0]} has no option {option}"
        )


def test_the_changelog_begins_with_the_version_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    releases = re.findall(
        r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert releases[0] == project["version"]


def test_the_contract_kit_is_documented() -> None:
    tutorial = (DOCS / "plugin-tutorial.md").read_text(encoding="utf-8")

    for name in (name for name in vars(gde.testing) if name.startswith("check_")):
        assert f"`{name}`" in tutorial, name


def test_the_table_of_commands_and_functions_is_right() -> None:
    page = (DOCS / "embedding.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `gde ([a-z]+)[^|]* \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) > 9
    app = build_app()
    every = (*app.registered_commands, *app.registered_groups)
    commands = {info.name for info in every}
    listed = set()
    for command, functions in rows:
        assert command in commands
        for name in re.findall(r"`(gde[\w.]+)`", functions):
            assert callable(resolve_name(name))
            listed.add(name.removeprefix("gde."))

    # What is a function of `gde` and does the work of a command is listed.
    works = {"evaluate", "aevaluate", "resume", "rescore", "probe", "report", "compare"}
    assert works <= listed
