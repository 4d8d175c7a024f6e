"""A problem: the blocks, their first arrangement and the goal; and its PDDL."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from gde_plugins.blocksworld.arrangement import HAND, TABLE, Below, held, tops
from gde_plugins.blocksworld.domain import PREDICATES, Atom, Terms, literals
from gde_plugins.blocksworld.goal import Goal, contradiction
from gde_plugins.blocksworld.pddl import one, parse, section, words


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem that can be solved."""

    name: str
    blocks: tuple[str, ...]
    """Names, by number."""
    start: Below
    goal: Goal
    terms: Terms = field(default_factory=Terms)

    @property
    def id(self) -> str:
        """Equal for equal problems in equal words, whatever they are called."""
        said = f"{self.blocks} {self.start} {sorted(self.conditions)} {sorted(self.terms.predicates.items())}"
        return sha256(said.encode()).hexdigest()[:16]

    @property
    def conditions(self) -> tuple[Atom, ...]:
        """The goal as atoms."""
        atoms: list[Atom] = []
        for block, under in sorted(self.goal.under.items()):
            if under == TABLE:
                atoms.append(("ontable", self.blocks[block]))
            else:
                atoms.append(("on", self.blocks[block], self.blocks[under]))
        atoms += [("clear", self.blocks[block]) for block in sorted(self.goal.clear)]
        if self.goal.hand_empty:
            atoms.append(("handempty",))
        return tuple(atoms)


def facts(below: Below, blocks: Sequence[str]) -> list[Atom]:
    """Return everything that is true of an arrangement, as atoms."""
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
    lines = [
        f"(define (problem {problem.name.replace('/', '-')})",
        "(:domain blocksworld-4ops)",
        f"(:objects {' '.join(problem.blocks)})",
        f"(:init {_written(facts(problem.start, problem.blocks), problem.terms)})",
        f"(:goal (and {_written(problem.conditions, problem.terms)})))",
    ]
    return "\n".join(lines)


def _written(atoms: Sequence[Atom], terms: Terms) -> str:
    renamed = [" ".join((terms.predicates[name], *arguments)) for name, *arguments in atoms]
    return " ".join(f"({atom})" for atom in renamed)


def read_pddl(text: str, name: str, terms: Terms) -> Problem:
    """Read a problem from its PDDL.

    Raises:
        ValueError: the text is no problem of the blocks world in these terms, or cannot be solved, with the proof.
    """
    sections = parse(text)
    blocks = words(one(sections, ":objects")[1:])
    if not blocks or len({*blocks}) < len(blocks):
        raise ValueError(f"blocks of different names under :objects, got {' '.join(blocks) or 'none'}")

    reader = _Atoms(blocks, {theirs: ours for ours, theirs in terms.predicates.items()})
    start = [reader.read(words(each)) for each in section(sections, ":init")]
    goal = []
    for part in one(sections, ":goal")[1:]:
        for atom, is_affirmed in literals(part):
            goal.append(reader.read_condition(atom, is_affirmed))
    return Problem(name=name, blocks=blocks, start=_start(start, blocks), goal=_goal(goal, blocks), terms=terms)


@dataclass(frozen=True)
class _Atoms:
    blocks: tuple[str, ...]
    ours: dict[str, str]
    """Our names of predicates by those of the domain."""

    def read(self, atom: Atom) -> Atom:
        """Return an atom in our names."""
        theirs, *arguments = atom
        if theirs not in self.ours:
            known = ", ".join(self.ours)
            raise ValueError(f"one of {known}, got {theirs!r}: give its folder the domain.pddl that it is written in")
        name = self.ours[theirs]
        if len(arguments) != PREDICATES[name] or not {*arguments} <= {*self.blocks}:
            raise ValueError(f"{theirs} of {PREDICATES[name]} of the blocks {' '.join(self.blocks)}, got {atom}")
        return (name, *arguments)

    def read_condition(self, atom: Atom, is_affirmed: bool) -> Atom:
        """Return an atom of a goal in our names."""
        condition = self.read(atom)
        if not is_affirmed or condition[0] == "holding":
            raise ValueError(f"a goal of on, ontable, clear and handempty without negations, got {atom}")
        return condition


def _start(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Below:
    """Return the first arrangement; all atoms must agree with it."""
    number = {name: i for i, name in enumerate(blocks)}
    places: dict[str, int] = {}
    for atom in atoms:
        match atom:
            case ("on", block, under):
                place = number[under]
            case ("ontable", block):
                place = TABLE
            case ("holding", block):
                place = HAND
            case _:
                continue
        if places.setdefault(block, place) != place:
            raise ValueError(f"one place for {block} at first, got two")
    for name in blocks:
        if name not in places:
            raise ValueError(f"a place for every block at first, got none for {name}")

    below = tuple(places[name] for name in blocks)
    pairs = [(blocks[block], blocks[under]) for block, under in enumerate(below) if under >= 0]
    problem = contradiction(pairs, (), ())
    if problem:
        raise ValueError(f"towers of blocks at first, but {problem}")

    true = facts(below, blocks)
    if below.count(HAND) > 1 or Counter(true) != Counter({*atoms}):
        odd = sorted({*true} ^ {*atoms}) or [("holding",)]
        raise ValueError(f"a start that agrees with itself, it does not in {' '.join(odd[0])}")
    return below


def _goal(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Goal:
    on: list[tuple[str, str]] = []
    on_table: list[str] = []
    clear: list[str] = []
    hand_empty = False
    for atom in atoms:
        match atom:
            case ("on", block, under):
                on.append((block, under))
            case ("ontable", block):
                on_table.append(block)
            case ("clear", block):
                clear.append(block)
            case _:
                hand_empty = True
    proof = contradiction(on, on_table, clear)
    if proof:
        raise ValueError(f"a problem that can be solved, but in its goal {proof}")

    number = {name: i for i, name in enumerate(blocks)}
    under_of = {number[block]: number[under] for block, under in on}
    under_of.update((number[block], TABLE) for block in on_table)
    return Goal(under=under_of, clear=frozenset(number[block] for block in clear), hand_empty=hand_empty)
