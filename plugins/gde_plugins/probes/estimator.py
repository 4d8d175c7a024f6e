"""Any scikit-learn estimator as a probe."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gde.data.activations import CaptureRequest
from gde.data.arrays import Bools
from gde.data.completion import ModelInfo
from gde.data.measure import Measure
from gde.data.probe import ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.errors import GdeError
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_mean, cluster_share
from gde.parts.probe import Marks, Readout
from gde_plugins.probes.arrays import Doubles, Floats
from gde_plugins.probes.config import check_events
from gde_plugins.probes.course.positions import CoursePositions

Label = str | float | None
RIGHT = Measure(
    "right",
    "Turns decoded right",
    "share",
    "more",
    headline=True,
    phrase="decodes the label in {} of turns",
)
ERROR = Measure(
    "mae",
    "Mean absolute error",
    better="less",
    headline=True,
    phrase="predicts the label with a mean absolute error of {}",
)
SEEDS = 2**24
"""Seeds below it are exact as the float32 of stored arrays."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatorReadout:
    """A fitted estimator, stored as what it was fitted to.

    No file format holds every estimator and is safe to read from a stranger's run, so
    that loading fits again.
    """

    estimator: Any
    inputs: Floats
    """(N, D) activations of the training turns."""
    labels: Floats
    """(N,) their labels."""
    seed: int
    """The seed of the estimator's random states."""

    @classmethod
    def fitted(
        cls, estimator: Any, inputs: Floats, labels: Floats, seed: int
    ) -> "EstimatorReadout":
        """Fit a copy of the estimator.

        Raises:
            ValueError: the estimator cannot be fitted, e.g. to a single class.
        """
        from sklearn.base import clone

        copy = clone(estimator)
        rng = np.random.default_rng(seed)
        for name in sorted(copy.get_params()):
            if name.rpartition("__")[2] == "random_state":
                copy.set_params(**{name: int(rng.integers(SEEDS))})
        copy.fit(inputs, labels)
        return cls(estimator=copy, inputs=inputs, labels=labels, seed=seed)

    def predict(self, inputs: Floats) -> Floats:
        """(N, D) activations to (N,) labels; of classes their indices."""
        return np.asarray(self.estimator.predict(inputs), dtype=np.float32)

    def arrays(self) -> Mapping[str, Floats]:
        return {
            "inputs": self.inputs,
            "labels": self.labels,
            "seed": np.array([self.seed], dtype=np.float32),
        }


class SklearnProbe:
    """A probe that fits a scikit-learn classifier or regressor.

    Args:
        estimator: unfitted, e.g. `make_pipeline(StandardScaler(), Ridge())`.
        labels: the truth in every turn of a trajectory; None for a turn without one.
        classes: the labels that a classifier tells apart.
        layers: the layers to read; empty for the one in the middle.
        positions: the tokens to read, see `CaptureRequest`; "course" for all events of a
            reasoning, e.g. "course-last" for one.
        events: the model's own words, a pattern by event.
        unit: the unit of a regressor's labels, e.g. "steps".

    Raises:
        GdeError: a classifier without classes, or a regressor with some; an unknown
            event.
    """

    variants = ("estimator",)

    def __init__(
        self,
        estimator: Any,
        labels: Callable[[Trajectory], Sequence[Label]],
        *,
        classes: Sequence[str] = (),
        layers: Sequence[int] = (),
        positions: Sequence[str] = ("pre",),
        events: Mapping[str, str] = MappingProxyType({}),
        unit: str = "units",
    ) -> None:
        from sklearn.base import is_classifier

        if is_classifier(estimator) != bool(classes):
            wanted = "classes" if is_classifier(estimator) else "no classes"
            raise GdeError(
                f"SklearnProbe: {type(estimator).__name__} wants {wanted}, got {tuple(classes)}"
            )
        self._estimator = estimator
        self._labels = labels
        self._classes = tuple(classes)
        self._layers = tuple(layers)
        try:
            check_events(events)
        except ValueError as error:
            raise GdeError(f"SklearnProbe: {error}") from None
        self._course = CoursePositions.of(positions, events)
        self._unit = unit

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The meaning of the probe's number."""
        return (RIGHT,) if self._classes else (replace(ERROR, unit=self._unit),)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        layers = self._layers or (model.n_layers // 2,)
        return CaptureRequest(layers=layers, positions=self._course.read)

    @property
    def marks(self) -> Marks | None:
        """What finds the events among the positions."""
        return self._course.marks

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T,) labels, of classes their indices; NaN for a turn without one.

        Raises:
            GdeError: a label that is none of the classes, or no number.
        """
        values = [self._value(label) for label in self._labels(trajectory)]
        return ProbeLabels(
            values=np.array(values, dtype=np.float64), classes=self._classes
        )

    def _value(self, label: Label) -> float:
        if label is None:
            return np.nan
        try:
            if self._classes:
                return float(self._classes.index(str(label)))
            return float(label)
        except ValueError:
            wanted = (
                f"one of {', '.join(self._classes)}" if self._classes else "a number"
            )
            raise GdeError(f"a label: wanted {wanted}, got {label!r}") from None

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,
    ) -> Readout:
        """Fit a copy of the estimator to the turns that have a label.

        Raises:
            ValueError: the estimator cannot be fitted, e.g. to a single class.
        """
        known = train.take(is_known(train))
        return EstimatorReadout.fitted(
            self._estimator,
            known.inputs,
            known.labels.astype(np.float32),
            int(rng.integers(SEEDS)),
        )

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:  # noqa: ARG002
        return EstimatorReadout.fitted(
            self._estimator, arrays["inputs"], arrays["labels"], int(arrays["seed"][0])
        )

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Measure "right", the share of turns, or of a regressor "mae"."""
        (measure,) = self.measures
        known = is_known(test)
        if not known.any():
            return [unmeasured(measure.name, "no held-out turn has a label")]
        scores = self.turn_scores(readout.predict(test.inputs), test)[measure.name]
        estimate = cluster_share if self._classes else cluster_mean
        found = estimate(scores[known], test.groups[known], rng)
        return [found.measurement(measure.name)]

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """(N,) whether the label is right, or the absolute error; NaN without one."""
        misses = np.abs(decoded - test.labels.astype(np.float64))
        if not self._classes:
            return {ERROR.name: misses}
        return {RIGHT.name: np.where(is_known(test), misses == 0, np.nan)}


def is_known(dataset: ProbeDataset) -> Bools:
    """(N,) True for the turns that have a label."""
    known: Bools = ~np.isnan(dataset.labels.astype(np.float64))
    return known
