"""The ratio p(x | y = 1) / p(x) by least squares in a kernel's space, for all penalties at once, and left-out rows.

Over the functions f = constant + h, h in the space of a kernel, the ratio r minimises

    E_u f^2 / 2 - E_p f + penalty |h|^2 / 2,

u the population and p the positives (least-squares importance fitting; Kanamori, Hido and Sugiyama, 2009). So r is
(C_u + penalty)^-1 mu_p, C_u the second moment of the features in the population and mu_p their mean over the positives.
The constant is not penalised: the mean of r over the population is 1, and where p = u so is r itself.

Centred at the population's mean and turned to its axes, C_u is diagonal: with z the coordinates of a row, h their mean
over the positives and s their variances, ``r = 1 + sum_k z_k h_k / (s_k + penalty)``, whatever the penalty. A row that
leaves a mean, a second moment or both changes them by one term, so that the ratio of a row by the fit without it needs
no fit either: with q = 1 + sum_k z_k^2 / (s_k + penalty) its leverage, n the number of positives, and u the share of
the population that one row is,

- without itself among the positives: ``(n r - q) / (n - 1)``;
- without itself in the population: ``(1 - u) r / (1 - u q)``, both r and q at (1 - u) times the penalty (which is what
  the mean over the other rows makes of it).

In the single-sample scenario a positive leaves both, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.selection import scores_of

#: What is left of a row's share in its own fit may be rounding only.
_TINY = 1e-12
#: Variances below this share of the features' mean square are rounding.
_ROUNDING = 1e-12
#: A population whose rows are all alike has no variance; the unit of penalties is then this share of the squared
#: distance between the two means.
_LEAST_VARIANCE = 1e-3


@dataclass(frozen=True)
class SampleMoments:
    """Mean and second moment of the features of a sample, and how much its rows count; those of its parts merge."""

    mean: FloatArray
    second: FloatArray
    total: float

    @classmethod
    def of(cls, features: Sample) -> SampleMoments:
        """Of a sample whose rows are features."""
        return cls(_mean(features), _second_moment(features), features.total)

    def merged(self, other: SampleMoments) -> SampleMoments:
        """Of the rows of both."""
        total = self.total + other.total
        share, of_other = self.total / total, other.total / total
        return SampleMoments(
            share * self.mean + of_other * other.mean, share * self.second + of_other * other.second, total
        )


@dataclass(frozen=True)
class Moments:
    """Means of features over the positives and over the population, the latter's covariance, and what a row counts.

    ``positive_unit`` and ``unlabeled_unit`` are the shares of the population that one observation of each sample is.
    """

    positive_mean: FloatArray
    center: FloatArray
    covariance: FloatArray
    n_positive: float
    positive_unit: float
    unlabeled_unit: float

    @classmethod
    def of(cls, features: PUSample, labelled_share: float) -> Moments:
        """Moments of two samples whose rows are features; positives are this share of the population."""
        positive, unlabeled = features.positive, SampleMoments.of(features.unlabeled)
        if labelled_share:
            return cls.joined(SampleMoments.of(positive), unlabeled, labelled_share)
        return cls.joined(SampleMoments(_mean(positive), np.zeros(()), positive.total), unlabeled, 0.0)

    @classmethod
    def joined(cls, positive: SampleMoments, unlabeled: SampleMoments, labelled_share: float) -> Moments:
        """The same from the moments of each."""
        center, second = unlabeled.mean, unlabeled.second
        if labelled_share:
            center = labelled_share * positive.mean + (1 - labelled_share) * center
            second = labelled_share * positive.second + (1 - labelled_share) * second
        units = labelled_share / positive.total, (1 - labelled_share) / unlabeled.total
        return cls(positive.mean, center, second - np.outer(center, center), positive.total, *units)


@dataclass(frozen=True)
class LeastSquares:
    """The ratios for one kernel and every penalty."""

    axes: FloatArray  # orthogonal, in columns
    variances: FloatArray  # of the population along these
    total_variance: float  # never 0: it is the unit of penalties
    positive_mean: FloatArray  # along these
    moments: Moments

    @classmethod
    def of(cls, moments: Moments) -> LeastSquares:
        """One eigendecomposition of the population's covariance."""
        driver = "evd" if len(moments.covariance) > 1 else "evr"  # SciPy 1.11 has no evd of a single number
        variances, axes = eigh(moments.covariance, driver=driver, check_finite=False)
        square = float(moments.center @ moments.center + variances.sum())  # mean square of the features
        variances[variances < _ROUNDING * square] = 0
        mean = (moments.positive_mean - moments.center) @ axes
        total = max(float(variances.sum()), _LEAST_VARIANCE * float(mean @ mean)) or 1.0
        return cls(axes, variances, total, mean, moments)

    @property
    def center(self) -> FloatArray:
        """Mean of the features over the population."""
        return self.moments.center

    def honest_ratios(self, features: PUSample, penalties: FloatArray, labelled_share: float) -> HonestScores:
        """Ratios of the rows that were fitted to, as features, each by the fit without (one unit of) it."""
        ratios = (
            self._left_out(features.positive, penalties, self.moments.positive_unit, among_positives=True),
            self._left_out(features.unlabeled, penalties, self.moments.unlabeled_unit, among_positives=False),
        )
        return scores_of(features, ratios, labelled_share)

    def _left_out(self, sample: Sample, penalties: FloatArray, unit: float, *, among_positives: bool) -> FloatArray:
        """Ratios (n_penalties, n_rows) by fits that lack the row; ``unit`` is what a row is of the population, or 0."""
        coordinates, taken = (sample.rows - self.center) @ self.axes, np.minimum(1, sample.weights)
        found, n_positive = np.empty((len(penalties), len(sample))), self.moments.n_positive
        for amount in np.unique(taken):  # 1, but for weights that are fractions
            rows = slice(None) if (taken == amount).all() else np.flatnonzero(taken == amount)
            gone = amount * unit
            inverse = 1 / (self.variances[:, None] + (1 - gone) * penalties)  # (n_axes, n_penalties)
            ratio = 1 + coordinates[rows] @ (self.positive_mean[:, None] * inverse)
            leverage = 1 + coordinates[rows] ** 2 @ inverse
            if among_positives:
                ratio = (n_positive * ratio - amount * leverage) / (n_positive - amount)
            ratio *= (1 - gone) / np.maximum(1 - gone * leverage, _TINY)
            found[:, rows] = ratio.T
        return found

    def direction(self, penalties: FloatArray, weights: FloatArray) -> FloatArray:
        """The weighted sum of ratios less 1 is the inner product of this with features less their center."""
        inverse = (weights / (self.variances[:, None] + penalties)).sum(axis=1)
        return np.asarray(self.axes @ (self.positive_mean * inverse))


def _mean(sample: Sample) -> FloatArray:
    return np.asarray(sample.weights @ sample.rows / sample.total)


def _second_moment(sample: Sample) -> FloatArray:
    """Mean of the products of features."""
    scaled = sample.rows * np.sqrt(sample.weights / sample.total)[:, None]
    return np.asarray(scaled.T @ scaled)


#: Below this a ratio is nearly 0, and its log is no longer taken.
SMALLEST_RATIO = 0.25


def log_or_less(ratios: FloatArray) -> FloatArray:
    """Log of ratios from `SMALLEST_RATIO` on; below it the same curve turned by half a circle about that point.

    A ratio by least squares may be negative, and less is still less positive: the curve rises everywhere, with no
    corner.
    """
    mirrored = np.maximum(2 * SMALLEST_RATIO - ratios, SMALLEST_RATIO)
    above = np.log(np.maximum(ratios, SMALLEST_RATIO))
    return np.where(ratios >= SMALLEST_RATIO, above, 2 * np.log(SMALLEST_RATIO) - np.log(mirrored))
