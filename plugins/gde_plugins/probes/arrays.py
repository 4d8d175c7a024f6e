"""Short names for the arrays that probes compute with."""

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Bools as Bools
from gde.data.arrays import Doubles as Doubles
from gde.data.arrays import Floats as Floats
from gde.data.arrays import Indices as Indices
from gde.data.arrays import Ints as Codes

Worlds = NDArray[np.str_]
"""The cluster of each turn."""

CELLS = (1, 2)
"""The axes of a map in arrays (N, size, size)."""
__all__ = ["CELLS", "Bools", "Codes", "Doubles", "Floats", "Indices", "Worlds"]
