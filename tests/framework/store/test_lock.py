"""Files are whole or absent, and a folder has one writer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gde import GdeError, RunFailed
from gde.files import write_whole
from gde.store.lock import HOLDER, only_writer


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "result.json"
    write_whole(path, "first")
    write_whole(path, b"second")
    assert path.read_text() == "second"
    assert [each.name for each in path.parent.iterdir()] == ["result.json"]


def test_a_link_is_replaced_and_what_it_points_to_is_left_alone(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data")
    (tmp_path / "report.html").symlink_to(precious)
    write_whole(tmp_path / "report.html", "<p>")
    assert precious.read_text() == "data"
    assert not (tmp_path / "report.html").is_symlink()


def test_what_cannot_be_written_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(RunFailed, match=r"cannot write .*taken: .*directory"):
        write_whole(tmp_path / "taken", "x")
    assert [each.name for each in tmp_path.iterdir()] == ["taken"]


HOLD = """
import sys, time
from pathlib import Path
from gde.store.lock import only_writer
with only_writer(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_refused_by_name_until_the_first_is_gone(
    tmp_path: Path,
) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    with (
        pytest.raises(GdeError, match=f"is being written by process {holder.pid} on "),
        only_writer(tmp_path),
    ):
        pass
    holder.kill()  # as hard as it gets: the system lets go of the lock
    holder.wait()
    holder.stdout.close()
    with only_writer(tmp_path):
        assert f"process {os.getpid()} " in (tmp_path / HOLDER).read_text()
    assert not (tmp_path / HOLDER).exists()


def test_one_process_cannot_hold_a_folder_twice_at_once(tmp_path: Path) -> None:
    with (
        only_writer(tmp_path),
        pytest.raises(GdeError, match="is being written by"),
        only_writer(tmp_path),
    ):
        pass
