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
        raise ValueError(
            f"as many ) as (, got {len(stack) - 1} too few: the text is cut off"
        )

    # All that is left on the stack is the list of outermost expressions.
    outermost = stack[0]
    whole = outermost[0] if len(outermost) == 1 else []
    if isinstance(whole, str) or whole[:1] != ["define"]:
        raise ValueError(f"one (define ...), got {text.strip()[:40]!r}")
    return [each for each in whole[1:] if not isinstance(each, str) and each]


def section(sections: list[Expression], name: str) -> list[Expression]:
    """Return the expressions of a section.

    Raises:
        ValueError: there is no such section, or something in it is no expression.
    """
    found: list[Expression] = []
    for each in one(sections, name)[1:]:
        if isinstance(each, str) or not each:
            raise ValueError(f"expressions in parentheses under {name}, got {each!r}")
        found.append(each)
    return found


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
    found = []
    previous = ""
    for word in expression:
        if isinstance(expression, str) or not isinstance(word, str):
            raise ValueError(f"a list of words, got {expression!r}")
        # Types follow a hyphen: "a b - block".
        if word != "-" and previous != "-":
            found.append(word)
        previous = word
    return tuple(found)
