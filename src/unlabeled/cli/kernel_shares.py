"""What a WMMD score is made of: shares of training rows, parts of features.

The score of z is ``log mean_P k(z, x) - log mean_X k(z, x)``, P the positives and X the population. A row's share in
a mean is ``w = k(z, x) / sum k(z, x)``. For the Gaussian kernel the log of a mean of n terms is, exactly,

    log mean k = -gamma sum_j E_w (z_j - x_j)^2 + H(w) - log n,

where E_w averages over the rows by their shares and H is their entropy: log n less the log of the number of rows that
count. So the score is a sum over features j of ``gamma (E_wX (z_j - x_j)^2 - E_wP (z_j - x_j)^2)``, above 0 where
the positives that count are nearer than the rows that count, and of how many rows count on either side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from unlabeled.classifier import WMMDClassifier
from unlabeled.kernels import FloatArray, as_kernel
from unlabeled.samples import Sample
from unlabeled.tables import TableError


@dataclass(frozen=True)
class Explanation:
    """A score, the share of each training row in its mean, and parts that sum up to the score.

    Shares of unlabeled rows are of the population's mean: in the single-sample scenario the positives have the rest.
    ``by_feature`` and ``crowding`` sum up to the score.
    """

    score: float
    positive_shares: FloatArray
    unlabeled_shares: FloatArray
    by_feature: FloatArray
    crowding: float

    @property
    def n_half_positive(self) -> int:
        """The least number of positives that make up half of their mean."""
        return _n_for_half(self.positive_shares)

    @property
    def n_half_unlabeled(self) -> int:
        """The least number of unlabeled rows that make up half of what the unlabeled rows contribute."""
        return _n_for_half(self.unlabeled_shares)


def explain_score(classifier: WMMDClassifier, row: FloatArray) -> Explanation:
    """Explain the score of one row of features (1, n_features)."""
    pu, gamma, kernel = classifier.sample_, classifier.gamma_, as_kernel(classifier.kernel)
    if kernel.name != "rbf":
        raise TableError(f"Scores of the {kernel.name} kernel have no parts by column; only those of 'rbf' have.")
    row, population = classifier.scaling_.apply(row), pu.population
    numerator, denominator = (_log_mean(sample, row, gamma) for sample in (pu.positive, population))
    n_positive = len(pu.positive) if pu.positives_in_population else 0
    return Explanation(
        score=numerator.value - denominator.value,
        positive_shares=numerator.shares,
        unlabeled_shares=denominator.shares[n_positive:],
        by_feature=numerator.by_feature - denominator.by_feature,
        crowding=numerator.crowding - denominator.crowding,
    )


@dataclass(frozen=True)
class _LogMean:
    value: float
    shares: FloatArray
    by_feature: FloatArray
    crowding: float


def _log_mean(sample: Sample, row: FloatArray, gamma: float) -> _LogMean:
    """Log of the mean kernel between a row and a sample, and what it is made of."""
    sq_differences = (sample.rows.astype(np.float64) - row) ** 2  # (n_rows, n_features)
    log_terms = -gamma * sq_differences.sum(axis=1) + np.log(sample.weights / sample.total)
    value = float(logsumexp(log_terms))
    shares = np.exp(log_terms - value)
    by_feature = -gamma * (shares @ sq_differences)
    return _LogMean(value, shares, by_feature, value - float(by_feature.sum()))


def _n_for_half(shares: FloatArray) -> int:
    ordered = np.cumsum(np.sort(shares)[::-1])
    return int(np.searchsorted(ordered, ordered[-1] / 2)) + 1
