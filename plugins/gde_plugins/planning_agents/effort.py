"""The effort of a decision, as the record states it."""

import re
from dataclasses import asdict, dataclass

NOTE = re.compile(r"planning: ((?:\w+=\d+ ?)+)\Z")


@dataclass(kw_only=True)
class Effort:
    """Counts of one turn."""

    simulator_steps: int = 0
    """Actions tried in a private copy of the world."""
    model_calls: int = 0
    """Questions to the language model."""
    judged: int = 0
    """States that the reward model was asked about."""
    unjudged: int = 0
    """Judged states for which it had no reward."""
    malformed: int = 0
    """Answers of another form than was asked for."""
    inadmissible: int = 0
    """Inadmissible actions that an answer named."""

    @property
    def note(self) -> str:
        """The counts as text, for the end of `Decision.detail`."""
        counts = [f"{name}={count}" for name, count in asdict(self).items()]
        return f"planning: {' '.join(counts)}"

    @classmethod
    def noted(cls, detail: str) -> "Effort | None":
        """The effort that a decision's detail states; None where it states none."""
        found = NOTE.search(detail)
        if not found:
            return None
        counts = {}
        for pair in found[1].split():
            name, _, count = pair.partition("=")
            counts[name] = int(count)
        return cls(**counts)
