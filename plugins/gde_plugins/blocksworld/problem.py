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
        """Equal for equal problems in equal words, under any name."""
        conditions = sorted(self.conditions)
        predicates = sorted(self.terms.predicates.items())
        said = f"{self.blocks} {self.start} {conditions} {predicates}"
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
    """Return all atoms that are true of an arrangement."""
    on_table: list[Atom] = []
    on: list[Atom] = []
    for block, under in enumerate(below):
        if under == TABLE:
            on_table.append(("ontable", blocks[block]))
        elif under != HAND:
            on.append(("on", blocks[block], blocks[under]))
    clear: list[Atom] = [("clear", blocks[block]) for block in tops(below)]

    hand: Atom = ("handempty",)
    in_hand = held(below)
    if in_hand is not None:
        hand = ("holding", blocks[in_hand])
    return [*on_table, *on, *clear, hand]


def write_pddl(problem: Problem) -> str:
    """Write a problem as PDDL, in the names of its domain."""
    # PDDL allows no slash in a name.
    name = problem.name.replace("/", "-")
    objects = " ".join(problem.blocks)
    start = _written(facts(problem.start, problem.blocks), problem.terms)
    goal = _written(problem.conditions, problem.terms)
    lines = [
        f"(define (problem {name})",
        "(:domain blocksworld-4ops)",
        f"(:objects {objects})",
        f"(:init {start})",
        f"(:goal (and {goal})))",
    ]
    return "\n".join(lines)


def _written(atoms: Sequence[Atom], terms: Terms) -> str:
    written = []
    for name, *arguments in atoms:
        words_of_atom = " ".join([terms.predicates[name], *arguments])
        written.append(f"({words_of_atom})")
    return " ".join(written)


def read_pddl(text: str, name: str, terms: Terms) -> Problem:
    """Read a problem from its PDDL.

    Raises:
        ValueError: the text is no problem of the blocks world in these terms, or cannot
        be solved, with the proof.
    """
    sections = parse(text)
    blocks = words(one(sections, ":objects")[1:])
    if not blocks or len({*blocks}) < len(blocks):
        raise ValueError(
            f"blocks of different names under :objects, got {' '.join(blocks) or 'none'}"
        )

    ours = {theirs: name for name, theirs in terms.predicates.items()}
    reader = _Atoms(blocks, ours)
    start = [reader.read(words(each)) for each in section(sections, ":init")]
    goal = []
    for part in one(sections, ":goal")[1:]:
        for atom, is_affirmed in literals(part):
            goal.append(reader.read_condition(atom, is_affirmed))
    return Problem(
        name=name,
        blocks=blocks,
        start=_start(start, blocks),
        goal=_goal(goal, blocks),
        terms=terms,
    )


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
            raise ValueError(
                f"one of {known}, got {theirs!r}: give its folder the domain.pddl that it is written in"
            )
        name = self.ours[theirs]
        n_blocks = PREDICATES[name]
        if len(arguments) != n_blocks or not set(arguments) <= set(self.blocks):
            known = " ".join(self.blocks)
            raise ValueError(
                f"{theirs} of {n_blocks} of the blocks {known}, got {atom}"
            )
        return (name, *arguments)

    def read_condition(self, atom: Atom, is_affirmed: bool) -> Atom:
        """Return an atom of a goal in our names."""
        condition = self.read(atom)
        if not is_affirmed or condition[0] == "holding":
            raise ValueError(
                f"a goal of on, ontable, clear and handempty without negations, got {atom}"
            )
        return condition


def _start(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Below:
    """Return the first arrangement; all atoms must agree with it."""
    places = _places(atoms, blocks)
    below = tuple(places[name] for name in blocks)
    pairs = []
    for name, under in zip(blocks, below, strict=True):
        if under >= 0:
            pairs.append((name, blocks[under]))
    proof = contradiction(pairs, (), ())
    if proof:
        raise ValueError(f"towers of blocks at first, but {proof}")

    # The places alone give all other facts, so what is stated must be exactly these.
    true = facts(below, blocks)
    if below.count(HAND) > 1 or Counter(true) != Counter(set(atoms)):
        odd = sorted(set(true) ^ set(atoms))
        # Without a difference, two blocks are held.
        first = " ".join(odd[0]) if odd else "holding"
        raise ValueError(f"a start that agrees with itself, it does not in {first}")
    return below


def _places(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> dict[str, int]:
    """Return the place of every block; exactly one atom must give it."""
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
    return places


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
    for block in on_table:
        under_of[number[block]] = TABLE
    clear_blocks = frozenset(number[block] for block in clear)
    return Goal(under=under_of, clear=clear_blocks, hand_empty=hand_empty)
