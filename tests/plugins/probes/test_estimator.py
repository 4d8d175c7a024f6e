"""Scikit-learn estimators as probes."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import gde
from gde import ProbeDataset, Trajectory
from gde.testing import check_probe
from gde_plugins.probes import SklearnProbe

CLASSES = ("even", "odd")


def parities(trajectory: Trajectory) -> list[str | None]:
    """A class for each turn but the second."""
    labels: list[str | None] = [CLASSES[turn.index % 2] for turn in trajectory.turns]
    labels[1:2] = [None] * len(labels[1:2])
    return labels


def places(trajectory: Trajectory) -> list[float]:
    return [float(turn.index) for turn in trajectory.turns]


@pytest.mark.parametrize(
    "probe",
    [
        SklearnProbe(DummyClassifier(), parities, classes=CLASSES),
        SklearnProbe(Ridge(), places),
        SklearnProbe(RandomForestRegressor(3), places),
    ],
    ids=["classifier", "regressor", "random states"],
)
def test_it_keeps_the_promises_of_probes(probe: SklearnProbe) -> None:
    check_probe(lambda: probe)


def dataset(labels: list[float]) -> ProbeDataset:
    n = len(labels)
    return ProbeDataset(
        inputs=np.arange(n, dtype=np.float32)[:, None],
        labels=np.array(labels),
        groups=np.array([f"w{row}" for row in range(n)]),
    )


def test_turns_without_a_label_are_neither_learned_nor_scored() -> None:
    probe = SklearnProbe(LinearRegression(), places)
    turns = dataset([0.0, 2.0, np.nan, 6.0, 8.0, 10.0, 12.0, 99.0])
    readout = probe.fit("estimator", turns.take(np.arange(7)), np.random.default_rng(0))
    np.testing.assert_allclose(readout.predict(turns.inputs)[2], 4.0, rtol=1e-5)
    (error,) = probe.score(readout, turns, np.random.default_rng(0))
    assert error.value == pytest.approx((99 - 14) / 7)
    assert error.n == 7


def test_a_classifier_is_right_where_its_class_is_the_label() -> None:
    probe = SklearnProbe(
        LogisticRegression(C=100.0), parities, classes=CLASSES, layers=[1]
    )
    turns = dataset([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    readout = probe.fit("estimator", turns, np.random.default_rng(0))
    wrong = dataset([0.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    (right,) = probe.score(readout, wrong, np.random.default_rng(0))
    assert right.value == pytest.approx(5 / 6)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(gde.GdeError, match="LogisticRegression wants classes"):
        SklearnProbe(LogisticRegression(), parities)
    with pytest.raises(gde.GdeError, match="Ridge wants no classes"):
        SklearnProbe(Ridge(), parities, classes=CLASSES)
    probe = SklearnProbe(DummyClassifier(), lambda _: ["big"], classes=CLASSES)
    sample = gde.testing.samples.sample_evidence().trajectories[0]
    with pytest.raises(gde.GdeError, match=r"wanted one of even, odd, got 'big'"):
        probe.labels(sample)


@pytest.mark.extended
def test_in_a_run_it_has_titles_controls_and_verdicts(tmp_path: Path) -> None:
    probe = SklearnProbe(Ridge(), places, unit="turns", layers=[1])
    plan = gde.Plan(
        environment=gde.Choice(name="grid", config={"size": 5}),
        agent="gpt-oss",
        probes=[gde.Choice.of(probe, "turn")],
        metrics=["success"],
        episodes=20,
        initialisations=5,
        learning=False,
    )
    result = gde.evaluate(plan, tmp_path / "run")
    assert not result.failures
    numbers = [one for one in result.measurements if one.name == "turn.mae"]
    controls = {one.where["control"] for one in numbers}
    assert controls == {"none", "no_activations", "prompt", "shuffled", "untrained"}
    assert result.meanings["turn.mae"].title == "Mean absolute error"
    assert all(one.verdict is not None for one in numbers)
