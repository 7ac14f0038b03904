"""A second set of tables that no default was chosen on, written after all of them were fixed.

    python benchmarks/unseen_again.py [--draws 10] [--sets torus,pulses] [--methods trees,pu-auto] [--priors known]
                                      [--out unseen_again.jsonl]

Ten rules that neither the development sets nor `unseen.py` contain: curved surfaces, parity, counts, questionnaires,
curves, classes that differ in their covariance alone, categories, heavy tails, and two rare classes with few labels.
Prints the same tables as `unseen.py`.
"""

from __future__ import annotations

import numpy as np
from unseen import N_ROWS, Family, main

Table = tuple[np.ndarray, np.ndarray]


def torus() -> Table:
    """The surface of a ring, in noise, against rows all around it."""
    rng = np.random.default_rng(101)
    truth = rng.uniform(size=N_ROWS) < 0.5
    around, across = rng.uniform(0, 2 * np.pi, (2, N_ROWS))
    radius = 2 + 0.7 * np.cos(across)
    surface = np.c_[radius * np.cos(around), radius * np.sin(around), 0.7 * np.sin(across)]
    everywhere = rng.uniform([-3, -3, -1], [3, 3, 1], (N_ROWS, 3))
    return np.where(truth[:, None], surface + rng.normal(scale=0.15, size=surface.shape), everywhere), truth


def parity() -> Table:
    """The sign of a product of two features, among six."""
    X = np.random.default_rng(102).normal(size=(N_ROWS, 6))
    return X, X[:, 0] * X[:, 1] > 0


def counts() -> Table:
    """Counts of 60 words of six topics; positives are two of the topics, mixed with others."""
    rng = np.random.default_rng(103)
    topics = rng.dirichlet(np.full(60, 0.2), 6)
    shares = rng.dirichlet(np.full(6, 0.4), N_ROWS)
    return rng.poisson(40 * shares @ topics).astype(float), shares[:, :2].sum(axis=1) > 0.35


def questionnaire() -> Table:
    """Twenty answers from 1 to 5 that depend on two traits, one of which makes a positive."""
    rng = np.random.default_rng(104)
    traits = rng.normal(size=(N_ROWS, 2))
    answers = traits @ rng.normal(size=(2, 20)) * 0.6 + rng.normal(size=(N_ROWS, 20))
    return np.clip(np.round(3 + answers), 1, 5), traits[:, 0] + 0.3 * rng.normal(size=N_ROWS) > 0.4


def pulses() -> Table:
    """Curves of 40 points: positives have a bump somewhere in the middle."""
    rng = np.random.default_rng(105)
    truth, at = rng.uniform(size=N_ROWS) < 0.4, np.arange(40)
    walk = np.cumsum(rng.normal(scale=0.25, size=(N_ROWS, 40)), axis=1)
    middle = rng.uniform(12, 28, N_ROWS)[:, None]
    return walk + truth[:, None] * 1.8 * np.exp(-(((at - middle) / 4) ** 2)) + rng.normal(
        scale=0.4, size=walk.shape
    ), truth


def covariances() -> Table:
    """Two normal classes with the same mean; the covariance of one is turned."""
    rng = np.random.default_rng(106)
    truth = rng.uniform(size=N_ROWS) < 0.5
    X = rng.normal(size=(N_ROWS, 7)) * np.array([2.5, 2.5, 1, 1, 1, 0.5, 0.5])
    turn = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    return np.where(truth[:, None], X @ turn, X), truth


def categories() -> Table:
    """Five columns of codes, the first two of which tell only together, and three numbers."""
    rng = np.random.default_rng(107)
    codes, numbers = rng.integers(0, 5, (N_ROWS, 5)), rng.normal(size=(N_ROWS, 3))
    log_odds = rng.normal(scale=2, size=(5, 5))[codes[:, 0], codes[:, 1]] + numbers[:, 0]
    return np.c_[codes, numbers], log_odds + rng.logistic(size=N_ROWS) > 0


def heavy_tails() -> Table:
    """Eight features with tails like those of incomes; positives have more of three."""
    rng = np.random.default_rng(108)
    truth = rng.uniform(size=N_ROWS) < 0.35
    shifts = np.r_[1.2, 1.0, 0.8, np.zeros(5)] * truth[:, None]
    return np.exp(rng.normal(size=(N_ROWS, 8)) * 1.2 + shifts), truth


def rare_groups() -> Table:
    """Five per cent positives in two groups inside the cloud of the others."""
    rng = np.random.default_rng(109)
    truth = rng.uniform(size=2 * N_ROWS) < 0.05
    X = rng.standard_t(5, size=(2 * N_ROWS, 8))
    centers = rng.choice([-1.3, 1.3], size=(2, 8))[rng.integers(0, 2, 2 * N_ROWS)]
    return np.where(truth[:, None], 0.6 * X + centers, X), truth


def rare_extremes() -> Table:
    """Two per cent positives: large in some of six of twenty features, which ones differs."""
    rng = np.random.default_rng(110)
    truth = rng.uniform(size=3 * N_ROWS) < 0.02
    X = rng.normal(size=(3 * N_ROWS, 20))
    X[:, :6] += truth[:, None] * rng.binomial(1, 0.5, (3 * N_ROWS, 6)) * 2.2
    return X, truth


FAMILIES = {
    "torus": Family(torus, 60, 600, 2000, 0.5),
    "parity": Family(parity, 150, 800, 2000, 0.5),
    "counts": Family(counts, 80, 600, 2000, 0.4),
    "questionnaire": Family(questionnaire, 40, 400, 2000, 0.35),
    "pulses": Family(pulses, 80, 600, 2000, 0.4),
    "covariances": Family(covariances, 100, 800, 2000, 0.5),
    "categories": Family(categories, 100, 800, 2000, 0.5),
    "heavy-tails": Family(heavy_tails, 30, 500, 2000, 0.35),
    "rare-groups": Family(rare_groups, 20, 1500, 4000, 0.05),
    "rare-extremes": Family(rare_extremes, 15, 1500, 4000, 0.02),
}

if __name__ == "__main__":
    main(FAMILIES, __doc__, "unseen_again")
