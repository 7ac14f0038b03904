"""Honest scores: scores of positives and of the population that know nothing of their own row.

Prior, threshold, probabilities, the weights of several scores, and what to expect of new rows are all read off them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unlabeled.arrays import FloatArray

#: Scores that are less spread than this are all alike.
SMALLEST_SPREAD = 1e-9


@dataclass(frozen=True)
class HonestScores:
    """Scores of positives and unlabeled rows that took no part in their own score; larger is more positive.

    Parameters
    ----------
    positive, unlabeled : arrays of shape (n_positive,) and (n_unlabeled,)
        One score of each row; or several, with a leading axis: those of a grid of gammas, or of the parts of a
        classifier.
    positive_weights, unlabeled_weights : arrays of shape (n_positive,) and (n_unlabeled,)
        How many observations each stands for.
    labelled_share : float, default=0
        Share of the population that the labelled positives make up: 0 in the case-control scenario, where the
        unlabeled rows alone are the population.
    positive_rows, unlabeled_rows : int arrays of shape (n_positive,) and (n_unlabeled,), optional
        The row of the table that each score belongs to, as `Sample.row_numbers` counts them. A row that counts several
        times may be there several times.
    """

    positive: FloatArray
    unlabeled: FloatArray
    positive_weights: FloatArray
    unlabeled_weights: FloatArray
    labelled_share: float = 0.0
    positive_rows: np.ndarray | None = None
    unlabeled_rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        for scores, weights, rows in (
            (self.positive, self.positive_weights, self.positive_rows),
            (self.unlabeled, self.unlabeled_weights, self.unlabeled_rows),
        ):
            if scores.shape[-1:] != weights.shape or (rows is not None and rows.shape != weights.shape):
                raise ValueError("Scores, weights and row numbers must be of the same rows.")
        if self.positive.shape[:-1] != self.unlabeled.shape[:-1] or self.positive.ndim > 2:
            raise ValueError("Positives and unlabeled rows must have the same number of scores.")

    @classmethod
    def stacked(cls, several: Sequence[HonestScores]) -> HonestScores:
        """Several scores of the same observations, along the leading axis: of the rows that have all of them.

        Where one has copies of a row and another a single score with a weight, the copies stay apart.
        """
        positive, positive_weights, positive_rows = _aligned(
            [(scores.positive, scores.positive_weights, scores.positive_rows) for scores in several]
        )
        unlabeled, unlabeled_weights, unlabeled_rows = _aligned(
            [(scores.unlabeled, scores.unlabeled_weights, scores.unlabeled_rows) for scores in several]
        )
        share = several[0].labelled_share
        return cls(positive, unlabeled, positive_weights, unlabeled_weights, share, positive_rows, unlabeled_rows)

    # --- one of several ---

    @property
    def n_scores(self) -> int:
        """How many scores each row has."""
        return 1 if self.positive.ndim == 1 else len(self.positive)

    def at(self, index: int) -> HonestScores:
        """One of several scores."""
        if self.positive.ndim == 1:
            return self
        return replace(self, positive=self.positive[index], unlabeled=self.unlabeled[index])

    def some(self, places: np.ndarray) -> HonestScores:
        """Some of several scores."""
        return replace(self, positive=self.positive[places], unlabeled=self.unlabeled[places])

    def each(self) -> list[HonestScores]:
        """The several scores, one by one."""
        return [self.at(index) for index in range(self.n_scores)]

    def weighted_sum(self, weights: FloatArray) -> HonestScores:
        """Several scores multiplied by weights and added up."""
        positive, unlabeled = (np.tensordot(weights, scores, axes=1) for scores in (self.positive, self.unlabeled))
        return replace(self, positive=positive, unlabeled=unlabeled)

    # --- the population ---

    @property
    def n_positive(self) -> float:
        """How many labelled positives the scores stand for."""
        return float(self.positive_weights.sum())

    @property
    def n_unlabeled(self) -> float:
        """How many unlabeled rows the scores stand for."""
        return float(self.unlabeled_weights.sum())

    @property
    def n_population(self) -> float:
        """How many observations of the population the scores stand for."""
        return self.n_unlabeled + (self.n_positive if self.labelled_share else 0.0)

    @property
    def population(self) -> FloatArray:
        """Scores of the population: of the unlabeled rows, after those of the positives where these belong to it."""
        return np.concatenate([self.positive, self.unlabeled], axis=-1) if self.labelled_share else self.unlabeled

    @property
    def positive_mass(self) -> FloatArray:
        """The weight of each positive, the sum being 1."""
        return self.positive_weights / self.n_positive

    @property
    def population_mass(self) -> FloatArray:
        """The weight of each score of the population, the sum being 1."""
        of_unlabeled = self.unlabeled_weights / self.n_unlabeled
        if not self.labelled_share:
            return of_unlabeled
        return np.concatenate([self.labelled_share * self.positive_mass, (1 - self.labelled_share) * of_unlabeled])

    def against_unlabeled(self) -> HonestScores:
        """The same scores, the unlabeled rows alone taken as the population."""
        return replace(self, labelled_share=0.0)

    def recall(self, thresholds: FloatArray) -> FloatArray:
        """Share of the positives above the threshold of each of several scores."""
        return _weighted_rate(self.positive > thresholds[:, None], self.positive_weights)

    def positive_rate(self, thresholds: FloatArray) -> FloatArray:
        """Share of the population above the threshold of each of several scores."""
        rate = _weighted_rate(self.unlabeled > thresholds[:, None], self.unlabeled_weights)
        return self.labelled_share * self.recall(thresholds) + (1 - self.labelled_share) * rate

    @property
    def area(self) -> float:
        """Chance that a positive has a higher score than a row of the population, ties counting half."""
        values, place = np.unique(self.population, return_inverse=True)
        below = np.concatenate([[0.0], np.cumsum(np.bincount(place, self.population_mass))])
        ends = (below[np.searchsorted(values, self.positive, side=side)] for side in ("left", "right"))
        return float(self.positive_mass @ sum(ends) / 2)

    # --- the scale of a score ---

    @property
    def spread(self) -> float:
        """Standard deviation of the score in the population; never quite 0, so that one can divide by it."""
        population, mass = self.population, self.population_mass
        return max(float(np.sqrt(mass @ (population - mass @ population) ** 2)), SMALLEST_SPREAD)

    @property
    def rounding(self) -> float:
        """How far apart two scores may lie and still count as equal, such as those of copies of a row.

        A billionth of the width of nine tenths of the scores: scores may have any scale, and a few may lie far out.
        Never less than the rounding of the logarithms that scores are differences of: near 1 or as large as scores.
        """
        low, middle, high = np.quantile(np.concatenate([self.positive, self.unlabeled]), [0.05, 0.5, 0.95])
        return float(max(1e-9 * (high - low), 1e-14 * max(1.0, abs(middle))))

    def mapped(self, slope: float, intercept: float) -> HonestScores:
        """Scores on another scale."""
        positive, unlabeled = (slope * values + intercept for values in (self.positive, self.unlabeled))
        return replace(self, positive=positive, unlabeled=unlabeled)

    def mapped_by(self, function: Callable[[FloatArray], FloatArray]) -> HonestScores:
        """Scores that a function which rises with them is applied to."""
        return replace(self, positive=function(self.positive), unlabeled=function(self.unlabeled))


class KeepsHonestScores:
    """For estimators that keep the honest scores that their answers are read off."""

    honest_scores_: HonestScores

    @property
    def scores_(self) -> HonestScores:
        """The former name of ``honest_scores_``."""
        scores = self.honest_scores_
        warnings.warn("scores_ is called honest_scores_ now; scores_ will go in 0.3.", FutureWarning, stacklevel=2)
        return scores


def _weighted_rate(hits: np.ndarray, weights: FloatArray) -> FloatArray:
    return np.asarray(hits @ weights / weights.sum())


#: Scores, weights and row numbers of one sample.
_Side = tuple[FloatArray, FloatArray, np.ndarray | None]


def _aligned(sides: Sequence[_Side]) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """Several scores (n_scores, n) of the observations that have all of them, their weights and row numbers."""
    numbers = [np.arange(len(weights)) if rows is None else rows for _, weights, rows in sides]
    # The side with the most entries says what an observation is; the last of equals.
    finest = max(reversed(range(len(sides))), key=lambda index: len(numbers[index]))
    copies = _copy_numbers(numbers[finest])
    places = [_places(rows, numbers[finest], copies) for rows in numbers]
    common = np.all([found >= 0 for found in places], axis=0)
    scores = np.array([side[0][found[common]] for side, found in zip(sides, places, strict=True)])
    return scores, sides[finest][1][common], numbers[finest][common]


def _copy_numbers(rows: np.ndarray) -> np.ndarray:
    """How many copies of its row come before each entry."""
    order = np.argsort(rows, kind="stable")
    copies = np.empty(len(rows), dtype=np.int64)
    copies[order] = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
    return copies


def _places(rows: np.ndarray, wanted: np.ndarray, copies: np.ndarray) -> np.ndarray:
    """Place of each wanted row among the rows, or -1; copies are matched in order, further ones with the last."""
    order = np.argsort(rows, kind="stable")
    first, end = (np.searchsorted(rows[order], wanted, side=side) for side in ("left", "right"))
    places = order[np.clip(np.minimum(first + copies, end - 1), 0, None)]
    return np.where(first < end, places, -1)
