"""A parser of PDDL into nested lists."""

import re
from typing import Union

Expression = list[Union["Expression", str]]
TOKEN = re.compile(r"[()]|[^\s()]+")
COMMENT = re.compile(r";[^\n]*")


def parse(text: str) -> list[Expression]:
    """Parse the sections of a domain or a problem, in lower case.

    Raises:
        ValueError: the text is no `(define ...)`, or it ends in the middle.
    """
    stack: list[Expression] = [[]]
    for token in TOKEN.findall(COMMENT.sub("", text).lower()):
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise ValueError("as many ( as ), got one ) too many")
            closed = stack.pop()
            stack[-1].append(closed)
        else:
            stack[-1].append(token)
    if len(stack) > 1:
        raise ValueError(f"as many ) as (, got {len(stack) - 1} too few: the text is cut off")
    whole = stack[0][0] if stack[0] else []
    if len(stack[0]) != 1 or isinstance(whole, str) or whole[:1] != ["define"]:
        raise ValueError(f"one (define ...), got {text.strip()[:40]!r}")
    return [each for each in whole[1:] if not isinstance(each, str) and each]


def section(sections: list[Expression], name: str) -> list[Expression]:
    """Return the expressions of a section.

    Raises:
        ValueError: there is no such section, or something in it is no expression.
    """
    inner = one(sections, name)[1:]
    if odd := next((each for each in inner if isinstance(each, str) or not each), None):
        raise ValueError(f"expressions in parentheses under {name}, got {odd!r}")
    return [each for each in inner if not isinstance(each, str)]


def one(sections: list[Expression], name: str) -> Expression:
    """Return the only section of a name, with the name first.

    Raises:
        ValueError: there is none, or several.
    """
    found = [each for each in sections if each[0] == name]
    if len(found) != 1:
        raise ValueError(f"one section {name}, got {len(found)}")
    return found[0]


def words(expression: Expression | str) -> tuple[str, ...]:
    """Return the words of a flat list, without hyphens and the types after them.

    Raises:
        ValueError: the expression is no flat list.
    """
    if isinstance(expression, str) or not all(isinstance(each, str) for each in expression):
        raise ValueError(f"a list of words, got {expression!r}")
    found = []
    previous = ""
    for word in map(str, expression):
        if word != "-" and previous != "-":
            found.append(word)
        previous = word
    return tuple(found)
