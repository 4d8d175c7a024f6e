"""The probe `distance`: steps to the goal, decoded from a turn's activations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.cell_map import CellMap
from gde.data.completion import ModelInfo
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_ratio
from gde.parts.probe import Marks, Readout
from gde_plugins.probes.arrays import Bools, Doubles, Floats, Worlds
from gde_plugins.probes.config import DistanceConfig
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.ridge import fit_linear
from gde_plugins.probes.fitting.training import Examples, fit_network, settings_of
from gde_plugins.probes.fitting.weights import (
    CellWeights,
    check_finite,
    z_scores,
)

BESIDE = ("manhattan", "length")
"""Predictors of baselines without activations: Manhattan distance from agent to goal,
and tokens of the completion.
"""
UNKNOWN = -1.0
"""Value of a predictor that is not known."""
NOT_DECODED = np.nan
"""Label of the turns that are not decoded: no number of steps can mean that."""
NONE_DECODED = "no held-out turn is decoded: each is later than the first"
PENALTIES = tuple(10.0**power for power in range(-1, 7))
"""Candidate penalties of ridge regression on z-scored activations."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DistanceReadout:
    """A fitted regression."""

    weights: CellWeights
    baselines: Floats
    """(3, 2) intercept and slope of the distance in training: of the mean, then of each
    of `BESIDE`.
    """

    @one_thread()
    def predict(self, inputs: Floats) -> Floats:
        """(N, D) activations to (N,) steps to the goal.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        inputs = np.asarray(inputs, dtype=np.float32)
        # One cell without coordinates, and one output.
        return self.weights.outputs(inputs, ())[:, 0, 0]

    def arrays(self) -> Mapping[str, Floats]:
        return {**self.weights.arrays(), "baselines": self.baselines}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """The inverse of `arrays`."""
        return cls(
            weights=CellWeights.from_arrays(arrays), baselines=arrays["baselines"]
        )


@dataclass(frozen=True)
class DistanceProbe:
    """Regresses the optimal remaining length (Arghal et al. 2026, appendix F.3)."""

    config: DistanceConfig
    concurrent: ClassVar[bool] = True

    @property
    def variants(self) -> tuple[str, ...]:
        return self.config.variants

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    @property
    def marks(self) -> Marks | None:
        return self.config.course.marks

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, 3) steps to the goal by the shortest way, and the predictors of `BESIDE`,
        -1 where they are not known.

        The steps are the optimal return with its sign turned. With `turns=first`, all
        later turns are `NOT_DECODED`.

        Raises:
            GdeError: a turn whose optimal value is not known.
        """
        rows = []
        for turn in trajectory.turns:
            if turn.value is None or not np.isfinite(turn.value):
                where = f"distance: episode {trajectory.key}"
                raise GdeError(
                    f"{where} has turns without an optimal value; choose the environment grid"
                )
            # Subtracted from 0.0, so that the value 0.0 does not become -0.0.
            steps = 0.0 - turn.value
            rows.append((steps, manhattan(trajectory, turn), _length(turn)))
        columns = np.array(rows, dtype=np.float64)
        labels = columns.reshape(-1, 1 + len(BESIDE))
        if self.config.turns == "first":
            labels[1:] = NOT_DECODED
        return ProbeLabels(values=labels)

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        """Fit a network of least squared error; as `linear`, ridge regression on
        z-scored activations.

        Raises:
            ValueError: activations that are not finite, naming the row; no turn to
                train on; `linear` with one world to train on.
        """
        check_finite(train.inputs)
        train = train.take(is_decoded(train))
        if not len(train.labels):
            raise ValueError(
                "no training turn is decoded: each is later than the first"
            )
        steps = train.labels[:, :1].astype(np.float64)
        if variant == "linear":
            weights = fit_linear(train.inputs, steps, train.groups, PENALTIES)
        else:
            weights = self._network(train.inputs, steps, rng)

        # On nothing, the best line is flat: the mean.
        lines = [(steps.mean(), 0.0)]
        lines += [line(column, steps[:, 0]) for column in train.labels.T[1:]]
        baselines = np.array(lines, dtype=np.float32)
        return DistanceReadout(weights=weights, baselines=baselines)

    def _network(
        self, inputs: Floats, steps: Doubles, rng: np.random.Generator
    ) -> CellWeights:
        """Fit the network to z-scored steps, and return the one whose outputs are
        steps.
        """
        config = self.config
        settings = settings_of(config, config.hidden, config.learning_rate)
        mean, scale = z_scores(steps)
        scored = ((steps - mean) / scale).astype(np.float32)
        examples = Examples(
            inputs=inputs, shape=(), targets=scored, weights=np.ones(scored.shape)
        )
        weights, _ = fit_network(examples, 1, settings, rng)

        # The output layer is linear, so that it can take the units back.
        assert weights.output is not None and weights.output_bias is not None
        return replace(
            weights,
            output=weights.output * scale,
            output_bias=weights.output_bias * scale + mean,
        )

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:  # noqa: ARG002
        return DistanceReadout.from_arrays(arrays)

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Measure "mae", the mean absolute error in steps, and "r2", the share of the
        variance explained.

        With ".mean", ".manhattan" and ".length" they are those of readers without
        activations, who know the mean of the training turns, or the best line through a
        predictor of `BESIDE`.
        """
        assert isinstance(readout, DistanceReadout)
        test = test.take(is_decoded(test))
        if not len(test.labels):
            return [
                unmeasured("mae", NONE_DECODED),
                unmeasured("r2", NONE_DECODED),
            ]
        steps = test.labels[:, 0]
        predicted = readout.predict(test.inputs)
        found = errors(predicted - steps, steps, test.groups, "", rng)

        nothing = np.zeros(len(steps))
        predictors = (nothing, *test.labels.T[1:])
        names = ("mean", *BESIDE)
        for (intercept, slope), column, name in zip(
            readout.baselines, predictors, names, strict=True
        ):
            if (column == UNKNOWN).any():
                reason = f"{name} is not known"
                found.append(unmeasured(f"mae.{name}", reason))
                found.append(unmeasured(f"r2.{name}", reason))
            else:
                on_line = intercept + slope * column
                found += errors(on_line - steps, steps, test.groups, f".{name}", rng)
        return found

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """(N,) "mae", the absolute error in steps, and "r2", 1 less the squared error
        as a multiple of the variance; NaN for a turn that is not decoded.
        """
        chosen = is_decoded(test)
        if not chosen.any():
            return {}
        steps = test.labels[:, 0].astype(np.float64)
        misses = decoded - steps
        scores = {"mae": np.abs(misses)}
        variance = float(np.var(steps[chosen]))
        if variance > 0:
            scores["r2"] = 1 - misses**2 / variance
        return scores


def is_decoded(dataset: ProbeDataset) -> Bools:
    """(N,) True for the turns that are decoded."""
    decoded: Bools = ~np.isnan(dataset.labels[:, 0])
    return decoded


def errors(
    misses: NDArray[Any],
    steps: NDArray[Any],
    groups: Worlds,
    suffix: str,
    rng: np.random.Generator,
) -> list[Measurement]:
    """Measure "mae" and "r2" of predictions from their errors (N,) on true steps (N,)."""
    absolute = cluster_mean(np.abs(misses), groups, rng)
    mae = absolute.measurement(f"mae{suffix}")

    deviations = steps - steps.mean()
    if not deviations.any():
        undefined = Measurement(
            name=f"r2{suffix}",
            value=None,
            n=len(misses),
            reason="all held-out distances are equal",
        )
        return [mae, undefined]

    variance = deviations**2
    r2 = cluster_ratio(variance - misses**2, variance, groups, rng)
    return [mae, r2.measurement(f"r2{suffix}")]


def line(column: NDArray[Any], steps: Doubles) -> tuple[float, float]:
    """Return intercept and slope of least squares; the mean for a constant column."""
    mean = column.mean()
    spread = column - mean
    slope = 0.0
    if spread.any():
        slope = float(spread @ steps / (spread @ spread))
    return float(steps.mean() - slope * mean), slope


def manhattan(trajectory: Trajectory, turn: Turn) -> float:
    """Return the Manhattan distance from agent to goal; -1 without a map of both."""
    if turn.state is None:
        return UNKNOWN
    try:
        shown = CellMap.from_record(trajectory.world, turn.state)
        agent = shown.place_of("agent")
        goal = shown.place_of("goal")
    except ValueError:
        return UNKNOWN
    return float(np.abs(np.subtract(agent, goal)).sum())


def _length(turn: Turn) -> float:
    """Return the tokens of the completion; -1 without one."""
    completion = turn.decision.completion
    if completion is None or completion.n_completion is None:
        return UNKNOWN
    return float(completion.n_completion)
