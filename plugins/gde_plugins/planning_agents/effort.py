"""What a decision took, as it stands in the record."""

import re
from dataclasses import asdict, dataclass, fields

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
    """Those of them that it had no reward for."""
    malformed: int = 0
    """Answers in another form than was asked for."""
    inadmissible: int = 0
    """Actions that were named and cannot be taken."""

    @property
    def note(self) -> str:
        """For `Decision.detail`, at its end."""
        return "planning: " + " ".join(f"{name}={count}" for name, count in asdict(self).items())

    @classmethod
    def noted(cls, detail: str) -> "Effort | None":
        """What the detail of a decision says; None where it says nothing of it."""
        found = NOTE.search(detail)
        if not found:
            return None
        counts = dict(pair.split("=") for pair in found[1].split())
        known = {field.name for field in fields(cls)}
        return cls(**{name: int(count) for name, count in counts.items() if name in known})
