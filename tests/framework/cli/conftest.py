"""The entry point, run in the process of the test."""

import sys
from pathlib import Path

import pytest
from commands import Done, Gde

from gde.cli import main


@pytest.fixture
def gde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Gde:
    """Run a command in the folder `tmp_path`."""
    monkeypatch.setenv("GDE_LOAD_PLUGINS", "gde.testing.plugin,odd_parts")
    monkeypatch.setattr(
        sys.modules["gde.cli.main"], "be_patient", lambda _: None
    )  # this process goes on
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["gde", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        output = capfd.readouterr()
        return Done(int(exit_.value.code or 0), output.out, output.err)

    return run
