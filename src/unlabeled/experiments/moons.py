"""Experiment 1: the boundary on two moons, with few and many positives and unlabeled rows.

As the paper says, the moons are scikit-learn's `make_moons`, which spaces points evenly along the curves. As its
authors released it, the numbers in the figure are those that the classifier keeps: rows to choose gamma by are drawn
beside them.
"""

from __future__ import annotations

from itertools import product
from math import ceil
from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from unlabeled.classifiers import WMMDClassifier
from unlabeled.datasets import PUData
from unlabeled.experiments.cell import Cell

NAME, DATASET = "moons", "make_moons"
N_POSITIVE, N_UNLABELED, N_TEST, PRIOR = (5, 10), (50, 400), 1000, 0.5
#: The paper's moons are `make_moons`, this many times as large.
SIZE, NOISE = 4.0, 0.4
#: The share of rows that the classifier keeps.
KEPT = 0.8
#: Where the picture's grid of decision values lies: x from, x to, y from, y to, and points a side.
WINDOW, N_GRID = (-6.0, 10.0, -4.0, 6.0), 81


def cells(n_draws: int) -> list[Cell]:
    """All four panels."""
    return [
        Cell(NAME, DATASET, "wmmd", {"n_positive": n_p, "n_unlabeled": n_u, "true_prior": PRIOR}, draw)
        for draw, n_u, n_p in product(range(n_draws), N_UNLABELED, N_POSITIVE)
    ]


def run(cell: Cell) -> dict[str, Any]:
    """Accuracy of one draw."""
    data, model = _fitted(cell)
    accuracy = np.mean((model.predict(data.test) == 1) == data.test_truth)
    return {"accuracy": float(accuracy), "gamma": model.gamma_}


def picture(cell: Cell) -> dict[str, Any]:
    """What is to be seen of a draw: its rows, and decisions over the window (N_GRID, N_GRID)."""
    data, model = _fitted(cell)
    decision = model.decision_function(_grid()).reshape(N_GRID, N_GRID)
    return {"data": data, "decision": decision}


def draw_moons(n_positive: int, n_unlabeled: int, random_state: int) -> PUData:
    """A draw of which a classifier that holds out a fifth keeps these numbers of rows."""
    rng = check_random_state(random_state)
    n_population = ceil(n_unlabeled / KEPT)
    positive, _ = _moons(ceil(n_positive / KEPT), 0, rng)
    unlabeled, test = (_moons(round(PRIOR * n), n - round(PRIOR * n), rng) for n in (n_population, N_TEST))
    return PUData(positive, *unlabeled, *test)


def _moons(n_positive: int, n_negative: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    rows, is_positive = make_moons((n_negative, n_positive), noise=NOISE / SIZE, random_state=rng)
    return SIZE * rows, is_positive == 1


def _fitted(cell: Cell) -> tuple[PUData, WMMDClassifier]:
    data = draw_moons(int(cell.setting["n_positive"]), int(cell.setting["n_unlabeled"]), cell.data_seed)
    return data, WMMDClassifier.paper(PRIOR, random_state=cell.seed).fit(data.X, data.y)


def _grid() -> np.ndarray:
    """The window's points (N_GRID**2, 2), row by row from below."""
    x, y = np.meshgrid(np.linspace(*WINDOW[:2], N_GRID), np.linspace(*WINDOW[2:], N_GRID))
    return np.column_stack([x.ravel(), y.ravel()])
