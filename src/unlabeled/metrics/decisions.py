"""Metrics of predicted classes: recall, precision, F1, Lee and Liu's score, accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from unlabeled.metrics.averages import Averages, as_flags, as_labels

_Weights = ArrayLike | None


@dataclass(frozen=True)
class Rates:
    """Share of the positives and of the population that is called positive."""

    recall: float
    flagged: float
    averages: Averages

    @classmethod
    def of(cls, y_true: ArrayLike, y_pred: ArrayLike, scenario: str, sample_weight: _Weights, pos_label: Any) -> Rates:
        """The rates of predicted classes."""
        classes, is_positive = as_labels(y_true, pos_label)
        flags = as_flags(y_pred, classes, len(is_positive))
        averages = Averages.of(is_positive, scenario, sample_weight)
        return cls(float(averages.positive @ flags), float(averages.population @ flags), averages)

    def found(self, prior: float) -> float:
        """Share of the population that is positive and called so."""
        return self.averages.check_prior(prior) * self.recall


def pu_recall(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Share of the positives that are called positive. It needs no prior and is the same in both scenarios.

    Parameters
    ----------
    y_true : array of shape (n_samples,)
        Which rows are labelled positive: two values, spelled as `fit` of the classifiers takes them.
    y_pred : array of shape (n_samples,)
        Predicted classes, in the same two values.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the population is the unlabeled rows, or labelled and unlabeled rows together.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    pos_label : optional
        The value that marks labelled positives, where numbers or words do not say it.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_recall
    >>> round(pu_recall(y_true, y_pred), 4)
    0.75
    """
    return Rates.of(y_true, y_pred, scenario, sample_weight, pos_label).recall


def pu_flagged_rate(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Share of the population that is called positive; parameters as in `pu_recall`.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_flagged_rate
    >>> round(pu_flagged_rate(y_true, y_pred), 4)
    0.3333
    """
    return Rates.of(y_true, y_pred, scenario, sample_weight, pos_label).flagged


def pu_lee_liu(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Lee and Liu's (2003) score, recall squared over the flagged rate; parameters as in `pu_recall`.

    It is precision times recall over the prior, so it ranks classifiers as precision times recall does, without
    knowing the prior. 1 is the score of flagging at random; the most is 1/prior. Where positives are flagged and no
    row of the population is, the flagged rate is read as that of one row. 0 where nothing is flagged.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_lee_liu
    >>> round(pu_lee_liu(y_true, y_pred), 4)
    1.6875
    """
    rates = Rates.of(y_true, y_pred, scenario, sample_weight, pos_label)
    return rates.recall**2 / (rates.flagged or rates.averages.row_share)


def pu_precision(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Share of those called positive that are positive, at most 1; 0 where nothing is flagged.

    Parameters
    ----------
    y_true, y_pred, scenario, sample_weight, pos_label
        As in `pu_recall`.
    prior : float in (0, 1)
        P(y = 1) in the population.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_precision
    >>> round(pu_precision(y_true, y_pred, prior=0.3), 4)
    0.675
    """
    rates = Rates.of(y_true, y_pred, scenario, sample_weight, pos_label)
    found = rates.found(prior)
    return found / max(rates.flagged, found) if found > 0 else 0.0


def pu_f1(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Harmonic mean of `pu_precision` and `pu_recall`, at most 1; parameters as in `pu_precision`.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_f1
    >>> round(pu_f1(y_true, y_pred, prior=0.3), 4)
    0.7105
    """
    rates = Rates.of(y_true, y_pred, scenario, sample_weight, pos_label)
    found = rates.found(prior)
    return 2 * found / (max(rates.flagged, found) + prior)


def pu_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Share of the population that is classified rightly, without bias, so that noise may push it above 1.

    One minus the error rate that the paper chooses gamma by; parameters as in `pu_precision`.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import pu_accuracy
    >>> round(pu_accuracy(y_true, y_pred, prior=0.3), 4)
    0.8167
    """
    rates = Rates.of(y_true, y_pred, scenario, sample_weight, pos_label)
    return 1 - prior - rates.flagged + 2 * rates.found(prior)


def proxy_accuracy(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    prior: float,
    scenario: str = "case-control",
    sample_weight: _Weights = None,
    pos_label: Any = None,
) -> float:
    """Accuracy plus the prior, as Wang et al. (2025) use it to compare classifiers; parameters as in `pu_precision`.

    ``2 prior * recall + (share of the population called negative)``. It differs from `pu_accuracy` by a constant, so
    it ranks alike; report `pu_accuracy`.

    Examples
    --------
    >>> y_true = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    >>> y_pred = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    >>> from unlabeled.metrics import proxy_accuracy
    >>> round(proxy_accuracy(y_true, y_pred, prior=0.3), 4)
    1.1167
    """
    rates = Rates.of(y_true, y_pred, scenario, sample_weight, pos_label)
    return 1 - rates.flagged + 2 * rates.found(prior)
