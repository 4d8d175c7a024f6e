"""What goes to standard output, and what is kept from it."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import run

import pytest

from gde import Measurement
from gde.cli.output import number, show_measurements, talking
from gde.runs.verifying import verify

TALK = f"{sys.executable} -c 'print(\"a child\")'"


def talk() -> None:
    print("a part")  # noqa: T201
    os.write(1, b"a library\n")
    os.system(TALK)
    sys.__stdout__.write("the original\n")  # type: ignore[union-attr]


def test_whatever_writes_to_standard_output_goes_to_standard_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    print("before")  # noqa: T201
    with talking():
        talk()
    print("after")  # noqa: T201
    told = capfd.readouterr()
    assert told.out == "before\nafter\n"
    assert {"a part", "a library", "a child"} <= set(told.err.splitlines())


def test_standard_output_is_back_after_an_error_and_after_it_was_closed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyError), talking(), talking():
        os.close(1)
        raise KeyError
    os.write(1, b"data\n")
    assert capfd.readouterr() == ("data\n", "")


@pytest.mark.parametrize("closed", [1, 2])
def test_where_a_descriptor_is_closed_nothing_is_moved(closed: int) -> None:
    program = f"""
import os, sys
from gde.cli.output import talking
os.close({closed})
with talking():
    pass
os.write({3 - closed}, b"done")
"""
    done = run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert "done" in (done.stdout, done.stderr)


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_a_run_whose_standard_files_are_closed_is_a_run(
    closed: str, tmp_path: Path
) -> None:
    parts = "--env chatty --agent scripted --episodes 2 --metric success"
    command = f"exec {sys.executable} -m gde eval {parts} --out run {closed}"
    environment = {
        **os.environ,
        "GDE_LOAD_PLUGINS": "gde.testing.plugin,odd_parts",
        "PYTHONPATH": ":".join(sys.path),
    }
    assert (
        run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, timeout=120
        ).returncode
        == 0
    )
    assert verify(tmp_path / "run") == ()
    texts = [
        path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()
    ]
    assert not any(b"a step of a library" in text for text in texts)


def test_a_small_probability_is_not_printed_as_zero() -> None:
    small = Measurement(name="p", value=4e-5, unit="probability", n=9)
    assert number(small) == "< 0.001"
    assert number(replace(small, value=0.0012)) == "0.001"
    assert number(replace(small, unit="share")) == "0.000"


def test_why_there_is_no_interval_stands_in_its_place(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flat = Measurement(name="flat", value=0.5, n=9, reason="all values are equal")
    absent = replace(flat, name="absent", value=None, reason="nothing was seen")
    show_measurements([flat, absent])
    head, first, second = capsys.readouterr().out.splitlines()
    place = head.index("95 % interval")
    assert first[place:].startswith("all values are equal")
    assert second[place:].strip().startswith("9")
