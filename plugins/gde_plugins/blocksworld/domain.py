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
    atoms = text.split(", ")
    return frozenset(tuple(atom.split()) for atom in atoms)


OPERATORS: Mapping[str, Operator] = {
    "pick-up": _operator(
        "clear ?0, ontable ?0, handempty",
        "holding ?0",
        "clear ?0, ontable ?0, handempty",
    ),
    "put-down": _operator(
        "holding ?0", "clear ?0, handempty, ontable ?0", "holding ?0"
    ),
    "stack": _operator(
        "clear ?1, holding ?0", "handempty, clear ?0, on ?0 ?1", "clear ?1, holding ?0"
    ),
    "unstack": _operator(
        "on ?0 ?1, clear ?0, handempty",
        "holding ?0, clear ?1",
        "on ?0 ?1, clear ?0, handempty",
    ),
}
PREDICATES: Mapping[str, int] = {
    "on": 2,
    "ontable": 1,
    "clear": 1,
    "holding": 1,
    "handempty": 0,
}
"""Predicate to its number of blocks."""


@dataclass(frozen=True)
class Terms:
    """The names that a domain gives to predicates and operators."""

    predicates: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in PREDICATES}
    )
    operators: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in OPERATORS}
    )
    turned: frozenset[str] = frozenset()
    """Operators that name their two blocks in the other order."""


def read_terms(text: str) -> Terms:
    """Read the names of a PDDL domain.

    Raises:
        ValueError: the text is no domain, or not the blocks world under other names.
    """
    domain = parse(text)
    n_arguments: dict[str, int] = {}
    for name, *arguments in section(domain, ":predicates"):
        n_arguments[str(name)] = len(words(arguments))
    actions: dict[str, Operator] = {}
    for each in domain:
        if each[0] == ":action":
            name, operator = _read_action(each)
            actions[name] = operator

    # Names say nothing: try every assignment of predicates until the operators agree.
    if len(n_arguments) == len(PREDICATES):
        for names in permutations(n_arguments):
            counts = [n_arguments[name] for name in names]
            if counts != [*PREDICATES.values()]:
                continue
            predicates = dict(zip(PREDICATES, names, strict=True))
            terms = _terms(predicates, actions)
            if terms is not None:
                return terms
    raise ValueError(
        "a domain with the four operators of the blocks world, under whatever names; it is another"
    )


def _terms(
    predicates: Mapping[str, str], actions: Mapping[str, Operator]
) -> Terms | None:
    """Match actions with operators under given names of predicates; None if they do not
    agree.
    """
    straight: dict[Operator, str] = {}
    turned: dict[Operator, str] = {}
    for name, operator in OPERATORS.items():
        straight[_renamed(operator, predicates, {})] = name
        turned[_renamed(operator, predicates, {"?0": "?1", "?1": "?0"})] = name

    # Operators hold sets of atoms, so two of them are equal whatever the order of their
    # conditions.
    operators: dict[str, str] = {}
    turned_names = set()
    for theirs, operator in actions.items():
        # An operator of one block is the same either way, and counts as straight.
        if operator in straight:
            operators[straight[operator]] = theirs
        elif operator in turned:
            operators[turned[operator]] = theirs
            turned_names.add(turned[operator])
    if len(actions) != len(OPERATORS) or operators.keys() != OPERATORS.keys():
        return None
    return Terms(predicates, operators, frozenset(turned_names))


def _renamed(
    operator: Operator, predicates: Mapping[str, str], blocks: Mapping[str, str]
) -> Operator:
    """Return an operator under other names of predicates and blocks."""
    has_two_blocks = any("?1" in atom for atom in operator.needs)
    if not has_two_blocks:
        blocks = {}

    def renamed(atoms: frozenset[Atom]) -> frozenset[Atom]:
        found = set()
        for name, *arguments in atoms:
            atom = (predicates[name], *arguments)
            found.add(_renamed_atom(atom, blocks))
        return frozenset(found)

    return Operator(
        renamed(operator.needs), renamed(operator.adds), renamed(operator.removes)
    )


def _renamed_atom(atom: Atom, blocks: Mapping[str, str]) -> Atom:
    name, *arguments = atom
    renamed = [blocks.get(each, each) for each in arguments]
    return (name, *renamed)


def _read_action(expression: Expression) -> tuple[str, Operator]:
    """Return the name of an action and its operator; negative preconditions are
    ignored.
    """
    _, name, *rest = expression
    if not isinstance(name, str):
        raise ValueError(f"a name for every action, got {name!r}")
    # Keywords and values alternate after the name.
    parts = dict(zip(rest[::2], rest[1::2], strict=False))
    parameters = words(parts.get(":parameters", []))
    blocks = {block: f"?{i}" for i, block in enumerate(parameters)}

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
    elif (
        expression[0] == "not"
        and len(expression) == 2
        and not isinstance(expression[1], str)
    ):
        yield words(expression[1]), False
    else:
        yield words(expression), True
