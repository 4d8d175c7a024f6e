"""Reporters, which show a result to readers."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from gde.data.evidence import Evidence
from gde.data.plan import Plan
from gde.data.result import Result


@runtime_checkable
class Reporter(Protocol):
    """Writes its files into the run folder."""

    def render(
        self, plan: Plan, result: Result, evidence: Evidence, folder: Path
    ) -> Path:
        """Write the report and give the file to open."""
