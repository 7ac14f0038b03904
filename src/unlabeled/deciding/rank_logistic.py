"""A logistic curve in the rank of a score: P(y = 1 | score) with two parameters, for few positives.

The rank of a score in the population, put on the scale of a standard normal variable z, has the same distribution
whatever the score. So for each slope b there is one intercept a, whatever the data, at which the curve
``1 / (1 + exp(-(a + b z)))`` has the mean ``prior`` over the population. What is left to learn is the slope and, if it
is not known, the prior.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import expit, ndtri

from unlabeled.arrays import FloatArray
from unlabeled.deciding.isotonic import ROUNDING, tied
from unlabeled.deciding.scores import HonestScores

#: From hardly a difference to nearly a step.
SLOPES: FloatArray = np.geomspace(0.5, 20, 12)
#: Before any data are seen a slope is held to be about 3, up to a factor of e.
_LOG_PRIOR_OF_SLOPES: FloatArray = -0.5 * np.log(SLOPES / 3) ** 2
#: From rare to common, finest at the ends; and how much of all priors each stands for, before any data are seen.
_PRIORS: FloatArray = expit(np.linspace(-6, 6, 121))
_LOG_PRIOR_OF_PRIORS: FloatArray = np.log(np.gradient(_PRIORS))
#: Stands for the standard normal distribution, its tails included.
_NORMAL: FloatArray = np.linspace(-5, 5, 201)
_NORMAL_MASS: FloatArray = np.exp(-(_NORMAL**2) / 2) / np.exp(-(_NORMAL**2) / 2).sum()
#: Ranks at which the logs of all curves are known; those of other ranks lie between.
_NODES: FloatArray = np.linspace(-4, 4, 161)
#: No labelled row is held to be less probable than that, whatever its score.
_LEAST_LOG = -20.0


def normal_ranks(scores: FloatArray, honest: HonestScores) -> FloatArray:
    """Ranks of scores in the population, as normal quantiles; ties get their mean rank."""
    values, place = tied(honest.population)
    below = np.concatenate([[0.0], np.cumsum(np.bincount(place, honest.population_mass))])
    slack = 2 * ROUNDING * (1 + np.abs(scores))
    middle = (below[np.searchsorted(values, scores - slack)] + below[np.searchsorted(values, scores + slack)]) / 2
    return ndtri((middle * honest.n_population + 0.5) / (honest.n_population + 1))


def probability(scores: FloatArray, honest: HonestScores, prior: float) -> FloatArray:
    """P(y = 1 | score), the mean over all slopes, each weighted by how well it agrees with the positives."""
    intercepts = _intercepts(np.array([prior]))[:, 0]
    log_weights = _log_likelihoods(honest, intercepts) + _LOG_PRIOR_OF_SLOPES
    weights = np.exp(log_weights - log_weights.max())
    curves = expit(intercepts[:, None] + np.outer(SLOPES, normal_ranks(scores, honest)))  # (n_slopes, n_scores)
    return np.asarray(weights @ curves / weights.sum())


def expected_prior(honest: HonestScores) -> float:
    """Mean of all priors weighted by their likelihood, each at its best slope; with few data it stays off 0 and 1."""
    return float(_weights_of_priors(honest) @ _PRIORS)


def prior_quantile(honest: HonestScores, below: float) -> float:
    """The prior below which lies this share of all priors, weighted in the same way."""
    return float(np.interp(below, np.cumsum(_weights_of_priors(honest)), _PRIORS))


def _weights_of_priors(honest: HonestScores) -> FloatArray:
    log_weights = _log_likelihoods_of_table(honest).max(axis=0) + _LOG_PRIOR_OF_PRIORS
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def _log_likelihoods_of_table(honest: HonestScores) -> FloatArray:
    """Sum over the positives of the log of curve over prior, for all slopes and priors (n_slopes, n_priors)."""
    ranks = np.clip(normal_ranks(honest.positive, honest), _NODES[0], _NODES[-1])
    before = np.minimum(np.searchsorted(_NODES, ranks, side="right") - 1, len(_NODES) - 2)
    on = (ranks - _NODES[before]) / (_NODES[1] - _NODES[0])
    mass = [
        np.bincount(place, honest.positive_weights * part, len(_NODES))
        for place, part in ((before, 1 - on), (before + 1, on))
    ]
    return np.asarray(_curve_table() @ (mass[0] + mass[1]))


@cache
def _curve_table() -> FloatArray:
    """Log of curve over prior at the nodes (n_slopes, n_priors, n_nodes)."""
    lines = _intercepts(_PRIORS)[..., None] + SLOPES[:, None, None] * _NODES
    return np.asarray(_log_curve(lines) - np.log(_PRIORS)[:, None])


def _log_likelihoods(honest: HonestScores, intercepts: FloatArray) -> FloatArray:
    """Sum over the positives of the log curve, for each slope with its intercept (n_slopes,).

    The ratio of the positives' density to the population's is the curve over the prior, whose log the caller subtracts.
    """
    ranks, weights = normal_ranks(honest.positive, honest), honest.positive_weights
    return np.array(
        [_log_curve(intercept + slope * ranks) @ weights for slope, intercept in zip(SLOPES, intercepts, strict=True)]
    )


def _log_curve(values: FloatArray) -> FloatArray:
    """Log of the logistic curve, but not below -20; many values take this a tenth of the time of scipy's."""
    return np.maximum(-np.log(1 + np.exp(-np.maximum(values, -30.0))), _LEAST_LOG)


def _intercepts(priors: FloatArray) -> FloatArray:
    """The intercept that gives each prior as the mean of the curve, for each slope (n_slopes, n_priors); bisection."""
    lines = np.outer(SLOPES, _NORMAL)[:, None]  # (n_slopes, 1, n_nodes)
    low = np.full((len(SLOPES), len(priors)), -200.0)
    high = -low
    for _ in range(40):
        middle = (low + high) / 2
        too_large = expit(middle[..., None] + lines) @ _NORMAL_MASS > priors
        low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
    return (low + high) / 2
