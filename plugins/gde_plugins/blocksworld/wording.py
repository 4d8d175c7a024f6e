"""What an agent reads: facts as sentences, actions, rules, and the towers as they stand."""

from collections.abc import Sequence
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
    """The world in English; what a domain calls by another name is called by that."""

    terms: Terms

    def clause(self, atom: Atom) -> str:
        """A fact or a condition."""
        name, *of = atom
        theirs = self.terms.predicates[name]
        return CLAUSES[name].format(*of) if theirs == name else " ".join((theirs, *of))

    def facts(self, atoms: Sequence[Atom]) -> str:
        """Facts as sentences."""
        clauses = (self.clause(atom) for atom in atoms)
        return " ".join(f"{clause[0].upper()}{clause[1:]}." for clause in clauses)

    def action(self, operator: str, *blocks: str) -> str:
        """An action, as an agent says it."""
        theirs = self.terms.operators[operator]
        if theirs == operator:
            return ACTIONS[operator].format(*blocks)
        return " ".join((theirs, *(reversed(blocks) if operator in self.terms.turned else blocks)))

    def text(self, action: Action, blocks: Sequence[str]) -> str:
        """An action of numbered blocks."""
        others = () if action.other == TABLE else (blocks[action.other],)
        return self.action(action.operator, blocks[action.block], *others)

    def objective(self, conditions: Sequence[Atom]) -> str:
        """What is asked for."""
        return f"Bring it about that {' and '.join(self.clause(atom) for atom in conditions)}."

    def rules(self) -> str:
        """Every operator with what it needs and does."""
        return "\n".join(self._rule(name, operator) for name, operator in OPERATORS.items())

    def _rule(self, name: str, operator: Operator) -> str:
        blocks = ("X", "Y") if any("?1" in atom for atom in operator.needs) else ("X",)
        needs, adds, removes = (
            ", ".join(self.clause(_with(atom, blocks)) for atom in sorted(part, key=_order))
            for part in (operator.needs, operator.adds, operator.removes)
        )
        said = self.action(name, *blocks)
        return f'"{said}" is possible when {needs}. After it {adds}; it is no longer so that {removes}.'


def _with(atom: Atom, blocks: Sequence[str]) -> Atom:
    return (atom[0], *(blocks[int(each[1:])] for each in atom[1:]))


def _order(atom: Atom) -> tuple[int, Atom]:
    return [*PREDICATES].index(atom[0]), atom


def draw(below: Below, blocks: Sequence[str]) -> str:
    """The towers side by side on the table, under the hand."""
    width = max(map(len, blocks))
    columns = [[blocks[block] for block in tower] for tower in towers(below)]
    height = max(map(len, columns), default=0)
    rows = [
        "  ".join((column[level] if level < len(column) else "").ljust(width) for column in columns).rstrip()
        for level in reversed(range(height))
    ]
    lifted = held(below)
    table = "=" * max(3, len(columns) * (width + 2) - 2)
    return "\n".join([f"hand: {'empty' if lifted is None else blocks[lifted]}", *rows, table])
