"""The notebook runs in its kernel, which has an event loop of its own, and shows
frames.
"""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def read() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_no_outputs_are_stored() -> None:
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert cells
    assert all(cell.outputs == [] and cell.execution_count is None for cell in cells)


@pytest.fixture
def executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The notebook after its kernel has run it, with nothing of the user's read or
    written.
    """
    for variable in (
        "IPYTHONDIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
    ):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    notebook = read()
    client = nbclient.NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    )
    asyncio.run(client.async_execute())
    return notebook


def shown(cell: Any) -> str:
    """What the cell's last expression shows."""
    return str(
        next(
            each.data["text/plain"]
            for each in cell.outputs
            if each.output_type == "execute_result"
        )
    )


@pytest.mark.extended
def test_the_notebook_runs_in_its_kernel(executed: Any) -> None:
    code = [cell for cell in executed.cells if cell.cell_type == "code"]
    _, _, measured, awaited, turns = code
    assert len(re.findall(r"^\d+\s+success ", shown(measured), re.MULTILINE)) == 3
    assert shown(awaited) == "'ok'"
    assert [line.split()[0] for line in shown(turns).splitlines()[2:]] == ["0.0", "1.0"]
    assert not [
        each
        for cell in code
        for each in cell.outputs
        if each.output_type in {"error", "stream"}
    ]
