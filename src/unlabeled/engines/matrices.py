"""Values of a kernel between two sets of points, as a matrix: for Gram matrices and for features at landmarks."""

from __future__ import annotations

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.kernels import Kernel, Linear


def kernel_matrix(
    queries: FloatArray, points: FloatArray, kernel: Kernel | Linear, gammas: FloatArray | None = None
) -> FloatArray:
    """Kernel between all queries and all points, for each gamma, in float64 by matrix products.

    Parameters
    ----------
    queries, points : arrays of shape (n_queries, n_features) and (n_points, n_features)
    kernel : a kernel, or `Linear`
    gammas : array of shape (n_gammas,)
        They share the distances. The linear kernel has none and takes None.

    Returns
    -------
    matrix : float64 array of shape (n_gammas, n_queries, n_points); n_gammas is 1 for the linear kernel
    """
    if isinstance(kernel, Linear):
        return np.asarray(queries, np.float64)[None] @ np.asarray(points, np.float64).T
    if gammas is None:
        raise ValueError(f"The {kernel.name} kernel needs gammas; only the linear one has none.")
    sq_dist = squared_distances(queries, points)
    found = np.array([kernel.log(sq_dist, float(gamma)) for gamma in gammas])
    return np.exp(found, out=found)


def squared_distances(queries: FloatArray, points: FloatArray) -> FloatArray:
    """Squared distances (n_queries, n_points), from inner products of what is left after the points' mean is taken off.

    Their rounding is that of the largest distance from that mean, so that a point is at distance 0 of itself up to
    this only. Distances too large for a float are infinite.
    """
    center = points.mean(axis=0, dtype=np.float64)
    queries, points = queries - center, points - center
    with np.errstate(over="ignore", invalid="ignore"):
        norms = [np.einsum("ij,ij->i", rows, rows) for rows in (queries, points)]
        sq_dist = queries @ points.T
        sq_dist *= -2
        sq_dist += norms[0][:, None]
        sq_dist += norms[1]
    if not np.isfinite(norms[0].max(initial=0) + norms[1].max(initial=0)):
        sq_dist[~np.isfinite(sq_dist)] = np.inf
    return np.maximum(sq_dist, 0, out=sq_dist)
