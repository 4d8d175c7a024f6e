"""The progress of scoring: every metric on every part is a step, and none is told
twice.
"""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.observation import World
from gde.data.result import Measurement
from gde.data.trajectory import EpisodeKey, Trajectory
from gde.stages.progress import Progress
from gde.stages.scoring import score

CONDITIONS = ({"size": 7}, {"size": 9})


def episode(condition: int) -> Trajectory:
    return Trajectory(
        key=EpisodeKey(condition=condition, world=0),
        seed=0,
        world=World(id=f"w{condition}"),
        labels=CONDITIONS[condition],
        horizon=1,
        turns=(),
        ending="horizon",
    )


EVIDENCE = Evidence(trajectories=(episode(0), episode(1)))


class Named:
    """A metric that counts episodes under a name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, evidence: Evidence) -> Sequence[Measurement]:
        n = len(evidence.trajectories)
        found = Measurement(name=self.name, value=float(n), unit="count", n=n)
        return (found,)


def unmakable() -> Named:
    raise OSError("no data")


def told(*metrics: str) -> list[Progress]:
    """The progress that is told while metrics of these names are taken."""
    seen: list[Progress] = []
    makers = [
        (name, unmakable if name == "lost" else lambda name=name: Named(name))
        for name in metrics
    ]
    score(makers, EVIDENCE, CONDITIONS, watch=seen.append)  # type: ignore[arg-type]
    return seen


def test_each_metric_on_the_whole_and_each_condition_is_one_step() -> None:
    seen = told("a", "b", "c")
    names = [*"aaabbbccc", ""]
    expected = [Progress("metrics", i, 9, name) for i, name in enumerate(names[:-1])]
    assert seen == [*expected, Progress("metrics", 9, 9)]


def test_the_steps_of_a_metric_that_cannot_be_made_are_passed_over() -> None:
    steps = [(one.done, one.total) for one in told("lost", "b")]
    assert steps == [(3, 6), (4, 6), (5, 6), (6, 6)]
