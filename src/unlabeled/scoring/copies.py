"""Copies of a row: one row with their weight while sums are taken, and apart again in what is answered.

A weight of 2 equals the row twice, in leave-one-out too, so this changes no answer. (Weights that are no counts, below
1, are left as they are: leave-one-out takes out all of such a row, and not all of its copies.) Colours and other whole
numbers of few features have many copies: of the 245,057 rows of skin_nonskin a fifth differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample, distinct_rows, some_rows

#: Fewer rows are not worth a look for copies.
LEAST_ROWS = 10_000
#: The most rows that may differ, as a share of all: else merging gains little.
MOST_DISTINCT = 0.7
#: Rows that are looked at first, and the share of copies among them from which on all are.
_LOOK, _WORTH_MORE = 5_000, 0.01


@dataclass(frozen=True)
class _Merged:
    """Which rows stay, and for each row the place of its equal among these."""

    first: np.ndarray
    place: np.ndarray

    @classmethod
    def of(cls, rows: FloatArray) -> _Merged | None:
        """Merge equal rows; None where few are."""
        if not isinstance(rows, np.ndarray) or len(rows) < LEAST_ROWS:
            return None
        some = rows[some_rows(len(rows), _LOOK, np.random.RandomState(0))]
        if len(distinct_rows(some)[0]) > (1 - _WORTH_MORE) * len(some):
            return None
        first, place = distinct_rows(rows)
        return cls(first, place) if len(first) <= MOST_DISTINCT * len(rows) else None

    def sample(self, whole: Sample) -> Sample:
        """The rows that stay, with the weights of all their copies."""
        weights = np.bincount(self.place, weights=whole.weights)
        return replace(whole.take(self.first), log_weights=np.log(weights))


def _merged_if_whole(sample: Sample) -> _Merged | None:
    if not sample.is_here:
        return None
    return _Merged.of(sample.rows) if sample.log_weights is None or sample.log_weights.min() >= 0 else None


def once_each(rows: FloatArray, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a function answers for each row (..., n_rows), where it sees copies once."""
    merged = _Merged.of(rows)
    return function(rows) if merged is None else function(rows[merged.first])[..., merged.place]


def without_copies(*samples: Sample) -> list[Sample]:
    """Samples over the same rows with equal rows as one, if many are; still over the same rows."""
    merged = _Merged.of(samples[0].rows)
    if merged is None:
        return list(samples)
    rows = samples[0].rows[merged.first]
    return [replace(merged.sample(sample), rows=rows) for sample in samples]


@dataclass(frozen=True)
class Copies:
    """Two samples, and how their copies are merged; None: they have few, or some rows shall not be scored."""

    whole: PUSample
    positive: _Merged | None = None
    unlabeled: _Merged | None = None

    @classmethod
    def of(cls, whole: PUSample, rows: PUSample) -> Copies:
        """Merge what is equal in ``rows``, the same observations in whatever units tell them apart best."""
        return cls(whole, _merged_if_whole(rows.positive), _merged_if_whole(rows.unlabeled))

    @property
    def n_merged(self) -> int:
        """How many rows went into others."""
        return sum(len(m.place) - len(m.first) for m in (self.positive, self.unlabeled) if m is not None)

    def merged(self, pu: PUSample) -> PUSample:
        """These samples without copies."""
        positive = pu.positive if self.positive is None else self.positive.sample(pu.positive)
        unlabeled = pu.unlabeled if self.unlabeled is None else self.unlabeled.sample(pu.unlabeled)
        return PUSample(positive, unlabeled, pu.scenario)

    def apart(self, scores: HonestScores) -> HonestScores:
        """Scores of the merged rows as those of all rows."""
        if not self.n_merged:
            return scores
        positive, unlabeled = self.whole.positive, self.whole.unlabeled
        return HonestScores(
            _spread(scores.positive, self.positive),
            _spread(scores.unlabeled, self.unlabeled),
            positive.effective_weights,
            unlabeled.effective_weights,
            scores.labelled_share,
            positive.row_numbers,
            unlabeled.row_numbers,
        )

    def population_apart(self, values: FloatArray) -> FloatArray:
        """Values of the merged population, positives first where they belong to it, as those of all its rows."""
        if not self.n_merged:
            return values
        n_unlabeled = len(self.whole.unlabeled) if self.unlabeled is None else len(self.unlabeled.first)
        of_positive, of_unlabeled = np.split(values, [values.shape[-1] - n_unlabeled], axis=-1)
        spread = _spread(of_positive, self.positive) if of_positive.shape[-1] else of_positive
        return np.concatenate([spread, _spread(of_unlabeled, self.unlabeled)], axis=-1)


def _spread(values: FloatArray, merged: _Merged | None) -> FloatArray:
    return values if merged is None else values[..., merged.place]
