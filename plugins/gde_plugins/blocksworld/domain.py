"""The four operators as PDDL says them, and a domain that says the same in other words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from gde_plugins.blocksworld.pddl import Expression, parse, section, words

Atom = tuple[str, ...]
"""A predicate and what it is said of."""


@dataclass(frozen=True)
class Operator:
    """What an operator needs and does; its blocks are called ?0 and ?1."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    removes: frozenset[Atom]


def _operator(needs: str, adds: str, removes: str) -> Operator:
    return Operator(*(frozenset(tuple(atom.split()) for atom in part.split(", ")) for part in (needs, adds, removes)))


OPERATORS: Mapping[str, Operator] = {
    "pick-up": _operator("clear ?0, ontable ?0, handempty", "holding ?0", "clear ?0, ontable ?0, handempty"),
    "put-down": _operator("holding ?0", "clear ?0, handempty, ontable ?0", "holding ?0"),
    "stack": _operator("clear ?1, holding ?0", "handempty, clear ?0, on ?0 ?1", "clear ?1, holding ?0"),
    "unstack": _operator("on ?0 ?1, clear ?0, handempty", "holding ?0, clear ?1", "on ?0 ?1, clear ?0, handempty"),
}
PREDICATES: Mapping[str, int] = {"on": 2, "ontable": 1, "clear": 1, "holding": 1, "handempty": 0}
"""With the number of blocks that each is said of."""


@dataclass(frozen=True)
class Terms:
    """What predicates and operators are called, and which operators name their blocks the other way round."""

    predicates: Mapping[str, str] = field(default_factory=lambda: {name: name for name in PREDICATES})
    operators: Mapping[str, str] = field(default_factory=lambda: {name: name for name in OPERATORS})
    turned: frozenset[str] = frozenset()


def read_terms(text: str) -> Terms:
    """How a PDDL domain calls the four operators and their predicates.

    Raises:
        ValueError: it is no domain, or not that of the blocks world whatever its words.
    """
    domain = parse(text)
    stated = {str(each[0]): len(words(each[1:])) for each in section(domain, ":predicates")}
    actions = dict(_read_action(each) for each in domain if each[0] == ":action")
    for names in permutations(stated, len(PREDICATES)):
        predicates = dict(zip(PREDICATES, names, strict=True))
        fits = len(stated) == len(PREDICATES) and all(stated[predicates[name]] == n for name, n in PREDICATES.items())
        if fits and (found := _terms(predicates, actions)):
            return found
    raise ValueError("a domain with the four operators of the blocks world, under whatever names; it is another")


def _terms(predicates: Mapping[str, str], actions: Mapping[str, Operator]) -> Terms | None:
    wanted = {}
    for name, operator in OPERATORS.items():
        for turned in (False, True):
            wanted[_called(operator, predicates, turned)] = name, turned
    matched = {wanted[operator]: name for name, operator in actions.items() if operator in wanted}
    operators = {ours: theirs for (ours, _), theirs in matched.items()}
    if len(actions) != len(OPERATORS) or operators.keys() != OPERATORS.keys():
        return None
    one_block = {"pick-up", "put-down"}
    turned_round = frozenset(ours for (ours, turned), _ in matched.items() if turned and ours not in one_block)
    return Terms(predicates, operators, turned_round)


def _called(operator: Operator, predicates: Mapping[str, str], turned: bool) -> Operator:
    """The operator in the words of a domain; one of a single block is the same either way."""
    two_blocks = any("?1" in atom for atom in operator.needs)
    blocks = {"?0": "?1", "?1": "?0"} if turned and two_blocks else {}
    return Operator(
        *(
            frozenset((predicates[name], *(blocks.get(each, each) for each in of)) for name, *of in part)
            for part in (operator.needs, operator.adds, operator.removes)
        )
    )


def _read_action(expression: Expression) -> tuple[str, Operator]:
    _, name, *rest = expression
    if not isinstance(name, str):
        raise ValueError(f"a name for every action, got {name!r}")
    parts = dict(zip(rest[::2], rest[1::2], strict=False))
    blocks = {block: f"?{i}" for i, block in enumerate(words(parts.get(":parameters", [])))}
    positive = frozenset(_renamed(atom, blocks) for atom, true in literals(parts.get(":precondition", [])) if true)
    effects = [(_renamed(atom, blocks), true) for atom, true in literals(parts.get(":effect", []))]
    adds, removes = (frozenset(atom for atom, true in effects if true is kind) for kind in (True, False))
    return name, Operator(positive, adds, removes)


def _renamed(atom: Atom, blocks: Mapping[str, str]) -> Atom:
    return (atom[0], *(blocks.get(each, each) for each in atom[1:]))


def literals(expression: Expression | str) -> Iterator[tuple[Atom, bool]]:
    """The atoms of a conjunction, and whether each is affirmed.

    Raises:
        ValueError: it is something other than a conjunction of atoms and their negations.
    """
    if isinstance(expression, str):
        raise ValueError(f"a condition in parentheses, got {expression!r}")
    if not expression:
        return
    if expression[0] == "and":
        for each in expression[1:]:
            yield from literals(each)
    elif expression[0] == "not" and len(expression) == 2 and not isinstance(expression[1], str):
        yield words(expression[1]), False
    else:
        yield words(expression), True
