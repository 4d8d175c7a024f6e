"""The benchmark as one Parquet table, one row a step."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gde.errors import GdeError
from gde.files import replacing
from gde_plugins.reward_prediction.files import find_records

TABLE = "steps.parquet"
ROWS = 20_000
"""Steps of a batch."""


def write_parquet(folder: Path) -> tuple[Path, list[str]]:
    """Write `steps.parquet` from all trajectories of a folder; returns its path and the
    reasons of unreadable ones.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        RunFailed: the table cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [
            ("domain", pa.string()),
            ("task", pa.string()),
            ("side", pa.string()),
            ("goal", pa.string()),
            ("step", pa.int32()),
            ("action", pa.string()),
            ("observation", pa.string()),
            ("admissible", pa.list_(pa.string())),
            ("raw", pa.float64()),
            ("shaped", pa.float64()),
            ("is_expert", pa.bool_()),
        ]
    )
    path = folder / TABLE
    failures: list[str] = []
    with (
        replacing(path) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as writer,
    ):
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
