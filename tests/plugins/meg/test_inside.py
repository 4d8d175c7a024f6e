"""Utilities that a hidden state chooses, and the components that stand for it."""

from dataclasses import replace

import numpy as np
import pytest
from sampled import grids, recorded, sample, untold

from gde.data.completion import ModelInfo
from gde.data.evidence import Evidence
from gde.data.probe import Fit, ProbeDataset, ProbeReport
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.testing import check_metric, check_probe
from gde_plugins.meg.components import ComponentsProbe, ComponentsReadout
from gde_plugins.meg.config import ComponentsConfig
from gde_plugins.meg.metrics.hidden_state import inside
from gde_plugins.meg.trajectories.utilities import Feature

HORIZON = 10


def run(known: bool, n: int = 25) -> Evidence:
    """An agent that goes to the goal or to the key, as a coin has it, and a component
    that is the coin or noise.
    """
    episodes, rows, components = [], [], []
    rng = np.random.default_rng(5)
    for i, mdp in enumerate(grids(n)):
        coin = i % 2
        policy = untold(Feature("key" if coin else "goal")(mdp), 3.0, HORIZON)
        (episode,) = sample(mdp, policy, 1, rng, HORIZON, decisions=HORIZON - 1)
        episodes.append(replace(episode, cluster=str(i)))
        for turn in range(len(episode.states)):
            rows.append((f"0/{i}/0", turn))
            components.append([2.0 * coin - 1 if known else rng.normal()])
    fit = Fit(probe="components", variant="pca", layer=1, position="pre")
    decoded = np.array(components, dtype=np.float32)
    report = ProbeReport(
        fit=fit,
        measurements=(),
        n_train=1,
        n_test=len(rows),
        rows=tuple(rows),
        decoded=decoded,
    )
    return replace(recorded(episodes), probe_reports=(report,))


def named(evidence: Evidence) -> dict[str, Measurement]:
    return {
        str(each.where.get("utility", each.name)): each for each in inside(evidence)
    }


def test_a_hidden_state_that_holds_the_goal_says_more_than_the_world() -> None:
    measured = named(run(known=True))
    gain = measured["meg.inside.gain"]
    assert gain.interval is not None
    assert gain.interval[0] > 0.1
    assert gain.value == pytest.approx(
        (measured["hidden"].value or 0) - (measured["features"].value or 0)
    )
    assert gain.where == {"layer": 1, "position": "pre", "control": "none"}


def test_a_hidden_state_of_noise_says_nothing_more() -> None:
    gain = named(run(known=False))["meg.inside.gain"]
    assert gain.interval is not None
    assert gain.interval[0] < 0 < gain.interval[1] + 0.05
    assert (gain.value or 0) < 0.02


def test_what_an_fit_says_beyond_a_control_is_their_paired_difference() -> None:
    evidence, noise = run(known=True), run(known=False)
    (report,) = evidence.probe_reports
    fit = replace(report.fit, control="untrained")
    decoded = (
        np.random.default_rng(0).normal(size=report.decoded.shape).astype(np.float32)
    )
    control = replace(report, fit=fit, decoded=decoded)
    measured = inside(replace(evidence, probe_reports=(report, control)))
    gains = {
        each.where["control"]: each.value or 0.0
        for each in measured
        if each.name == "meg.inside.gain"
    }
    (beyond,) = (each for each in measured if each.name == "meg.inside.beyond")
    assert beyond.value == pytest.approx(gains["none"] - gains["untrained"])
    assert beyond.where == {"layer": 1, "position": "pre", "control": "untrained"}
    others = replace(
        control, rows=noise.probe_reports[0].rows[:50], decoded=decoded[:50]
    )
    unpaired = inside(replace(evidence, probe_reports=(report, others)))
    assert "meg.inside.beyond" not in {each.name for each in unpaired}


def test_what_is_missing_is_said() -> None:
    evidence = run(known=True, n=6)
    (report,) = evidence.probe_reports
    assert inside(replace(evidence, part={"size": 7})) == ()
    assert [one.reason for one in inside(replace(evidence, probe_reports=()))] == [
        "no probe decoded components; choose --probe components"
    ]
    assert [one.reason for one in inside(replace(evidence, trajectories=()))] == [
        "no held-out turn is of an episode that was finished"
    ]
    few = replace(report, rows=report.rows[:1], decoded=report.decoded[:1])
    assert [one.reason for one in inside(replace(evidence, probe_reports=(few,)))] == [
        "wanted held-out turns of at least 5 worlds, got 1"
    ]
    shuffled = replace(report, fit=replace(report.fit, control="shuffled"))
    assert inside(replace(evidence, probe_reports=(report, shuffled))) == inside(
        evidence
    )


def test_the_metric_keeps_its_promises() -> None:
    check_metric(lambda: inside, run(known=True, n=6))


def test_the_probe_keeps_its_promises() -> None:
    check_probe(lambda: ComponentsProbe(ComponentsConfig()))


def dataset(n: int = 60) -> ProbeDataset:
    """Activations on a plane, with little noise around it."""
    rng = np.random.default_rng(0)
    inputs = (
        rng.normal(size=(n, 2)) * [5.0, 2.0] @ rng.normal(size=(2, 8))
        + 0.01 * rng.normal(size=(n, 8))
        + 3
    )
    groups = np.array([str(i // 3) for i in range(n)])
    return ProbeDataset(
        inputs=inputs.astype(np.float32), labels=np.zeros((n, 0)), groups=groups
    )


def test_components_keep_the_variance_that_there_is() -> None:
    data, probe = dataset(), ComponentsProbe(ComponentsConfig(count=2))
    readout = probe.fit("pca", data, np.random.default_rng(0))
    assert isinstance(readout, ComponentsReadout)
    components = readout.predict(data.inputs)
    np.testing.assert_allclose(components.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(components.T, bias=True), np.eye(2), atol=1e-3)
    np.testing.assert_allclose(readout.axes @ readout.axes.T, np.eye(2), atol=1e-5)
    again = ComponentsReadout.from_arrays(readout.arrays())
    np.testing.assert_array_equal(again.predict(data.inputs), components)
    (explained,) = probe.score(readout, data, np.random.default_rng(0))
    assert explained.value == pytest.approx(1, abs=1e-3)


def test_what_cannot_be_summarised_is_refused() -> None:
    probe, data = ComponentsProbe(ComponentsConfig()), dataset(3)
    with pytest.raises(ValueError, match="wanted more turns than components, 3, got 3"):
        probe.fit("pca", data, np.random.default_rng(0))
    with pytest.raises(ValueError, match="finite"):
        probe.fit(
            "pca",
            replace(dataset(), inputs=np.full((60, 8), np.nan, np.float32)),
            np.random.default_rng(0),
        )
    constant = replace(dataset(), inputs=np.ones((60, 8), np.float32))
    (explained,) = probe.score(
        probe.fit("pca", constant, np.random.default_rng(0)),
        constant,
        np.random.default_rng(0),
    )
    assert explained.reason == "all held-out activations are equal"
    with pytest.raises(GdeError, match="has layers 0 to 3, got 4"):
        ComponentsConfig(layer=4).capture(ModelInfo(name="m", n_layers=4, width=8))
    with pytest.raises(GdeError, match="choose a white-box model"):
        ComponentsConfig().capture(ModelInfo(name="m", n_layers=0, width=0))
