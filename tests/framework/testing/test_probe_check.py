"""`check_probe` passes a small linear probe and names the promise that each broken
counterfactual breaks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import sleep

import numpy as np
import pytest
from numpy.typing import NDArray
from promised import caught

from gde.data.activations import CaptureRequest, TokenSequence
from gde.data.completion import Completion, ModelInfo
from gde.data.probe import Likelihoods, ProbeDataset, ProbeLabels
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.parts.probe import Marked, Readout, Tokenize
from gde.testing import check_probe
from gde.testing.plan_probe import PlanProbe, PlanReadout

Floats = NDArray[np.float32]


@dataclass
class Line:
    """Least squares on a sample of the rows."""

    weights: Floats

    def predict(self, inputs: Floats) -> Floats:
        return inputs @ self.weights

    def arrays(self) -> Mapping[str, Floats]:
        return {"weights": self.weights}


class LineProbe:
    """Decodes the agent's cell in a corridor."""

    @property
    def variants(self) -> tuple[str, ...]:
        return ("line",)

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(model.n_layers - 1,))

    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        cells = [
            turn.state.index for turn in trajectory.turns if turn.state is not None
        ]
        return ProbeLabels(values=np.array(cells, dtype=np.int64))

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        rows = rng.permutation(len(train.inputs))[: max(1, len(train.inputs) // 2)]
        weights, *_ = np.linalg.lstsq(
            train.inputs[rows], train.labels[rows].astype(np.float32), rcond=None
        )
        return Line(weights.astype(np.float32))

    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:
        return Line(arrays["weights"])

    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        rows = rng.integers(len(test.inputs), size=10)
        error = np.abs(readout.predict(test.inputs)[rows] - test.labels[rows])
        return (
            Measurement(
                name="distance",
                value=float(error.mean()),
                unit="cells",
                n=len(test.inputs),
            ),
        )


def test_a_linear_probe_keeps_every_promise() -> None:
    check_probe(LineProbe)


def test_a_probe_of_single_tokens_keeps_every_promise() -> None:
    check_probe(PlanProbe)
    check_probe(lambda: PlanProbe(ahead=1, layers=(0, 3), position="post"))


class NoVariant(LineProbe):
    @property
    def variants(self) -> tuple[str, ...]:
        return ()


class LayerBeyond(LineProbe):
    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(model.n_layers,))


class NoPositions(LineProbe):
    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(0,), positions=())


class LabelsTheEndToo(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return ProbeLabels(values=np.zeros(len(trajectory.turns) + 1, dtype=np.int64))


class KnowsOtherWorlds(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        raise KeyError("lamps")


class LabelsOfAnyWidth(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return ProbeLabels(
            values=np.zeros(
                (len(trajectory.turns), len(trajectory.turns)), dtype=np.int64
            )
        )


class LabelsWithGaps(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return ProbeLabels(values=np.full(len(trajectory.turns), np.inf))


class LabelsOfOtherClasses(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        one = super().labels(trajectory)
        return replace(
            one, classes=tuple("abcdefghijk")[: 10 + trajectory.key.world % 2]
        )


class LabelsOfNoClass(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return replace(super().labels(trajectory), classes=("only",))


class FitsByChance(LineProbe):
    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        return super().fit(variant, train, np.random.default_rng())


class ScoresByChance(LineProbe):
    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        return super().score(readout, test, np.random.default_rng())


class ScoresNothing(LineProbe):
    def score(
        self, readout: Readout, test: ProbeDataset, rng: np.random.Generator
    ) -> Sequence[Measurement]:
        return ()


class ScoresOtherTurns(LineProbe):
    """Its measurement is of ten turns, the scores are of all."""

    def turn_scores(
        self, decoded: Floats, test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        return {"distance": np.abs(decoded - test.labels).astype(np.float64)}


class ScoresTooFewTurns(LineProbe):
    def turn_scores(
        self, decoded: Floats, test: ProbeDataset
    ) -> Mapping[str, NDArray[np.float64]]:
        return {"distance": np.zeros(len(decoded) - 1)}


def coded(
    fitted: float, uniform: float, shape: tuple[int, ...] = (1,), of_fit: bool = False
) -> type[LineProbe]:
    """A probe that gives every label these probabilities."""

    class Coded(LineProbe):
        def likelihoods(
            self, readout: Readout, turns: ProbeDataset
        ) -> Mapping[str, Likelihoods]:
            n = len(turns.groups)
            assert isinstance(readout, Line)
            guess = uniform
            if of_fit:
                guess /= 1 + float(np.abs(readout.weights).sum())
            return {
                "distance": Likelihoods(
                    fitted=np.full((n, *shape), fitted),
                    uniform=np.full((n, *shape), guess),
                )
            }

    return Coded


class CodesNothing(LineProbe):
    def likelihoods(
        self, readout: Readout, turns: ProbeDataset
    ) -> Mapping[str, Likelihoods]:
        return {}


class AsksByChance(LineProbe):
    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(
            layers=(0,), positions=(f"{np.random.default_rng().random()}",)
        )


class LabelsByChance(LineProbe):
    def labels(self, trajectory: Trajectory) -> ProbeLabels:
        return ProbeLabels(values=np.random.default_rng().random(len(trajectory.turns)))


class FitsNothing(LineProbe):
    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        return object()  # type: ignore[return-value]


@dataclass
class Moody(Line):
    """Learns the same and predicts something else."""

    mood: float = field(default_factory=lambda: float(np.random.default_rng().random()))

    def predict(self, inputs: Floats) -> Floats:
        return super().predict(inputs) + np.float32(self.mood)


@dataclass
class Lost(Line):
    def predict(self, inputs: Floats) -> Floats:
        return super().predict(inputs) * np.float32("inf")


@dataclass
class Precise(Line):
    def arrays(self) -> Mapping[str, Floats]:
        return {"weights": self.weights.astype(np.float64)}  # type: ignore[dict-item]


@dataclass
class Normalising(Line):
    def predict(self, inputs: Floats) -> Floats:
        return super().predict(inputs - inputs.mean(axis=0))


@dataclass
class Doubling(Line):
    def predict(self, inputs: Floats) -> Floats:
        return super().predict(inputs).astype(np.float64)  # type: ignore[return-value]


@dataclass
class Forgetful(Line):
    def arrays(self) -> Mapping[str, Floats]:
        return {}


@dataclass
class Short(Line):
    def predict(self, inputs: Floats) -> Floats:
        return super().predict(inputs)[1:]


class OfNoForm(LineProbe):
    inputs = "characters"


class ConcurrentAtTimes(LineProbe):
    concurrent = "at times"


class OneTurnAtTimes(LineProbe):
    one_turn = "at times"


class InNoOrder(LineProbe):
    orders = 0


class Marking(LineProbe):
    """Marks the last token of every answer."""

    def capture(self, model: ModelInfo) -> CaptureRequest:
        return CaptureRequest(layers=(0,), positions=("end",))

    def marks(
        self, completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        return {"end": (len(sequence.tokens) - 1,)}


class MarksByChance(Marking):
    calls = 0

    def marks(
        self, completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        self.calls += 1
        return {"end": (self.calls,)}


class MarksWhatNobodyReads(Marking):
    def marks(
        self, completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        return {"start": (0,)}


class MarksNothing(Marking):
    def marks(
        self, completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        return {"end": ()}


class MarksBeyond(Marking):
    def marks(
        self, completion: Completion, sequence: TokenSequence, tokenize: Tokenize
    ) -> Marked:
        return {"end": (len(sequence.tokens),)}


class SharesWhatChanges(LineProbe):
    """Draws from one generator, whoever fits."""

    concurrent = True

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        self.rng = rng
        sleep(0.01)  # in which another thread puts its own in the place
        return Line(
            np.full(
                (train.inputs.shape[-1],), self.rng.integers(2**20), dtype=np.float32
            )
        )


class LoadsAnother(LineProbe):
    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:
        return Line(arrays["weights"] + np.float32(0.01))


class LoadsNothing(LineProbe):
    def load(self, variant: str, arrays: Mapping[str, Floats]) -> Readout:
        raise KeyError(variant)


class PadsWithZeros(PlanReadout):
    """Takes padding for tokens."""

    def predict(self, inputs: Floats) -> Floats:
        return super().predict(np.nan_to_num(inputs))


class AveragesPadding(PlanProbe):
    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        return PadsWithZeros(
            weights=super().fit(variant, train, rng).arrays()["weights"]
        )


class ForgetsPadding(PlanProbe):
    """Takes what it is given for activations, as if there were no padding."""

    def fit(
        self, variant: str, train: ProbeDataset, rng: np.random.Generator
    ) -> Readout:
        return Line(np.ones((train.inputs.shape[-1], 2), dtype=np.float32))


def with_readout(kind: type[Line]) -> type[LineProbe]:
    class Probe(LineProbe):
        def fit(
            self, variant: str, train: ProbeDataset, rng: np.random.Generator
        ) -> Readout:
            readout = super().fit(variant, train, rng)
            return kind(readout.arrays()["weights"])

    Probe.__name__ = kind.__name__
    return Probe


BROKEN = [
    (object, "to be a Probe"),
    (AsksByChance, "the same request"),
    (LabelsByChance, "the same in a second call"),
    (LabelsOfOtherClasses, "the same classes for all trajectories"),
    (LabelsOfNoClass, "indices of their classes only"),
    (FitsNothing, "to be a Readout"),
    (with_readout(Moody), "fit must be a function"),
    (with_readout(Lost), "predictions must be finite"),
    (with_readout(Precise), "array 'weights' must be float32"),
    (
        OfNoForm,
        "tells of itself must be known; got GdeError: inputs of OfNoForm: wanted concatenated or tokens",
    ),
    (
        ConcurrentAtTimes,
        "tells of itself must be known; got GdeError: .* wanted True or False, got 'at times'",
    ),
    (OneTurnAtTimes, "tells of itself must be known; got GdeError"),
    (InNoOrder, "must be known; got GdeError: orders of InNoOrder"),
    (MarksByChance, "the same in the same answer"),
    (MarksWhatNobodyReads, "positions that capture requests: \\['start'\\]"),
    (MarksNothing, "must say why a position has no tokens"),
    (MarksBeyond, "indices into 7 tokens, got \\[7\\]"),
    (SharesWhatChanges, "the same in several threads at once"),
    (LoadsAnother, "a loaded readout must predict the same"),
    (
        KnowsOtherWorlds,
        "labels must not raise on episode 0/0/0 .* KeyError: 'lamps'; .* checked with `trajectories`",
    ),
    (LoadsNothing, "load must make a readout of stored arrays; got KeyError"),
    (AveragesPadding, "padding must not change a prediction"),
    (ForgetsPadding, "predictions must be finite"),
    (NoVariant, "one or more distinct variants"),
    (LayerBeyond, "request layers 0 to 3"),
    (NoPositions, "at least one position"),
    (LabelsTheEndToo, "one entry for each turn"),
    (LabelsOfAnyWidth, "one trailing shape"),
    (LabelsWithGaps, "labels must not be infinite"),
    (FitsByChance, "fit must be a function"),
    (ScoresByChance, "score must be a function"),
    (ScoresNothing, "must give a measurement"),
    (ScoresTooFewTurns, "a score for each turn, 'distance'"),
    (ScoresOtherTurns, "'distance' must be the mean of its turn_scores"),
    (CodesNothing, "likelihoods must be of something"),
    (coded(0.5, 0.5, ()), "of the same shape"),
    (coded(1.5, 0.5), "likelihoods must be probabilities"),
    (coded(0.5, 0.0), "uniform likelihoods must be above 0"),
    (coded(0.5, 0.5, of_fit=True), "must not depend on the fit"),
    (with_readout(Normalising), "must not depend on other rows"),
    (with_readout(Doubling), "must be float32"),
    (with_readout(Forgetful), "load must make a readout of stored arrays"),
    (with_readout(Short), "one row for each input row"),
]


@pytest.mark.parametrize(
    ("make", "promise"), BROKEN, ids=[promise for _, promise in BROKEN]
)
def test_a_broken_promise_is_named(
    make: type[LineProbe | PlanProbe], promise: str
) -> None:
    with caught(make.__name__, promise):
        check_probe(make)
