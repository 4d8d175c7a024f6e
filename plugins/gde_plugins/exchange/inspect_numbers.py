"""Metrics of gde as a scorer of Inspect, computed from stored trajectories."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.request.catalogue import Catalogue
from gde.runs.plain import read_trajectory
from gde_plugins.exchange.inspect_episodes import RECORD, Setting


@metric  # type: ignore[untyped-decorator]  # types are checked without Inspect
def measured(metrics: list[str], setting: dict[str, Any]) -> Metric:
    """The numbers of gde's metrics over all samples, as in a run of gde."""

    def compute(scores: list[SampleScore]) -> Mapping[str, float]:
        records = [
            each.score.metadata[RECORD] for each in scores if each.score.metadata
        ]
        found = measure(metrics, [*map(read_trajectory, records)], Setting(**setting))
        return {_name(each): each.value for each in found if each.value is not None}

    return compute


def numbers(metrics: list[str], setting: dict[str, Any]) -> Scorer:
    """Success of the sample, and over all samples the numbers of the metrics.

    Raises:
        GdeError: an unknown metric.
    """
    for name in _names(metrics):
        Catalogue.default().find("metric", name)

    @scorer(metrics=[measured(metrics, setting)], name="numbers")  # type: ignore[untyped-decorator]
    def make() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the world says what is reached
            played = read_trajectory(state.metadata[RECORD])
            return Score(
                value=played.success if played.success is not None else 0.0,
                answer=" ".join(
                    turn.decision.action or turn.decision.status
                    for turn in played.turns
                ),
                explanation=played.failure or played.ending,
                metadata={RECORD: state.metadata[RECORD]},
            )

        return score

    return make()


def measure(
    metrics: Sequence[str], trajectories: Sequence[Trajectory], setting: Setting
) -> list[Measurement]:
    """Every number of the metrics."""

    def mdp(trajectory: Trajectory) -> TabularMDP:
        environment = begin(trajectory)
        if not isinstance(environment, HasMDP):
            raise GdeError(
                f"environment {setting.environment!r} gives no decision process"
            )
        return environment.mdp()

    def begin(trajectory: Trajectory) -> Environment:
        environment = setting.make_environment()
        environment.reset(trajectory.seed)
        return environment

    evidence = Evidence(
        trajectories=tuple(trajectories), seed=setting.seed, mdp=mdp, begin=begin
    )
    found: list[Measurement] = []
    for name in _names(metrics):
        offer = Catalogue.default().find("metric", name).offer
        found.extend(offer.made(offer.config(), OutsideRun())(evidence))
    return found


def _names(metrics: Sequence[str]) -> list[str]:
    """The names with a group's metrics in the place of its name."""
    catalogue = Catalogue.default()
    names: list[str] = []
    for name in metrics:
        names += catalogue.members("metric", name)
    return names


def _name(measurement: Measurement) -> str:
    where = ", ".join(f"{name}={value}" for name, value in measurement.where.items())
    return f"{measurement.name} ({where})" if where else measurement.name
