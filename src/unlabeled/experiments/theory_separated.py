"""A super-fast case of the theorem's rate: classes that do not meet, so that the margin's condition holds for all q.

The population is uniform on two intervals of length 1/2 with a gap of 1/2 between them, and 2 eta - 1 is MARGIN on the
right one and -MARGIN on the left one. Densities are constant on the support, hence Hoelder with exponent 1, and
``P(|2 eta - 1| <= t)`` is 0 for t below MARGIN.
"""

from __future__ import annotations

import numpy as np

from unlabeled import bounds
from unlabeled.arrays import FloatArray
from unlabeled.engines import log_kernel_sums

LEFT, RIGHT, LENGTH, MARGIN = -0.25, 0.75, 0.5, 0.6
N_QUERIES = 400


def excess_risk(n: int, draws: int, random_state: int = 0) -> tuple[float, float]:
    """Mean excess risk, and its standard error, of WMMD fitted to n positives and n unlabeled rows.

    Examples
    --------
    >>> from unlabeled.experiments.theory_separated import excess_risk
    >>> few, many = excess_risk(8, 100)[0], excess_risk(64, 100)[0]
    >>> many < few / 64  # 8 times as many rows: the slope is steeper than -2
    True
    """
    rng = np.random.RandomState(random_state)
    on_right = np.arange(N_QUERIES) >= N_QUERIES // 2
    within = (np.arange(N_QUERIES) % (N_QUERIES // 2) + 0.5) / (N_QUERIES // 2)
    queries = (np.where(on_right, RIGHT, LEFT) + LENGTH * within)[:, None]
    gamma = bounds.gamma_of_bandwidth(bounds.theorem_bandwidth(n, n, smoothness=1, n_features=1))
    found = []
    for _ in range(draws):
        positive, population = (_draw(n, share, rng) for share in ((1 + MARGIN) / 2, 0.5))
        # the prior is 1/2: the threshold of the ratio is 1
        is_positive = _log_sums(queries, positive, gamma) > _log_sums(queries, population, gamma)
        found.append(MARGIN * np.mean(is_positive != on_right))
    return float(np.mean(found)), float(np.std(found) / np.sqrt(draws))


def _draw(n: int, share: float, rng: np.random.RandomState) -> FloatArray:
    """Rows (n, 1), this share of them to be expected on the right."""
    starts = np.where(rng.uniform(size=n) < share, RIGHT, LEFT)
    return np.asarray((starts + LENGTH * rng.uniform(size=n))[:, None])


def _log_sums(queries: FloatArray, rows: FloatArray, gamma: float) -> FloatArray:
    return np.asarray(log_kernel_sums(queries, rows, "rbf", gamma, engine="reference")[0])
