"""Damaged files of strangers: refused or read, and nothing else happens.

No error but gde's own, nothing written outside, at most 300 MB more than the imports
take, and 10 s. A few inputs by default, 100,000 in the nox session `fuzz`: GDE_FUZZ
says how many, GDE_SEED which, and GDE_FIRST at which number to begin.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

# On its first import pytest makes a folder for modules that are named as tests are,
# which must not look like a write of the reader.
import scipy.stats  # noqa: F401
from fuzzing.subjects import make_corpus
from fuzzing.worker import Reader

INPUTS = int(os.environ.get("GDE_FUZZ", 0))
A_FEW = 25
SEED, FIRST = os.environ.get("GDE_SEED", "1"), int(os.environ.get("GDE_FIRST", 0))
A_PROCESS = 2_000
"""Inputs of one process at most."""
MEMORY = 300e6
TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "corpus"
    make_corpus(folder)
    return folder


def test_a_few_damaged_files_are_refused_or_read(
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("GDE_STATE", str(tmp_path / "state"))
    reader = Reader(corpus, tmp_path, SEED)
    for number in range(A_FEW):
        reader.read(number)
    assert capsys.readouterr().out == ""
    assert 0 < reader.refused.total() < A_FEW


@pytest.mark.timeout(0)
@pytest.mark.skipif(not INPUTS, reason="nox -s fuzz")
def test_damaged_files_are_refused_or_read(corpus: Path, tmp_path: Path) -> None:
    parts = []
    for first in range(FIRST, FIRST + INPUTS, A_PROCESS):
        last = min(FIRST + INPUTS, first + A_PROCESS)
        parts.append((corpus, tmp_path / str(first), first, last))
    workers = min(len(parts), len(os.sched_getaffinity(0)))
    with ThreadPoolExecutor(workers) as pool:
        found = [*pool.map(lambda part: read_part(*part), parts)]

    lines = [line for part in found for line in part]
    faults = [line for line in lines if "fault" in line]
    ends = [line for line in lines if "memory" in line]
    inputs, refused = Counter[str](), Counter[str]()
    for each in ends:
        inputs.update(each["inputs"])
        refused.update(each["refused"])
    longest = max((each["longest"] for each in ends), default=0.0)
    taken = [each["memory"] - each["began_with"] for each in ends]
    memory = max(taken, default=0)
    told = f"{inputs.total()} inputs, {refused.total()} refused, {len(faults)} faults"
    more = f"at most {longest:.1f} s and {memory / 1e6:.0f} MB more than at the start"
    print(f"{told}; {more}")  # noqa: T201
    print({name: (refused[name], inputs[name]) for name in inputs})  # noqa: T201
    for line in faults[:50]:
        print(line["number"], line["subject"], line["fault"])  # noqa: T201
    assert not faults
    assert inputs.total() == INPUTS
    assert memory < MEMORY


def read_part(corpus: Path, place: Path, first: int, last: int) -> list[dict[str, Any]]:
    """Read inputs in one process, or in another one after each that ends it."""
    lines = []
    place.mkdir()
    while first < last:
        command = [sys.executable, "-m", "fuzzing.worker"]
        command += [str(corpus), str(place), SEED, str(first), str(last)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "PYTHONPATH": f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
                # Nothing that is read is trusted.
                "GDE_STATE": str(place / "state"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )
        lines += [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode == 0:
            break
        number = place / "number"
        reached = int(number.read_text()) if number.exists() else first
        fault = f"the process ended with {done.returncode}: {done.stderr[-2000:]}"
        lines.append({"number": reached, "subject": "", "fault": fault})
        shutil.rmtree(place / "place", ignore_errors=True)
        first = reached + 1
    return lines
