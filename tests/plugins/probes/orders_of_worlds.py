"""How far code lengths depend on the order in which a probe learns the worlds.

`python tests/plugins/probes/orders_of_worlds.py RUN ORDERS [PROBE...]` learns from the
stored activations of a run of nano in so many orders, the probes of docs/nano.md at
layer 3 before reasoning. For each label it prints, over the orders: the mean difference
from random weights and its standard deviation, the mean half-width of its interval, the
share of intervals that contain the mean difference of all orders, and the share of
verdicts (p below .05, not corrected). The last number is the share of verdicts where
each random initialisation stands for the model against the others: false ones.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest
from gde.data.measure import Measures
from gde.data.probe import Fit, ProbeDataset
from gde.numerics.controls import compare_with_control
from gde.parts.probe import Probe, Readout
from gde.seeding import derive, generator
from gde.stages.evidence import Recorded
from gde.stages.learning import Learning
from gde.stages.probing import MODEL, ProbeStage, list_fits, untrained_sources
from gde.store.activations import ActivationStore, Row
from gde.store.folder import RunFolder
from gde_plugins.probes.config import CogmapConfig, DistanceConfig, PlacesConfig
from gde_plugins.probes.distance.probe import DistanceProbe
from gde_plugins.probes.maps.probe import CogmapProbe
from gde_plugins.probes.places.probe import PlacesProbe

LAYER, POSITION, SEED = 3, "pre", 0
PROBES: Mapping[str, Probe] = {
    "cogmap": CogmapProbe(CogmapConfig(variants=("mlp", "bilinear", "ridge"))),
    "places": PlacesProbe(PlacesConfig()),
    "distance": DistanceProbe(DistanceConfig(variants=("mlp",))),
}
Floats = NDArray[np.float64]
Codes = dict[str, Floats]
"""Name of a code length to the bits of each world."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """The activations of one model, split, and the fit to all training worlds."""

    probe: Probe
    fit: Fit
    train: ProbeDataset
    rows: list[Row]
    test: ProbeDataset
    readout: Readout

    def codes(self, order: int) -> Codes:
        """The code lengths in one order; the first is that of the run."""
        learned = Learning(
            probe=self.probe,
            fit=self.fit,
            train=self.train,
            rows=self.rows,
            test=self.test,
            readout=self.readout,
            seed=derive(SEED, "order", order) if order else SEED,
            meanings=Measures(),
        ).learn()
        worlds = np.array(learned.coded.worlds)
        found = {}
        for name, scores in learned.coded.scores.items():
            bits = scores[0].astype(np.float64)
            # Shares of the mean over labels, as in a verdict.
            sums = [bits[worlds == world].sum() for world in np.unique(worlds)]
            found[name] = np.array(sums) * len(sums) / len(worlds)
        return found


@dataclass
class Verdicts:
    """The verdicts on one label, one in each order."""

    differences: list[float] = field(default_factory=list)
    intervals: list[tuple[float, float]] = field(default_factory=list)
    called: list[bool] = field(default_factory=list)

    def add(self, ours: Floats, others: Floats) -> None:
        """Compare the bits of each world (G,) with those of initialisations (K, G)."""
        verdict = compare_with_control("untrained", ours, others, generator(0))
        assert verdict.interval is not None and verdict.p is not None
        self.differences.append(verdict.difference)
        self.intervals.append(verdict.interval)
        self.called.append(verdict.p < 0.05)

    def row(self) -> str:
        """Mean, deviation, half-width, covering share, called share."""
        mean = float(np.mean(self.differences))
        deviation = float(np.std(self.differences, ddof=1))
        low, high = np.array(self.intervals).T
        half = float((high - low).mean() / 2)
        covering = float(np.mean((low <= mean) & (mean <= high)))
        called = float(np.mean(self.called))
        return (
            f"{mean:.2f} | {deviation:.2f} | {half:.2f} | {covering:.2f} | {called:.2f}"
        )


def sources(folder: RunFolder, name: str, fit: Fit) -> Iterator[Source]:
    """The model and its initialisations, as far as they are stored."""
    with closing(folder.journal()) as journal:
        store = ActivationStore(folder.activations, journal)
        names = [MODEL, *untrained_sources(100)]
        stored = [one for one in names if store.table(one, LAYER, POSITION) is not None]
    stage = ProbeStage(
        trajectories=Recorded(folder.journal_path),
        folder=folder,
        seed=SEED,
        conditions=({},),
    )
    probe = PROBES[name]
    for source in stored:
        table = stage._table(source, LAYER, POSITION)
        assert table is not None
        dataset = stage._dataset(probe, table)
        held_out = stage._held_out(dataset.groups)
        train = dataset.take(~held_out)
        rng = generator(SEED, "fit", fit.name)
        yield Source(
            probe=probe,
            fit=fit,
            train=train,
            rows=[table.rows[row] for row in np.flatnonzero(~held_out)],
            test=dataset.take(held_out),
            readout=probe.fit(fit.variant, train, rng),
        )


def main(run: Path, orders: int, names: Sequence[str]) -> None:
    """Print a row for each label."""
    folder = RunFolder.open(run)
    request = CaptureRequest(layers=(LAYER,), positions=(POSITION,))
    for name in names or PROBES:
        probe = PROBES[name]
        for fit in list_fits(name, probe, request, sweeps=False):
            if fit.control == "none":
                _print(folder, name, fit, orders)


def _print(folder: RunFolder, name: str, fit: Fit, orders: int) -> None:
    learned = []
    for source in sources(folder, name, fit):
        learned.append([source.codes(i) for i in range(orders)])
    model, *untrained = learned
    verdicts: dict[str, Verdicts] = defaultdict(Verdicts)
    false: dict[str, Verdicts] = defaultdict(Verdicts)
    for order in range(orders):
        for label, bits in model[order].items():
            others = np.array([one[order][label] for one in untrained])
            verdicts[label].add(bits, others)
            for one, own in enumerate(others):
                false[label].add(own, np.delete(others, one, axis=0))

    for label, found in verdicts.items():
        false_share = float(np.mean(false[label].called))
        what = f"{name} {fit.variant} {label}"
        sys.stdout.write(f"| {what} | {found.row()} | {false_share:.2f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
