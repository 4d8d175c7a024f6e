"""`gde doctor RUN` finds what is not as it was written, wherever it lies."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import Plan, evaluate
from gde.cli.main import build_app
from gde.errors import RunFolderError
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.verifying import verify


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("verifying") / "run"
    catalogue = Catalogue(load_plugins(modules=("gde.testing.plugin", "odd_parts")))
    evaluate(
        Plan(
            environment="corridor",
            agent="asking",
            probes=["where"],
            metrics=["success"],
            episodes=6,
        ),
        run,
        catalogue,
    )
    return run


def _sql(run: Path) -> None:
    with closing(sqlite3.connect(run / "run.sqlite")) as connection, connection:
        connection.execute("UPDATE turns SET reward = 7")


def _result(run: Path) -> None:
    stored = json.loads((run / "result.json").read_text())
    stored["measurements"][0]["value"] = 0.123
    (run / "result.json").write_text(json.dumps(stored))


def _plan(run: Path) -> None:
    (run / "plan.toml").write_text(
        (run / "plan.toml").read_text().replace("seed = 0", "seed = 1")
    )


def _array(folder: str) -> Callable[[Path], None]:
    def damage(run: Path) -> None:
        file = next((run / folder).glob("*.safetensors"))
        data = bytearray(file.read_bytes())
        data[-1] ^= 1
        file.write_bytes(data)

    return damage


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (_sql, "episode 0/0/0 is not as it was written"),
        (_result, "result.json is not as gde wrote it"),
        (_plan, "plan.toml was changed"),
        (
            _array("activations"),
            "is not as gde wrote it: make them anew with `gde probe",
        ),
        (_array("probes"), "is not as gde wrote it: make them anew with `gde probe"),
        (lambda run: (run / "run.sqlite").write_bytes(b"x" * 5000), "damaged"),
    ],
)
def test_what_is_damaged_is_named(
    damage: Callable[[Path], object], fault: str, whole: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(whole, tmp_path / "run"))
    assert verify(run) == ()
    damage(run)
    assert any(fault in each for each in verify(run))
    outcome = CliRunner().invoke(build_app(), ["doctor", str(run), "--json"])
    assert outcome.exit_code == 2
    assert not all(finding["ok"] for finding in json.loads(outcome.stdout)["findings"])


def test_what_is_whole_is_said_to_be(whole: Path) -> None:
    outcome = CliRunner().invoke(build_app(), ["doctor", str(whole)])
    assert (outcome.exit_code, "as gde wrote it" in outcome.stdout) == (0, True)


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no run folder"):
        verify(tmp_path / "none")
