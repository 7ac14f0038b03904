"""LOG and DH as released for many small tables at once: `ConvexPUClassifier` with a leading axis for the tables.

A step of gradient descent for a few hundred rows keeps no card busy. Here one product serves all tables and all
penalties: with coefficients of 0 at rows that are held out, every split of a table shares its kernel matrix. Splits and
starts are drawn as one fit alone draws them, so that each answer is the one it has alone, to rounding error.

Loaded when models are fitted together, never by ``import unlabeled``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from unlabeled.arrays import FloatArray
from unlabeled.baselines.convex_risk import PAPER_EPOCHS, PAPER_LEARNING_RATE, PAPER_PATIENCE

#: ``loss(-g)`` and its slope, by the names users write.
LOSSES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "logistic": (torch.nn.functional.softplus, torch.sigmoid),
    "double_hinge": (
        lambda g: torch.maximum(g, (1 + g) / 2).clamp(min=0),
        lambda g: ((g >= -1).to(g.dtype) + (g >= 1).to(g.dtype)) / 2,
    ),
}
KERNELS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "rbf": lambda sq_dist, gamma: torch.exp(-gamma * sq_dist),
    "inverse": lambda sq_dist, gamma: gamma / (gamma + sq_dist),
}


class Draw(NamedTuple):
    """Which rows are kept (n_rows,), and where descent starts: coefficients (n_rows,), 0 where held out; intercept."""

    kept: np.ndarray
    coef: FloatArray
    intercept: float


class Table(NamedTuple):
    """Rows of a table, positives first, its prior, and its draws: one a pair of the grid, and one for the final fit."""

    rows: FloatArray
    n_positive: int
    prior: float
    draws: Sequence[Draw]


class Fitted(NamedTuple):
    """Held-out risks of the grid (n_gammas, n_alphas), its best pair, and the solution with it."""

    risks: FloatArray
    best: tuple[int, int]
    kept: np.ndarray
    coef: FloatArray
    intercept: float
    n_iter: int


class State(NamedTuple):
    """Draws of several tables side by side: coefficients (n_tables, n_rows, n_draws), others (n_tables, n_draws)."""

    kept: Tensor
    coef: Tensor
    intercept: Tensor

    @classmethod
    def of(cls, draws: Sequence[Sequence[Draw]], device: torch.device) -> State:
        """One sequence of draws a table."""
        parts = [np.array([[getattr(draw, name) for draw in some] for some in draws]) for name in Draw._fields]
        kept, coef, intercept = (torch.as_tensor(part, dtype=torch.float64, device=device) for part in parts)
        return cls(kept.transpose(1, 2), coef.transpose(1, 2), intercept)


def fit_tables(
    tables: Sequence[Table], loss: str, kernel: str, gammas: FloatArray, alphas: FloatArray, device: torch.device
) -> list[Fitted]:
    """Search the grid and fit the best pair for each table; all have the same numbers of rows."""
    rows = torch.as_tensor(np.array([table.rows for table in tables]), dtype=torch.float64, device=device)
    sq_dist = torch.cdist(rows, rows, compute_mode="donot_use_mm_for_euclid_dist").square()
    prior = torch.as_tensor([table.prior for table in tables], dtype=torch.float64, device=device)[:, None]
    is_positive = torch.arange(rows.shape[1], device=device) < tables[0].n_positive
    penalties = torch.as_tensor(alphas, dtype=torch.float64, device=device)
    risks = []
    for i, gamma in enumerate(gammas):
        of_gamma = slice(i * len(alphas), (i + 1) * len(alphas))
        state = State.of([table.draws[of_gamma] for table in tables], device)
        matrix = KERNELS[kernel](sq_dist, torch.as_tensor(gamma, dtype=torch.float64, device=device))
        risks.append(_descend(matrix, state, is_positive, prior, penalties[None], loss)[1])
    found = torch.stack(risks, dim=1).nan_to_num(torch.inf, torch.inf, -torch.inf).cpu().numpy()
    best = [np.unravel_index(np.argmin(of_table), of_table.shape) for of_table in found]  # of equal ones the first
    own_gamma = torch.as_tensor([gammas[i] for i, _ in best], dtype=torch.float64, device=device)[:, None, None]
    own_alpha = penalties[[int(j) for _, j in best]][:, None]
    last = State.of([[table.draws[-1]] for table in tables], device)
    solution, _, epochs = _descend(KERNELS[kernel](sq_dist, own_gamma), last, is_positive, prior, own_alpha, loss)
    coef, intercept = solution.coef[:, :, 0].cpu().numpy(), solution.intercept[:, 0].cpu().numpy()
    return [
        Fitted(found[k], (int(i), int(j)), table.draws[-1].kept, coef[k], float(intercept[k]), int(epochs[k, 0]))
        for k, (table, (i, j)) in enumerate(zip(tables, best, strict=True))
    ]


def _descend(
    matrix: Tensor, state: State, is_positive: Tensor, prior: Tensor, alpha: Tensor, loss: str
) -> tuple[State, Tensor, Tensor]:
    """The last epoch of gradient descent, its held-out risk and its number; see `convex_risk.descend`."""
    loss_of_negatives, slope = LOSSES[loss]
    kept, coef, intercept = state
    (positive, population), (held_positive, held) = (
        _masses(some, is_positive) for some in (kept, 1 - kept)
    )  # (n_tables, n_rows, n_draws)
    towards_positives = prior[:, None] * (matrix @ positive)
    least = torch.full_like(intercept, torch.inf)
    best_epoch, last_epoch = torch.zeros_like(intercept), torch.zeros_like(intercept)
    running = torch.ones_like(intercept, dtype=torch.bool)
    value = least
    g = matrix @ coef + intercept[:, None]
    for epoch in range(1, PAPER_EPOCHS + 1):
        pull = population * slope(g)
        rate = PAPER_LEARNING_RATE * running.to(intercept.dtype)
        by_coef = kept * (alpha[:, None] * coef - towards_positives + matrix @ pull)
        coef = coef - rate[:, None] * by_coef
        intercept = intercept - rate * (pull.sum(dim=1) - prior)
        g = matrix @ coef + intercept[:, None]
        value = (held * loss_of_negatives(g)).sum(dim=1) - prior * (held_positive * g).sum(dim=1)
        value = value + alpha / 2 * coef.square().sum(dim=1)
        better = running & (value < least)
        least, best_epoch = torch.where(better, value, least), torch.where(better, epoch, best_epoch)
        last_epoch = torch.where(running, epoch, last_epoch)
        running = running & (better | (epoch - best_epoch < PAPER_PATIENCE))
    return State(kept, coef, intercept), value, last_epoch


def _masses(chosen: Tensor, is_positive: Tensor) -> tuple[Tensor, Tensor]:
    """Weights of the chosen positives, and of the chosen unlabeled rows, each with the sum 1."""
    positive, unlabeled = chosen * is_positive[None, :, None], chosen * ~is_positive[None, :, None]
    return positive / positive.sum(dim=1, keepdim=True), unlabeled / unlabeled.sum(dim=1, keepdim=True)
