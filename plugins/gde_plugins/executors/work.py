"""Work on its way to a worker process and its outcome on the way back."""

import pickle
import traceback
from collections.abc import Callable, Mapping
from io import BytesIO
from types import FunctionType
from typing import Any

from gde.errors import GdeError
from gde.stages.cores import cores

STOPPED = "the workers were stopped; resume with `gde resume`"
THREADS = "OMP_NUM_THREADS"
"""The variable that torch, OpenMP and OpenBLAS read when they are loaded."""


def threads(workers: int, environment: Mapping[str, str]) -> int:
    """The number of threads for each worker: its share of the cores.

    The environment may set a smaller number.
    """
    share = max(1, cores() // workers)
    wanted = environment.get(THREADS, "")
    if wanted.isdecimal() and int(wanted):
        return min(share, int(wanted))
    return share


class _Pickler(pickle.Pickler):
    """Refuses what a worker could not import."""

    def __init__(self, file: BytesIO, executor: str) -> None:
        super().__init__(file)
        self._executor = executor

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | FunctionType) and value.__module__ == "__main__":
            where = "is defined in the script or notebook that is running, which its workers do not load"
            advice = "define it in an importable module, or use the executor serial"
            raise GdeError(
                f"executor {self._executor!r}: {value.__qualname__} {where}: {advice}"
            )
        return NotImplemented


def pickled(work: object, executor: str) -> bytes:
    """Pickle work for the worker processes of an executor.

    Raises:
        GdeError: the work cannot be pickled, or holds something of the running script.
    """
    file = BytesIO()
    try:
        _Pickler(file, executor).dump(work)
    except GdeError:
        raise
    except Exception as error:
        advice = "define it at the top of a module, or use the executor serial"
        raise GdeError(
            f"executor {executor!r} cannot send an object to its workers ({error}): {advice}"
        ) from error
    return file.getvalue()


def outcome(work: Callable[[], Any]) -> bytes:
    """Do the work and pickle whether it succeeded, with its output or exception."""
    try:
        return pickle.dumps((True, work()))
    except Exception as error:
        return _packed(error)


def opened(packed: bytes) -> Any:
    """Give the output that `outcome` has packed.

    Raises:
        Exception: what the work raised.
    """
    succeeded, value = pickle.loads(packed)
    if not succeeded:
        raise value
    return value


def _packed(error: Exception) -> bytes:
    # The traceback stays behind in the worker, so its text travels as a note.
    if not isinstance(error, GdeError):
        error.add_note("".join(traceback.format_exception(error)))

    try:
        packed = pickle.dumps((False, error))
        pickle.loads(packed)
        return packed
    except Exception:
        # Some exceptions cannot be pickled, or not be made anew from their arguments.
        plain: Exception = RuntimeError(f"{type(error).__name__}: {error}")
        if isinstance(error, GdeError):
            plain = GdeError(str(error))
        return pickle.dumps((False, plain))
