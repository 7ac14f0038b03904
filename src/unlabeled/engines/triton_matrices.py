"""Matrices of kernel values on a card, in float64 by torch: what `unlabeled.engines.matrices` has for the processor."""

from __future__ import annotations

from typing import Any

import torch

from unlabeled.arrays import FloatArray, beside, is_tensor
from unlabeled.kernels import Kernel, Linear


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
    """Squared distances (n_queries, n_points), infinite where they are too large for a float."""
    center = points.mean(dim=0)
    queries, points = queries - center, points - center
    sq_dist = (queries @ points.T).mul_(-2)
    sq_dist += queries.square().sum(dim=1)[:, None]
    sq_dist += points.square().sum(dim=1)
    return torch.nan_to_num_(sq_dist, nan=torch.inf, posinf=torch.inf, neginf=torch.inf).clamp_(min=0)


def solve_lower(lower: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Solve ``lower @ x = values`` for a lower triangle."""
    return torch.linalg.solve_triangular(lower, values, upper=False)
