"""The Python of the pages passes strict type checks, as a user's own would."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from sources import ROOT

PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXCERPTS = {"plugin-tutorial.md"}
"""Pages that show parts of the examples, which are checked where they stand."""


@pytest.fixture
def modules(tmp_path: Path) -> list[Path]:
    """The Python of the pages, a file for each page that has any."""
    pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    written = [
        write_module(page, tmp_path) for page in pages if page.name not in EXCERPTS
    ]
    return [module for module in written if module is not None]


@pytest.mark.extended
def test_the_python_of_the_pages_passes_mypy(
    modules: list[Path], tmp_path: Path
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            f"--cache-dir={tmp_path / 'cache'}",
            # What the scaffold's test imports is written by a command, and some
            # packages have no types.
            "--disable-error-code=import-not-found",
            "--disable-error-code=import-untyped",
            *map(str, modules),
        ],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": f"{ROOT / 'framework'}:{ROOT / 'plugins'}"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout


@pytest.mark.extended
@pytest.mark.skipif(find_spec("pyright") is None, reason="nox -s types installs it")
def test_the_python_of_the_pages_passes_pyright(
    modules: list[Path], tmp_path: Path
) -> None:
    config = {
        "extraPaths": [str(ROOT / "framework"), str(ROOT / "plugins")],
        "reportMissingImports": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))

    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout
    assert modules


def write_module(page: Path, folder: Path) -> Path | None:
    """Write all Python of a page as one module; None for a page without any."""
    blocks = PYTHON.findall(page.read_text(encoding="utf-8"))
    # A lone method is for a class of the reader's.
    codes = [code for code in blocks if not re.match(r"def \w+\(self", code)]
    if not codes:
        return None
    name = re.sub(r"\W", "_", page.relative_to(ROOT).with_suffix("").as_posix())
    module = folder / f"{name}.py"
    module.write_text("\n\n".join(codes), encoding="utf-8")
    return module
