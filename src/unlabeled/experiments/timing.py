"""Experiment 4: training times, hyperparameter selection included.

One cell is one draw with all methods in turn, in one process: a ratio of times needs the same machine at the same time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unlabeled.datasets import PUData, make_gaussians
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.gaussians import N_POSITIVE, N_UNLABELED, PRIOR
from unlabeled.experiments.methods import measure

NAME = "timing"


def cells(methods: Iterable[str], n_draws: int) -> list[Cell]:
    """One cell a draw; the method's name lists all that are timed."""
    together = "+".join(methods)
    return [
        Cell(NAME, "gaussians", together, {"true_prior": PRIOR, "n_unlabeled": N_UNLABELED}, i) for i in range(n_draws)
    ]


def run(cell: Cell) -> dict[str, Any]:
    """Seconds of `fit` for each method on one draw, after one fit that is not counted (compilers, caches)."""
    data = make_gaussians(N_POSITIVE, N_UNLABELED, 10, prior=PRIOR, random_state=cell.data_seed)
    found: dict[str, Any] = {}
    for method in cell.method.split("+"):
        try:
            found[method] = _seconds(method, data, cell.seed)
        except ImportError as error:  # NNPU without PyTorch: the others' times stand
            found["note"] = str(error)
    return found


def _seconds(method: str, data: PUData, seed: int) -> float:
    if method not in _warm:
        measure(method, data, PRIOR, seed)
        _warm.add(method)
    return float(measure(method, data, PRIOR, seed)["fit_seconds"])


_warm: set[str] = set()
