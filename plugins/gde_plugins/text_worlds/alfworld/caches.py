"""Caches of TextWorld's repeated computations for PDDL games.

Whenever a game begins, TextWorld translates its problem twice, the second time for a
planner that nothing here asks. At every step it parses each expression of the grammar
that it uses, and copies all that the expression may name. These are functions of a
text, or copies that nobody changes.
"""

from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any

import fast_downward
from textworld.envs.pddl import textgen
from textworld.logic import Rule

GAMES = 2
"""Maximum number of cached translations, some megabytes each."""
EXPRESSIONS = 4096
"""Maximum number of cached expressions; the grammar has some hundred, and every game
one for its task.
"""


def cache() -> None:
    """Cache in this process."""
    fast_downward.pddl2sas = _translator(fast_downward.pddl2sas)
    textgen._parse_and_convert = _parser(textgen._parse_and_convert)
    textgen.copy_context = _copied
    # A query is read and never changed.
    Rule.parse_conjunctive_query = staticmethod(
        lru_cache(maxsize=EXPRESSIONS)(Rule.parse_conjunctive_query)
    )


def _translator(translate: Any) -> Any:
    @lru_cache(maxsize=GAMES)
    def translated(domain: str, problem: str) -> Any:
        return translate(domain, problem)

    def pddl2sas(domain: str, problem: str, **_: bool) -> Any:
        """Return the translation that games are played with, for the planner too."""
        return translated(domain, problem)

    return pddl2sas


def _parser(parse: Any) -> Any:
    @lru_cache(maxsize=EXPRESSIONS)
    def parsed(text: str, rule_name: str) -> Any:
        return parse(text, rule_name=rule_name)

    def fresh(text: str, rule_name: str, **_: bool) -> Any:
        """Return separate symbols for each use, which gives them a context."""
        return deepcopy(parsed(text, rule_name))

    return fresh


def _copied(context: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the variables and the mapping, to which more may be added."""
    return {
        **context,
        "variables": dict(context["variables"]),
        "mapping": dict(context["mapping"]),
    }
