"""The eigenvalue decomposition of SciPy without the lock of the interpreter, so that two threads may be in it at once.

SciPy's wrappers hold the lock as long as LAPACK works, NumPy's release it but compute in double precision. SciPy offers
the routines themselves to Cython (`scipy.linalg.cython_lapack`), and ctypes lets go of the lock around a call.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cython_lapack

Floats = NDArray[np.float32]


def eigh(symmetric: Floats) -> tuple[Floats, Floats]:
    """Ascending eigenvalues (n,) and eigenvectors (n, n), one a column, of a matrix (n, n) of which the lower triangle
    is read: to the bit those of `scipy.linalg.eigh(symmetric, driver="evd")`.

    Raises:
        LinAlgError: the algorithm did not converge.
    """
    vectors = np.array(symmetric, dtype=np.float32, order="F")
    values = np.empty(len(vectors), dtype=np.float32)
    length, lengths = np.empty(1, dtype=np.float32), np.empty(1, dtype=np.int32)
    _decompose(vectors, values, length, lengths, asking=True)
    _decompose(vectors, values, np.empty(int(length[0]), np.float32), np.empty(lengths[0], np.int32), asking=False)
    return values, vectors


def _decompose(vectors: Floats, values: Floats, work: Floats, iwork: NDArray[np.int32], *, asking: bool) -> None:
    """Or ask for the lengths of the arrays to work in, which are then their first entries."""
    n, info = ctypes.c_int(len(vectors)), ctypes.c_int()
    lwork, liwork = (ctypes.c_int(-1 if asking else len(each)) for each in (work, iwork))
    told = (b"V", b"L", ctypes.byref(n), vectors.ctypes, ctypes.byref(n), values.ctypes)
    _ssyevd()(*told, work.ctypes, ctypes.byref(lwork), iwork.ctypes, ctypes.byref(liwork), ctypes.byref(info))
    if info.value:
        raise LinAlgError(f"no eigenvalue decomposition: LAPACK's ssyevd ended with {info.value}")


@cache
def _ssyevd() -> Callable[..., Any]:
    capsule, python = cython_lapack.__pyx_capi__["ssyevd"], ctypes.pythonapi
    name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", python))(capsule)
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", python))
    characters = [ctypes.c_char_p] * 2
    return ctypes.CFUNCTYPE(None, *characters, *[ctypes.c_void_p] * 9)(pointer(capsule, name))
