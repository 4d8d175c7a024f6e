"""The eigenvalue decomposition of SciPy without the interpreter's lock, so that two
threads can compute at once.

SciPy's wrappers hold the lock as long as LAPACK works. NumPy's release it, but compute
in double precision. SciPy offers the routines themselves to Cython
(`scipy.linalg.cython_lapack`), and ctypes releases the lock around a call.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cython_lapack

from gde_plugins.probes.arrays import Floats


def eigh(symmetric: Floats) -> tuple[Floats, Floats]:
    """Decompose a symmetric matrix (n, n), of which the lower triangle is read.

    Returns:
        Ascending eigenvalues (n,) and eigenvectors (n, n), one a column: to the bit
        those of `scipy.linalg.eigh(symmetric, driver="evd")`.

    Raises:
        LinAlgError: the algorithm did not converge.
    """
    vectors = np.array(symmetric, dtype=np.float32, order="F")
    values = np.empty(len(vectors), dtype=np.float32)

    # LAPACK is called twice: first for the lengths of its working arrays, which it
    # writes into their first entries.
    length = np.empty(1, dtype=np.float32)
    integer_length = np.empty(1, dtype=np.int32)
    _ssyevd(vectors, values, length, integer_length, query=True)
    work = np.empty(int(length[0]), dtype=np.float32)
    integer_work = np.empty(integer_length[0], dtype=np.int32)
    _ssyevd(vectors, values, work, integer_work, query=False)
    return values, vectors


def _ssyevd(
    vectors: Floats,
    values: Floats,
    work: Floats,
    integer_work: NDArray[np.int32],
    *,
    query: bool,
) -> None:
    """Call LAPACK's ssyevd, which overwrites all its arrays."""
    n = ctypes.c_int(len(vectors))
    length = ctypes.c_int(-1 if query else len(work))
    integer_length = ctypes.c_int(-1 if query else len(integer_work))
    info = ctypes.c_int()
    _routine()(
        b"V",  # eigenvectors too
        b"L",  # lower triangle
        ctypes.byref(n),
        vectors.ctypes,
        ctypes.byref(n),
        values.ctypes,
        work.ctypes,
        ctypes.byref(length),
        integer_work.ctypes,
        ctypes.byref(integer_length),
        ctypes.byref(info),
    )
    if info.value:
        raise LinAlgError(
            f"no eigenvalue decomposition: LAPACK's ssyevd ended with {info.value}"
        )


@cache
def _routine() -> Callable[..., Any]:
    """The compiled ssyevd, whose address SciPy keeps in a capsule."""
    capsule = cython_lapack.__pyx_capi__["ssyevd"]
    python = ctypes.pythonapi
    get_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
        ("PyCapsule_GetName", python)
    )
    get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", python)
    )
    address = get_pointer(capsule, get_name(capsule))
    characters = [ctypes.c_char_p] * 2
    pointers = [ctypes.c_void_p] * 9
    return ctypes.CFUNCTYPE(None, *characters, *pointers)(address)
