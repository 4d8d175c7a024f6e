"""The outcome of a test or an effect size, or why there is none."""

from dataclasses import dataclass
from math import isfinite

from gde.data.result import Measurement
from gde.numerics.stats._estimates import Interval


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A statistic with its p value, or the reason why there is none."""

    value: float | None = None
    """The statistic."""
    p_value: float | None = None
    """Two-sided; None for an effect size, which is no test."""
    interval: Interval | None = None
    """95 %; None where none is defined."""
    reason: str = ""
    """Why there is no value; empty otherwise."""

    def __post_init__(self) -> None:
        has_value = self.value is not None
        has_reason = bool(self.reason)
        numbers = [self.value, self.p_value, *(self.interval or ())]
        finite = all(each is None or isfinite(each) for each in numbers)
        if has_value == has_reason or not finite:
            raise ValueError(
                f"a finding has either a finite value or a reason, got {self}"
            )

    @classmethod
    def missing(cls, got: str, needs: str) -> "Finding":
        """No statistic, because there are too few data."""
        return cls(reason=f"not measured: {got}, needs {needs}")

    def statistic(self, name: str, n: int, clusters: int | None = None) -> Measurement:
        """The statistic as a measurement of the run."""
        return Measurement(
            name=name,
            value=self.value,
            n=n,
            clusters=clusters,
            interval=self.interval,
            reason=self.reason,
        )

    def significance(
        self, name: str, n: int, clusters: int | None = None
    ) -> Measurement:
        """The p value as a measurement of the run."""
        return Measurement(
            name=name,
            value=self.p_value,
            n=n,
            clusters=clusters,
            reason=self.reason,
        )
