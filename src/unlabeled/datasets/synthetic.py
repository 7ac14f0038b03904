"""The paper's two synthetic distributions, with the truth that a real PU sample hides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.datasets.pu_data import PUData, RandomState, check_prior

#: Draws rows from a class distribution: (n_rows, sign of the class, rng) -> (n_rows, n_features).
_Draw = Callable[[int, int, np.random.RandomState], FloatArray]


def make_two_moons(
    n_positive: int = 10,
    n_unlabeled: int = 400,
    n_test: int = 1000,
    *,
    prior: float = 0.5,
    noise: float = 0.4,
    random_state: RandomState = None,
) -> PUData:
    """Two moons as in the paper's Experiment 1: normal noise around `moon_curve`.

    Examples
    --------
    >>> from unlabeled.datasets import make_two_moons
    >>> data = make_two_moons(10, 400, random_state=0)
    >>> data.positive.shape, data.unlabeled.shape, data.test_truth.shape
    ((10, 2), (400, 2), (1000,))
    """

    def draw(n: int, sign: int, rng: np.random.RandomState) -> FloatArray:
        return np.asarray(moon_curve(rng.uniform(size=n), sign) + rng.normal(scale=noise, size=(n, 2)))

    return _draw_pu(draw, n_positive, n_unlabeled, n_test, prior, random_state)


def moon_curve(u: FloatArray, sign: int) -> FloatArray:
    """Mean of a class (+1 or -1) of the two moons along u in [0, 1]; (n, 2)."""
    return np.column_stack([2 * (1 + sign) - 4 * sign * np.cos(np.pi * u), (1 + sign) - 4 * sign * np.sin(np.pi * u)])


def make_gaussians(
    n_positive: int = 100,
    n_unlabeled: int = 400,
    n_test: int = 1000,
    *,
    prior: float = 0.5,
    n_features: int = 2,
    separation: float = 2.0,
    random_state: RandomState = None,
) -> PUData:
    """Two normal distributions with unit covariance, their means ``separation`` apart along the diagonal.

    The default is the paper's Experiments 2 to 4: means y (1, 1) / sqrt(2), hence 2 apart. What the best classifier of
    them can reach is known: `GaussianBayes`.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(100, 400, prior=0.3, random_state=0)
    >>> data.positive.shape, data.unlabeled.shape, round(float(data.unlabeled_truth.mean()), 2)
    ((100, 2), (400, 2), 0.32)
    """
    mean = separation / 2 / np.sqrt(n_features)

    def draw(n: int, sign: int, rng: np.random.RandomState) -> FloatArray:
        return np.asarray(rng.normal(sign * mean, 1, size=(n, n_features)))

    return _draw_pu(draw, n_positive, n_unlabeled, n_test, prior, random_state)


def _draw_pu(
    draw: _Draw, n_positive: int, n_unlabeled: int, n_test: int, prior: float, random_state: RandomState
) -> PUData:
    """Draw P from the positives and U and the test sample from the population, each row's class by a coin."""
    check_prior(prior)
    rng = check_random_state(random_state)
    positive = draw(n_positive, 1, rng)
    mixtures = []
    for n in (n_unlabeled, n_test):
        truth = rng.uniform(size=n) < prior
        mixtures += [np.where(truth[:, None], draw(n, 1, rng), draw(n, -1, rng)), truth]
    return PUData(positive, *mixtures)
