"""Probe reports and fitted probes on disk: one pair of safetensors files an arm, and an index."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.probe import Arm, ProbeReport
from gde.data.result import Measurement
from gde.errors import RunFailed
from gde.store.activations import read_arrays, write_arrays

INDEX = "index.json"


def write_readout(folder: Path, arm: Arm, arrays: Mapping[str, NDArray[np.float32]]) -> None:
    """Store what a probe has learned."""
    write_arrays(folder / f"{arm.name}.safetensors", arrays)


def write_reports(folder: Path, reports: Sequence[ProbeReport]) -> None:
    """Store all reports of a run, replacing earlier ones.

    Raises:
        RunFailed: the disk is full.
    """
    for report in reports:
        if not report.reason:
            write_arrays(folder / f"{report.arm.name}.decoded.safetensors", {"decoded": report.decoded})
    folder.mkdir(exist_ok=True)
    try:
        (folder / INDEX).write_text(json.dumps([_entry(report) for report in reports]), encoding="utf-8")
    except OSError as error:
        raise RunFailed(f"cannot write {folder / INDEX}: {error.strerror}") from error


def read_reports(folder: Path) -> tuple[ProbeReport, ...]:
    """The stored reports, none where nothing was probed."""
    if not (folder / INDEX).is_file():
        return ()
    return tuple(_report(folder, entry) for entry in json.loads((folder / INDEX).read_text(encoding="utf-8")))


def _entry(report: ProbeReport) -> dict[str, object]:
    return {
        "arm": asdict(report.arm),
        "measurements": [asdict(measurement) for measurement in report.measurements],
        "n_train": report.n_train,
        "n_test": report.n_test,
        "rows": report.rows,
        "reason": report.reason,
    }


def _report(folder: Path, stored: dict[str, Any]) -> ProbeReport:
    arm = Arm(**stored["arm"])
    empty = np.zeros((0,), dtype=np.float32)
    decoded = empty if stored["reason"] else read_arrays(folder / f"{arm.name}.decoded.safetensors")["decoded"]
    measurements = tuple(
        Measurement(**{**each, "interval": each["interval"] and tuple(each["interval"])})
        for each in stored["measurements"]
    )
    return ProbeReport(
        arm=arm,
        measurements=measurements,
        n_train=stored["n_train"],
        n_test=stored["n_test"],
        rows=tuple((episode, turn) for episode, turn in stored["rows"]),
        decoded=decoded,
        reason=stored["reason"],
    )
