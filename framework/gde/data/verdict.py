"""The outcome of a test of a probe against one of its controls."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["better", "worse", "different", "none"]
"""`different` is for a number of which neither direction is better, `none` for no
difference shown.
"""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The difference between a probe and a control on the same held-out worlds."""

    control: str
    """The control, as in `Fit.control`."""
    difference: float
    """The probe's number minus the control's."""
    interval: tuple[float, float] | None = None
    """95 % interval of the difference; None without a test."""
    p: float | None = None
    """Two-sided p value after Holm's correction for all headlines of the fit against
    this control. None without a test.
    """
    detectable: float | None = None
    """The size of a difference that would have been found with a power of 80 %, before
    the correction.
    """
    outcome: Outcome = "none"
    worlds: int
    """Held-out worlds that were compared."""
    initialisations: int = 1
    """Fits of the control that were averaged: more than one for random weights."""
    reason: str = ""
    """Why there is no test; empty otherwise."""
