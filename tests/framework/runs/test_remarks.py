"""What metrics say of single turns, and that a metric which cannot is no secret."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from gde import Choice, Evidence, Measurement, Plan, evaluate


class Speechless:
    """Measures, and fails to say anything of a turn."""

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        return [
            Measurement(
                name="episodes",
                value=float(len(evidence.trajectories)),
                unit="count",
                n=1,
            )
        ]

    def remarks(self, evidence: Evidence) -> Mapping[tuple[str, int], str]:
        raise ValueError(f"nothing to say of {len(evidence.trajectories)} episodes")


def test_a_metric_that_cannot_speak_is_a_failure_and_the_page_is_there(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent="random",
        metrics=[Speechless()],
        episodes=2,
    )
    result = evaluate(plan, tmp_path / "run")
    (failure,) = result.failures
    assert failure.stage == "metric"
    assert "nothing to say of 2 episodes" in failure.reason
    assert result.status == "partial"
    assert [one.value for one in result.measurements] == [2]
    assert (tmp_path / "run" / "report.html").is_file()
