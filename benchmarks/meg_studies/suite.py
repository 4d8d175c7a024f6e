"""A study of agents with known aims, which plays them itself."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from scipy.stats import binomtest

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run

CALLED = "called goal-directed"


class Suite:
    """The rows of a simulation. Implements `gde.parts.reproduction.Reproduction`."""

    agentless = True

    def __init__(self, simulate: Callable[[float], Iterable[Comparison]]) -> None:
        """Take the function from the scale of the number of runs to the rows."""
        self._simulate = simulate
        self._scale = 1.0
        self._rows: tuple[Comparison, ...] | None = None

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """Return none: the suite has its own agents."""
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """Return the rows, which are simulated once."""
        if self._rows is None:
            self._rows = tuple(self._simulate(self._scale))
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Return none."""
        return ()


def share_called(hits: Sequence[bool], where: Labels) -> Measurement:
    """Return the share of runs that are called goal-directed, with the interval of
    Clopper and Pearson (1934).
    """
    n = len(hits)
    n_hits = sum(hits)
    low, high = binomtest(n_hits, n).proportion_ci()
    return Measurement(
        name=CALLED,
        value=n_hits / n,
        unit="share",
        n=n,
        interval=(float(low), float(high)),
        where=where,
    )
