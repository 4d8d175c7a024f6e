"""A profile that is killed ten times and named again ends with the same bytes."""

import random
import re
import signal
import subprocess
import sys
import time
from base64 import b64decode
from gzip import decompress
from pathlib import Path

import pytest

KILLS = 10
SIZES = ("grids=1", "worlds=12", "keys=6", "questions=1", "pairs=2", "texts=1")
FILMS = re.compile(rb'(?<=id="films">)[^<]+')
"""The packed turns of a report's player."""
SECONDS = re.compile(
    rb'"seconds": [\d.e+-]+'
    rb"|[\d,.]+(?: |\xc2\xa0)s of model time|(?<= tokens, )[\d.]+ s"
    rb'|(?m:^id = ".*")'
)
"""The id of a run, and what language models took, which no two runs have in common."""
STEPS = ("run.sqlite", "activations", "probes", "result.json", "report.html")
"""Files and folders of a run, in the order in which they are made."""


def _begun(out: Path, asked: str) -> subprocess.Popen[bytes]:
    settings = [f"--set=study.{size}" for size in SIZES]
    command = ("profile", asked, *settings, "--out", str(out), "--quiet")
    return subprocess.Popen(
        [sys.executable, "-m", "gde", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _files(out: Path) -> dict[str, bytes]:
    """What readers of a profile open: its tables and page, and those of its runs."""
    kinds = ("*.json", "*.html", "*/result.json", "*/report.html", "*/plan.toml")
    found = [path for kind in kinds for path in out.glob(kind)]
    files = {}
    for path in found:
        files[str(path.relative_to(out))] = _lasting(path.read_bytes())
    return files


def _lasting(content: bytes) -> bytes:
    """A file without the time that language models took."""
    opened = FILMS.sub(lambda films: decompress(b64decode(films[0])), content)
    return SECONDS.sub(b"", opened)


def _plans(out: Path) -> list[str]:
    """The runs in the order in which they were made."""
    made = sorted(out.glob("*/plan.toml"), key=lambda path: path.stat().st_mtime_ns)
    return [path.parent.name for path in made]


@pytest.mark.extended
@pytest.mark.parametrize(
    "asked",
    ["--agent=noisy", pytest.param("--model=nano", marks=pytest.mark.slow)],
)
def test_killed_at_ten_random_moments(tmp_path: Path, asked: str) -> None:
    # Files name their folder, so the second profile is made where the first one was.
    out = tmp_path / "profile"
    assert _begun(out, asked).wait() == 0
    expected = _files(out)
    plans = _plans(out)
    assert {"reproduction.json", "reproduction.html"} < {*expected}
    # Moments come from what is on disk, and leave out the last runs: a busy machine
    # kills no later than a quiet one, and no profile ends before its kill.
    made = [out / plan / step for plan in plans[:-3] for step in STEPS]
    moments = [path for path in made if path.exists()]
    out.rename(tmp_path / "undisturbed")
    rng = random.Random(0)
    for place in sorted(rng.sample(range(len(moments)), KILLS)):
        process = _begun(out, asked)
        while not moments[place].exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        assert process.wait() == -signal.SIGKILL

    assert not (out / "reproduction.json").exists()
    assert _begun(out, asked).wait() == 0
    again = _files(out)
    assert {*again} == {*expected}
    for name, written in expected.items():
        assert again[name] == written, name
