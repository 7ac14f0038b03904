"""Where the paper's bound is sharper than that of Kiryo et al.: the largest rho, over sizes, nu and tau.

With as many positives as unlabeled rows the prior drops out of the condition: chi2 / chi1 is then 2 / sqrt(n).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq

from unlabeled import bounds
from unlabeled.experiments.cell import Cell

DATASET = "formula"
PRIOR = 0.5
NUS = (0.25, 0.5, 0.75, 1.0)
TAUS = (1.0, 3.0, 7.0)
SIZES = tuple(round(10 ** (power / 8)) for power in range(5, 41))


def cells() -> list[Cell]:
    """One cell for each nu, tau and size: formulas have no draws."""
    return [
        Cell("theory", DATASET, "sharper", {"n_positive": n, "n_unlabeled": n, "nu": nu, "tau": tau})
        for nu in NUS
        for tau in TAUS
        for n in SIZES
    ]


def run(cell: Cell) -> dict[str, float]:
    """The largest rho at which the new bound is sharper, cut to [0, nu]: at alpha = 1, and at the best alpha."""
    size = int(cell.setting["n_positive"]), int(cell.setting["n_unlabeled"]), PRIOR
    nu, tau = float(cell.setting["nu"]), float(cell.setting["tau"])
    return {
        "rho_alpha_one": min(nu, max(0.0, bounds.sharper_up_to(*size, tau=tau, nu=nu))),
        "rho_best_alpha": _largest_rho(size, tau, nu),
    }


def _largest_rho(size: tuple[int, int, float], tau: float, nu: float) -> float:
    """The same at the best alpha, for a kernel ball of radius nu: its complexities are nu / sqrt(n)."""
    r_p, r_u = nu / math.sqrt(size[0]), nu / math.sqrt(size[1])
    theirs = bounds.kiryo_bound(*size, positive_complexity=r_p, unlabeled_complexity=r_u, tau=tau, nu=nu)

    def gain(rho: float) -> float:
        return theirs - bounds.estimation_error_bound(
            *size, positive_complexity=r_p, unlabeled_complexity=r_u, tau=tau, nu=nu, rho=rho
        )

    if gain(0.0) <= 0:
        return 0.0
    return nu if gain(nu) >= 0 else float(brentq(gain, 0.0, nu))
