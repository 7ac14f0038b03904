"""Values of a kernel between two sets of points, as a matrix: for Gram matrices and for features at landmarks.

Of rows on a card (`placing`) everything here is computed there, and answered by tensors, in float64 as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from unlabeled.arrays import FloatArray, beside, is_tensor
from unlabeled.engines.choosing import choose_for_matrices, load
from unlabeled.kernels import Kernel, Linear

#: A squared distance below this share of those from the middle has lost digits to cancellation, more than three.
CANCELLED = 1e-3
#: Numbers (8 bytes each) of which differences are taken at a time.
_CHUNK = 1 << 20


def placing(engine: str, n_queries: int, n_points: int, n_features: int) -> Callable[[Any], Any]:
    """What puts rows where matrices of such a shape are best computed: on a card, or nowhere else than they are.

    ``engine`` as in `log_kernel_sums`; all but ``"triton"`` mean the processor. Rows that are too many for the card
    stay where they are.
    """
    choice = choose_for_matrices(engine, n_queries=n_queries, n_points=n_points, n_features=n_features)
    return load("triton").on_card if choice.name == "triton" else lambda rows: rows


def solve_lower(lower: FloatArray, values: Any) -> Any:
    """Solve ``lower @ x = values`` for a lower triangle, where the values are; they may be overwritten."""
    if is_tensor(values):
        return load("triton").solve_lower(beside(values, lower), values)
    return np.asarray(solve_triangular(lower, values, lower=True, overwrite_b=True, check_finite=False))


def kernel_matrix(
    queries: FloatArray, points: FloatArray, kernel: Kernel | Linear, gammas: FloatArray | None = None
) -> FloatArray:
    """Kernel between all queries and all points, for each gamma, in float64 by matrix products.

    Parameters
    ----------
    queries, points : arrays of shape (n_queries, n_features) and (n_points, n_features)
        If one of them is a tensor of torch, the matrix is computed where that is, and is a tensor.
    kernel : a kernel, or `Linear`
    gammas : array of shape (n_gammas,)
        They share the distances. The linear kernel has none and takes None.

    Returns
    -------
    matrix : float64 array of shape (n_gammas, n_queries, n_points); n_gammas is 1 for the linear kernel

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.engines import kernel_matrix
    >>> from unlabeled.kernels import RBF
    >>> kernel_matrix(np.array([[0.0], [1.0]]), np.array([[0.0], [2.0]]), RBF(), np.array([0.5])).round(3)
    array([[[1.   , 0.135],
            [0.607, 0.607]]])
    """
    if is_tensor(queries) or is_tensor(points):
        on_card: FloatArray = load("triton").kernel_matrix(queries, points, kernel, gammas)
        return on_card
    if isinstance(kernel, Linear):
        return np.asarray(queries, np.float64)[None] @ np.asarray(points, np.float64).T
    if gammas is None:
        raise ValueError(f"The {kernel.name} kernel needs gammas; only the linear one has none.")
    sq_dist = squared_distances(queries, points)
    found = np.array([kernel.log(sq_dist, float(gamma)) for gamma in gammas])
    return np.exp(found, out=found)


def squared_distances(queries: FloatArray, points: FloatArray) -> FloatArray:
    """Squared distances (n_queries, n_points), exact up to rounding, however far apart the points lie.

    From inner products of what is left after the points' middle is taken off, which is fast. Their rounding is that of
    the larger distance from there, so that rows near each other and far from all others would lose the distance between
    them: such pairs are told, and are taken by differences. Distances too large for a float are infinite.
    """
    middle = np.sort(points, axis=0)[(len(points) - 1) // 2].astype(np.float64)  # one row far away does not move it
    with np.errstate(over="ignore", invalid="ignore"):
        from_middle = [rows - middle for rows in (queries, points)]
        norms = [np.einsum("ij,ij->i", rows, rows) for rows in from_middle]
        sq_dist: FloatArray = from_middle[0] @ from_middle[1].T
        sq_dist *= -2
        sq_dist += norms[0][:, None]
        sq_dist += norms[1]
        _by_differences(sq_dist, _cancelled(sq_dist, *norms), queries, points)
    return sq_dist


def _cancelled(sq_dist: FloatArray, of_queries: FloatArray, of_points: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the pairs whose squared distance is small beside both squared norms, or is not a number."""
    smallest, largest_norm = sq_dist.min(axis=1, initial=np.inf), of_points.max(initial=0)
    rows = np.flatnonzero(~(smallest >= CANCELLED * (of_queries + largest_norm)))  # most have no such pair
    found, points = np.nonzero(~(sq_dist[rows] >= CANCELLED * np.add.outer(of_queries[rows], of_points)))
    return rows[found], points


def _by_differences(
    sq_dist: FloatArray, pairs: tuple[np.ndarray, np.ndarray], queries: FloatArray, points: FloatArray
) -> None:
    """Put the squared distances of some pairs in their places, some pairs at a time."""
    step = max(1, _CHUNK // max(1, points.shape[1]))
    for start in range(0, len(pairs[0]), step):
        of_queries, of_points = (places[start : start + step] for places in pairs)
        differences = queries[of_queries].astype(np.float64) - points[of_points]
        sq_dist[of_queries, of_points] = np.einsum("ij,ij->i", differences, differences)
