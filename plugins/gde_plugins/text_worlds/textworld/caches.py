"""Caches for TextWorld's rules and the order of its facts; actions and their order stay
the same.

After every step TextWorld searches all facts for each of its rules to find the possible
actions. Few steps change many facts, and rooms are visited again, so the actions of a
rule are cached by the facts that the rule reads.

TextWorld also sorts its facts some seventy times a step, and each comparison goes
through the names and types of all arguments. The sort key of a fact never changes, so
it is computed once.
"""

from collections.abc import Mapping
from typing import Any

from textworld.logic import Proposition, Rule, Signature, State

LARGEST = 64
"""Combinations of facts that are cached for a rule, some kilobytes each; a game has
some forty rules.
"""
INSTANTIATIONS = State.all_instantiations
MATCH = Rule.match
"""TextWorld's own methods; a second call of `cache_actions` wraps these again, not the
wrappers.
"""


def cache_actions() -> None:
    """Cache the possible actions in this process."""
    State.all_instantiations = _cached_instantiations(INSTANTIATIONS)
    Rule.match = _cached_match(MATCH)


def _cached_instantiations(compute: Any) -> Any:
    def all_instantiations(
        state: Any, rule: Any, mapping: Mapping[Any, Any] | None = None
    ) -> Any:
        known = rule.__dict__.get("known")
        if known is None or known.given is not mapping:
            known = _Known(state, rule, mapping)
            rule.known = known
        if not known.is_function:
            return compute(state, rule, mapping)

        read = known.read(state)
        if read not in known.actions:
            actions = tuple(compute(state, rule, mapping))
            known.remember(read, actions)
        return known.actions[read]

    return all_instantiations


def _cached_match(compute: Any) -> Any:
    def match(rule: Any, action: Any) -> Any:
        # An action is matched again and again with the rule that it came from, so one
        # match is enough.
        by, mapping = action.__dict__.get("matched", (None, None))
        if by is not rule:
            mapping = compute(rule, action)
            action.matched = rule, mapping
        return mapping

    return match


class _Known:
    """The actions of one rule by the facts that it reads. It lives with its rule, and
    so with its game.
    """

    def __init__(self, state: Any, rule: Any, given: Mapping[Any, Any] | None) -> None:
        """Begin empty; `given` maps those placeholders that are the same in every game:
        the player.
        """
        self.given = given
        types = state._logic.types

        # A precondition also holds for facts of subtypes, so the facts of all of them
        # are read.
        signatures: dict[Any, None] = {}
        bound = set(given or ())
        for condition in rule.preconditions:
            bound.update(condition.parameters)
            declared = [types.get(name) for name in condition.signature.types]
            for kinds in types.multi_subtypes(declared):
                names = [kind.name for kind in kinds]
                signatures[Signature(condition.name, names)] = None
        self._signatures = tuple(signatures)

        self.is_function = bound.issuperset(rule.placeholders)
        """Whether the facts alone decide; a placeholder without precondition could be
        anything in the game.
        """
        self.actions: dict[tuple[frozenset[Any], ...], tuple[Any, ...]] = {}

    def read(self, state: Any) -> tuple[frozenset[Any], ...]:
        """Return the facts of a state that the rule reads."""
        facts = state._facts
        read = []
        for signature in self._signatures:
            read.append(frozenset(facts.get(signature, ())))
        return tuple(read)

    def remember(
        self, read: tuple[frozenset[Any], ...], actions: tuple[Any, ...]
    ) -> None:
        """Cache actions; a full cache is emptied, since old states seldom come back."""
        if len(self.actions) >= LARGEST:
            self.actions.clear()
        self.actions[read] = actions


def sort_by_key() -> None:
    """Sort the facts of this process by a key that is computed once; the order is the
    same.
    """
    Proposition.__lt__ = before


def before(fact: Any, other: Any) -> Any:
    """Return whether a fact comes before another: by its name, then by the names and
    types of its arguments.
    """
    try:
        return fact.sort_key < other.sort_key
    except AttributeError:
        # A fact has no key before its first comparison.
        for each in (fact, other):
            if not isinstance(each, Proposition):
                return NotImplemented
            arguments = tuple((part.name, part.type) for part in each.arguments)
            each.sort_key = (each.name, arguments)
        return fact.sort_key < other.sort_key
