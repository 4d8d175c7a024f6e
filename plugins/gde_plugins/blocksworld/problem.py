"""A problem: its blocks, first arrangement and goal, and its PDDL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from gde_plugins.blocksworld.arrangement import HAND, TABLE, Below, held, tops
from gde_plugins.blocksworld.domain import (
    COST,
    PREDICATES,
    Atom,
    Domain,
    Terms,
    affirmed,
    conjuncts,
    number,
)
from gde_plugins.blocksworld.goal import Goal, contradiction
from gde_plugins.blocksworld.pddl import Expression, PddlError, parse, typed


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem, as a rule one that can be solved."""

    name: str
    blocks: tuple[str, ...]
    """Names, by number."""
    start: Below
    goal: Goal
    terms: Terms = field(default_factory=Terms)
    stated: tuple[Atom, ...] = ()
    """The conditions of an impossible goal."""

    @property
    def id(self) -> str:
        """Equal for equal problems in equal words, under any name."""
        predicates = sorted(self.terms.predicates.items())
        said = f"{self.blocks} {self.start} {sorted(self.conditions)} {predicates}"
        return sha256(said.encode()).hexdigest()[:16]

    @property
    def conditions(self) -> tuple[Atom, ...]:
        """The goal as atoms."""
        atoms: list[Atom] = [*self.stated]
        for block, under in sorted(self.goal.under.items()):
            if under == TABLE:
                atoms.append(("ontable", self.blocks[block]))
            else:
                atoms.append(("on", self.blocks[block], self.blocks[under]))
        atoms += [("clear", self.blocks[block]) for block in sorted(self.goal.clear)]
        if self.goal.hand_empty:
            atoms.append(("handempty",))
        return tuple(atoms)

    @property
    def aim(self) -> str:
        """The goal in one line, e.g. "on a b, on b c"."""
        return ", ".join(" ".join(atom) for atom in self.conditions)


def facts(below: Below, blocks: Sequence[str]) -> list[Atom]:
    """Return all atoms that are true of an arrangement."""
    on_table: list[Atom] = []
    on: list[Atom] = []
    for block, under in enumerate(below):
        if under == TABLE:
            on_table.append(("ontable", blocks[block]))
        elif under != HAND:
            on.append(("on", blocks[block], blocks[under]))
    clear: list[Atom] = [("clear", blocks[block]) for block in tops(below)]

    in_hand = held(below)
    hand: Atom = ("handempty",) if in_hand is None else ("holding", blocks[in_hand])
    return [*on_table, *on, *clear, hand]


def write_pddl(problem: Problem) -> str:
    """Write a problem as PDDL, in the names of its domain."""
    # PDDL allows no slash in a name.
    name = problem.name.replace("/", "-")
    terms = problem.terms.predicates
    start = _written(facts(problem.start, problem.blocks), terms)
    goal = _written(problem.conditions, terms)
    return f"""(define (problem {name})
(:domain blocksworld-4ops)
(:objects {" ".join(problem.blocks)})
(:init {start})
(:goal (and {goal})))"""


def _written(atoms: Sequence[Atom], terms: Mapping[str, str]) -> str:
    written = [f"({' '.join((terms[name], *rest))})" for name, *rest in atoms]
    return " ".join(written)


SECTIONS = {
    "problem": True,
    ":domain": False,
    ":requirements": False,
    ":objects": False,
    ":init": True,
    ":goal": True,
    ":metric": False,
}
"""The sections of a problem, and whether it needs them."""
ATOMS = "atoms in :init"


def read_pddl(text: str, name: str, terms: Terms) -> Problem:
    """Read a problem from its PDDL.

    Raises:
        PddlError: the text is no problem of the blocks world in these terms.
    """
    sections = parse(text, SECTIONS)
    for each in sections[":metric"]:
        if each[1:] != ["minimize", COST]:
            raise each.refused("(:metric minimize (total-cost)) or none")
    blocks = _blocks(sections[":objects"], terms.domain)
    (init,) = sections[":init"]
    (goal,) = sections[":goal"]
    conditions = _conditions(goal, blocks, terms)
    asked = _goal(conditions, blocks)
    return Problem(
        name=name,
        blocks=blocks,
        start=_start(init, blocks, terms),
        goal=asked,
        terms=terms,
        stated=conditions if asked.impossible else (),
    )


def _blocks(sections: Sequence[Expression], domain: Domain) -> tuple[str, ...]:
    kinds = {**domain.constants}
    line = 1
    for each in sections:
        line = each.line
        kinds.update(typed(each, 1))
    for block, kind in kinds.items():
        if not domain.moved <= {*domain.kinds_of(kind)}:
            wanted = f"objects that every operator takes, got {block} - {kind}"
            raise PddlError(f"wanted {wanted}", line)
    if not kinds:
        raise PddlError("wanted blocks under :objects, got none", 1)
    return tuple(kinds)


def _ours(atom: Expression, blocks: tuple[str, ...], terms: Terms) -> Atom:
    """Return an atom of a domain in our names."""
    ours = {theirs: name for name, theirs in terms.predicates.items()}
    theirs, *arguments = map(str, atom)
    if theirs not in ours:
        raise atom.refused(
            f"one of {', '.join(ours)} (or a file of the domain that it is written in)"
        )
    n_blocks = PREDICATES[ours[theirs]]
    if len(arguments) != n_blocks or not set(arguments) <= set(blocks):
        raise atom.refused(f"{theirs} of {n_blocks} of the blocks {' '.join(blocks)}")
    return (ours[theirs], *arguments)


def _facts(init: Expression, blocks: tuple[str, ...], terms: Terms) -> tuple[Atom, ...]:
    atoms = []
    for each in init.inner:
        match each:
            case ["=", [*what], str(amount)] if what == COST:
                number(each, amount)
            case [str(predicate), *_] if predicate in terms.idle:
                affirmed(each, ATOMS)
            case _:
                atoms.append(_ours(affirmed(each, ATOMS), blocks, terms))
    return tuple(atoms)


def _start(init: Expression, blocks: tuple[str, ...], terms: Terms) -> Below:
    """Return the first arrangement; all atoms must agree with it."""
    atoms = _facts(init, blocks, terms)
    places: dict[str, int] = {}
    for atom in atoms:
        match atom:
            case ("on", block, under):
                place = blocks.index(under)
            case ("ontable", block):
                place = TABLE
            case ("holding", block):
                place = HAND
            case _:
                continue
        if places.setdefault(block, place) != place:
            raise init.refused(f"one place for {block} at first, not two")
    for name in blocks:
        if name not in places:
            raise init.refused(f"a place for {name} at first")
    below = tuple(places[name] for name in blocks)

    pairs = [(atom[1], atom[2]) for atom in atoms if atom[0] == "on"]
    proof = contradiction(pairs, (), ())
    if proof:
        raise init.refused(f"towers of blocks at first (here {proof})")

    # The places alone give all other facts, so what is stated must be exactly these.
    true = facts(below, blocks)
    odd = sorted(set(true) ^ set(atoms))
    if odd or below.count(HAND) > 1:
        # Without a difference, two blocks are held.
        first = " ".join(odd[0]) if odd else "holding"
        raise init.refused(f"a start that agrees with itself, also in {first}")
    return below


def _conditions(
    goal: Expression, blocks: tuple[str, ...], terms: Terms
) -> tuple[Atom, ...]:
    atoms = []
    for whole in goal.inner:
        for each in conjuncts(whole):
            atoms.append(_ours(affirmed(each), blocks, terms))
            if atoms[-1][0] == "holding":
                raise each.refused("a goal of on, ontable, clear and handempty")
    return tuple(atoms)


def _goal(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Goal:
    on = [(atom[1], atom[2]) for atom in atoms if atom[0] == "on"]
    on_table = [atom[1] for atom in atoms if atom[0] == "ontable"]
    clear = [atom[1] for atom in atoms if atom[0] == "clear"]
    proof = contradiction(on, on_table, clear)
    if proof:
        return Goal(under={}, impossible=proof)

    under = {blocks.index(upper): blocks.index(lower) for upper, lower in on}
    for block in on_table:
        under[blocks.index(block)] = TABLE
    return Goal(
        under=under,
        clear=frozenset(blocks.index(block) for block in clear),
        hand_empty=("handempty",) in atoms,
    )
