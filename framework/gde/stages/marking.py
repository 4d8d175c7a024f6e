"""Positions that probes find themselves, such as tokens of certain words."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gde.data.activations import TokenSequence
from gde.data.completion import Completion
from gde.parts.language_model import WhiteBox
from gde.parts.probe import Marked, Marks
from gde.store.activations import Row


@dataclass(frozen=True, kw_only=True)
class Marking:
    """Marks the turns of a run, each once."""

    marks: Sequence[Marks]
    """Of the probes."""
    model: Callable[[], WhiteBox]
    """Gives the model, whose tokenizer splits texts."""
    _found: dict[Row, Marked] = field(default_factory=dict)

    def marked(
        self, row: Row, completion: Completion, sequence: TokenSequence
    ) -> TokenSequence:
        """The sequence with the positions that are found in it."""
        if row not in self._found:
            found: dict[str, tuple[int, ...] | str] = {}
            for marks in self.marks:
                found.update(marks(completion, sequence, self.model().tokenize))
            self._found[row] = found
        positions = {**sequence.positions}
        for name, places in self._found[row].items():
            if not isinstance(places, str):
                positions[name] = places
        return replace(sequence, positions=positions)

    @property
    def reasons(self) -> Mapping[str, str]:
        """Position to why turns lack it, each reason with their number."""
        counts: dict[str, Counter[str]] = {}
        for found in self._found.values():
            for name, reason in found.items():
                if isinstance(reason, str):
                    counts.setdefault(name, Counter())[reason] += 1
        return {
            name: ", ".join(f"{reason} ({n})" for reason, n in of.most_common())
            for name, of in counts.items()
        }
