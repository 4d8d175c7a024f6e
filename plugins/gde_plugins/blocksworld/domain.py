"""The four operators in PDDL, and domains with other names for them."""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

from gde_plugins.blocksworld.pddl import (
    ANYTHING,
    Expression,
    PddlError,
    parse,
    typed,
)

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


SECTIONS = {
    "domain": True,
    ":requirements": False,
    ":types": False,
    ":constants": False,
    ":predicates": True,
    ":functions": False,
    ":action": False,
}
"""The sections of a domain, and whether it needs them."""
KEYS = (":parameters", ":precondition", ":effect")
"""What an action has."""
COST = ["total-cost"]
CONDITION = "atoms joined by `and` alone"
EFFECT = "effects of atoms and their negations"
"""What goals and preconditions may be, and effects."""


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


@dataclass(frozen=True)
class Domain:
    """What a domain says."""

    predicates: Mapping[str, int]
    """Predicate to its number of arguments."""
    operators: Mapping[str, Operator]
    kinds: Mapping[str, str]
    """Type to the one that it is a kind of."""
    constants: Mapping[str, str]
    """Object of every problem to its type."""
    moved: frozenset[str]
    """Types that an object must have to be a parameter of every operator."""

    def kinds_of(self, kind: str) -> Iterator[str]:
        """Yield a type and those that it is a kind of."""
        for _ in range(len(self.kinds) + 1):
            yield kind
            kind = self.kinds.get(kind, ANYTHING)


def read_domain(text: str) -> Domain:
    """Read a domain of operators whose meaning is in their preconditions and effects.

    Raises:
        PddlError: the text is none, or says more.
    """
    sections = parse(text, SECTIONS)
    predicates: dict[str, int] = {}
    for each in sections[":predicates"][0].inner:
        name = str(each[0])
        if name in predicates:
            raise each.refused(f"one predicate {name}")
        predicates[name] = len(typed(each, 1))
    operators: dict[str, Operator] = {}
    moved: set[str] = set()
    costs: set[float] = set()
    for each in sections[":action"]:
        name, operator, kinds, cost = _read_action(each)
        if name in operators:
            raise each.refused(f"one action {name}")
        operators[name] = operator
        moved.update(kinds)
        costs.add(cost)
        if len(costs) > 1:
            raise each.refused("the same cost of every action")
    return Domain(
        predicates=predicates,
        operators=operators,
        kinds=_merged(sections[":types"]),
        constants=_merged(sections[":constants"]),
        moved=frozenset(moved - {ANYTHING}),
    )


def _merged(sections: list[Expression]) -> dict[str, str]:
    """The names of a section that may be missing, with their types."""
    return typed(sections[0], 1) if sections else {}


def _read_action(
    action: Expression,
) -> tuple[str, Operator, Iterable[str], float]:
    """Read the name of an operator, itself, the types of its parameters and its cost."""
    parameters, precondition, effect = _parts(action)
    kinds = typed(parameters)
    blocks = {block: f"?{number}" for number, block in enumerate(kinds)}

    def ours(atom: Expression) -> Atom:
        predicate, *arguments = map(str, atom)
        if any(each.startswith("?") and each not in blocks for each in arguments):
            raise atom.refused(f"variables of the parameters {' '.join(blocks)}")
        return (predicate, *(blocks.get(each, each) for each in arguments))

    needs, adds, removes = set(), set(), set()
    for part in conjuncts(precondition):
        match part:
            case ["not", ["=", one, other]] if {str(one), str(other)} <= kinds.keys():
                # No block is ever on itself, so that two of them always differ.
                if one == other:
                    raise part.refused(CONDITION)
            case _:
                needs.add(ours(affirmed(part)))
    cost = 0.0
    for part in conjuncts(effect):
        match part:
            case ["increase", [*what], str(amount)] if what == COST:
                cost += number(part, amount)
            case ["not", Expression() as atom]:
                removes.add(ours(affirmed(atom, EFFECT)))
            case _:
                adds.add(ours(affirmed(part, EFFECT)))
    operator = Operator(frozenset(needs), frozenset(adds), frozenset(removes))
    return str(action[1]), operator, kinds.values(), cost


def _parts(action: Expression) -> list[Expression]:
    """Return the values of `KEYS`, empty for those that are missing."""
    # Keywords and values alternate.
    parts = dict(zip(map(str, action[2::2]), action[3::2], strict=False))
    if not parts.keys() <= {*KEYS} or 2 * len(parts) != len(action) - 2:
        raise action.refused(f"{', '.join(KEYS)} of an action, each once")
    given = []
    for key in KEYS:
        part = parts.get(key, Expression(action.line))
        if isinstance(part, str):
            raise action.refused(f"parentheses after {key}")
        given.append(part)
    return given


def number(whole: Expression, text: str) -> float:
    """Return a cost.

    Raises:
        PddlError: it is no number from 0 on.
    """
    if not text.replace(".", "", 1).isdecimal():
        raise whole.refused("a number")
    return float(text)


def conjuncts(expression: Expression) -> Iterator[Expression]:
    """Yield the parts of a conjunction.

    Raises:
        PddlError: a part is not in parentheses.
    """
    if expression and expression[0] == "and":
        for each in expression.inner:
            yield from conjuncts(each)
    elif expression:
        yield expression


def affirmed(atom: Expression, wanted: str = CONDITION) -> Expression:
    """Return an atom, which has no parentheses in it.

    Raises:
        PddlError: it is a condition of another form.
    """
    is_flat = bool(atom) and all(isinstance(each, str) for each in atom)
    if not is_flat or atom[0] in FORMS:
        raise atom.refused(wanted)
    return atom


FORMS = {
    *("not", "or", "imply", "forall", "exists", "when", "either", "preference"),
    *("=", "<", ">", "<=", ">=", "increase", "decrease", "assign"),
}
"""Words of PDDL that are no predicates."""
DOMAIN_READ = read_domain(DOMAIN)
PREDICATES, OPERATORS = DOMAIN_READ.predicates, DOMAIN_READ.operators
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
    domain: Domain = field(default=DOMAIN_READ, compare=False)
    """What else it says."""

    @property
    def idle(self) -> Set[str]:
        """Predicates that no operator mentions, and which therefore mean nothing."""
        return self.domain.predicates.keys() - {*self.predicates.values()}


def read_terms(text: str) -> Terms:
    """Read the names of a PDDL domain.

    Predicates that no operator mentions have no meaning.

    Raises:
        PddlError: the text is no domain, or not the blocks world under other names.
    """
    domain = read_domain(text)
    operators = domain.operators
    name_of = {operator: name for name, operator in operators.items()}
    used: set[str] = set()
    for operator in operators.values():
        for atoms in operator:
            used.update(name for name, *_ in atoms)

    # Names say nothing: try every assignment of predicates until the operators agree.
    names = [name for name in domain.predicates if name in used]
    has_as_many = len(used) == len(names) == len(PREDICATES) and len(operators) == 4
    for chosen in permutations(names) if has_as_many else ():
        if [domain.predicates[name] for name in chosen] != [*PREDICATES.values()]:
            continue
        theirs = dict(zip(PREDICATES, chosen, strict=True))
        found = {}
        for name, operator in OPERATORS.items():
            found[name] = name_of.get(operator.renamed(theirs), "")
        if all(found.values()):
            return Terms(theirs, found, domain)
    raise PddlError(
        "wanted a domain with the four operators of the blocks world, under whatever names; it is another",
        1,
    )
