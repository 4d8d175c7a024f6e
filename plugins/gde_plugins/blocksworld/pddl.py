"""A parser of PDDL into nested lists."""

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import shorten
from typing import Union

TOKEN = re.compile(r"[()]|\n|;[^\n]*|[^\s();]+")
KIND = re.compile(r"(?:\s|;[^\n]*)*\(\s*define\s*\(\s*(\w+)", re.IGNORECASE)
DEEPEST = 50
"""The most levels of parentheses."""
UNREADABLE = "\ufffd"
"""Stands for bytes that are no UTF-8, which only comments may have."""
ANYTHING = "object"
"""The type of whatever has none."""


class PddlError(ValueError):
    """What was expected and found, and in which line."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


class Expression(list[Union["Expression", str]]):
    """A pair of parentheses."""

    def __init__(self, line: int, content: Iterable["Expression | str"] = ()) -> None:
        super().__init__(content)
        self.line = line

    def __str__(self) -> str:
        return f"({' '.join(map(str, self))})"

    def refused(self, wanted: str) -> PddlError:
        """The complaint that something else was wanted."""
        return PddlError(f"wanted {wanted}, got {shorten(str(self), 80)}", self.line)

    @property
    def inner(self) -> Iterator["Expression"]:
        """What follows the first word, each in parentheses.

        Raises:
            PddlError: something is not.
        """
        for each in self[1:]:
            if isinstance(each, str) or not each:
                raise self.refused(f"parentheses in {self[0]}")
            yield each


def kind_of(text: str) -> str:
    """What a text defines, "domain" or "problem" as a rule; empty for nothing."""
    found = KIND.match(text)
    return found[1].lower() if found else ""


def parse(text: str, known: Mapping[str, bool]) -> dict[str, list[Expression]]:
    """Parse the sections of a domain or a problem by name, in lower case.

    Args:
        text: the file.
        known: the sections that it may have, and whether there is exactly one of each.

    Raises:
        PddlError: the text is no `(define ...)`, ends in the middle, or has another
            section.
    """
    outermost = _tree(text.lower())
    whole = outermost[0] if len(outermost) == 1 else ""
    if isinstance(whole, str) or whole[:1] != ["define"]:
        raise outermost.refused("one (define ...)")
    found: dict[str, list[Expression]] = {name: [] for name in known}
    for section in whole.inner:
        name = str(section[0])
        if name not in known:
            raise section.refused(f"one of the sections {', '.join(known)}")
        if found[name] and name != ":action":
            raise section.refused(f"one section {name}")
        found[name].append(section)
    for name, is_needed in known.items():
        if is_needed and not found[name]:
            raise whole.refused(f"a section {name}")
    return found


def _tree(text: str) -> Expression:
    """Return the list of the outermost expressions."""
    line = 1
    stack = [Expression(line)]
    for token in TOKEN.findall(text):
        match token[0]:
            case "\n":
                line += 1
            case ";":
                continue
            case "(" if len(stack) <= DEEPEST:
                stack.append(Expression(line))
            case "(":
                raise PddlError(f"wanted at most {DEEPEST} levels of parentheses", line)
            case ")" if len(stack) == 1:
                raise PddlError("wanted as many ( as ), got one ) too many", line)
            case ")":
                closed = stack.pop()
                stack[-1].append(closed)
            case _ if UNREADABLE in token:
                raise PddlError(f"wanted names in UTF-8, got {token}: save it so", line)
            case _:
                stack[-1].append(token)
    if len(stack) > 1:
        few = f"{len(stack) - 1} too few: the text is cut off"
        raise PddlError(f"wanted as many ) as (, got {few}", stack[-1].line)
    return stack[0]


def typed(expression: Expression, skip: int = 0) -> dict[str, str]:
    """Return the type of each name of a list, "a b - block", but for the first ones.

    Raises:
        PddlError: a type is missing, or has several parts.
    """
    kinds: dict[str, str] = {}
    waiting: list[str] = []
    listed = iter(expression[skip:])
    for word in listed:
        kind = next(listed, None) if word == "-" else word
        if not isinstance(kind, str):
            raise expression.refused("names, each of one type")
        if word == "-":
            kinds.update(dict.fromkeys(waiting, kind))
            waiting = []
        elif kind in kinds or kind in waiting:
            raise expression.refused(f"different names, not {kind} twice")
        else:
            waiting.append(kind)
    return {**kinds, **dict.fromkeys(waiting, ANYTHING)}
