"""The four operators in PDDL, and domains that give them other names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations

from gde_plugins.blocksworld.pddl import Expression, parse, section, words

Atom = tuple[str, ...]
"""A predicate and its arguments."""


@dataclass(frozen=True)
class Operator:
    """Preconditions and effects of an operator, whose blocks are called ?0 and ?1."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    removes: frozenset[Atom]


def _operator(needs: str, adds: str, removes: str) -> Operator:
    return Operator(_atoms(needs), _atoms(adds), _atoms(removes))


def _atoms(text: str) -> frozenset[Atom]:
    return frozenset(tuple(atom.split()) for atom in text.split(", "))


OPERATORS: Mapping[str, Operator] = {
    "pick-up": _operator("clear ?0, ontable ?0, handempty", "holding ?0", "clear ?0, ontable ?0, handempty"),
    "put-down": _operator("holding ?0", "clear ?0, handempty, ontable ?0", "holding ?0"),
    "stack": _operator("clear ?1, holding ?0", "handempty, clear ?0, on ?0 ?1", "clear ?1, holding ?0"),
    "unstack": _operator("on ?0 ?1, clear ?0, handempty", "holding ?0, clear ?1", "on ?0 ?1, clear ?0, handempty"),
}
PREDICATES: Mapping[str, int] = {"on": 2, "ontable": 1, "clear": 1, "holding": 1, "handempty": 0}
"""Predicate to its number of blocks."""


@dataclass(frozen=True)
class Terms:
    """The names that a domain gives to predicates and operators."""

    predicates: Mapping[str, str] = field(default_factory=lambda: {name: name for name in PREDICATES})
    operators: Mapping[str, str] = field(default_factory=lambda: {name: name for name in OPERATORS})
    turned: frozenset[str] = frozenset()
    """Operators that name their two blocks in the other order."""


def read_terms(text: str) -> Terms:
    """Read the names of a PDDL domain.

    Raises:
        ValueError: the text is no domain, or not the blocks world under other names.
    """
    domain = parse(text)
    n_arguments = {str(each[0]): len(words(each[1:])) for each in section(domain, ":predicates")}
    actions = dict(_read_action(each) for each in domain if each[0] == ":action")

    # Names say nothing: every assignment of predicates is tried until the operators agree.
    if len(n_arguments) == len(PREDICATES):
        for names in permutations(n_arguments):
            predicates = dict(zip(PREDICATES, names, strict=True))
            if all(n_arguments[predicates[name]] == n for name, n in PREDICATES.items()):
                terms = _terms(predicates, actions)
                if terms is not None:
                    return terms
    raise ValueError("a domain with the four operators of the blocks world, under whatever names; it is another")


def _terms(predicates: Mapping[str, str], actions: Mapping[str, Operator]) -> Terms | None:
    """Match actions with operators under given names of predicates; None if they do not agree."""
    in_domain: dict[Operator, tuple[str, bool]] = {}
    for name, operator in OPERATORS.items():
        in_domain[_renamed(operator, predicates, {"?0": "?1", "?1": "?0"})] = name, True
        in_domain[_renamed(operator, predicates, {})] = name, False

    operators: dict[str, str] = {}
    turned = set()
    for theirs, operator in actions.items():
        if operator in in_domain:
            ours, is_turned = in_domain[operator]
            operators[ours] = theirs
            if is_turned:
                turned.add(ours)
    if len(actions) != len(OPERATORS) or operators.keys() != OPERATORS.keys():
        return None
    return Terms(predicates, operators, frozenset(turned))


def _renamed(operator: Operator, predicates: Mapping[str, str], blocks: Mapping[str, str]) -> Operator:
    """Return an operator under other names of predicates and blocks."""
    has_two_blocks = any("?1" in atom for atom in operator.needs)
    if not has_two_blocks:
        blocks = {}

    def renamed(atoms: frozenset[Atom]) -> frozenset[Atom]:
        return frozenset(_renamed_atom((predicates[name], *arguments), blocks) for name, *arguments in atoms)

    return Operator(renamed(operator.needs), renamed(operator.adds), renamed(operator.removes))


def _renamed_atom(atom: Atom, blocks: Mapping[str, str]) -> Atom:
    name, *arguments = atom
    return (name, *(blocks.get(each, each) for each in arguments))


def _read_action(expression: Expression) -> tuple[str, Operator]:
    """Return the name of an action and its operator; negative preconditions are ignored."""
    _, name, *rest = expression
    if not isinstance(name, str):
        raise ValueError(f"a name for every action, got {name!r}")
    parts = dict(zip(rest[::2], rest[1::2], strict=False))
    blocks = {block: f"?{i}" for i, block in enumerate(words(parts.get(":parameters", [])))}

    needs: set[Atom] = set()
    adds: set[Atom] = set()
    removes: set[Atom] = set()
    for atom, is_affirmed in literals(parts.get(":precondition", [])):
        if is_affirmed:
            needs.add(_renamed_atom(atom, blocks))
    for atom, is_affirmed in literals(parts.get(":effect", [])):
        effects = adds if is_affirmed else removes
        effects.add(_renamed_atom(atom, blocks))
    return name, Operator(frozenset(needs), frozenset(adds), frozenset(removes))


def literals(expression: Expression | str) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms of a conjunction, and whether each is affirmed.

    Raises:
        ValueError: the expression is no conjunction of atoms and their negations.
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
