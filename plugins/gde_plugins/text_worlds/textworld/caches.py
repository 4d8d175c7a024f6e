"""What TextWorld's rules allow, worked out again only where a fact has changed that they read.

After every step TextWorld goes through its facts for each of its rules, and finds all actions that are possible now.
Many steps change no fact, the others few, and rooms are visited again. What a rule allows is a function of the facts
that it reads, and which of its placeholders stand for what in an action is one of that action.
"""

from collections.abc import Mapping
from typing import Any

from textworld.logic import Rule, Signature, State

LARGEST = 64
"""Combinations of facts that are remembered for a rule, some kilobytes each; a game has some forty rules."""
INSTANTIATIONS, MATCH = State.all_instantiations, Rule.match
"""As TextWorld has them, so that to remember twice is to remember once."""


def remember_actions() -> None:
    """Have TextWorld remember what is possible, in this process; actions are the same, and so is their order."""
    State.all_instantiations = _allowed(INSTANTIATIONS)
    Rule.match = _matched(MATCH)


def _allowed(work_out: Any) -> Any:
    def all_instantiations(state: Any, rule: Any, mapping: Mapping[Any, Any] | None = None) -> Any:
        known = rule.__dict__.get("known")
        if known is None or known.given is not mapping:
            known = rule.known = _Known(state, rule, mapping)
        if not known.is_function:
            return work_out(state, rule, mapping)
        read = known.read(state)
        if read not in known.actions:
            known.remember(read, tuple(work_out(state, rule, mapping)))
        return known.actions[read]

    return all_instantiations


def _matched(work_out: Any) -> Any:
    def match(rule: Any, action: Any) -> Any:
        by, mapping = action.__dict__.get("matched", (None, None))
        if by is not rule:
            mapping = work_out(rule, action)
            action.matched = rule, mapping
        return mapping

    return match


class _Known:
    """What a rule allows, by the facts that it reads. It lives with its rule, and so with its game."""

    def __init__(self, state: Any, rule: Any, given: Mapping[Any, Any] | None) -> None:
        """Nothing yet. `given` is what some of the rule's placeholders stand for in every game: the player."""
        self.given = given
        types = state._logic.types
        read = [
            Signature(each.name, [kind.name for kind in kinds])
            for each in rule.preconditions
            for kinds in types.multi_subtypes([types.get(name) for name in each.signature.types])
        ]
        self._signatures = tuple(dict.fromkeys(read))
        bound = {name for each in rule.preconditions for name in each.parameters} | {*(given or ())}
        self.is_function = bound >= {*rule.placeholders}
        """Whether nothing else decides; what no precondition names can be anything in the game."""
        self.actions: dict[tuple[frozenset[Any], ...], tuple[Any, ...]] = {}

    def read(self, state: Any) -> tuple[frozenset[Any], ...]:
        """The facts of a state that the rule reads."""
        facts = state._facts
        return tuple([frozenset(facts.get(each, ())) for each in self._signatures])

    def remember(self, read: tuple[frozenset[Any], ...], actions: tuple[Any, ...]) -> None:
        """Forget all when there is too much: what was seen long ago is seldom seen again."""
        if len(self.actions) >= LARGEST:
            self.actions.clear()
        self.actions[read] = actions
