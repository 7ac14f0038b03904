"""Scores of rows by a classifier of labelled against unlabeled rows that was not fitted on them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import ThreadpoolController

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample, are_counts, effective, order_by_values, random_split, stacked
from unlabeled.stages import stage

TINY = np.finfo(np.float64).tiny
LONGEST_DEAL = 1_000_000
#: Whole-number weights are made copies of rows up to this many rows: few learners read a weight as a frequency.
MOST_COPIES = 1_000_000
#: Up to this many rows one thread fits the inner classifiers.
FEW_ROWS = 20_000
#: Folds that are fitted at once hold at most so many numbers together.
MOST_AT_ONCE = 40_000_000


#: How often each row of a pool is in what is fitted to, and in what is scored.
Fold = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Pool:
    """Rows of both samples together: which are labelled, how often each counts, and the number that it is known by.

    Weights that are no counts keep their proportions, and sum up to the effective number of rows: that is how much
    they have to say against a penalty of an inner classifier.
    """

    rows: FloatArray
    labelled: np.ndarray
    weights: FloatArray
    numbers: np.ndarray

    @classmethod
    def of(cls, pu: PUSample) -> Pool:
        """Labelled rows above unlabeled ones."""
        parts = (pu.positive, pu.unlabeled)
        return cls(
            stacked([part.rows for part in parts]),
            np.repeat([True, False], [len(part) for part in parts]),
            effective(np.concatenate([part.weights for part in parts])),
            np.concatenate([part.row_numbers for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.labelled)

    def samples(self, scenario: str) -> PUSample:
        """The two samples again."""
        whole = Sample(self.rows, np.log(self.weights), self.numbers)
        return PUSample(whole.take(self.labelled), whole.take(~self.labelled), scenario)

    def weighted(self, weights: FloatArray) -> Pool:
        """The same rows with other weights; those of weight 0 are left out."""
        counts = weights > 0
        return Pool(self.rows[counts], self.labelled[counts], weights[counts], self.numbers[counts])

    def folds(self, n_folds: int) -> list[Fold]:
        """What to fit to and what to score, for each fold that has any rows.

        Copies of a row and a row with a weight come to the same, and the order of the rows does not matter: they are
        ordered by their values, and the places in that order are dealt to the folds at random, always in the same way.
        Two rows of a sample lie in two folds, so that no fit lacks either sample.
        """
        dealt, rng = np.zeros((len(self), n_folds)), np.random.RandomState(0)
        for of_sample in self._of_each_sample():
            order = of_sample[order_by_values(self.rows[of_sample])]
            dealt[order] = deal(self.weights[order], n_folds, rng)
        return [(self.weights - held, held) for held in dealt.T if held.any()]

    def split(self, rng: np.random.RandomState) -> Fold:
        """A random 80 % of each sample, and the other 20 %. A single row, of whatever weight, is on both sides."""
        kept, held = np.zeros((2, len(self)))
        for of_sample in self._of_each_sample():
            to_keep, to_hold = (of_sample[places] for places in random_split(len(of_sample), rng))
            held[to_hold] = self.weights[to_hold]
            to_keep = to_keep if len(to_keep) else to_hold
            kept[to_keep] = self.weights[to_keep]
        return kept, held

    def _of_each_sample(self) -> tuple[np.ndarray, np.ndarray]:
        return np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)


def deal(weights: FloatArray, n_folds: int, rng: np.random.RandomState) -> FloatArray:
    """Cut a line of weights into units and deal them to the folds at random, as evenly as can be; (n_rows, n_folds).

    Of weights that are no counts each row is a unit: what a fit has seen a part of, it knows.
    Not in turn: every row would then be scored by a fit that has both its neighbours in this order, so that a flexible
    classifier would find more rows of its own sample around it than around a new row, and score it accordingly.
    """
    if not are_counts(weights):
        return deal(np.ones(len(weights)), n_folds, rng) * weights[:, None]
    ends = np.concatenate([[0], np.cumsum(weights)])
    n_units = min(ends[-1] * (1 - 1e-12), LONGEST_DEAL)  # after so many the deal is repeated
    fold_of_unit = rng.permutation(int(np.ceil(n_units))) % n_folds
    up_to_unit = np.vstack([np.zeros(n_folds), np.cumsum(fold_of_unit[:, None] == np.arange(n_folds), axis=0)])
    rounds, rest = np.divmod(ends, len(fold_of_unit))
    unit_before = np.minimum(rest.astype(int), len(fold_of_unit) - 1)
    part = (rest - unit_before)[:, None] * (up_to_unit[unit_before + 1] - up_to_unit[unit_before])
    up_to_row = rounds[:, None] * up_to_unit[-1] + up_to_unit[unit_before] + part
    dealt = np.diff(up_to_row, axis=0) / weights[:, None]
    # All or nothing, where only rounding says otherwise.
    return np.where(dealt < 1e-9, 0, np.where(dealt > 1 - 1e-9, 1, dealt)) * weights[:, None]


def held_out_scores(estimator: Any, pool: Pool, folds: Sequence[Fold]) -> HonestScores:
    """Scores of what each fold holds out by a clone fitted to what it keeps, in the order of the pool."""
    places, values, weights = [], [], []
    for kept, held in folds:
        scored = np.flatnonzero(held)
        places.append(scored)
        values.append(score_of(fit_clone(estimator, pool.weighted(kept)), pool.rows[scored]))
        weights.append(held[scored])
    place, order = np.concatenate(places), np.argsort(np.concatenate(places), kind="stable")
    labelled, numbers = pool.labelled[place[order]], pool.numbers[place[order]]
    value, weight = np.concatenate(values)[order], np.concatenate(weights)[order]
    sides = [(array[labelled], array[~labelled]) for array in (value, weight, numbers)]
    return HonestScores(*sides[0], *sides[1], 0.0, *sides[2])


def cross_fit(estimator: Any, pu: PUSample, n_folds: int, n_threads: int | None = None) -> tuple[list[Any], PUSample]:
    """Fit a clone without each fold in turn; these, and the samples with out-of-fold scores (n_rows, 1) as rows.

    With a number of threads several folds of a large table are fitted at once; None: the estimator sees to its own.
    """
    copies = PUSample(_as_copies(pu.positive), _as_copies(pu.unlabeled), pu.scenario)
    pool, estimators = Pool.of(copies), []
    sums, weights = np.zeros((2, len(pool)))

    def fit_and_score(fold: Fold) -> tuple[Any, FloatArray]:
        kept, held = fold
        model = fit_clone(estimator, pool.weighted(kept))
        return model, score_of(model, pool.rows[held > 0])

    folds = pool.folds(n_folds)
    with closing(_of_folds(fit_and_score, folds, pool, n_threads)) as results:
        for place, (_, held) in enumerate(folds, start=1):
            with stage("learned score", f"fold {place} of {len(folds)}"):
                model, scores = next(results)
            scored = held > 0
            sums[scored] += held[scored] * scores
            weights[scored] += held[scored]
            estimators.append(model)
    positive, unlabeled = np.split((sums / weights)[:, None], [len(copies.positive)])
    return estimators, replace(
        copies, positive=copies.positive.with_rows(positive), unlabeled=copies.unlabeled.with_rows(unlabeled)
    )


def _of_folds(
    function: Callable[[Fold], Any], folds: Sequence[Fold], pool: Pool, n_threads: int | None
) -> Generator[Any, None, None]:
    """What a function of a fold answers, in order; of a large table for several folds at once."""
    if len(pool) <= FEW_ROWS or n_threads is None:
        yield from side_by_side(function, folds, 1 if len(pool) <= FEW_ROWS else None)
        return
    with warnings.catch_warnings():  # scikit-learn's fits change filters for a while, and threads mix them up
        yield from side_by_side(function, folds, n_threads, max(1, MOST_AT_ONCE // pool.rows.size))


def side_by_side(
    function: Callable[[Any], Any], parts: Sequence[Any], n_threads: int | None, at_most: int = sys.maxsize
) -> Generator[Any, None, None]:
    """What a function that fits or asks boosted trees answers for each part, in order, for several at once.

    Threads inside of scikit-learn's trees meet at every split, and for every tree that is asked. On a busy machine they
    wait for each other most of the time, and small trees gain nothing from them anyway. Parts do not meet.

    ``n_threads`` are those of all parts together; None: one part after the other, each with all that it takes.
    """
    at_once = 1 if n_threads is None else min(n_threads, len(parts), at_most)
    if n_threads is None or at_once == 1:
        with _libraries().limit(limits=n_threads, user_api="openmp"):
            yield from map(function, parts)
        return
    config, threads_of_each, executor = get_config(), n_threads // at_once, ThreadPoolExecutor(at_once)

    def in_thread(part: Any) -> Any:  # which knows neither the settings nor the limits of its caller
        with config_context(**config), _libraries().limit(limits=threads_of_each, user_api="openmp"):
            return function(part)

    try:
        yield from executor.map(in_thread, parts)
    finally:  # who interrupts need not wait for the parts in work
        executor.shutdown(wait=False, cancel_futures=True)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries that have threads; to look for them takes longer than to score a row."""
    return ThreadpoolController()


def _as_copies(sample: Sample) -> Sample:
    """Whole-number weights as copies of rows, in an order that depends on the rows only."""
    order = order_by_values(sample.rows)
    counts = np.round(sample.weights[order])
    whole = np.allclose(counts, sample.weights[order], rtol=0, atol=1e-9) and counts.min() >= 1
    if sample.log_weights is None or not whole or counts.sum() > MOST_COPIES:
        return sample.take(order)
    return replace(sample.take(np.repeat(order, counts.astype(int))), log_weights=None)


def fit_clone(estimator: Any, pool: Pool) -> Any:
    """A clone fitted to tell labelled (1) from unlabeled (0) rows; weights are passed only where they say something."""
    labels = pool.labelled.astype(int)
    if (pool.weights == 1).all():
        return clone(estimator).fit(pool.rows, labels)
    return clone(estimator).fit(pool.rows, labels, **_weight_arguments(estimator, pool.weights))


def _weight_arguments(estimator: Any, weights: FloatArray) -> dict[str, FloatArray]:
    """How to pass weights to `fit`; through a Pipeline, to every step that takes them."""
    names = {"sample_weight": estimator}
    if isinstance(estimator, Pipeline):
        names = {f"{name}__sample_weight": step for name, step in estimator.steps}
    taken = {name: weights for name, step in names.items() if has_fit_parameter(step, "sample_weight")}
    if not taken:
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__} does not take it; use an estimator whose fit "
            "does, or repeat the rows."
        )
    return taken


def score_of(estimator: Any, rows: FloatArray) -> FloatArray:
    """Log odds of being labelled where the classifier has probabilities, else its decision values; finite."""
    if not hasattr(estimator, "predict_proba"):
        return np.nan_to_num(np.asarray(estimator.decision_function(rows), dtype=np.float64))
    probability = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    unlabeled, labelled = np.log(np.maximum(np.nan_to_num(probability), TINY)).T
    return np.asarray(labelled - unlabeled)


def check_can_score(estimator: Any) -> None:
    """Refuse a classifier that has no scores."""
    if not any(hasattr(estimator, method) for method in ("predict_proba", "decision_function")):
        raise ValueError(
            f"{type(estimator).__name__} has neither predict_proba nor decision_function, so it gives no score; use a "
            "classifier that has one of them."
        )


def check_n_folds(n_folds: object) -> int:
    """Refuse what is not a number of folds."""
    if not (isinstance(n_folds, int | np.integer) and not isinstance(n_folds, bool) and n_folds >= 2):
        raise ValueError(f"n_folds must be a whole number of 2 or more; got {n_folds!r}.")
    return int(n_folds)
