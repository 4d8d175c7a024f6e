"""Fitted probes: reports in the order of their first fit, what they learned beside
them.
"""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gde import Measurement, UnknownName
from gde.data.probe import Fit, ProbeReport
from gde.store.journal import Journal
from gde.store.probes import (
    made_by,
    read_readout,
    read_reports,
    write_readout,
    write_report,
)


def fit(probe: str = "cogmap", layer: int = 1) -> Fit:
    return Fit(probe=probe, variant="mlp", layer=layer, position="pre")


def report(of: Fit, value: float = 0.5) -> ProbeReport:
    measured = Measurement(
        name="a", value=value, unit="share", n=2, interval=(0.1, 0.9), where={"size": 7}
    )
    return ProbeReport(
        fit=of,
        measurements=(
            measured,
            Measurement(name="b", value=None, unit="", n=0, reason="nothing held out"),
        ),
        n_train=5,
        n_test=2,
        rows=(("0/0/0", 1), ("0/3/0", 0)),
        decoded=np.arange(6, dtype=np.float32).reshape(2, 3),
    )


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield journal


def test_a_report_comes_back(journal: Journal, tmp_path: Path) -> None:
    write_report(journal, tmp_path, report(fit()), "x")
    (found,) = read_reports(journal, tmp_path)
    for name in ("fit", "measurements", "n_train", "n_test", "rows", "reason"):
        assert getattr(found, name) == getattr(report(fit()), name), name
    assert np.array_equal(found.decoded, report(fit()).decoded)


def test_reports_stay_in_the_order_of_their_first_fit(
    journal: Journal, tmp_path: Path
) -> None:
    for layer in (3, 1, 2):
        write_report(journal, tmp_path, report(fit(layer=layer)), "first")
    write_report(journal, tmp_path, report(fit(layer=3), value=0.75), "second")
    found = read_reports(journal, tmp_path)
    assert [each.fit.layer for each in found] == [3, 1, 2]
    assert found[0].measurements[0].value == 0.75
    assert made_by(journal) == {
        fit(layer=3).name: "second",
        fit(layer=1).name: "first",
        fit(layer=2).name: "first",
    }
    assert journal.probes() == {"cogmap"}


def test_one_probe_under_two_names_is_two(journal: Journal, tmp_path: Path) -> None:
    for name, value in (("cogmap", 0.25), ("deep", 0.5)):
        write_report(journal, tmp_path, report(fit(name), value), "x")
        write_readout(
            tmp_path, fit(name), {"weights": np.full(2, value, dtype=np.float32)}
        )
    assert [each.measurements[0].value for each in read_reports(journal, tmp_path)] == [
        0.25,
        0.5,
    ]
    variant, arrays = read_readout(journal, tmp_path, "deep", fit("deep").name)
    assert (variant, arrays["weights"].tolist()) == ("mlp", [0.5, 0.5])


def test_an_fit_that_could_not_be_fitted_has_its_reason_and_no_readout(
    journal: Journal, tmp_path: Path
) -> None:
    failed = replace(
        report(fit()),
        reason="too few worlds",
        decoded=np.zeros(0, dtype=np.float32),
        rows=(),
    )
    write_report(journal, tmp_path, failed, "x")
    (found,) = read_reports(journal, tmp_path)
    assert (found.reason, found.decoded.shape) == ("too few worlds", (0,))
    with pytest.raises(
        UnknownName,
        match=r"unknown fit of probe cogmap 'cogmap-mlp-layer1-pre-none'\. Known: none",
    ):
        read_readout(journal, tmp_path, "cogmap", fit().name)
