"""Scores of rows by a classifier of labelled against unlabeled rows that was not fitted on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from unlabeled.kernels import FloatArray
from unlabeled.priors.scores import Scores
from unlabeled.samples import PUSample, Sample
from unlabeled.selection import HOLDOUT_SHARE

TINY = np.finfo(np.float64).tiny
LONGEST_DEAL = 1_000_000


@dataclass(frozen=True)
class Table:
    """Rows of both samples, which are labelled, how often each counts, and its place in the whole table."""

    rows: FloatArray
    labelled: np.ndarray
    weights: FloatArray
    place: np.ndarray

    @classmethod
    def of(cls, pu: PUSample) -> Table:
        """Labelled rows above unlabeled ones."""
        parts = (pu.positive, pu.unlabeled)
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.repeat([True, False], [len(part) for part in parts]),
            np.concatenate([part.weights for part in parts]),
            np.arange(sum(len(part) for part in parts)),
        )

    def samples(self, scenario: str) -> PUSample:
        """The two samples again."""
        whole = Sample(self.rows, np.log(self.weights))
        return PUSample(whole.take(self.labelled), whole.take(~self.labelled), scenario)

    def weighted(self, weights: FloatArray) -> Table:
        """The same rows with other weights; those of weight 0 are left out."""
        counts = weights > 0
        return Table(self.rows[counts], self.labelled[counts], weights[counts], self.place[counts])

    def folds(self, n_folds: int) -> list[tuple[Table, Table]]:
        """What to fit on and what to score, for each fold that has any rows.

        Copies of a row and a row with a weight come to the same, and the order of the rows does not matter: they are
        ordered by their values, and the places in that order are dealt to the folds at random, always in the same way.
        Two rows of a sample lie in two folds, so that no fit lacks either sample.
        """
        dealt, rng = np.zeros((len(self.rows), n_folds)), np.random.RandomState(0)
        for of_sample in (np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)):
            order = of_sample[np.lexsort(self.rows[of_sample].T[::-1])]
            dealt[order] = deal(self.weights[order], n_folds, rng)
        left = self.weights[:, None] - dealt
        return [(self.weighted(left[:, k]), self.weighted(dealt[:, k])) for k in range(n_folds) if dealt[:, k].any()]

    def split(self, rng: np.random.RandomState) -> tuple[Table, Table]:
        """A random 80 % of each sample, and the other 20 %. A single row, of whatever weight, is on both sides."""
        kept, held = np.zeros((2, len(self.rows)), dtype=bool)
        for of_sample in (np.flatnonzero(self.labelled), np.flatnonzero(~self.labelled)):
            order = rng.permutation(of_sample)
            n_held = int(np.ceil(HOLDOUT_SHARE * len(order)))
            held[order[:n_held]] = True
            kept[order[n_held:] if n_held < len(order) else order] = True
        return self.weighted(np.where(kept, self.weights, 0)), self.weighted(np.where(held, self.weights, 0))


def deal(weights: FloatArray, n_folds: int, rng: np.random.RandomState) -> FloatArray:
    """Cut a line of weights into units and deal them to the folds at random, as evenly as can be; (n_rows, n_folds).

    Not in turn: every row would then be scored by a fit that has both its neighbours in this order, so that a flexible
    classifier would find more rows of its own sample around it than around a new row, and score it accordingly.
    """
    unit = min(1.0, weights.max())  # small weights are dealt row by row; two rows are always more than one unit
    ends = np.concatenate([[0], np.cumsum(weights)]) / unit
    n_units = min(ends[-1] * (1 - 1e-12), LONGEST_DEAL)  # after so many the deal is repeated
    fold_of_unit = rng.permutation(int(np.ceil(n_units))) % n_folds
    up_to_unit = np.vstack([np.zeros(n_folds), np.cumsum(fold_of_unit[:, None] == np.arange(n_folds), axis=0)])
    rounds, rest = np.divmod(ends, len(fold_of_unit))
    unit_before = np.minimum(rest.astype(int), len(fold_of_unit) - 1)
    part = (rest - unit_before)[:, None] * (up_to_unit[unit_before + 1] - up_to_unit[unit_before])
    up_to_row = rounds[:, None] * up_to_unit[-1] + up_to_unit[unit_before] + part
    dealt = np.diff(up_to_row, axis=0) * (unit / weights)[:, None]
    # All or nothing, where only rounding says otherwise.
    return np.where(dealt < 1e-9, 0, np.where(dealt > 1 - 1e-9, 1, dealt)) * weights[:, None]


def held_out_scores(estimator: Any, parts: list[tuple[Table, Table]]) -> Scores:
    """Scores of what is held out of each part by a clone fitted to what is kept, in the order of the whole table."""
    held = [(table, score_of(fit_clone(estimator, kept), table.rows)) for kept, table in parts]
    place, labelled, weights = (
        np.concatenate([getattr(table, name) for table, _ in held]) for name in ("place", "labelled", "weights")
    )
    values, order = np.concatenate([scores for _, scores in held]), np.argsort(place, kind="stable")
    positive, unlabeled = order[labelled[order]], order[~labelled[order]]
    return Scores(values[positive], values[unlabeled], weights[positive], weights[unlabeled])


def fit_clone(estimator: Any, table: Table) -> Any:
    """A clone fitted to tell labelled (1) from unlabeled (0) rows; weights are passed only where they say something."""
    labels = table.labelled.astype(int)
    if (table.weights == 1).all():
        return clone(estimator).fit(table.rows, labels)
    return clone(estimator).fit(table.rows, labels, **_weight_arguments(estimator, table.weights))


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
