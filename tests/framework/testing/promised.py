"""Every promise that `gde.testing` checks, read from its sources, and the broken
counterfactuals by which it is seen to be.

`checks.md` beside this file lists them. `GDE_WRITE_CHECKS=1 pytest
tests/framework/testing` writes it anew.
"""

import ast
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType

import pytest

import gde.testing

KIT = Path(gde.testing.__file__).parent
PAGE = Path(__file__).parent / "checks.md"
BEGIN, END = "<!-- written by the tests of gde.testing: begin -->", "<!-- end -->"
SENTENCE = {
    "promise": 1,
    "promise_equal": 2,
    "promise_raises": 1,
    "calling": 1,
    "promise_json": 1,
}
"""Where each way to promise has its sentence."""
ROW = re.compile(r"^\| (.+?) \| (`.*`|) \|$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Promise:
    """One place at which a check may find a promise broken."""

    module: str
    line: int
    end: int
    sentence: str

    @property
    def title(self) -> str:
        """As the page has it."""
        return self.sentence.replace("|", "\\|")


@cache
def promises() -> tuple[Promise, ...]:
    """All of them, in the order of their modules and lines."""
    return tuple(
        sorted(
            found
            for path in KIT.glob("*.py")
            if path.stem != "promises"
            for found in _of(path)
        )
    )


def _of(path: Path) -> Iterator[Promise]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ):
        named = [
            node
            for node in (*tree.body, *ast.walk(function))
            if isinstance(node, ast.Assign)
        ]
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and (
                sentence := _sentence(call, call.func.id, named)
            ):
                yield Promise(
                    path.stem, call.lineno, call.end_lineno or call.lineno, sentence
                )


def _sentence(call: ast.Call, name: str, named: list[ast.Assign]) -> str:
    if name == "promise_protocol":
        return f"the part must have every method and property of {ast.unparse(call.args[1])}"
    if name == "unknown":
        return f"{ast.literal_eval(call.args[0])} must not raise on any episode"
    if name == "AssertionError" and isinstance(call.args[0], ast.JoinedStr):
        return _text(call.args[0], named, call.lineno)
    if name not in SENTENCE:
        return ""
    text = _text(call.args[SENTENCE[name]], named, call.lineno)
    return f"{text} must hold plain JSON values" if name == "promise_json" else text


def _text(node: ast.expr, named: list[ast.Assign], line: int) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return re.sub(r"…([ ,]*…)+", "…", "".join(_piece(each) for each in node.values))
    if isinstance(node, ast.Name):
        before = [
            each
            for each in named
            if each.lineno < line and node.id in map(ast.unparse, each.targets)
        ]
        return _text(before[-1].value, [], line) if before else ""
    return ""


def _piece(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def broken(traceback: TracebackType | None) -> Promise:
    """The promise at which a check has stopped."""
    lines: list[tuple[str, int]] = []
    while traceback is not None:
        path = Path(traceback.tb_frame.f_code.co_filename)
        if path.parent == KIT and path.stem != "promises":
            lines.append((path.stem, traceback.tb_lineno))
        traceback = traceback.tb_next
    inside = [
        each
        for at in lines
        for each in promises()
        if each.module == at[0] and each.line <= at[1] <= each.end
    ]
    assert inside, f"no promise stands at {lines}"
    return inside[-1]


@contextmanager
def caught(counterfactual: str, sentence: str) -> Iterator[None]:
    """The check inside must name the promise that the counterfactual breaks, and the
    page must list it.
    """
    with pytest.raises(AssertionError, match=sentence) as info:
        yield
    found = broken(info.tb)
    seen.setdefault(found, set()).add(counterfactual)
    if not writing():
        assert counterfactual in listed().get((found.module, found.title), ""), (
            f"{PAGE.name} lacks {counterfactual}: {found.sentence}"
        )


seen: dict[Promise, set[str]] = {}
"""What this run has seen."""


def writing() -> bool:
    """Whether the page is to be written."""
    return bool(os.environ.get("GDE_WRITE_CHECKS"))


@cache
def listed() -> dict[tuple[str, str], str]:
    """Module and promise to the counterfactuals that the page lists."""
    found: dict[tuple[str, str], str] = {}
    for section in (
        PAGE.read_text(encoding="utf-8")
        .partition(BEGIN)[2]
        .split("\n### `gde.testing.")[1:]
    ):
        for promise, counterfactuals in ROW.findall(section):
            found[section.partition("`")[0], promise] = counterfactuals
    return found


def write() -> None:
    """The page with what this run has seen.

    Raises:
        UsageError: it has not seen all there is to see, being of a part of the tests or
        one of several processes.
    """
    broken_ones = {(each.module, each.title) for each in seen}
    if unseen := [
        each for each in promises() if (each.module, each.title) not in broken_ones
    ]:
        left = f"{len(unseen)} promises were not seen broken, e.g. {unseen[0].title!r}"
        raise pytest.UsageError(
            f"{PAGE.name} stays as it is: {left}; run all of tests/framework/testing, without -n"
        )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    lines = [
        BEGIN,
        "",
        f"{len(promises())} checks, each seen to catch a broken part.",
        "",
    ]
    for module in sorted({each.module for each in promises()}):
        lines += [
            f"### `gde.testing.{module}`",
            "",
            "| promise | broken parts that are caught |",
            "| --- | --- |",
        ]
        rows: dict[str, set[str]] = {}
        for each in promises():
            if each.module == module:
                rows.setdefault(each.title, set()).update(seen.get(each, ()))
        lines += [
            f"| {title} | {', '.join(f'`{counterfactual}`' for counterfactual in sorted(counterfactuals))} |"
            for title, counterfactuals in rows.items()
        ]
        lines.append("")
    PAGE.write_text(
        before + "\n".join(lines) + END + rest.partition(END)[2], encoding="utf-8"
    )


# Parsed before any test runs: `ast.parse` of Python 3.11 may fail ("AST constructor
# recursion depth mismatch") when it is called deep within a test.
promises()
