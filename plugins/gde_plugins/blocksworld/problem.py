"""A problem: its blocks, first arrangement and goal, and its PDDL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from gde_plugins.blocksworld.arrangement import HAND, TABLE, Below, held, tops
from gde_plugins.blocksworld.domain import PREDICATES, Atom, Terms, literals
from gde_plugins.blocksworld.goal import Goal, contradiction
from gde_plugins.blocksworld.pddl import one, parse, section, words


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A solvable problem."""

    name: str
    blocks: tuple[str, ...]
    """Names, by number."""
    start: Below
    goal: Goal
    terms: Terms = field(default_factory=Terms)

    @property
    def id(self) -> str:
        """Equal for equal problems in equal words, under any name."""
        predicates = sorted(self.terms.predicates.items())
        said = f"{self.blocks} {self.start} {sorted(self.conditions)} {predicates}"
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

    start = []
    for each in section(sections, ":init"):
        start.append(_ours(words(each), blocks, terms))
    goal = []
    for part in one(sections, ":goal")[1:]:
        for atom, is_affirmed in literals(part):
            condition = _ours(atom, blocks, terms)
            if not is_affirmed or condition[0] == "holding":
                raise ValueError(
                    f"a goal of on, ontable, clear and handempty without negations, got {atom}"
                )
            goal.append(condition)
    return Problem(
        name=name,
        blocks=blocks,
        start=_start(start, blocks),
        goal=_goal(goal, blocks),
        terms=terms,
    )


def _ours(atom: Atom, blocks: tuple[str, ...], terms: Terms) -> Atom:
    """Return an atom of a domain in our names."""
    ours = {theirs: name for name, theirs in terms.predicates.items()}
    theirs, *arguments = atom
    if theirs not in ours:
        raise ValueError(
            f"one of {', '.join(ours)}, got {theirs!r}: give its folder the domain.pddl that it is written in"
        )
    n_blocks = PREDICATES[ours[theirs]]
    if len(arguments) != n_blocks or not set(arguments) <= set(blocks):
        raise ValueError(
            f"{theirs} of {n_blocks} of the blocks {' '.join(blocks)}, got {atom}"
        )
    return (ours[theirs], *arguments)


def _start(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Below:
    """Return the first arrangement; all atoms must agree with it."""
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
            raise ValueError(f"one place for {block} at first, got two")
    for name in blocks:
        if name not in places:
            raise ValueError(f"a place for every block at first, got none for {name}")
    below = tuple(places[name] for name in blocks)

    pairs = [(atom[1], atom[2]) for atom in atoms if atom[0] == "on"]
    proof = contradiction(pairs, (), ())
    if proof:
        raise ValueError(f"towers of blocks at first, but {proof}")

    # The places alone give all other facts, so what is stated must be exactly these.
    true = facts(below, blocks)
    odd = sorted(set(true) ^ set(atoms))
    if odd or below.count(HAND) > 1:
        # Without a difference, two blocks are held.
        first = " ".join(odd[0]) if odd else "holding"
        raise ValueError(f"a start that agrees with itself, it does not in {first}")
    return below


def _goal(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Goal:
    on = [(atom[1], atom[2]) for atom in atoms if atom[0] == "on"]
    on_table = [atom[1] for atom in atoms if atom[0] == "ontable"]
    clear = [atom[1] for atom in atoms if atom[0] == "clear"]
    proof = contradiction(on, on_table, clear)
    if proof:
        raise ValueError(f"a problem that can be solved, but in its goal {proof}")

    under = {blocks.index(upper): blocks.index(lower) for upper, lower in on}
    for block in on_table:
        under[blocks.index(block)] = TABLE
    return Goal(
        under=under,
        clear=frozenset(blocks.index(block) for block in clear),
        hand_empty=("handempty",) in atoms,
    )
