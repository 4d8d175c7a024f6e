"""The texts for agents: facts as sentences, actions, rules, and a drawing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gde_plugins.blocksworld.arrangement import TABLE, Action, Below, held, towers
from gde_plugins.blocksworld.domain import OPERATORS, PREDICATES, Atom, Terms

CLAUSES = {
    "on": "block {0} is on block {1}",
    "ontable": "block {0} is on the table",
    "clear": "nothing is on block {0}",
    "holding": "the hand holds block {0}",
    "handempty": "the hand is empty",
}
ACTIONS = {
    "pick-up": "pick up {0}",
    "put-down": "put down {0}",
    "stack": "stack {0} on {1}",
    "unstack": "unstack {0} from {1}",
}


@dataclass(frozen=True)
class Words:
    """English sentences about the world, with the names of its domain."""

    terms: Terms

    def clause(self, atom: Atom) -> str:
        """Write a fact or a condition."""
        name, *blocks = atom
        theirs = self.terms.predicates[name]
        if theirs == name:
            return CLAUSES[name].format(*blocks)
        return " ".join((theirs, *blocks))

    def facts(self, atoms: Sequence[Atom]) -> str:
        """Write facts as sentences."""
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
            return ACTIONS[operator].format(*blocks)
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
        return f"Bring it about that {' and '.join(clauses)}."

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
