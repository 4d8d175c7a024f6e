"""The texts that an agent reads: facts as sentences, actions, rules, and a drawing of the towers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gde_plugins.blocksworld.arrangement import TABLE, Action, Below, held, towers
from gde_plugins.blocksworld.domain import OPERATORS, PREDICATES, Atom, Operator, Terms

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
    """The world in English, except for the names that a domain changes."""

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
        clauses = (self.clause(atom) for atom in atoms)
        return " ".join(f"{clause[0].upper()}{clause[1:]}." for clause in clauses)

    def action(self, operator: str, *blocks: str) -> str:
        """Write an operator with the names of its blocks."""
        theirs = self.terms.operators[operator]
        if theirs == operator:
            return ACTIONS[operator].format(*blocks)
        if operator in self.terms.turned:
            blocks = blocks[::-1]
        return " ".join((theirs, *blocks))

    def text(self, action: Action, blocks: Sequence[str]) -> str:
        """Write an action of numbered blocks, as an agent gives it."""
        others = () if action.other == TABLE else (blocks[action.other],)
        return self.action(action.operator, blocks[action.block], *others)

    def objective(self, conditions: Sequence[Atom]) -> str:
        """Write the goal."""
        return f"Bring it about that {' and '.join(self.clause(atom) for atom in conditions)}."

    def rules(self) -> str:
        """Write every operator with its preconditions and effects."""
        return "\n".join(self._rule(name, operator) for name, operator in OPERATORS.items())

    def _rule(self, name: str, operator: Operator) -> str:
        has_two_blocks = any("?1" in atom for atom in operator.needs)
        blocks = ("X", "Y") if has_two_blocks else ("X",)
        said = self.action(name, *blocks)
        needs = self._clauses(operator.needs, blocks)
        adds = self._clauses(operator.adds, blocks)
        removes = self._clauses(operator.removes, blocks)
        return f'"{said}" is possible when {needs}. After it {adds}; it is no longer so that {removes}.'

    def _clauses(self, atoms: Collection[Atom], blocks: Sequence[str]) -> str:
        """Write the atoms of an operator, sorted by predicate, for given names of its blocks."""
        order = [*PREDICATES]
        clauses = []
        for name, *arguments in sorted(atoms, key=lambda atom: (order.index(atom[0]), atom)):
            named = [blocks[int(argument.removeprefix("?"))] for argument in arguments]
            clauses.append(self.clause((name, *named)))
        return ", ".join(clauses)


def draw(below: Below, blocks: Sequence[str]) -> str:
    """Draw the towers side by side on the table, under the hand."""
    width = max(map(len, blocks))
    columns = [[blocks[block] for block in tower] for tower in towers(below)]
    height = max(map(len, columns), default=0)
    in_hand = held(below)
    lines = [f"hand: {'empty' if in_hand is None else blocks[in_hand]}"]
    for level in reversed(range(height)):
        cells = [column[level] if level < len(column) else "" for column in columns]
        lines.append("  ".join(cell.ljust(width) for cell in cells).rstrip())
    lines.append("=" * max(3, len(columns) * (width + 2) - 2))
    return "\n".join(lines)
