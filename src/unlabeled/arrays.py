"""The type of the arrays that rows, scores, weights and kernel sums come in."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
