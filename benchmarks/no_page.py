"""A reporter for benchmarks of what comes before the report."""

from pathlib import Path

from gde import Evidence, Plan, Result


class NoPage:
    """A reporter that shows nothing."""

    def render(
        self,
        plan: Plan,  # noqa: ARG002
        result: Result,  # noqa: ARG002
        evidence: Evidence,  # noqa: ARG002
        folder: Path,
    ) -> Path:
        """Write an empty file."""
        page = folder / "nothing.txt"
        page.touch()
        return page
