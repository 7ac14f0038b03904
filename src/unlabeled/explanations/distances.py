"""What a WMMD score is made of: shares of training rows, parts of features.

The score of z is ``log mean_P k(z, x) - log mean_X k(z, x)``, P the positives and X the population. A row's share in
a mean is ``w = k(z, x) / sum k(z, x)``. For the Gaussian kernel the log of a mean of n terms is, exactly,

    log mean k = -gamma sum_j E_w (z_j - x_j)^2 + H(w) - log n,

where E_w averages over the rows by their shares and H is their entropy: log n less the log of the number of rows that
count. So the score is a sum over features j of ``gamma (E_wX (z_j - x_j)^2 - E_wP (z_j - x_j)^2)``, above 0 where
the positives that count are nearer than the rows that count, and of how many rows count on either side.

A smoothed score is a weighted sum of such logs, of the ratio and of the rounds, so its parts are sums of theirs. In
a round the rows of the population, weighted by their probability, are in the place of the positives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp

from unlabeled.arrays import FloatArray
from unlabeled.classifiers import WMMDClassifier
from unlabeled.explanations.shares import Shares
from unlabeled.kernels import as_kernel
from unlabeled.samples import Sample
from unlabeled.scoring.smoothing import Round, Voters, scored_places


@dataclass(frozen=True)
class DistanceReasons:
    """A score by distances, the share of each training row in its means, and parts that sum up to the score.

    Shares of unlabeled rows are of the population's mean: in the single-sample scenario the positives have the rest.
    ``probable`` are the rows that stand in for positives in a smoothed score, averaged over the rounds; None without
    smoothing. ``by_feature`` and ``crowding`` sum up to the score. The part of a feature that is missing in some rows
    includes that of being missing. Sparse rows have parts by direction of the reduction (`Scaling.form`) instead, where
    they were reduced.
    """

    score: float
    positive: Shares
    unlabeled: Shares
    probable: Shares | None
    by_feature: FloatArray
    crowding: float

    def by_column(self, sums: Callable[[FloatArray], FloatArray]) -> DistanceReasons:
        """The same with parts of columns, of which the features were made."""
        return replace(self, by_feature=sums(self.by_feature))


def distance_reasons(classifier: WMMDClassifier, row: FloatArray) -> DistanceReasons:
    """Explain the score of one row of features (1, n_features)."""
    kernel = as_kernel(classifier.kernel)
    if kernel.name != "rbf":
        raise ValueError(f"Scores of the {kernel.name} kernel have no parts by feature; only those of 'rbf' have.")
    row, pu = classifier.scaling_.apply(row), classifier.sample_
    of_ratio = _LogRatio.of(pu.positive, pu.population, row, classifier.gamma_)
    logs, weights, probable = [of_ratio], [1.0], None
    if classifier.rounds_:
        voters = Voters.among(pu, scored_places(pu, classifier.own_honest_scores))
        weights = [finished.weight for finished in classifier.rounds_]
        logs += [_LogRatio.of(*_samples(voters, finished), row, finished.gamma) for finished in classifier.rounds_]
        probable = _probable(classifier.rounds_, voters, logs[1:], weights)
        weights = [1 - sum(weights), *weights]
    of_unlabeled = of_ratio.denominator.shares[-len(pu.unlabeled) :]
    by_feature = np.tensordot(weights, [log.by_feature for log in logs], axes=1)
    return DistanceReasons(
        score=_weighted(weights, [log.value for log in logs]),
        positive=Shares(pu.positive.row_numbers, of_ratio.numerator.shares),
        unlabeled=Shares(pu.unlabeled.row_numbers, of_unlabeled),
        probable=probable,
        by_feature=classifier.by_column(classifier.scaling_.by_feature(by_feature)),
        crowding=_weighted(weights, [log.crowding for log in logs]),
    )


def _weighted(weights: list[float], values: list[float]) -> float:
    return float(np.dot(weights, values))


def _samples(voters: Voters, finished: Round) -> tuple[Sample, Sample]:
    pu = finished.samples(voters)
    return pu.positive, pu.population


def _probable(rounds: tuple[Round, ...], voters: Voters, logs: list[_LogRatio], weights: list[float]) -> Shares:
    parts = np.array(weights) / sum(weights)
    shares = np.tensordot(parts, [log.numerator.shares for log in logs], axes=1)
    chances = np.tensordot(parts, [np.exp(finished.log_probabilities) for finished in rounds], axes=1)
    return Shares(voters.sample.row_numbers, shares, chances)


@dataclass(frozen=True)
class _LogRatio:
    """Log of the ratio of two kernel means at a row."""

    numerator: _LogMean
    denominator: _LogMean

    @classmethod
    def of(cls, positive: Sample, population: Sample, row: FloatArray, gamma: float) -> _LogRatio:
        return cls(_log_mean(positive, row, gamma), _log_mean(population, row, gamma))

    @property
    def value(self) -> float:
        return self.numerator.value - self.denominator.value

    @property
    def by_feature(self) -> FloatArray:
        return self.numerator.by_feature - self.denominator.by_feature

    @property
    def crowding(self) -> float:
        return self.numerator.crowding - self.denominator.crowding


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
