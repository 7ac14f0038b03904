"""Matrices of kernel values on a card, in float64 by torch: what `unlabeled.engines.matrices` has for the processor."""

from __future__ import annotations

from typing import Any

import torch

from unlabeled.arrays import FloatArray, beside, is_tensor
from unlabeled.engines.matrices import CANCELLED
from unlabeled.kernels import Kernel, Linear

#: Numbers (8 bytes each) of which differences are taken at a time.
_CHUNK = 1 << 24


def kernel_matrix(queries: Any, points: Any, kernel: Kernel | Linear, gammas: FloatArray | None) -> torch.Tensor:
    """Kernel between all queries and all points (n_gammas or 1, n_queries, n_points), where one of them is."""
    like = queries if is_tensor(queries) else points
    queries, points = (beside(like, rows).double() for rows in (queries, points))
    if isinstance(kernel, Linear):
        return (queries @ points.T)[None]
    if gammas is None:
        raise ValueError(f"The {kernel.name} kernel needs gammas; only the linear one has none.")
    sq_dist = _squared_distances(queries, points)
    if kernel.name == "rbf":
        return torch.stack([torch.exp(-gamma * sq_dist) for gamma in gammas.tolist()])
    if kernel.name == "inverse":
        return torch.stack([1 / (1 + sq_dist / gamma) for gamma in gammas.tolist()])
    raise ValueError(f"There is no kernel {kernel.name!r} on a card; use engine='reference'.")


def _squared_distances(queries: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
    """As `unlabeled.engines.matrices.squared_distances`: pairs that cancel are taken by differences."""
    middle = points.sort(dim=0).values[(len(points) - 1) // 2]
    from_middle = [rows - middle for rows in (queries, points)]
    norms = [rows.square().sum(dim=1) for rows in from_middle]
    bounds = norms[0][:, None] + norms[1]
    sq_dist = (from_middle[0] @ from_middle[1].T).mul_(-2).add_(bounds)
    near = (sq_dist >= bounds.mul_(CANCELLED)).logical_not_()  # and what is not a number
    pairs, step = near.nonzero(), max(1, _CHUNK // max(1, points.shape[1]))
    for start in range(0, len(pairs), step):
        of_queries, of_points = pairs[start : start + step].T
        sq_dist[of_queries, of_points] = (queries[of_queries] - points[of_points]).square_().sum(dim=1)
    return sq_dist


def solve_lower(lower: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Solve ``lower @ x = values`` for a lower triangle."""
    return torch.linalg.solve_triangular(lower, values, upper=False)
