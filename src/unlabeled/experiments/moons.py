"""Experiment 1: the boundary on two moons, with few and many positives and unlabeled rows."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from unlabeled.classifiers import WMMDClassifier
from unlabeled.datasets import make_two_moons
from unlabeled.experiments.cell import Cell

NAME = "moons"
N_POSITIVE, N_UNLABELED, N_TEST, PRIOR = (5, 10), (50, 400), 1000, 0.5
#: Where the picture's grid of decision values lies: x from, x to, y from, y to, and points a side.
WINDOW, N_GRID = (-6.0, 10.0, -4.0, 6.0), 81


def cells(n_draws: int) -> list[Cell]:
    """All four panels; draw 0 is the one that is shown, the others tell how typical it is."""
    return [
        Cell(NAME, "two_moons", "wmmd", {"n_positive": n_p, "n_unlabeled": n_u, "true_prior": PRIOR}, draw)
        for draw, n_u, n_p in product(range(n_draws), N_UNLABELED, N_POSITIVE)
    ]


def run(cell: Cell) -> dict[str, Any]:
    """Accuracy of one draw; of the first also what its picture shows."""
    sizes = int(cell.setting["n_positive"]), int(cell.setting["n_unlabeled"]), N_TEST
    data = make_two_moons(*sizes, prior=PRIOR, random_state=cell.data_seed)
    model = WMMDClassifier.paper(PRIOR, random_state=cell.seed).fit(data.X, data.y)
    found: dict[str, Any] = {
        "accuracy": float(np.mean((model.predict(data.test) == 1) == data.test_truth)),
        "gamma": model.gamma_,
    }
    if cell.draw == 0:
        found["picture"] = {
            "window": WINDOW,
            "decision": _rounded(model.decision_function(_grid())),
            "positive": _rounded(data.positive),
            "unlabeled": _rounded(data.unlabeled),
            "truth": data.unlabeled_truth.astype(int).tolist(),
        }
    return found


def _grid() -> np.ndarray:
    """The window's points (N_GRID**2, 2), row by row from below."""
    x, y = np.meshgrid(np.linspace(*WINDOW[:2], N_GRID), np.linspace(*WINDOW[2:], N_GRID))
    return np.column_stack([x.ravel(), y.ravel()])


def _rounded(values: np.ndarray) -> Any:
    return np.round(values, 2).tolist()
