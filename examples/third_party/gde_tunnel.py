"""A gde plugin in one module: a world, a metric and a probe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from gde import (
    Capability,
    CaptureRequest,
    Environment,
    EnvironmentOffer,
    Measure,
    Measurement,
    Metric,
    MetricOffer,
    ModelInfo,
    NoConfig,
    Observation,
    Outcome,
    Probe,
    ProbeDataset,
    ProbeLabels,
    ProbeOffer,
    Readout,
    Task,
    Trajectory,
    World,
    hookimpl,
)
from gde.numerics.episode_metric import EpisodeMetric, Facts, Model
from gde.numerics.numbers import Ratio
from gde.numerics.stats import cluster_share
from gde.seeding import derive

LEFT, RIGHT = "LEFT", "RIGHT"
ENDS = (LEFT, RIGHT)


@dataclass(frozen=True, kw_only=True)
class TunnelConfig:
    """Settings of the tunnel."""

    length: Annotated[int, Field(ge=3)] = 9
    """Number of cells; the treasure is in the first or the last."""


class Tunnel:
    """A row of cells with a treasure at one end; either end ends the episode."""

    def __init__(self, config: TunnelConfig) -> None:
        self._length = config.length

    def reset(self, seed: int) -> Observation:
        self._treasure = ENDS[derive(seed, "treasure") % 2]
        self._start = self._at = 1 + derive(seed, "start", self._length) % (
            self._length - 2
        )
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective="Find the treasure T.", horizon=2 * self._length, actions=ENDS
        )

    def world(self) -> World:
        return World(
            id=f"{self._length} {self._start} {self._treasure}",
            facts={"treasure": self._treasure},
        )

    def step(self, action: str) -> Outcome:
        if action not in ENDS:
            raise ValueError(f"wanted {' or '.join(ENDS)}, got {action!r}")
        if self._at in {0, self._length - 1}:
            raise ValueError("the episode is over")
        self._at += 1 if action == RIGHT else -1
        if self._at not in {0, self._length - 1}:
            return Outcome.running(self._observe())
        found = float((self._at == 0) == (self._treasure == LEFT))
        return Outcome.terminal(self._observe(), found, success=found)

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        cells = ["."] * self._length
        cells[0 if self._treasure == LEFT else -1] = "T"
        cells[self._at] = "A"
        return Observation(text="".join(cells), actions=ENDS)


def steps(episode: Trajectory, _: Model) -> Facts:
    """Count the steps, and those to the left."""
    actions = [turn.decision.action for turn in episode.turns]
    return {"turns": len(actions), "left": actions.count(LEFT)}


leftness = EpisodeMetric(
    columns=("turns", "left"),
    facts=steps,
    numbers=(Ratio("leftness", "left", per="turns"),),
)
"""The share of steps to the left."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Centroids:
    """The mean activation for each end."""

    means: NDArray[np.float32]
    """(2, D)."""

    def predict(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """(N, D) activations to (N,) indices of the end whose mean is nearest."""
        nearest = ((inputs[:, None, :] - self.means) ** 2).sum(axis=-1).argmin(axis=1)
        return nearest.astype(np.float32)

    def arrays(self) -> Mapping[str, NDArray[np.float32]]:
        return {"means": self.means}


@dataclass(frozen=True)
class TreasureProbe:
    """Decodes the end with the treasure by the nearest mean activation."""

    variants: tuple[str, ...] = ("nearest",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(model.n_layers - 1,), positions=("pre",))

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        end = ENDS.index(str(trajectory.world.facts.get("treasure", LEFT)))
        return ProbeLabels(values=np.full(len(trajectory.turns), end))

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Readout:
        means = [train.inputs[train.labels == end] for end in range(2)]
        return Centroids(
            means=np.stack(
                [(rows if len(rows) else train.inputs).mean(axis=0) for rows in means]
            )
        )

    def load(self, variant: str, arrays: Mapping[str, NDArray[np.float32]]) -> Readout:  # noqa: ARG002
        return Centroids(means=arrays["means"])

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        right = readout.predict(test.inputs) == test.labels
        return [cluster_share(right, test.groups, rng).measurement("right")]

    def turn_scores(
        self, decoded: NDArray[np.float32], test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        """A score of each turn, for tests against the controls."""
        return {"right": (decoded == test.labels).astype(np.float64)}


@hookimpl
def gde_environments() -> Sequence[EnvironmentOffer[TunnelConfig, Environment]]:
    """Offer the world."""
    return (
        EnvironmentOffer(
            name="tunnel",
            summary="a treasure at one end of a tunnel",
            config=TunnelConfig,
            make="gde_tunnel:Tunnel",
        ),
    )


@hookimpl
def gde_metrics() -> Sequence[MetricOffer[NoConfig, Metric]]:
    """Offer the metric and describe its number."""
    steps = Measure(
        name="leftness",
        title="Steps to the left",
        unit="share",
        group="Which way it leans",
        headline=True,
        phrase="went left in {} of its steps",
    )
    return (
        MetricOffer(
            name="leftness",
            summary="share of steps to the left",
            config=NoConfig,
            part="gde_tunnel:leftness",
            facts="turns",
            measures=(steps,),
        ),
    )


@hookimpl
def gde_probes() -> Sequence[ProbeOffer[NoConfig, Probe]]:
    """Offer the probe and describe its number."""
    ends = Measure(
        name="right",
        title="Ends told apart",
        unit="share",
        better="more",
        headline=True,
        phrase="tells the end with the treasure in {} of turns",
    )
    return (
        ProbeOffer(
            name="treasure",
            summary="at which end the treasure is",
            config=NoConfig,
            make="gde_tunnel:TreasureProbe",
            needs={Capability.ACTIVATIONS},
            measures=(ends,),
        ),
    )
