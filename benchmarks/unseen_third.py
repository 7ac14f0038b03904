"""A third set of tables that no default was chosen on, written to look for losses.

    python benchmarks/unseen_third.py [--draws 5] [--sets codes,ring] [--methods linear,pu-auto] [--priors known]
                                      [--out unseen_third.jsonl]

Twenty-seven rules for everyday tables: counts, codes, heavy tails, scales that differ by many powers of ten, missing
values, few or rare positives, nearly all rows positive, binary features, copies, one feature, or more features than
rows of a sample. Beside the parts of `PUClassifier` stand boosted trees and a logistic regression that take unlabeled
rows as negatives. Prints the same tables as `unseen.py`.
"""

from __future__ import annotations

import numpy as np
from unseen import LINEAR, N_ROWS, RATIO, TREES, Family, main

Table = tuple[np.ndarray, np.ndarray]
SHOWN = (TREES, LINEAR, "wmmd-auto", RATIO, "wmmd-score", "pu-auto")


def drawn(seed: int, share: float) -> tuple[np.random.Generator, np.ndarray]:
    """Random numbers, and classes with this share of positives."""
    rng = np.random.default_rng(seed)
    return rng, rng.uniform(size=N_ROWS) < share


def shifted(seed: int, share: float, n_features: int, by: float, n_shifted: int) -> Table:
    """Gaussians, the positives shifted in some features."""
    rng, truth = drawn(seed, share)
    X = rng.normal(size=(N_ROWS, n_features))
    X[truth, :n_shifted] += by
    return X, truth


def counts() -> Table:
    rng, truth = drawn(301, 0.4)
    means = np.where(truth[:, None], [3, 1, 0.5, 2, 0.2, 5, 0.1, 1], [2, 1, 1, 2, 0.2, 3.5, 0.3, 1])
    return rng.poisson(means).astype(float), truth


def overdispersed() -> Table:
    rng, truth = drawn(302, 0.3)
    rates = rng.gamma(0.6, 1, size=(N_ROWS, 12)) * np.geomspace(0.2, 20, 12)
    rates[truth, :3] *= 3
    return rng.poisson(rates).astype(float), truth


def codes() -> Table:
    """Six columns of forty categories as numbers, four of which matter, each by itself."""
    rng = np.random.default_rng(303)
    X, effects = rng.integers(0, 40, size=(N_ROWS, 6)), rng.normal(size=(4, 40))
    score = effects[np.arange(4), X[:, :4]].sum(axis=1) + 0.7 * rng.normal(size=N_ROWS)
    return X.astype(float), score > np.quantile(score, 0.7)


def cauchy() -> Table:
    X = np.random.default_rng(304).standard_cauchy(size=(N_ROWS, 6))
    return X * [1, 10, 100, 1e3, 1e-3, 1], (np.abs(X[:, 0]) < 0.8) & (X[:, 1] > -0.5)


def two_of_fifty() -> Table:
    rng = np.random.default_rng(305)
    X = rng.normal(size=(N_ROWS, 50))
    return X, X[:, 7] + X[:, 31] + 0.6 * rng.normal(size=N_ROWS) > 0.8


def widened() -> Table:
    X, truth = shifted(307, 0.03, 8, 1.8, 3)
    X[truth, 5] *= 3
    return X, truth


def few_values() -> Table:
    rng = np.random.default_rng(308)
    X = rng.integers(0, 3, size=(N_ROWS, 5)).astype(float)
    return X, rng.uniform(size=N_ROWS) < 1 / (1 + np.exp(-2 * (X[:, 0] * X[:, 1] - X[:, 2] - 0.5)))


def scales() -> Table:
    X, truth = shifted(309, 0.35, 7, 0.8, 3)
    X = X[:, [0, 1, 3, 4, 2, 5, 6]]
    return X * 10.0 ** np.array([-6, -3, 0, 2, 4, 6, 8]) + 10.0 ** np.array([0, 0, 0, 3, 5, 8, 9]), truth


def one_feature() -> Table:
    """Positives between two groups of negatives."""
    rng, truth = drawn(310, 0.4)
    sides = np.where(rng.uniform(size=N_ROWS) < 0.5, rng.normal(-2, 1, N_ROWS), rng.normal(2.5, 1, N_ROWS))
    return np.where(truth, rng.normal(0, 0.6, N_ROWS), sides)[:, None], truth


def nearly_all() -> Table:
    X, truth = shifted(311, 0.05, 6, 2.2, 2)
    return X, ~truth


def arc() -> Table:
    X, truth = shifted(312, 0.02, 6, 1.5, 0)
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, truth.sum())
    X[truth, :3] = np.c_[2.5 * np.cos(angle), 2.5 * np.sin(angle), X[truth, 2] + 1.5]
    return X, truth


def two_spirals() -> Table:
    rng, truth = drawn(313, 0.5)
    angle = rng.uniform(0.5, 3, N_ROWS) * np.pi
    turned = angle + np.pi * truth
    spiral = np.c_[angle * np.cos(turned), angle * np.sin(turned)] + 0.35 * rng.normal(size=(N_ROWS, 2))
    return np.c_[spiral, rng.normal(size=(N_ROWS, 2))], truth


def missing() -> Table:
    """Values are missing more often in positives."""
    X, truth = shifted(314, 0.4, 8, 0.7, 4)
    gaps = np.random.default_rng(0).uniform(size=X.shape) < np.where(truth, 0.25, 0.1)[:, None]
    return np.where(gaps, np.nan, X), truth


def customers() -> Table:
    """Money, years, a flag, a count, a month, a share."""
    rng, truth = drawn(315, 0.3)
    columns = [np.exp(rng.normal(8 + 0.8 * truth, 1)), rng.integers(18, 90, N_ROWS)]
    columns += [rng.uniform(size=N_ROWS) < 0.3 + 0.3 * truth, rng.poisson(1 + 2 * truth)]
    return np.column_stack([*columns, rng.integers(0, 12, N_ROWS), rng.beta(2, 5, N_ROWS)]).astype(float), truth


def binary() -> Table:
    rng, truth = drawn(321, 0.3)
    chances = np.where(truth[:, None], np.linspace(0.2, 0.7, 12), np.linspace(0.3, 0.5, 12))
    return (rng.uniform(size=(N_ROWS, 12)) < chances).astype(float), truth


def two_binary() -> Table:
    rng, truth = drawn(322, 0.3)
    return np.c_[rng.uniform(size=N_ROWS) < 0.2 + 0.6 * truth, rng.uniform(size=N_ROWS) < 0.5].astype(float), truth


def exclusive_or() -> Table:
    X = np.random.default_rng(323).integers(0, 2, size=(N_ROWS, 6))
    return X.astype(float), (X[:, 0] ^ X[:, 1]) == 1


def ring() -> Table:
    """Rare positives all around the negatives, in five dimensions."""
    rng, truth = drawn(326, 0.1)
    X = rng.normal(size=(N_ROWS, 5))
    n = int(truth.sum())
    X[truth] *= ((4 + 0.3 * rng.normal(size=n)) / np.linalg.norm(X[truth], axis=1))[:, None]
    return X, truth


def inside() -> Table:
    X = np.random.default_rng(327).normal(size=(N_ROWS, 4))
    radius = (X**2).sum(axis=1)
    return X, radius < np.quantile(radius, 0.8)


def mostly_zero() -> Table:
    rng, truth = drawn(328, 0.3)
    chances = np.full((N_ROWS, 30), 0.1)
    chances[truth, :4] = 0.35
    values = np.exp(rng.normal(size=(N_ROWS, 30)))
    values[truth, :4] *= np.e
    return np.where(rng.uniform(size=(N_ROWS, 30)) < chances, values, 0), truth


def walks() -> Table:
    rng, truth = drawn(329, 0.5)
    times = np.arange(40) / 4
    return np.cumsum(0.3 * rng.normal(size=(N_ROWS, 40)), axis=1) + 0.6 * np.where(
        truth[:, None], np.sin(times), np.cos(times)
    ), truth


def copies() -> Table:
    """Sixty different rows."""
    rng = np.random.default_rng(330)
    X = rng.normal(size=(60, 5))[rng.integers(0, 60, N_ROWS)]
    return X, X[:, 0] + X[:, 1] > 0.3


def more_labels_than_rows() -> Table:
    X, truth = shifted(331, 0.5, 6, 1.0, 1)
    X[truth, 1] *= 2
    return X, truth


FAMILIES = {
    "counts": Family(counts, 60, 400, 2000, 0.4),
    "overdispersed": Family(overdispersed, 60, 400, 2000, 0.3),
    "codes": Family(codes, 60, 400, 2000, 0.3),
    "cauchy": Family(cauchy, 60, 400, 2000, 0.28),
    "two-of-fifty": Family(two_of_fifty, 60, 400, 2000, 0.3),
    "tiny": Family(lambda: shifted(306, 0.5, 4, 1.2, 4), 6, 25, 2000, 0.5),
    "widened": Family(widened, 15, 1000, 2000, 0.03),
    "few-values": Family(few_values, 50, 300, 2000, 0.35),
    "scales": Family(scales, 60, 400, 2000, 0.35),
    "one-feature": Family(one_feature, 15, 120, 2000, 0.4),
    "nearly-all": Family(nearly_all, 60, 400, 2000, 0.95),
    "arc": Family(arc, 30, 1500, 2000, 0.02),
    "two-spirals": Family(two_spirals, 60, 400, 2000, 0.5),
    "missing": Family(missing, 60, 400, 2000, 0.4),
    "customers": Family(customers, 60, 400, 2000, 0.3),
    "wide": Family(lambda: shifted(316, 0.4, 300, 0.55, 15), 40, 150, 2000, 0.4),
    "binary": Family(binary, 60, 400, 2000, 0.3),
    "two-binary": Family(two_binary, 20, 100, 2000, 0.3),
    "exclusive-or": Family(exclusive_or, 60, 400, 2000, 0.5),
    "five-labels": Family(lambda: shifted(324, 0.1, 10, 1.5, 4), 5, 500, 2000, 0.1),
    "two-labels": Family(lambda: shifted(325, 0.2, 3, 1.8, 3), 2, 60, 2000, 0.2),
    "ring": Family(ring, 10, 500, 2000, 0.1),
    "inside": Family(inside, 60, 400, 2000, 0.8),
    "mostly-zero": Family(mostly_zero, 60, 400, 2000, 0.3),
    "walks": Family(walks, 60, 400, 2000, 0.5),
    "copies": Family(copies, 20, 200, 2000, 0.5),
    "more-labels-than-rows": Family(more_labels_than_rows, 500, 100, 2000, 0.5),
}

if __name__ == "__main__":
    main(FAMILIES, __doc__, "unseen_third", SHOWN, n_draws=5)
