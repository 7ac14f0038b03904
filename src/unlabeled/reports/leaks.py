"""Columns that know the label: values that labelled rows have, and the unlabeled positives do not.

If the labelled rows are a random choice of all positives, then wherever a share of them is, there is the same share of
the unlabeled positives. A perfect column is no exception: it tells positives from negatives, but not labelled positives
from the others. So values that hold a share of the labelled rows, and far fewer unlabeled rows than that share of the
unlabeled positives, know which rows were labelled. How many of them are labelled by chance is hypergeometric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse
from scipy.stats import hypergeom
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from unlabeled.arrays import FloatArray
from unlabeled.reports.subject import Subject, TableRows

#: Values that hold a smaller share of the labelled rows are not looked at.
LEAST_SHARE = 0.1
#: Fewer unlabeled rows than this part of the positives that belong there are far fewer: a prior may be too large.
SPARED = 0.25
#: Of a wider table so many columns are looked at: those with the largest AUC by themselves.
MOST_COLUMNS = 200
_LEVEL = 0.001
_N_REGIONS = 20
_FOLDS = 3


@dataclass(frozen=True)
class Region:
    """Values of a column: the labelled and the other rows that have them, and the other positives to expect there."""

    share: float
    n_labelled: int
    n_others: int
    n_expected: float


@dataclass(frozen=True)
class ColumnScores:
    """A column as one score for each row, the higher the more labelled rows have values like its own."""

    name: str
    scores: FloatArray
    is_labelled: np.ndarray
    area_in_order: float = 0.5  # the AUC of the values as they are

    @property
    def area(self) -> float:
        """The AUC of labelled against unlabeled rows, by the scores or by the values in their order.

        With few labelled rows the tree behind the scores says little of a column whose order says much.
        """
        of_scores = float(placements(self.scores[self.is_labelled], self.scores[~self.is_labelled]).mean())
        return max(of_scores, self.area_in_order)

    def leak(self, n_hidden: float, n_columns: int = 1) -> Region | None:
        """The values that hold the largest share of the labelled rows for far too few others; None where none do."""
        return leaking_region(self.scores[self.is_labelled], self.scores[~self.is_labelled], n_hidden, n_columns)


def leaking_region(labelled: FloatArray, others: FloatArray, n_hidden: float, n_tried: int = 1) -> Region | None:
    """The highest scores that hold too few others, if so many of these (``n_hidden``) are positive; None if none do.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.reports.leaks import leaking_region
    >>> leaking_region(np.ones(50), np.zeros(400), n_hidden=40)
    Region(share=1.0, n_labelled=50, n_others=0, n_expected=40.0)
    >>> leaking_region(np.ones(50), np.repeat([1.0, 0.0], [40, 360]), n_hidden=40)  # a perfect column, and no leak
    """
    n_labelled, n_positive = len(labelled), len(labelled) + int(n_hidden)
    ends = np.unique(np.quantile(labelled, np.linspace(0, 1 - LEAST_SHARE, _N_REGIONS), method="lower"))
    for end in ends:  # the largest region first
        n_in, n_others = int((labelled >= end).sum()), int((others >= end).sum())
        found = Region(n_in / n_labelled, n_in, n_others, n_in / n_labelled * n_hidden)
        if n_others > SPARED * found.n_expected:
            continue
        by_chance = hypergeom.sf(n_in - 1, n_positive, min(n_in + n_others, n_positive), n_labelled)
        if by_chance <= _LEVEL / (_N_REGIONS * n_tried):
            return found
    return None


def column_scores(subject: Subject, rows: TableRows) -> list[ColumnScores]:
    """Every column of a table by itself, each row scored by a tree that has not seen it; sparse ones by presence."""
    is_labelled = rows.is_positive
    assert is_labelled is not None  # noqa: S101  # asked for by the caller
    if issparse(rows.features):
        return list(_by_presence(subject, rows, is_labelled))
    columns = dict(_columns(subject, rows))
    areas = {name: float(column_areas(values, is_labelled).max()) for name, values in columns.items()}
    kept = sorted(columns, key=lambda name: -areas[name])[:MOST_COLUMNS] if len(columns) > MOST_COLUMNS else columns
    return [ColumnScores(name, _scores(columns[name], is_labelled), is_labelled, areas[name]) for name in kept]


def _columns(subject: Subject, rows: TableRows) -> Iterator[tuple[str, FloatArray]]:
    """The columns of the table as numbers, a category being one; texts as the features that were made of them."""
    frame = subject.as_frame(rows.X)
    if frame is None or not subject.columns.used:
        yield from zip(subject.feature_names, np.asarray(rows.features, dtype=np.float64).T[..., None], strict=True)
        return
    matrix, _ = subject.columns.matrix(frame)
    for column, values in zip(subject.columns.coded, matrix.T, strict=True):
        yield column.name, values[:, None]
    if subject.encoder is not None:
        place_of = {column.name: place for place, column in enumerate(subject.columns.all)}
        for column in subject.columns.texts:
            yield column.name, rows.features[:, subject.encoder.columns_of_features == place_of[column.name]]


def _scores(values: FloatArray, is_labelled: np.ndarray) -> FloatArray:
    """The share of labelled rows among rows with values like those of each, told by rows of other folds."""
    lowest = np.nanmin(values, initial=0.0) - 1
    known = np.where(np.isnan(values), lowest, values)  # missing is a value
    tree = DecisionTreeClassifier(max_leaf_nodes=32, min_samples_leaf=2, random_state=0)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(tree, known, is_labelled, cv=folds, method="predict_proba")[:, 1])


def _by_presence(subject: Subject, rows: TableRows, is_labelled: np.ndarray) -> Iterator[ColumnScores]:
    """Features of which most values are zero, such as words, by whether they are there; the most telling ones."""
    present = (rows.features != 0).tocsc()
    shares = [np.asarray(present[side].mean(axis=0)).ravel() for side in (is_labelled, ~is_labelled)]
    for place in np.argsort(shares[1] - shares[0], kind="stable")[:MOST_COLUMNS]:
        scores = present[:, [place]].toarray().ravel().astype(np.float64)
        yield ColumnScores(subject.feature_names[place], scores, is_labelled)


def column_areas(features: FloatArray, is_positive: np.ndarray) -> FloatArray:
    """For each feature the AUC of labelled against unlabeled rows, in the better direction; missing is a value.

    Of a feature with missing values the better of two: missing as the lowest, and as the highest value.
    """
    areas = np.full(features.shape[1], 0.5)
    for place, column in enumerate(np.asarray(features, dtype=np.float64).T):
        fills = (-np.inf, np.inf) if np.isnan(column).any() else (0.0,)
        filled = (np.where(np.isnan(column), fill, column) for fill in fills)
        found = [float(placements(values[is_positive], values[~is_positive]).mean()) for values in filled]
        areas[place] = max(max(area, 1 - area) for area in found)
    return areas


def placements(positive: FloatArray, others: FloatArray) -> FloatArray:
    """For each positive the share of the others that score lower, ties counting half."""
    ordered = np.sort(others)
    below, upto = (np.searchsorted(ordered, positive, side=side) for side in ("left", "right"))
    return np.asarray((below + upto) / (2 * len(ordered)))
