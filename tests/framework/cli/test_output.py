"""What goes to standard output, and what is kept from it."""

import os
import sys
from subprocess import run

import pytest

from gde.cli.output import talking

TALK = f"{sys.executable} -c 'print(\"a child\")'"


def talk() -> None:
    print("a part")  # noqa: T201
    os.write(1, b"a library\n")
    os.system(TALK)
    sys.__stdout__.write("the original\n")  # type: ignore[union-attr]


def test_whatever_writes_to_standard_output_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    print("before")  # noqa: T201
    with talking():
        talk()
    print("after")  # noqa: T201
    told = capfd.readouterr()
    assert told.out == "before\nafter\n"
    assert {"a part", "a library", "a child"} <= set(told.err.splitlines())


def test_standard_output_is_back_after_an_error_and_after_it_was_closed(capfd: pytest.CaptureFixture[str]) -> None:
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
    done = run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "done" in (done.stdout, done.stderr)
