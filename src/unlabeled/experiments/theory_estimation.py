"""The estimation error of WMMD on two Gaussians against the bounds, over the number of rows.

Kernel means of Gaussians are in closed form, so the hinge risk of any kernel sum, the smallest hinge risk over the ball
and the largest difference of empirical and true risk over the ball are exact for every draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from unlabeled import bounds
from unlabeled.arrays import FloatArray
from unlabeled.datasets import make_gaussians
from unlabeled.experiments.cell import Cell
from unlabeled.scoring.witness import witness

DATASET = "gaussians"
GAMMA, PRIOR, TAU = 0.4, 0.5, 3.0
SIZES = tuple(2**power for power in range(4, 14))
QUICK_SIZES = SIZES[:6]
#: Rows from which the largest variance in the ball is estimated.
N_VARIANCE = 1500
N_SIGNS = 50


@dataclass(frozen=True)
class Gaussians:
    """N(+-m (1, .., 1), I) mixed with a prior, seen through the Gaussian kernel."""

    gamma: float
    prior: float
    n_features: int = 2
    separation: float = 2.0

    @property
    def wmmd(self) -> float:
        """WMMD of population and positives for the weight 2 prior: |mu|, mu = (1 - prior) mu_- - prior mu_+."""
        widened = 1 + 4 * self.gamma
        cross = math.exp(-self.gamma * self.separation**2 / widened)
        squared = (1 - self.prior) ** 2 + self.prior**2 - 2 * self.prior * (1 - self.prior) * cross
        return math.sqrt(squared * widened ** (-self.n_features / 2))

    def mu(self, rows: FloatArray) -> FloatArray:
        """(1 - prior) E k(z, negative) - prior E k(z, positive) at the rows."""
        return (1 - self.prior) * self._kernel_mean(rows, -1) - self.prior * self._kernel_mean(rows, 1)

    def _kernel_mean(self, rows: FloatArray, sign: int) -> FloatArray:
        widened = 1 + 2 * self.gamma
        centre = sign * self.separation / 2 / math.sqrt(self.n_features)
        sq_dist = ((rows - centre) ** 2).sum(axis=1)
        return np.asarray(widened ** (-self.n_features / 2) * np.exp(-self.gamma / widened * sq_dist))


def cells(draws: int, *, quick: bool = False) -> list[Cell]:
    """Draws of WMMD and one cell of bounds for each size, as many positives as unlabeled rows."""
    sizes = QUICK_SIZES if quick else SIZES
    settings = [{"n_positive": n, "n_unlabeled": n} for n in sizes]
    return [
        Cell("theory", DATASET, method, setting, draw)
        for setting in settings
        for method, n_draws in (("wmmd", draws), ("bounds", 1))
        for draw in range(n_draws)
    ]


def run(cell: Cell) -> dict[str, float]:
    """Errors of one draw, or the bounds at one size."""
    size = int(cell.setting["n_positive"]), int(cell.setting["n_unlabeled"])
    data = make_gaussians(*size, 1, prior=PRIOR, random_state=cell.data_seed)
    if cell.method == "bounds":
        return _bounds(size, data.positive, data.unlabeled, cell.seed)
    return _errors(data.positive, data.unlabeled)


def _errors(positive: FloatArray, unlabeled: FloatArray) -> dict[str, float]:
    truth = Gaussians(GAMMA, PRIOR)
    function = witness(positive, unlabeled, 2 * PRIOR, gamma=GAMMA)
    product = float(truth.mu(unlabeled).mean() - 2 * PRIOR * truth.mu(positive).mean())  # <mu, its estimate>
    return {
        "estimation_error": truth.wmmd - product / function.norm,
        "uniform_deviation": math.sqrt(max(0.0, function.norm**2 - 2 * product + truth.wmmd**2)),
        "wmmd_error": abs(function.wmmd - truth.wmmd),
    }


def _bounds(size: tuple[int, int], positive: FloatArray, unlabeled: FloatArray, seed: int) -> dict[str, float]:
    r_p, r_u = (
        bounds.rademacher_complexity(rows, gamma=GAMMA, n_draws=N_SIGNS, random_state=seed)
        for rows in (positive, unlabeled)
    )
    rho = largest_deviation()
    wmmd = Gaussians(GAMMA, PRIOR).wmmd
    return {
        "general": bounds.estimation_error_bound(
            *size, PRIOR, positive_complexity=r_p, unlabeled_complexity=r_u, tau=TAU, rho=rho
        ),
        "kernel": bounds.kernel_estimation_error_bound(*size, PRIOR, tau=TAU, rho=rho),
        "kernel_any_variance": bounds.kernel_estimation_error_bound(*size, PRIOR, tau=TAU),
        "kiryo": bounds.kernel_kiryo_bound(*size, PRIOR, tau=TAU),
        "round_ball": bounds.round_ball_bound(*size, PRIOR, tau=TAU),
        "round_ball_wmmd_known": bounds.round_ball_bound(*size, PRIOR, tau=TAU, wmmd=wmmd),
        "rho": rho,
        "wmmd": wmmd,
        "positive_complexity": r_p,
        "unlabeled_complexity": r_u,
    }


@cache
def largest_deviation() -> float:
    """Rho of the bounds: the largest standard deviation in the ball, from a sample apart from all cells."""
    data = make_gaussians(N_VARIANCE, N_VARIANCE, 1, prior=PRIOR, random_state=0)
    return math.sqrt(max(bounds.largest_variance(rows, gamma=GAMMA) for rows in (data.positive, data.unlabeled)))
