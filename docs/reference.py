"""Writes the reference parts of the documentation from the code.

Run `python docs/reference.py`. Each page has one generated part between two markers;
the rest is hand-written. A test compares.
"""

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

import gde
from gde import hookspecs
from gde.cli.main import build_app

DOCS = Path(__file__).parent
OURS = ("gde.cli.", "gde_plugins.")
BEGIN, END = (
    "<!-- written by reference.py: begin -->",
    "<!-- written by reference.py: end -->",
)


def hooks() -> Iterator[str]:
    """Every hook with its signature and docstring."""
    for name, function in vars(hookspecs).items():
        if hasattr(function, f"{hookspecs.PROJECT}_spec"):
            signature = re.sub(r"['\"]|typing\.", "", str(inspect.signature(function)))
            yield f"### `{name}{signature}`\n\n{inspect.getdoc(function)}\n"


SHARED = 3
"""Commands from which on an option is explained once for all."""


def commands() -> Iterator[str]:
    """Every command of this distribution, with its arguments and options.

    Options that mean the same in several commands come first.
    """
    rows = {}
    told = {}
    for name, command in _leaves("gde", typer.main.get_command(build_app())):
        told[name] = " ".join(command.help.split())
        rows[name] = [_row(each) for each in command.params if each.name != "help"]
    counts = Counter(row for of_command in rows.values() for row in of_command)
    options = [row for row in counts if row.startswith("| `--")]
    shared = [row for row in options if counts[row] >= SHARED]
    yield f"Options of several commands:\n\n{_table(shared)}"

    for name, of_command in rows.items():
        yield f"### `{name}`\n\n{told[name]}\n"
        own = [row for row in of_command if row not in shared]
        if own:
            yield _table(own)
        also = [row.split(" | ")[0][2:] for row in of_command if row in shared]
        if also:
            yield f"Also {', '.join(also)}.\n"


def _table(rows: Sequence[str]) -> str:
    head = ["| argument or option | default | meaning |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n"


def _leaves(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):
        for below in command.commands.values():
            yield from _leaves(f"{name} {below.name}", below)
    elif command.callback.__module__.startswith(OURS):
        yield name, command


def _row(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    name = (
        (parameter.metavar or parameter.name.upper())
        if is_argument
        else ", ".join(parameter.opts)
    )
    default = parameter.default
    shown = (
        ""
        if default in (None, False, ()) or callable(default) or not str(default).strip()
        else f"`{default}`"
    )
    shown = "required" if parameter.required else shown
    return f"| `{name}` | {shown} | {parameter.help or ''} |"


TOPICS = {
    "runs": (
        "before",
        "data.how",
        "data.plan",
        "errors",
        "reporting.run",
        "request.planfile",
        "runs",
    ),
    "results": (
        "data.evidence",
        "data.figure",
        "data.frame",
        "data.measure",
        "data.result",
        "reporting",
        "stages",
    ),
    "agents": (
        "data.answer",
        "data.completion",
        "data.trajectory",
        "parts.agent",
        "parts.language_model",
    ),
    "worlds": (
        "data.cell_map",
        "data.mdp",
        "data.observation",
        "parts.environment",
        "parts.simulator",
    ),
    "probes": ("data.activations", "data.probe", "parts.probe"),
    "rewards": (
        "data.reward",
        "data.transcript",
        "parts.context",
        "parts.metric",
        "parts.reward_model",
        "runs.judging",
    ),
    "plugins": (
        "hookspecs",
        "offers",
        "parts.executor",
        "parts.reporter",
        "request.catalogue",
    ),
}
"""A page for each, with the modules that it is about."""


def names() -> Iterator[str]:
    """Every public name by topic, with what it is."""
    for topic in TOPICS:
        title, _ = _opening(DOCS / "api" / f"{topic}.md")
        yield f"## [{title}](api/{topic}.md)\n\n| name | what it is |\n| --- | --- |"
        for name in _of(topic):
            summary = (inspect.getdoc(getattr(gde, name)) or "").partition("\n\n")[0]
            yield f"| `{name}` | {' '.join(summary.split())} |"
        yield ""


def members(topic: str) -> Iterator[str]:
    """The names of a topic, as directives from which mkdocstrings writes the page."""
    for name in _of(topic):
        yield f"::: gde.{name}\n"


def _of(topic: str) -> list[str]:
    """The public names of a topic."""
    found = []
    for name, module in _homes().items():
        # The longest match decides: `runs.judging` is about rewards.
        about = {part: each for each, parts in TOPICS.items() for part in parts}
        fits = [part for part in about if f"{module}.".startswith(f"gde.{part}.")]
        if about[max(fits, key=len)] == topic:
            found.append(name)
    return sorted(found, key=str.lower)


def _homes() -> dict[str, str]:
    """Public name to the module that it is from, as the stub of the package lists
    them.
    """
    stub = Path(gde.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {
        name: f"gde.{module}"
        for module, name in re.findall(
            r"^from \.(\S+) import (\w+)", stub, re.MULTILINE
        )
    }


def pages() -> Iterator[str]:
    """Every page with its first sentence, for programs that read."""
    for path in sorted(DOCS.rglob("*.md")):
        title, text = _opening(path)
        yield f"- [{title}]({path.relative_to(DOCS).as_posix()}): {text}"


def _opening(path: Path) -> tuple[str, str]:
    title, _, rest = path.read_text(encoding="utf-8").partition("\n")
    paragraph = " ".join(rest.strip().partition("\n\n")[0].split())
    return title.removeprefix("# "), re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", paragraph)


PARTS = {
    "hooks.md": hooks,
    "cli.md": commands,
    **{f"api/{topic}.md": partial(members, topic) for topic in TOPICS},
    "api.md": names,
    "llms.txt": pages,
}
"""In this order: the last quotes the pages before it."""


def rendered(page: str) -> str:
    """The page as it must read."""
    before, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return before + BEGIN + "\n\n" + "\n".join(PARTS[page]()) + "\n" + END + after


def main() -> None:
    """Write every page, or with `--check` name the first one that has drifted and
    fail.
    """
    for page in PARTS:
        text = rendered(page)
        if "--check" not in sys.argv:
            (DOCS / page).write_text(text, encoding="utf-8")
        elif text != (DOCS / page).read_text(encoding="utf-8"):
            raise SystemExit(
                f"docs/{page} does not agree with the code: run python docs/reference.py"
            )


if __name__ == "__main__":
    main()
