"""Short names for the arrays that probes compute with."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
"""Activations, weights and probabilities."""
Doubles = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Class indices."""
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
Worlds = NDArray[np.str_]
"""The cluster of each turn."""

CELLS = (1, 2)
"""The axes of a map in arrays (N, size, size)."""
