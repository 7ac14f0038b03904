"""The paper's density-based prior (appendix D.1)."""

from __future__ import annotations

import numpy as np

from unlabeled.kernels import FloatArray


def density_prior(log_scores: FloatArray, weights: FloatArray | None = None, eta: float = 0.1) -> FloatArray:
    """Estimate the prior from scores of positives that took no part in their own score, for each gamma.

    The score estimates p(x | y=1) / p(x), and prior * p(x | y=1) <= p(x) everywhere, so each 1 / score is an upper
    bound of the prior, up to its own error. The estimate is the largest t in (0, 1) such that at most a share ``eta``
    of the positives has ``1 / score <= t``: the first value of the ordered 1 / score at which that share is exceeded.

    It is an upper bound in the limit: it reaches the prior only where some region is purely positive, and wide kernels,
    which pull all scores to 1, pull the estimate towards 1. When every such value is at or above 1, the
    supremum is 1: the sample says nothing against all of the population being positive.

    Parameters
    ----------
    log_scores : array of shape (n_gammas, n_positive)
        Leave-one-out or held-out log scores of positives.
    weights : array of shape (n_positive,), optional
        How often each counts.
    eta : float in (0, 1)
        The share of positives whose bound may be broken; 0.1 in the paper.

    Returns
    -------
    priors : array of shape (n_gammas,)
        In (0, 1].
    """
    if not 0 < eta < 1:
        raise ValueError(f"eta must lie strictly between 0 and 1; got {eta!r}.")
    log_bounds = -np.atleast_2d(log_scores)
    weights = np.ones(log_bounds.shape[1]) if weights is None else np.asarray(weights)
    order = np.argsort(log_bounds, axis=1)
    # Ten positives and eta = 0.1: exactly one may lie at or below t. The slack keeps rounding from deciding that.
    exceeded = np.cumsum(weights[order], axis=1) > eta * weights.sum() * (1 + 1e-12)
    first = np.argmax(exceeded, axis=1)
    log_prior = np.take_along_axis(log_bounds, np.take_along_axis(order, first[:, None], axis=1), axis=1)[:, 0]
    # A held-out positive that outweighs the population beyond the range of a float must not give a prior of 0.
    return np.exp(np.clip(log_prior, np.log(np.finfo(np.float64).tiny), 0.0))
