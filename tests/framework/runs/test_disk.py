"""A disk that takes no more, and a folder that goes away, as a user meets them."""

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

LIMIT = 400 * 1024
"""Bytes of a file: enough for the beginning of a run."""


def gde(*arguments: str, limited: bool = False) -> subprocess.Popen[str]:
    """The command, with files that cannot grow beyond the limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    command = [sys.executable, "-m", "gde", *arguments]
    return subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        preexec_fn=limit if limited else None,
    )


def evaluation(episodes: int, run: Path) -> list[str]:
    """The arguments of a run."""
    plan = ["eval", "--env", "grid", "--agent", "random", "--metric", "success"]
    return [*plan, "--episodes", str(episodes), "--out", str(run)]


def test_a_file_that_cannot_grow_stops_the_run_and_it_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    stopped = gde(*evaluation(100, run), limited=True)
    _, said = stopped.communicate()
    assert stopped.returncode == 3, said
    assert (
        "cannot write the journal" in said
        and str(run) in said
        and "Traceback" not in said
    )
    again = gde("resume", str(run))
    _, said = again.communicate()
    assert again.returncode == 0, said
    assert f"ok: {run}" in said


BEGUN = 100_000
"""Bytes of the log of a run that plays."""


def test_a_folder_that_is_removed_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    going = gde(*evaluation(400, run))
    log = run / "run.sqlite-wal"
    while not (log.exists() and log.stat().st_size > BEGUN) and going.poll() is None:
        time.sleep(0.01)
    run.rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    _, said = going.communicate()
    assert going.returncode == 3, said
    assert str(run) in said and "Traceback" not in said


@pytest.mark.parametrize(
    ("part", "after"),
    [
        ("run.sqlite", 30),
        pytest.param("run.sqlite", 3, marks=pytest.mark.slow),
        pytest.param("result.json", 0, marks=pytest.mark.slow),
    ],
)
def test_a_disk_that_fails_stops_the_run_and_it_goes_on(
    part: str, after: int, tmp_path: Path
) -> None:
    """EIO of every write from some moment on."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler, on Linux")
    source, library, run = (
        Path(__file__).with_name("failing_disk.c"),
        tmp_path / "failing_disk.so",
        tmp_path / "run",
    )
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True
    )
    failing = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "EIO_IN": part,
        "EIO_AFTER": str(after),
    }
    command = [sys.executable, "-m", "gde", *evaluation(20, run)]
    stopped = subprocess.run(command, env=failing, capture_output=True, text=True)
    said = stopped.stderr
    assert "Traceback" not in said and str(run) in said
    assert stopped.returncode == 3 if run.exists() else stopped.returncode == 2, said
    if run.exists():
        again = gde("resume", str(run))
        assert again.communicate()[1] and again.returncode == 0


FULL = """mount -t tmpfs -o size=400k none "$RUN_DISK" || exit 99
"$@"; echo "code $?" >&2
mount -o remount,size=64m none "$RUN_DISK" || exit 99
"$PYTHON" -m gde resume "$RUN_DISK/run"; echo "code $?" >&2
"""


FULL_LATER = """mount -t tmpfs -o size=4m none "$RUN_DISK" || exit 99
"$@"; echo "code $?" >&2
dd if=/dev/zero of="$RUN_DISK/fill" bs=4k
"$PYTHON" -m gde rescore "$RUN_DISK/run"; echo "code $?" >&2
rm "$RUN_DISK/fill"
"$PYTHON" -m gde rescore "$RUN_DISK/run"; echo "code $?" >&2
"""


def test_a_disk_that_was_filled_since_is_no_damage(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    said = on_small_disk(FULL_LATER, disk, evaluation(4, disk / "run"))
    codes = [line for line in said.splitlines() if line.startswith("code ")]
    assert codes == ["code 0", "code 3", "code 0"], said
    assert "free disk space, then run the command again" in said
    assert "damaged" not in said and "Traceback" not in said


def on_small_disk(script: str, disk: Path, arguments: list[str]) -> str:
    """What gde and a script say that mounts a disk in a name space of its own."""
    disk.mkdir()
    environment = {**os.environ, "RUN_DISK": str(disk), "PYTHON": sys.executable}
    command = ["unshare", "-rm", "sh", "-c", script, "sh"]
    command += [sys.executable, "-m", "gde", *arguments]
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode
    ):
        pytest.skip("needs name spaces")
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode == 99:
        pytest.skip("may not mount")
    return ended.stderr


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_it_goes_on(tmp_path: Path) -> None:
    """A file system in memory that is full, in a name space of its own, and grows
    afterwards.
    """
    disk = tmp_path / "disk"
    said = on_small_disk(FULL, disk, evaluation(400, disk / "run"))
    codes = [line for line in said.splitlines() if line.startswith("code ")]
    assert codes == ["code 3", "code 0"], said
    assert str(disk / "run") in said and "Traceback" not in said
