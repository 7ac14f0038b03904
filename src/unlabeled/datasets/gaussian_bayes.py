"""The best any classifier can do on the data of `make_gaussians`, in closed form.

Along the diagonal both classes are normal with unit variance, their means ``separation`` apart; across it they do not
differ. So the log odds are linear, and risk and AUC are values of the normal distribution function.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from unlabeled.arrays import FloatArray
from unlabeled.datasets.pu_data import check_prior


@dataclass(frozen=True)
class GaussianBayes:
    """Bayes classifier, risk and AUC of `make_gaussians` with the same ``prior``, ``n_features``, ``separation``.

    Examples
    --------
    >>> from unlabeled.datasets import GaussianBayes
    >>> bayes = GaussianBayes(prior=0.5, separation=2.0)
    >>> round(bayes.risk, 4), round(bayes.auc, 4)
    (0.1587, 0.9214)
    """

    prior: float = 0.5
    n_features: int = 2
    separation: float = 2.0

    def __post_init__(self) -> None:
        check_prior(self.prior)
        if self.separation <= 0:
            raise ValueError(f"separation must be positive, or there is nothing to classify; got {self.separation!r}.")

    @property
    def risk(self) -> float:
        """Share of the population that the Bayes classifier gets wrong."""
        cut = -self._prior_log_odds / self.separation  # along the diagonal, from the middle of the two means
        missed = self.prior * ndtr(cut - self.separation / 2)
        return float(missed + (1 - self.prior) * ndtr(-cut - self.separation / 2))

    @property
    def auc(self) -> float:
        """Chance that a positive gets the larger log odds than a negative."""
        return float(ndtr(self.separation / sqrt(2)))

    def log_odds(self, X: ArrayLike) -> FloatArray:
        """Log of P(positive | x) / P(negative | x) for each row.

        Examples
        --------
        >>> from unlabeled.datasets import GaussianBayes
        >>> GaussianBayes(prior=0.5, separation=2.0).log_odds([[0.0, 0.0], [1.0, 1.0]]).round(3)
        array([0.   , 2.828])
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X has shape {rows.shape}; expected rows with {self.n_features} columns.")
        return np.asarray(self._prior_log_odds + self.separation / sqrt(self.n_features) * rows.sum(axis=1))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The Bayes classifier: True where a row is more likely positive than negative.

        Examples
        --------
        >>> from unlabeled.datasets import GaussianBayes
        >>> GaussianBayes(prior=0.5, separation=2.0).predict([[-1.0, -1.0], [1.0, 1.0]])
        array([False,  True])
        """
        return self.log_odds(X) > 0

    @property
    def _prior_log_odds(self) -> float:
        return log(self.prior / (1 - self.prior))
