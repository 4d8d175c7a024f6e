"""The probe `places`: row and column of every thing, decoded linearly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from gde.data.activations import CaptureRequest
from gde.data.cell_map import PAD
from gde.data.completion import ModelInfo
from gde.data.probe import Likelihoods, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_share
from gde.parts.probe import Readout
from gde_plugins.probes.arrays import CELLS, Bools, Codes, Doubles, Floats
from gde_plugins.probes.config import PlacesConfig
from gde_plugins.probes.fitting.weights import check_finite
from gde_plugins.probes.maps.labels import map_labels
from gde_plugins.probes.places.ridge import CoordinateWeights, fit_coordinates


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacesReadout:
    """Fitted classifiers of the rows and columns of things."""

    weights: CoordinateWeights
    """Row and column of one thing after the other."""
    things: Codes
    """(K,) classes of the things."""
    n_classes: int

    def predict(self, inputs: Floats) -> Floats:
        """(N, D) activations to (N, 2 C, size) probabilities of the row and the column
        of each of C classes; 0 for a class that is not decoded.

        Raises:
            ValueError: activations that are not finite, naming the row.
        """
        check_finite(inputs)
        inputs = np.asarray(inputs, dtype=np.float32)
        found = self.weights.probabilities(inputs)
        size = found.shape[-1]
        decoded = np.zeros((len(inputs), self.n_classes, 2, size), dtype=np.float32)
        decoded[:, self.things] = found.reshape(len(inputs), -1, 2, size)
        return decoded.reshape(len(inputs), -1, size)

    def arrays(self) -> Mapping[str, Floats]:
        """The weights, "things" and "n_classes" (1,)."""
        return {
            **vars(self.weights),
            "things": self.things.astype(np.float32),
            "n_classes": np.array([self.n_classes], np.float32),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """The inverse of `arrays`."""
        own = dict(arrays)
        things = own.pop("things").astype(np.int64)
        n_classes = int(own.pop("n_classes").item())
        return cls(weights=CoordinateWeights(**own), things=things, n_classes=n_classes)


@dataclass(frozen=True)
class PlacesProbe:
    """Decodes row and column of each thing that is on every map once.

    A linear classifier of rows and one of columns need far fewer turns than one of
    cells. So they tell what a model holds from what many fitted turns find in any.
    """

    config: PlacesConfig
    concurrent: ClassVar[bool] = True
    variants: ClassVar[tuple[str, ...]] = ("linear",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return self.config.capture(model)

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        """(T, size, size) index into the classes of the true map in every turn.

        Raises:
            GdeError: a turn without a recorded map, or a map larger than `size`.
        """
        return map_labels(trajectory, self.config.size, "places")

    def fit(
        self,
        variant: str,  # noqa: ARG002
        train: ProbeDataset,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Readout:
        """Fit a classifier of rows and one of columns for each thing.

        Raises:
            ValueError: activations that are not finite, naming the row; nothing is on
            every map once; one world to train on.
        """
        check_finite(train.inputs)
        cells = train.labels.astype(np.int64)
        things = []
        for code, name in enumerate(train.classes):
            on_map = (cells == code).sum(axis=CELLS)
            if name != PAD and (on_map == 1).all():
                things.append(code)
        if not things:
            raise ValueError("nothing is on every training map exactly once")

        coordinates = np.concatenate([_place(cells == code) for code in things], axis=1)
        weights = fit_coordinates(
            train.inputs,
            coordinates,
            self.config.size,
            train.groups,
            self.config.penalties,
        )
        return PlacesReadout(
            weights=weights, things=np.array(things), n_classes=len(train.classes)
        )

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:  # noqa: ARG002
        return PlacesReadout.from_arrays(arrays)

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        """Measure "top1.NAME", the share of turns in which the likeliest row and column
        are right, "top1.row.NAME" and "top1.column.NAME".
        """
        scores = self.turn_scores(readout.predict(test.inputs), test)
        measurements = []
        for name, hits in scores.items():
            counts = np.isfinite(hits)
            if counts.any():
                estimate = cluster_share(hits[counts], test.groups[counts], rng)
                measurements.append(estimate.measurement(name))
            else:
                measurements.append(unmeasured(name, "on no held-out map"))
        return measurements

    def turn_scores(self, decoded: Floats, test: ProbeDataset) -> Mapping[str, Doubles]:
        """(N,) whether the row, the column or both are right; NaN in turns whose map
        does not have the thing once.
        """
        cells = test.labels.astype(np.int64)
        scores: dict[str, Doubles] = {}
        for code, name in enumerate(test.classes):
            of_thing = decoded[:, 2 * code : 2 * code + 2]
            if of_thing.any():
                once = (cells == code).sum(axis=CELLS) == 1
                right = of_thing.argmax(axis=-1) == _place(cells == code)
                both = right.all(axis=1)
                scores[f"top1.{name}"] = np.where(once, both, np.nan)
                scores[f"top1.row.{name}"] = np.where(once, right[:, 0], np.nan)
                scores[f"top1.column.{name}"] = np.where(once, right[:, 1], np.nan)
        return scores

    def likelihoods(
        self, readout: Readout, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        """Of the row and the column of each thing; uniform over those of the map."""
        decoded = readout.predict(turns.inputs).astype(np.float64)
        cells = turns.labels.astype(np.int64)
        on_map = cells != turns.classes.index(PAD)
        sides = _sides(on_map)
        found = {}
        for code, name in enumerate(turns.classes):
            of_thing = decoded[:, 2 * code : 2 * code + 2]
            if of_thing.any():
                place = _place(cells == code)
                true = np.take_along_axis(of_thing, place[..., None], axis=-1)
                once = (cells == code).sum(axis=CELLS) == 1
                fitted = np.where(once[:, None], true[..., 0], np.nan)
                found[name] = Likelihoods(fitted=fitted, uniform=1 / sides)
        return found


def _place(cells: Bools) -> Codes:
    """(N, 2) row and column of the first true cell of maps (N, size, size)."""
    first = cells.reshape(len(cells), -1).argmax(axis=1)
    return np.stack(np.unravel_index(first, cells.shape[1:]), axis=1)


def _sides(on_map: Bools) -> Codes:
    """(N, 2) rows and columns of maps, which are true where a cell belongs to them."""
    n_rows = on_map.any(axis=2).sum(axis=1)
    n_columns = on_map.any(axis=1).sum(axis=1)
    return np.stack([n_rows, n_columns], axis=1)
