"""Names and outputs that a system does not take end in one line and a code."""

import csv
import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gde import GdeError, Plan, evaluate
from gde.request.catalogue import Catalogue
from gde.runs import exporting
from gde.store.folder import RunFolder

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=2)


def gde(*arguments: str | bytes, out: str = "") -> tuple[int, str]:
    command = [sys.executable, "-m", "gde", *arguments]
    with Path(out or os.devnull).open("w") as stdout:
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE)
    said = done.stderr.decode(errors="replace")
    assert "Traceback" not in said
    assert len(said.strip().splitlines()) == 1, said
    return done.returncode, said


def test_a_name_that_is_too_long_is_refused() -> None:
    code, said = gde("doctor", "a" * 300)
    assert (code, "File name too long" in said) == (2, True)
    evaluation = ("eval", "--env", "grid", "--agent", "random", "--quiet")
    code, said = gde(*evaluation, "--episodes", "1", "--out", "a" * 300)
    assert (code, "File name too long" in said) == (2, True)


@pytest.mark.skipif(sys.platform != "linux", reason="names may be any bytes on Linux")
def test_a_name_that_is_no_utf_8_is_refused() -> None:
    assert gde("doctor", b"/tmp/\xff\xfe")[0] == 2
    assert gde("export", b"/tmp/\xff\xfe")[0] == 2


@pytest.mark.skipif(sys.platform != "linux", reason="names may be any bytes on Linux")
def test_no_run_is_made_in_such_a_folder(tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(GdeError, match="bytes that are no UTF-8: choose another"):
        evaluate(PLAN, tmp_path / os.fsdecode(b"a\xff"), catalogue)
    assert not [*tmp_path.iterdir()]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_ends_with_3() -> None:
    code, said = gde("list", "agent", "--json", out="/dev/full")
    assert (code, "No space left" in said) == (3, True)


def test_a_failed_export_leaves_nothing(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from gde.cli.main import build_app

    evaluate(PLAN, tmp_path / "run", catalogue)
    out = tmp_path / "out.jsonl"

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    command = ["export", str(tmp_path / "run"), "--out", str(out)]
    with monkeypatch.context() as patched:
        patched.setattr("gde.runs.exporting.export", full)
        failed = CliRunner().invoke(build_app(), command)
        assert "No space left" in str(failed.exception)
    assert not out.exists()
    assert CliRunner().invoke(build_app(), command).exit_code == 0
    before = out.read_text()
    assert "File exists" in str(CliRunner().invoke(build_app(), command).exception)
    assert out.read_text() == before


def test_a_table_holds_no_formulas_and_no_escapes(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = evaluate(PLAN, tmp_path / "run", catalogue)
    hostile = replace(
        result.measurements[0], name="=cmd|'/C calc'!A0", unit="\x1b]0;x\x07"
    )
    told = replace(result, measurements=(hostile,))
    monkeypatch.setattr(RunFolder, "read_result", lambda _: told)
    file = io.StringIO()
    exporting.export(tmp_path / "run", "csv", file)
    _, row = csv.reader(io.StringIO(file.getvalue()))
    assert row[0] == "'=cmd|'/C calc'!A0"
    assert "\x1b" not in file.getvalue() and "\x07" not in file.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_the_umask_is_respected(tmp_path: Path, catalogue: Catalogue) -> None:
    before = os.umask(0o077)
    try:
        evaluate(PLAN, tmp_path / "run", catalogue)
    finally:
        os.umask(before)
    for path in (tmp_path / "run", *(tmp_path / "run").iterdir()):
        assert path.stat().st_mode & 0o077 == 0, path
