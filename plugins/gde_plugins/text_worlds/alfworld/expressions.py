"""Expressions in TextWorld's grammars, on any Python.

TextWorld adds the names that an expression uses to `locals()`, which is a copy since
Python 3.13 (PEP 667).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from textworld.envs.pddl import textgen


def pass_names() -> None:
    """Evaluate expressions with their names, in this process."""
    textgen.EvalSymbol.derive = _derived


def _derived(symbol: Any, context: Mapping[str, Any] | None = None) -> Sequence[Any]:
    names = (context or symbol.context)["variables"]
    value = eval(symbol.expression, vars(textgen), names)
    return [textgen.TerminalSymbol(value)]
