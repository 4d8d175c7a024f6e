"""The Python of the pages passes strict type checks, as a user's own would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT

PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXCERPTS = {"plugin-tutorial.md"}
"""Pages that show parts of the examples, which are checked where they stand."""


@pytest.mark.extended
def test_the_python_of_the_pages_passes_mypy(tmp_path: Path) -> None:
    pages = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
    modules = [
        write_module(page, tmp_path) for page in pages if page.name not in EXCERPTS
    ]

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
            *(str(module) for module in modules if module is not None),
        ],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": f"{ROOT / 'framework'}:{ROOT / 'plugins'}"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout


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
