"""A problem: blocks, where they are at first, and what is asked for."""

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
    """One problem, whatever it was made from."""

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
        """What is asked for, as atoms."""
        name, goal = self.blocks, self.goal
        placed = [
            ("ontable", name[block]) if under == TABLE else ("on", name[block], name[under])
            for block, under in sorted(goal.under.items())
        ]
        return (
            *placed,
            *(("clear", name[block]) for block in sorted(goal.clear)),
            *([("handempty",)] if goal.hand_empty else []),
        )


def facts(below: Below, blocks: Sequence[str]) -> list[Atom]:
    """Everything that is true of an arrangement, as atoms."""
    on_table = [("ontable", blocks[block]) for block, under in enumerate(below) if under == TABLE]
    on = [("on", blocks[block], blocks[under]) for block, under in enumerate(below) if under >= 0]
    clear = [("clear", blocks[block]) for block in tops(below)]
    lifted = held(below)
    return [*on_table, *on, *clear, ("handempty",) if lifted is None else ("holding", blocks[lifted])]


def write_pddl(problem: Problem) -> str:
    """The problem as PDDL, in the words of its domain."""

    def said(atoms: Sequence[Atom]) -> str:
        return " ".join(f"({' '.join((problem.terms.predicates[name], *of))})" for name, *of in atoms)

    return "\n".join(
        [
            f"(define (problem {problem.name.replace('/', '-')})",
            "(:domain blocksworld-4ops)",
            f"(:objects {' '.join(problem.blocks)})",
            f"(:init {said(facts(problem.start, problem.blocks))})",
            f"(:goal (and {said(problem.conditions)})))",
        ]
    )


def read_pddl(text: str, name: str, terms: Terms) -> Problem:
    """A problem from its PDDL.

    Raises:
        ValueError: it is no problem of the blocks world in these terms, or one that cannot be solved, with the proof.
    """
    sections = parse(text)
    blocks = words(one(sections, ":objects")[1:])
    if not blocks or len({*blocks}) < len(blocks):
        raise ValueError(f"blocks of different names under :objects, got {' '.join(blocks) or 'none'}")
    reader = _Atoms(blocks, {theirs: ours for ours, theirs in terms.predicates.items()})
    start = _start([reader.read(words(each)) for each in section(sections, ":init")], blocks)
    goal = _goal([reader.affirmed(*each) for part in one(sections, ":goal")[1:] for each in literals(part)], blocks)
    return Problem(name=name, blocks=blocks, start=start, goal=goal, terms=terms)


@dataclass(frozen=True)
class _Atoms:
    blocks: tuple[str, ...]
    ours: dict[str, str]
    """Our names of predicates by those of the domain."""

    def read(self, atom: Atom) -> Atom:
        """An atom in our names."""
        theirs, *of = atom
        if theirs not in self.ours:
            known = ", ".join(self.ours)
            raise ValueError(f"one of {known}, got {theirs!r}: give its folder the domain.pddl that it is written in")
        name = self.ours[theirs]
        if len(of) != PREDICATES[name] or not {*of} <= {*self.blocks}:
            raise ValueError(f"{theirs} of {PREDICATES[name]} of the blocks {' '.join(self.blocks)}, got {atom}")
        return (name, *of)

    def affirmed(self, atom: Atom, true: bool) -> Atom:
        """An atom of a goal."""
        found = self.read(atom)
        if not true or found[0] == "holding":
            raise ValueError(f"a goal of on, ontable, clear and handempty without negations, got {atom}")
        return found


def _start(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Below:
    """Where blocks are at first; what is said must agree with where they are."""
    number = {name: i for i, name in enumerate(blocks)}
    places: dict[int, int] = {}
    for name, *of in atoms:
        if name in {"on", "ontable", "holding"}:
            place = number[of[1]] if name == "on" else TABLE if name == "ontable" else HAND
            if places.setdefault(number[of[0]], place) != place:
                raise ValueError(f"one place for {of[0]} at first, got two")
    if missing := [name for name in blocks if number[name] not in places]:
        raise ValueError(f"a place for every block at first, got none for {missing[0]}")
    below = tuple(places[i] for i in range(len(blocks)))
    pairs = [(blocks[block], blocks[under]) for block, under in enumerate(below) if under >= 0]
    if problem := contradiction(pairs, (), ()):
        raise ValueError(f"towers of blocks at first, but {problem}")
    true = facts(below, blocks)
    if below.count(HAND) > 1 or Counter(true) != Counter({*atoms}):
        odd = sorted({*true} ^ {*atoms}) or [("holding",)]
        raise ValueError(f"a start that agrees with itself, it does not in {' '.join(odd[0])}")
    return below


def _goal(atoms: Sequence[Atom], blocks: tuple[str, ...]) -> Goal:
    of = {kind: [atom[1:] for atom in atoms if atom[0] == kind] for kind in PREDICATES}
    on = [(upper, lower) for upper, lower in of["on"]]
    on_table, clear = [block for (block,) in of["ontable"]], [block for (block,) in of["clear"]]
    if proof := contradiction(on, on_table, clear):
        raise ValueError(f"a problem that can be solved, but in its goal {proof}")
    number = {name: i for i, name in enumerate(blocks)}
    return Goal(
        under={number[upper]: number[lower] for upper, lower in on} | {number[block]: TABLE for block in on_table},
        clear=frozenset(number[block] for block in clear),
        hand_empty=bool(of["handempty"]),
    )
