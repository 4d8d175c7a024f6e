"""Expressions in TextWorld's grammars, which are data.

TextWorld evaluates them as Python, so that a game from elsewhere could run any code. It
also adds the names that they use to `locals()`, which is a copy since Python 3.13
(PEP 667). ALFWorld's grammars have names, attributes, texts, "+" and "or" alone.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from textworld.envs.pddl import textgen

from gde.errors import GdeError

LONGEST = 200
"""The most characters of an expression: Python's parser fails on deep ones."""


def read_expressions() -> None:
    """Read expressions as data, in this process."""
    textgen.EvalSymbol.derive = _derived


def _derived(symbol: Any, context: Mapping[str, Any] | None = None) -> Sequence[Any]:
    names = (context or symbol.context)["variables"]
    return [textgen.TerminalSymbol(value_of(symbol.expression, names))]


def value_of(expression: str, names: Mapping[str, Any]) -> Any:
    """The value of names, their attributes and texts, joined by "+" or "or".

    Raises:
        GdeError: the expression has anything else, or an unknown name.
    """
    try:
        if len(expression) > LONGEST:
            raise ValueError("too long")
        return _value(ast.parse(expression.strip(), mode="eval").body, names)
    except (SyntaxError, ValueError, LookupError, AttributeError) as error:
        raise GdeError(
            f"a game's grammar has {expression!r}: wanted names, attributes and texts, joined by + or or"
        ) from error


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return names[name]
        case ast.Attribute(value=of, attr=name) if not name.startswith("_"):
            return getattr(_value(of, names), name)
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(left=first, op=ast.Add(), right=second):
            return str(_value(first, names)) + str(_value(second, names))
        case ast.BoolOp(op=ast.Or(), values=[*values]):
            found = None
            for each in values:
                found = _value(each, names)
                if found:
                    break
            return found
        case _:
            raise ValueError(ast.dump(node))
