"""The benchmark as one Parquet table, a row a step."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde.files import replacing
from gde_plugins.reward_prediction.files import find_records

TABLE = "steps.parquet"
ROWS = 20_000
"""Steps that are written at once."""


def write_parquet(folder: Path) -> tuple[Path, list[str]]:
    """Write `steps.parquet` from all trajectories of a folder, and say which could not be read.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        RunFailed: the table cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    schema = pa.schema(
        [
            *((name, text) for name in ("domain", "task", "side", "goal")),
            ("step", pa.int32()),
            ("action", text),
            ("observation", text),
            ("admissible", pa.list_(text)),
            *((name, pa.float64()) for name in ("raw", "shaped")),
            ("is_expert", pa.bool_()),
        ]
    )
    path, failures = folder / TABLE, list[str]()
    with replacing(path) as unfinished, pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
        batch: list[dict[str, Any]] = []
        for row in _rows(folder, failures):
            batch.append(row)
            if len(batch) == ROWS:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pa.Table.from_pylist(batch, schema))
    return path, failures


def _rows(folder: Path, failures: list[str]) -> Iterator[dict[str, Any]]:
    for file in find_records(folder):
        try:
            record = file.read()
        except GdeError as error:
            failures.append(str(error))
            continue
        domain, _, task = file.task.rpartition("/")
        for number, step in enumerate(record.steps):
            yield {
                "domain": domain,
                "task": task,
                "side": file.path.stem,
                "goal": record.goal,
                "step": number,
                "action": step.action,
                "observation": step.observation,
                "admissible": list(step.admissible),
                "raw": step.raw,
                "shaped": step.shaped,
                "is_expert": step.is_expert,
            }
