"""Rows that are known to be negative, for metrics that are made of two averages: over positives and population.

In the single-sample scenario these rows are members of the population, like unlabeled ones; in the case-control
scenario they are of neither sample. Where they are a random choice of all negatives they tell more: they and the
positives, mixed as the prior says, are a second sample of the population. Pooled with the first it makes every metric
here one of three samples. Of n known negatives it is n / (1 - prior) rows, and of a risk it is the supervised one,
prior mean_P l(+) + (1 - prior) mean_N l(-), so that the pooled risk lies between that and the one of positives and
population (Sakai et al., 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.labels import has_value, without_negatives
from unlabeled.metrics.averages import as_labels


@dataclass(frozen=True)
class OfThreeSamples:
    """A metric of two samples, for labels of which one value marks known negatives.

    ``share`` is how far these are a random choice of all negatives, and ``of_classes`` whether the metric is given
    classes, which classifiers spell as the negatives are, or scores.
    """

    function: Callable[..., float]
    negative: Any
    share: float
    of_classes: bool

    @property
    def __name__(self) -> str:
        return self.function.__name__

    def __call__(
        self,
        y_true: ArrayLike,
        predicted: ArrayLike,
        *,
        scenario: str,
        sample_weight: ArrayLike | None = None,
        pos_label: Any = None,
        prior: float | None = None,
        **options: Any,
    ) -> float:
        """The metric, as `make_scorer` calls it."""
        given, found = without_negatives(y_true, self.negative, pos_label)
        classes, is_positive = as_labels(given, pos_label)
        y, values = classes[is_positive.astype(int)], np.asarray(predicted)
        is_negative = np.zeros(len(y), dtype=bool) if found is None else found
        if self.of_classes:
            values = np.where(has_value(values, self.negative), classes[0], values)
        counts = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weights = np.where(is_negative, 0.0, counts) if scenario == "case-control" else counts
        if prior is not None:
            options["prior"] = prior
            added = _second_sample(is_positive, is_negative, self.share * counts, prior)
            places = np.flatnonzero(added)
            y = np.concatenate([y, np.full(len(places), classes[0], dtype=y.dtype)])
            values, weights = np.concatenate([values, values[places]]), np.concatenate([weights, added[places]])
        return self.function(y, values, scenario=scenario, sample_weight=weights, pos_label=pos_label, **options)


def _second_sample(is_positive: np.ndarray, is_negative: np.ndarray, counts: np.ndarray, prior: float) -> np.ndarray:
    """How often each row counts in the sample that known negatives and positives are, mixed as the prior says."""
    n_positive, n_negative = counts[is_positive].sum(), counts[is_negative].sum()
    if not (n_positive and n_negative and 0 < prior < 1):
        return np.zeros(len(counts))
    of_positives = n_negative * prior / (1 - prior) / n_positive
    return np.asarray(np.where(is_negative, counts, 0.0) + np.where(is_positive, of_positives * counts, 0.0))
