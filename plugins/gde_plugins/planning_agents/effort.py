"""The effort of a decision, as recorded."""

import re
from dataclasses import asdict, dataclass

NOTE = re.compile(r"planning: ((?:\w+=\d+ ?)+)\Z")


@dataclass(kw_only=True)
class Effort:
    """Counts of one turn."""

    simulator_steps: int = 0
    """Simulator steps: actions tried in a private copy of the world."""
    model_calls: int = 0
    """Calls of the language model."""
    judged: int = 0
    """States judged by the reward model."""
    unjudged: int = 0
    """Judged states for which it had no reward."""
    malformed: int = 0
    """Answers of the wrong form."""
    inadmissible: int = 0
    """Inadmissible actions in answers."""

    @property
    def note(self) -> str:
        """Return the counts as text, for the end of `Decision.detail`."""
        counts = [f"{name}={count}" for name, count in asdict(self).items()]
        return f"planning: {' '.join(counts)}"

    @classmethod
    def noted(cls, detail: str) -> "Effort | None":
        """Return the effort in a decision's detail; None without one."""
        found = NOTE.search(detail)
        if not found:
            return None
        counts = {}
        for pair in found[1].split():
            name, _, count = pair.partition("=")
            counts[name] = int(count)
        return cls(**counts)
