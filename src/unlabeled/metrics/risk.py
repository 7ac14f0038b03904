"""The PU risk: the mean loss of a decision function over the population (du Plessis, Niu and Sugiyama, 2014, 2015)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from unlabeled.arrays import FloatArray
from unlabeled.metrics.averages import Averages, as_labels, as_scores


def _zero_one(decision: FloatArray, sign: int) -> FloatArray:
    """An error, where a decision of exactly 0 means negative, as in `predict`."""
    return np.asarray((decision > 0) != (sign > 0), dtype=np.float64)


def _hinge(decision: FloatArray, sign: int) -> FloatArray:
    return np.maximum(0, 1 - sign * decision)


def _logistic(decision: FloatArray, sign: int) -> FloatArray:
    return np.logaddexp(0, -sign * decision)


def _sigmoid(decision: FloatArray, sign: int) -> FloatArray:
    return np.asarray(expit(-sign * decision))


def _double_hinge(decision: FloatArray, sign: int) -> FloatArray:
    margin = sign * decision
    return np.maximum(-margin, np.maximum(0, (1 - margin) / 2))


#: The loss of a decision where the class is ``sign``, +1 or -1. With the margin z = sign * decision: [z <= 0],
#: max(0, 1 - z), log(1 + exp(-z)), 1 / (1 + exp(z)) and max(-z, 0, (1 - z) / 2).
LOSSES: dict[str, Callable[[FloatArray, int], FloatArray]] = {
    "zero-one": _zero_one,
    "hinge": _hinge,
    "logistic": _logistic,
    "sigmoid": _sigmoid,
    "double-hinge": _double_hinge,
}


def pu_risk(
    y_true: ArrayLike,
    decision: ArrayLike,
    *,
    prior: float,
    loss: str = "zero-one",
    scenario: str = "case-control",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean loss of a decision function over the population, without bias, so that noise may push it below 0.

    ``prior * mean_P l(+) + mean_X l(-) - prior * mean_P l(-)``, where l(+) and l(-) are the losses that a row would
    have as a positive and as a negative, P the positives and X the population.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Which rows are labelled positive: two values, spelled as `fit` of the classifiers takes them.
    decision : array of shape (n_samples,)
        What `decision_function` answers: positive where it is above 0.
    prior : float in (0, 1)
        P(y = 1) in the population.
    loss : {"zero-one", "hinge", "logistic", "sigmoid", "double-hinge"}, default="zero-one"
        The zero-one risk is the error rate.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the population is the unlabeled rows, or labelled and unlabeled rows together.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    pos_label : optional
        The value that marks labelled positives, where numbers or words do not say it.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> decision = [2, 1, 1, -1, 1.5, 0.5, -1, -1, -2, -2]  # positive above 0
    >>> from unlabeled.metrics import pu_risk
    >>> round(pu_risk(y_true, decision, prior=0.3), 4)
    0.1833
    """
    if loss not in LOSSES:
        raise ValueError(f"loss={loss!r} is not known; use one of {sorted(LOSSES)}.")
    _, is_positive = as_labels(y_true, pos_label)
    averages = Averages.of(is_positive, scenario, sample_weight)
    prior = averages.check_prior(prior)
    decision = as_scores(decision, len(is_positive))
    if np.isinf(decision).any():
        raise ValueError("decision holds infinity, of which no loss can be taken; give finite numbers.")
    as_positive, as_negative = (LOSSES[loss](decision, sign) for sign in (1, -1))
    return float(averages.population @ as_negative + prior * (averages.positive @ (as_positive - as_negative)))
