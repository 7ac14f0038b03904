"""The definition, and the oracle of every faster engine: all pairs, differences, float64, NumPy."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from unlabeled.arrays import FloatArray
from unlabeled.kernels import Kernel

#: Pairs times features held at once (8 bytes each).
_CHUNK = 4_000_000


def log_sums(
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    own: np.ndarray | None,
    log_weights: FloatArray | None,
    *,
    exact: bool,  # noqa: ARG001  it always is
    n_jobs: int | None,  # noqa: ARG001  one thread is the definition
) -> FloatArray:
    """Log kernel sums by the definition, for each weighting or plain; see `unlabeled.engines.log_kernel_sums`."""
    log_weights = np.zeros((1, len(points))) if log_weights is None else log_weights
    sums = np.empty((len(log_weights), len(gammas), len(queries)))
    rows = max(1, _CHUNK // max(1, points.size))
    for start in range(0, len(queries), rows):
        chunk = slice(start, start + rows)
        sq_dist = _squared_distances(queries[chunk], points)  # (n_rows, n_points)
        for w, g in np.ndindex(*sums.shape[:2]):
            log_terms = kernel.log(sq_dist, float(gammas[g])) + log_weights[w]
            if own is not None:
                _drop_own_pairs(log_terms, own[chunk])
            with np.errstate(divide="ignore"):  # the log of an empty sum
                sums[w, g, chunk] = logsumexp(log_terms, axis=1)
    return sums


def _squared_distances(queries: FloatArray, points: FloatArray) -> FloatArray:
    sq_dist = np.zeros((len(queries), len(points)))
    with np.errstate(over="ignore"):  # an infinite distance is one too large for a float
        for query_feature, point_feature in zip(queries.T, points.T, strict=True):
            sq_dist += np.subtract.outer(query_feature.astype(np.float64), point_feature) ** 2
    return sq_dist


def _drop_own_pairs(log_terms: FloatArray, own: np.ndarray) -> None:
    rows = np.flatnonzero(own >= 0)
    log_terms[rows, own[rows]] = -np.inf
