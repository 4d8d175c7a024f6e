"""The four operators in PDDL, and domains with other names for them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

from gde_plugins.blocksworld.pddl import Expression, parse, section, words

Atom = tuple[str, ...]
"""A predicate and its arguments."""
DOMAIN = """(define (domain blocksworld-4ops)
  (:predicates (on ?0 ?1) (ontable ?0) (clear ?0) (holding ?0) (handempty))
  (:action pick-up :parameters (?0)
    :precondition (and (clear ?0) (ontable ?0) (handempty))
    :effect (and (holding ?0) (not (clear ?0)) (not (ontable ?0)) (not (handempty))))
  (:action put-down :parameters (?0)
    :precondition (holding ?0)
    :effect (and (clear ?0) (handempty) (ontable ?0) (not (holding ?0))))
  (:action stack :parameters (?0 ?1)
    :precondition (and (clear ?1) (holding ?0))
    :effect (and (handempty) (clear ?0) (on ?0 ?1)
                 (not (clear ?1)) (not (holding ?0))))
  (:action unstack :parameters (?0 ?1)
    :precondition (and (on ?0 ?1) (clear ?0) (handempty))
    :effect (and (holding ?0) (clear ?1)
                 (not (on ?0 ?1)) (not (clear ?0)) (not (handempty)))))"""


class Operator(NamedTuple):
    """Preconditions and effects of an operator, whose blocks are called ?0 and ?1."""

    needs: frozenset[Atom]
    adds: frozenset[Atom]
    removes: frozenset[Atom]

    def renamed(self, predicates: Mapping[str, str]) -> "Operator":
        """Return the operator under other names of predicates."""
        parts = []
        for atoms in self:
            parts.append(frozenset((predicates[name], *rest) for name, *rest in atoms))
        return Operator(*parts)


def read_domain(text: str) -> tuple[dict[str, int], dict[str, Operator]]:
    """Read the number of arguments of each predicate, and the operators.

    Raises:
        ValueError: the text is no domain.
    """
    domain = parse(text)
    predicates: dict[str, int] = {}
    for name, *arguments in section(domain, ":predicates"):
        predicates[str(name)] = len(words(arguments))
    operators: dict[str, Operator] = {}
    for each in domain:
        if each[0] == ":action":
            operators[str(each[1])] = _read_action(each[2:])
    return predicates, operators


def _read_action(expression: Expression) -> Operator:
    """Read an operator; negative preconditions are ignored."""
    # Keywords and values alternate.
    parts: dict[Any, Any] = dict(zip(expression[::2], expression[1::2], strict=False))
    blocks: dict[str, str] = {}
    for block in words(parts.get(":parameters", [])):
        blocks[block] = f"?{len(blocks)}"

    def atoms(key: str, affirmed: bool) -> frozenset[Atom]:
        found = set()
        for (name, *rest), is_affirmed in literals(parts.get(key, [])):
            if is_affirmed == affirmed:
                found.add((name, *(blocks.get(each, each) for each in rest)))
        return frozenset(found)

    return Operator(
        needs=atoms(":precondition", affirmed=True),
        adds=atoms(":effect", affirmed=True),
        removes=atoms(":effect", affirmed=False),
    )


def literals(expression: Expression | str) -> Iterator[tuple[Atom, bool]]:
    """Yield the atoms of a conjunction, and whether each is affirmed.

    Raises:
        ValueError: the expression is no conjunction of atoms and their negations.
    """
    match expression:
        case str():
            raise ValueError(f"a condition in parentheses, got {expression!r}")
        case ["and", *parts]:
            for each in parts:
                yield from literals(each)
        case ["not", [*atom]]:
            yield words(atom), False
        case [_, *_]:
            yield words(expression), True


PREDICATES, OPERATORS = read_domain(DOMAIN)
"""Predicate to its number of blocks, and the operators by name."""


@dataclass(frozen=True)
class Terms:
    """The names that a domain gives to predicates and operators."""

    predicates: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in PREDICATES}
    )
    operators: Mapping[str, str] = field(
        default_factory=lambda: {name: name for name in OPERATORS}
    )


def read_terms(text: str) -> Terms:
    """Read the names of a PDDL domain.

    Raises:
        ValueError: the text is no domain, or not the blocks world under other names.
    """
    predicates, operators = read_domain(text)
    name_of = {operator: name for name, operator in operators.items()}

    # Names say nothing: try every assignment of predicates until the operators agree.
    has_as_many = len(predicates) == len(PREDICATES) and len(operators) == 4
    for names in permutations(predicates) if has_as_many else ():
        if [predicates[name] for name in names] != [*PREDICATES.values()]:
            continue
        theirs = dict(zip(PREDICATES, names, strict=True))
        found = {}
        for name, operator in OPERATORS.items():
            found[name] = name_of.get(operator.renamed(theirs), "")
        if all(found.values()):
            return Terms(theirs, found)
    raise ValueError(
        "a domain with the four operators of the blocks world, under whatever names; it is another"
    )
