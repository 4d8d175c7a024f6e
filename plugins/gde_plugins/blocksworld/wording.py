"""The texts for agents: facts as sentences, actions, rules, and a drawing."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gde_plugins.blocksworld.arrangement import TABLE, Action, Below, held, towers
from gde_plugins.blocksworld.domain import OPERATORS, PREDICATES, Atom, Terms

Wording = Literal["plain", "planbench"]
COLORS = "red blue orange yellow white magenta black cyan green violet silver gold"
PLANBENCH_ORDER = ("clear", "handempty", "holding", "on", "ontable")


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """How facts and actions are said."""

    clauses: Mapping[str, str]
    actions: Mapping[str, str]
    goal: str
    names: Mapping[str, str] = field(default_factory=dict)
    """Blocks that are called by another name."""


PHRASES: Mapping[Wording, Phrases] = {
    "plain": Phrases(
        clauses={
            "on": "block {0} is on block {1}",
            "ontable": "block {0} is on the table",
            "clear": "nothing is on block {0}",
            "holding": "the hand holds block {0}",
            "handempty": "the hand is empty",
        },
        actions={
            "pick-up": "pick up {0}",
            "put-down": "put down {0}",
            "stack": "stack {0} on {1}",
            "unstack": "unstack {0} from {1}",
        },
        goal="Bring it about that {}.",
    ),
    # As PlanBench's translator of PDDL, colors of blocks included.
    "planbench": Phrases(
        clauses={
            "on": "the {0} block is on top of the {1} block",
            "ontable": "the {0} block is on the table",
            "clear": "the {0} block is clear",
            "holding": "the hand is currently holding {0} block",
            "handempty": "the hand is empty",
        },
        actions={
            "pick-up": "pick up the {0} block",
            "put-down": "put down the {0} block",
            "stack": "stack the {0} block on top of the {1} block",
            "unstack": "unstack the {0} block from on top of the {1} block",
        },
        goal="My goal is to have that {}.",
        names=dict(zip("abcdefghijkl", COLORS.split(), strict=True)),
    ),
}


@dataclass(frozen=True)
class Words:
    """English sentences about the world, with the names of its domain."""

    terms: Terms
    wording: Wording = "plain"

    @property
    def _phrases(self) -> Phrases:
        return PHRASES[self.wording]

    def _named(self, blocks: Sequence[str]) -> list[str]:
        return [self._phrases.names.get(block, block) for block in blocks]

    def clause(self, atom: Atom) -> str:
        """Write a fact or a condition."""
        name, *blocks = atom
        theirs = self.terms.predicates[name]
        if theirs == name:
            return self._phrases.clauses[name].format(*self._named(blocks))
        return " ".join((theirs, *blocks))

    def facts(self, atoms: Sequence[Atom]) -> str:
        """Write facts: as sentences, or as PlanBench's list of clauses."""
        if self.wording == "planbench":
            ordered = sorted(atoms, key=_planbench_place)
            return _listed([self.clause(atom) for atom in ordered])
        sentences = []
        for atom in atoms:
            clause = self.clause(atom)
            # Not capitalize(), which would lower the names of blocks.
            sentences.append(f"{clause[0].upper()}{clause[1:]}.")
        return " ".join(sentences)

    def action(self, operator: str, *blocks: str) -> str:
        """Write an operator with the names of its blocks."""
        theirs = self.terms.operators[operator]
        if theirs == operator:
            return self._phrases.actions[operator].format(*self._named(blocks))
        return " ".join((theirs, *blocks))

    def text(self, action: Action, blocks: Sequence[str]) -> str:
        """Write an action of numbered blocks, as an agent gives it."""
        names = [blocks[action.block]]
        if action.other != TABLE:
            names.append(blocks[action.other])
        return self.action(action.operator, *names)

    def objective(self, conditions: Sequence[Atom]) -> str:
        """Write the goal."""
        clauses = [self.clause(atom) for atom in conditions]
        listed = " and ".join(clauses)
        if self.wording == "planbench":
            listed = _listed(clauses)
        return self._phrases.goal.format(listed)

    def rules(self) -> str:
        """Write every operator with its preconditions and effects."""
        rules = []
        for name, operator in OPERATORS.items():
            needs, adds, removes = map(self._clauses, operator)
            blocks = ("X", "Y") if name in ("stack", "unstack") else ("X",)
            said = self.action(name, *blocks)
            rules.append(
                f'"{said}" is possible when {needs}. After it {adds}; it is no longer so that {removes}.'
            )
        return "\n".join(rules)

    def _clauses(self, atoms: Collection[Atom]) -> str:
        """Write the atoms of an operator, sorted by predicate, for blocks X and Y."""
        order = [*PREDICATES]
        clauses = []
        for name, *blocks in sorted(
            atoms, key=lambda atom: (order.index(atom[0]), atom)
        ):
            named = [{"?0": "X", "?1": "Y"}[block] for block in blocks]
            clauses.append(self.clause((name, *named)))
        return ", ".join(clauses)


def _planbench_place(atom: Atom) -> tuple[int, Atom]:
    return PLANBENCH_ORDER.index(atom[0]), atom


def _listed(clauses: Sequence[str]) -> str:
    *before, last = clauses
    return f"{', '.join(before)} and {last}" if before else last


def draw(below: Below, blocks: Sequence[str]) -> str:
    """Draw the towers side by side on the table, under the hand."""
    width = max(map(len, blocks))
    shown = towers(below)
    height = max(map(len, shown), default=0)
    in_hand = held(below)
    lines = ["hand: empty" if in_hand is None else f"hand: {blocks[in_hand]}"]

    # From the top down; towers that do not reach a level are blank there.
    for level in reversed(range(height)):
        cells = []
        for tower in shown:
            name = blocks[tower[level]] if level < len(tower) else ""
            cells.append(name.ljust(width))
        lines.append("  ".join(cells).rstrip())

    table_width = len(shown) * (width + 2) - 2
    lines.append("=" * max(3, table_width))
    return "\n".join(lines)
