"""`check_metric`, `check_reward_model` and `check_measurements` pass good parts and
name what broken counterfactuals break.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from promised import caught

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.data.reward import Rewards
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Mean
from gde.parts.metric import Metric
from gde.parts.reproduction import Comparison, Reproduction, Run
from gde.testing import (
    check_measurements,
    check_metric,
    check_reproduction,
    check_reward_model,
    check_truth_reader,
    is_causal,
)
from gde.testing.metric import check_facts
from gde.testing.samples import sample_evidence, sample_plan
from gde_plugins.behaviour.performance import length


def success(evidence: Evidence) -> Sequence[Measurement]:
    n = len(evidence.trajectories)
    if not n:
        return (
            Measurement(
                name="success", value=None, unit="share", n=0, reason="no episodes"
            ),
        )
    reached = sum(trajectory.succeeded for trajectory in evidence.trajectories)
    return (
        Measurement(
            name="success", value=reached / n, unit="share", n=n, interval=(0.0, 1.0)
        ),
    )


def test_a_success_rate_keeps_every_promise() -> None:
    check_metric(lambda: success)


def drifting() -> Callable[[Evidence], Sequence[Measurement]]:
    calls: list[int] = []

    def metric(evidence: Evidence) -> Sequence[Measurement]:
        calls.append(1)
        return (Measurement(name="calls", value=float(len(calls)), unit="count", n=1),)

    return metric


def by_chance() -> Callable[[Evidence], Sequence[Measurement]]:
    drawn = np.random.default_rng().random()
    return lambda _: (Measurement(name="luck", value=drawn, unit="share", n=1),)


def divides(evidence: Evidence) -> Sequence[Measurement]:
    n = len(evidence.trajectories)
    return (Measurement(name="share", value=1 / n, unit="share", n=n),)


def fixed(
    measurements: Sequence[Measurement],
) -> Callable[[], Callable[[Evidence], Sequence[Measurement]]]:
    return lambda: lambda _: measurements


GOOD = Measurement(name="x", value=1.0, unit="count", n=1)
BROKEN_METRICS: dict[str, tuple[Callable[[], Any], str]] = {
    "drifting": (drifting, "pure function"),
    "by_chance": (by_chance, "another object"),
    "divides": (lambda: divides, "must not raise on evidence without trajectories"),
    "silent": (fixed(()), "must measure something"),
    "three": (lambda: 3, "must not raise on evidence"),
}


@pytest.mark.parametrize("counterfactual", BROKEN_METRICS)
def test_a_broken_promise_of_a_metric_is_named(counterfactual: str) -> None:
    make, promise = BROKEN_METRICS[counterfactual]
    with caught(counterfactual, promise):
        check_metric(make, sample_evidence())


def told(episode: Trajectory, model: Model) -> Facts:
    """The number of states, which a process alone tells."""
    assert model is not None
    return {"states": model().n_states}


COUNTED = EpisodeMetric(
    columns=("states",), facts=told, numbers=(Mean("states", "states", share=False),)
)
BROKEN_FACTS: dict[str, tuple[Metric, str, str]] = {
    "facts-of-no-episode": (success, "turns", "is of an EpisodeMetric alone"),
    "facts-undeclared": (COUNTED, "", 'says facts="turns" or "world"'),
    "process-undeclared": (COUNTED, "turns", "without its process"),
}


def test_declared_facts_keep_every_promise() -> None:
    check_facts(success, "")
    check_facts(COUNTED, "world")
    check_facts(length, "turns")


@pytest.mark.parametrize("counterfactual", BROKEN_FACTS)
def test_a_broken_promise_of_facts_is_named(counterfactual: str) -> None:
    metric, declared, promise = BROKEN_FACTS[counterfactual]
    with caught(counterfactual, promise):
        check_facts(metric, declared)


BROKEN_MEASUREMENTS: dict[str, tuple[Sequence[Any], str]] = {
    "measured-twice": ([GOOD, GOOD], "x came twice"),
    "bare-number": ([1.0], "a Measurement must be given"),
    "nameless": (
        [Measurement(name="", value=1.0, unit="count", n=1)],
        "must have a name",
    ),
}


@pytest.mark.parametrize("counterfactual", BROKEN_MEASUREMENTS)
def test_a_broken_measurement_is_named(counterfactual: str) -> None:
    measurements, promise = BROKEN_MEASUREMENTS[counterfactual]
    with caught(counterfactual, promise):
        check_measurements(measurements)


class Echo:
    """Predicts the length of what is seen."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        lengths = [float(len(step.observation)) for step in transcript.steps]
        return Rewards(values=np.array(lengths))


class Impartial(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        if not transcript.steps:
            return Rewards(failure="the episode has no steps")
        return await super().rewards(transcript)


def test_reward_models_keep_every_promise() -> None:
    check_reward_model(Echo)
    check_reward_model(Impartial)
    assert is_causal(Echo)
    assert is_causal(Impartial)
    assert not is_causal(Backwards)


class Backwards(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        found = await super().rewards(transcript)
        return Rewards(values=found.values.sum() - found.values)


class Undefined(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        return Rewards(values=np.full(len(transcript.steps), np.nan))


class OneTooMany(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        return Rewards(values=np.zeros(len(transcript.steps) + 1))


class SaysNumbers(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        return (await super().rewards(transcript)).values  # type: ignore[return-value]


class Demanding(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        if not transcript.steps:
            raise IndexError("no first step")
        return await super().rewards(transcript)


class Remembers(Echo):
    def __init__(self) -> None:
        self.seen = 0

    async def rewards(self, transcript: Transcript) -> Rewards:
        self.seen += 1
        return Rewards(values=np.full(len(transcript.steps), float(self.seen)))


class Cheating(Echo):
    async def rewards(self, transcript: Transcript) -> Rewards:
        side = transcript.labels["side"]  # type: ignore[attr-defined]
        return Rewards(values=np.full(len(transcript.steps), side == "positive"))


BROKEN_JUDGES = [
    (Cheating, "must not read `labels`"),
    (Undefined, "must be finite"),
    (OneTooMany, "one a step"),
    (SaysNumbers, "must give Rewards"),
    (Demanding, "rewards must not raise on 0 steps .* IndexError: no first step"),
    (Remembers, "in any order"),
    (object, "must have rewards"),
]


class Seer:
    """Knows how many turns there are."""

    async def true_rewards(self, trajectory: Trajectory) -> Rewards:
        return Rewards(values=np.ones(len(trajectory.turns)))


class HalfSeer(Seer):
    async def true_rewards(self, trajectory: Trajectory) -> Rewards:
        return Rewards(values=np.ones(1))


@pytest.mark.parametrize(
    ("make", "promise"), [(HalfSeer, "one a step"), (object, "must have true_rewards")]
)
def test_a_reader_of_the_truth_keeps_its_promises(
    make: Callable[[], Seer], promise: str
) -> None:
    check_truth_reader(Seer)
    with caught(make.__name__, promise):
        check_truth_reader(make)


@pytest.mark.parametrize(("make", "promise"), BROKEN_JUDGES)
def test_a_broken_promise_of_a_reward_model_is_named(
    make: Callable[[], Echo], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_reward_model(make)


class Table:
    """One printed number."""

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {
            "table": replace(
                sample_plan(), agent=agent, episodes=max(1, round(100 * scale))
            )
        }

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        found = [
            each for each in runs["table"].result.measurements if each.name == "success"
        ]
        missing = Measurement(
            name="success",
            value=None,
            unit="share",
            n=0,
            reason="the run has no success rate",
        )
        return (
            Comparison(
                quantity="success",
                paper=0.9,
                ours=[*found, missing][0],
                source="Table 2",
            ),
        )

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        values = [
            {"success": each.value}
            for each in runs["table"].result.measurements
            if each.name == "success"
        ]
        spec: dict[str, Json] = {
            "data": {"values": values},
            "mark": "tick",
            "encoding": {"x": {"field": "success"}},
        }
        return (Figure(title="Success", caption="of the run", spec=spec),)


def test_a_printed_table_keeps_every_promise() -> None:
    check_reproduction(Table)


class MoreForLess(Table):
    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {"table": replace(sample_plan(), episodes=round(1 / scale))}


class OtherNames(Table):
    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {f"at {scale}": sample_plan()}


class PlansByChance(Table):
    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {
            "table": replace(
                sample_plan(), seed=int(np.random.default_rng().integers(2**60))
            )
        }


class NoSource(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        return [replace(each, source="") for each in super().compare(runs)]


class NoPlan(Table):
    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:
        return {"table": agent}  # type: ignore[dict-item]


class NoComparison(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        return [each.ours for each in super().compare(runs)]  # type: ignore[misc]


class NoQuantity(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        return [replace(each, quantity="") for each in super().compare(runs)]


class NothingPrinted(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        return [replace(each, paper=float("nan")) for each in super().compare(runs)]


class BadRule(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        nameless = Measurement(name="", value=0.5, unit="share", n=1)
        return [
            replace(each, others={"another rule": nameless})
            for each in super().compare(runs)
        ]


class NeedsTheNumber(Table):
    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:
        first = runs["table"].result.measurements[0]
        return (
            Comparison(quantity="success", paper=0.9, ours=first, source="Table 2"),
        )


class Picture(Table):
    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        return ["<svg/>"]  # type: ignore[list-item]


class DrawsWhatIsNotThere(Table):
    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        _ = runs["table"].result.measurements[0]
        return super().figures(runs)


class Uncaptioned(Table):
    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        return [replace(each, caption="") for each in super().figures(runs)]


class NoData(Table):
    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:
        return [replace(each, spec={"mark": "tick"}) for each in super().figures(runs)]


BROKEN_TABLES = [
    (MoreForLess, "at most 1 worlds, got 100"),
    (OtherNames, "the same names at every scale"),
    (PlansByChance, "the same in a second call"),
    (NoPlan, "must give Plans"),
    (NoComparison, "must give Comparisons"),
    (NoQuantity, "must name the quantity"),
    (NoSource, "where the number is printed"),
    (NothingPrinted, "must be finite"),
    (BadRule, "must have a name"),
    (NeedsTheNumber, "lack a number"),
    (Picture, "must give Figures"),
    (
        DrawsWhatIsNotThere,
        "figures must leave out what the runs do not have; got IndexError",
    ),
    (Uncaptioned, "a title and a caption"),
    (NoData, "must hold its data"),
    (object, "must have compare, figures, plans"),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN_TABLES)
def test_a_broken_promise_of_a_reproduction_is_named(
    make: Callable[[], Reproduction], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_reproduction(make)
