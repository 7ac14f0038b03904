"""The ratio p(x | y = 1) / p(x) by least squares in a kernel's space, for all penalties at once, and left-out rows.

Over the functions f = constant + h, h in the space of a kernel, the ratio r minimises

    E_u f^2 / 2 - E_p f + penalty |h|^2 / 2,

u the population and p the positives (least-squares importance fitting; Kanamori, Hido and Sugiyama, 2009). So r is
(C_u + penalty)^-1 mu_p, C_u the second moment of the features in the population and mu_p their mean over the positives.
The constant is not penalised: the mean of r over the population is 1, and where p = u so is r itself.

Centred at the population's mean and turned to its axes, C_u is diagonal: with z the coordinates of a row, h their mean
over the positives and s their variances, ``r = 1 + sum_k z_k h_k / (s_k + penalty)``, whatever the penalty. A row that
leaves a mean, a second moment or both changes them by one term, so that the ratio of a row by the fit without it needs
no fit either: with q = 1 + sum_k z_k^2 / (s_k + penalty) its leverage, and n, m the sizes of the two samples,

- without itself among the positives: ``(n r - q) / (n - 1)``;
- without itself in the population: ``(m - 1) / m * r / (1 - q / m)``, both r and q at penalty (m - 1) / m in place of
  the penalty (which is what the mean over m - 1 rows makes of it).

In the single-sample scenario a positive leaves both, one after the other, with n + m for m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from unlabeled.arrays import FloatArray, beside, on_host
from unlabeled.deciding.scores import HonestScores
from unlabeled.engines.matrices import placing
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.landmarks import Features, chunks
from unlabeled.scoring.selection import scores_of

#: What is left of a row's share in its own fit may be rounding only.
_TINY = 1e-12
#: Variances below this share of the features' mean square are rounding.
_ROUNDING = 1e-12
#: A population whose rows are all alike has no variance; the unit of penalties is then this share of the squared
#: distance between the two means.
_LEAST_VARIANCE = 1e-3


@dataclass(frozen=True)
class Moments:
    """Means of features over the positives and over the population, the latter's covariance, and both sizes."""

    positive_mean: FloatArray
    center: FloatArray
    covariance: FloatArray
    n_positive: float
    n_population: float

    @classmethod
    def of(cls, pu: PUSample, features: Features | None = None, engine: str = "auto") -> Moments:
        """Moments of the features of two samples; without ``features`` the samples' rows are features already."""
        n_positive, n_unlabeled = pu.positive.total, pu.unlabeled.total
        positive_mean, second_of_positive = _means(pu.positive, features, engine, second=pu.positives_in_population)
        center, second = _means(pu.unlabeled, features, engine)
        if pu.positives_in_population:
            share = pu.labelled_share
            center = share * positive_mean + (1 - share) * center
            second = share * second_of_positive + (1 - share) * second
        n_population = n_unlabeled + (n_positive if pu.positives_in_population else 0.0)
        return cls(positive_mean, center, second - np.outer(center, center), n_positive, n_population)


@dataclass(frozen=True)
class LeastSquares:
    """The ratios for one kernel and every penalty."""

    center: FloatArray  # of the features in the population
    axes: FloatArray  # orthogonal, in columns
    variances: FloatArray  # of the population along these
    total_variance: float  # never 0: it is the unit of penalties
    positive_mean: FloatArray  # along these
    n_positive: float
    n_population: float

    @classmethod
    def of(cls, moments: Moments) -> LeastSquares:
        """One eigendecomposition of the population's covariance."""
        variances, axes = eigh(moments.covariance, driver="evd", check_finite=False)
        square = float(moments.center @ moments.center + variances.sum())  # mean square of the features
        variances[variances < _ROUNDING * square] = 0
        mean = (moments.positive_mean - moments.center) @ axes
        total = max(float(variances.sum()), _LEAST_VARIANCE * float(mean @ mean)) or 1.0
        return cls(moments.center, axes, variances, total, mean, moments.n_positive, moments.n_population)

    def honest_ratios(self, scored: PUSample, penalties: FloatArray, labelled_share: float) -> HonestScores:
        """Ratios of some of the rows that were fitted to, as features, each by the fit without (one unit of) it."""
        both = scored.positives_in_population
        ratios = (
            self._left_out(scored.positive, penalties, among_positives=True, in_population=both),
            self._left_out(scored.unlabeled, penalties, among_positives=False, in_population=True),
        )
        return scores_of(scored, ratios, labelled_share)

    def _left_out(
        self, sample: Sample, penalties: FloatArray, *, among_positives: bool, in_population: bool
    ) -> FloatArray:
        """Ratios (n_penalties, n_rows) by fits that lack the row there."""
        coordinates, taken = (sample.rows - self.center) @ self.axes, np.minimum(1, sample.weights)
        found = np.empty((len(penalties), len(sample)))
        for amount in np.unique(taken):  # 1, but for weights that are fractions
            rows = slice(None) if (taken == amount).all() else np.flatnonzero(taken == amount)
            left = 1 - amount / self.n_population if in_population else 1.0
            inverse = 1 / (self.variances[:, None] + left * penalties)  # (n_axes, n_penalties)
            ratio = 1 + coordinates[rows] @ (self.positive_mean[:, None] * inverse)
            leverage = 1 + coordinates[rows] ** 2 @ inverse
            if among_positives:
                ratio = (self.n_positive * ratio - amount * leverage) / (self.n_positive - amount)
            if in_population:
                ratio *= left / np.maximum(1 - amount / self.n_population * leverage, _TINY)
            found[:, rows] = ratio.T
        return found

    def direction(self, penalties: FloatArray, weights: FloatArray) -> FloatArray:
        """The weighted sum of ratios less 1 is the inner product of this with features less their center."""
        inverse = (weights / (self.variances[:, None] + penalties)).sum(axis=1)
        return np.asarray(self.axes @ (self.positive_mean * inverse))


def _means(
    sample: Sample, features: Features | None, engine: str, *, second: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Mean of the features over a sample, and the mean of their products where it is asked for."""
    n_features = sample.rows.shape[1] if features is None else len(features.landmarks)
    weights, rows = sample.weights / sample.total, sample.rows
    if features is not None:
        rows = placing(engine, len(sample), n_features, rows.shape[1])(rows)
    mean = beside(rows, np.zeros(n_features))
    products = beside(rows, np.zeros((n_features, n_features)))
    for part in chunks(len(sample), n_features):
        values = rows[part] if features is None else features.of(rows[part])
        of_part = beside(rows, weights[part])
        mean += of_part @ values
        if second:
            products += (values * of_part[:, None]).T @ values
    return on_host(mean), on_host(products)


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
