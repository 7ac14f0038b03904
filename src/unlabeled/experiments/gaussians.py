"""Experiments 2 and 3 and appendix E: two Gaussians, against the number of unlabeled rows and against the prior.

One experiment is behind Figure 2 (prior known), Figure 3 (prior estimated) and the comparison of kernels: they share
draws, so that a difference between two curves is no accident of the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unlabeled.datasets import PUData, make_gaussians
from unlabeled.experiments.cell import Cell, Scalar
from unlabeled.experiments.methods import KERNEL_METHODS, PRIOR_ESTIMATORS, Prior, known_or_estimated, measure

NAME = "gaussians"
N_POSITIVE, N_UNLABELED, N_TEST, PRIOR = 100, 400, 1000, 0.5
N_UNLABELED_SWEEP = tuple(range(40, 501, 20))
PRIOR_SWEEP = tuple(round(0.05 * i, 2) for i in range(1, 20))
QUICK_N_UNLABELED, QUICK_PRIORS = (40, 160, 280, 400, 500), (0.1, 0.3, 0.5, 0.7, 0.9)


def cells(
    methods: Iterable[str], draws: dict[str, int], *, prior: str = "known", kernel: str = "rbf", quick: bool = False
) -> list[Cell]:
    """Cells of both sweeps; ``draws`` says how many for each method."""
    sweeps = (QUICK_N_UNLABELED, QUICK_PRIORS) if quick else (N_UNLABELED_SWEEP, PRIOR_SWEEP)
    points = [(n, PRIOR) for n in sweeps[0]] + [(N_UNLABELED, p) for p in sweeps[1] if p != PRIOR]
    return [
        _cell(method, n_unlabeled, true_prior, prior, kernel, draw)
        for method in methods
        if kernel == "rbf" or method in KERNEL_METHODS
        for draw in range(draws[method])
        for n_unlabeled, true_prior in points
    ]


def _cell(method: str, n_unlabeled: int, true_prior: float, prior: str, kernel: str, draw: int) -> Cell:
    setting: dict[str, Scalar] = {
        "n_unlabeled": n_unlabeled,
        "true_prior": true_prior,
        "prior": prior if method in PRIOR_ESTIMATORS else "known",
        "kernel": kernel,
    }
    return Cell(NAME, "gaussians", method, setting, draw)


def drawn(cell: Cell) -> tuple[PUData, Prior]:
    """The data of a cell, and the prior that its method is given."""
    setting = cell.setting
    true_prior = float(setting["true_prior"])
    data = make_gaussians(
        N_POSITIVE, int(setting["n_unlabeled"]), N_TEST, prior=true_prior, random_state=cell.data_seed
    )
    return data, known_or_estimated(cell.method, str(setting["prior"]), true_prior)


def run(cell: Cell) -> dict[str, Any]:
    """Accuracy and AUC of one method on one draw."""
    return measure(cell.method, *drawn(cell), cell.seed, str(cell.setting["kernel"]))
