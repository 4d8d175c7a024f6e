"""What local weights take, told before they are loaded."""

from collections.abc import Mapping
from dataclasses import dataclass

GB = 1e9


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """The size of a model that computes in this process."""

    n_layers: int
    width: int
    """Size of the residual stream."""
    trained: int
    """Bytes of the weights as they are loaded here."""
    otherwise: Mapping[str, int]
    """Bytes of the weights under other conditions, by condition."""
    untrained: int
    """Bytes of the same architecture with random weights."""
    activation: int
    """Bytes of an activation on disk."""
    free: int | None
    """Free bytes of the accelerator; None on a CPU."""

    def text(self) -> str:
        """About the memory for the weights, in words."""
        ways = [f"{size / GB:.3g} {when}" for when, size in self.otherwise.items()]
        instead = f" ({', '.join(ways)})" if ways else ""
        needed = (
            f"{self.trained / GB:.3g} GB of memory for weights{instead}, then"
            f" {self.untrained / GB:.3g} GB for random ones"
        )
        if self.free is None:
            return needed
        is_short = self.free < max(self.trained, self.untrained)
        there = f"{self.free / GB:.3g} GB free on the accelerator"
        return f"{needed}; {'only ' if is_short else ''}{there}"
