"""Why a row has the score it has: which training rows decide it, and which features tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray, on_host
from unlabeled.classifiers import LeastSquaresPUClassifier, ScoreWMMDClassifier, WMMDClassifier
from unlabeled.classifiers.pu import PARTS
from unlabeled.contract import without_search
from unlabeled.explanations.distances import DistanceReasons, distance_reasons
from unlabeled.explanations.learned_score import LearnedReasons, learned_reasons
from unlabeled.explanations.least_squares import LeastSquaresReasons, least_squares_reasons
from unlabeled.explanations.shares import Shares
from unlabeled.frames import is_frame

__all__ = [
    "DistanceReasons",
    "Explanation",
    "LearnedReasons",
    "LeastSquaresReasons",
    "OtherReasons",
    "Reasons",
    "Shares",
    "explain",
    "in_words",
]


@dataclass(frozen=True)
class OtherReasons:
    """A score of which nothing is told but what it is, and why: one of several parts of a model."""

    score: float
    why: str

    def by_column(self, sums: Callable[[FloatArray], FloatArray]) -> OtherReasons:  # noqa: ARG002
        """The same: nothing in it is by feature."""
        return self


#: What a score is made of, by the classifier that it is from.
MadeOf = DistanceReasons | LeastSquaresReasons | LearnedReasons | OtherReasons


@dataclass(frozen=True)
class Reasons:
    """What one of the scores in use goes by, what its score is multiplied by, and what that score is made of."""

    by: str
    weight: float
    made_of: MadeOf

    @property
    def adds(self) -> float:
        """What it adds to the score of the row."""
        return self.weight * self.made_of.score


@dataclass(frozen=True)
class Explanation:
    """The score of a row (a log ratio), the threshold it is compared with, and what each score in use adds to it.

    ``columns`` are the names of what has parts and importances, in their order: the columns of the table that the model
    was fitted to; None where they have no names.
    """

    score: float
    threshold: float
    reasons: tuple[Reasons, ...]
    columns: tuple[str, ...] | None = None

    @property
    def flagged(self) -> bool:
        """Whether `predict` answers positive."""
        return self.score - self.threshold > 0

    @property
    def unexplained(self) -> float:
        """What parts of the model that cannot be explained add to the score."""
        return float(sum(each.adds for each in self.reasons if isinstance(each.made_of, OtherReasons)))


@dataclass(frozen=True)
class _Kind:
    """A classifier whose score can be explained: what it goes by, in a word and in words, and how it is explained."""

    by: str
    in_words: Callable[[Any], str]
    explain: Callable[[Any, FloatArray], MadeOf]


def _name_of(estimator: Any) -> str:
    return "boosted trees" if estimator is None else type(estimator).__name__


_KINDS: dict[type, _Kind] = {
    WMMDClassifier: _Kind(
        "distances",
        lambda part: f"distances to the training rows (WMMD, gamma {part.gamma_:.3g})",
        distance_reasons,
    ),
    LeastSquaresPUClassifier: _Kind(
        "fitted ratio",
        lambda part: f"a ratio fitted by least squares ({len(part.landmarks_):,} landmarks)",
        least_squares_reasons,
    ),
    ScoreWMMDClassifier: _Kind(
        "learned score",
        lambda part: f"a learned score (WMMD in the score of {_name_of(part.estimator)})",
        learned_reasons,
    ),
}


def explain(model: Any, row: ArrayLike) -> Explanation:
    """Explain the score that a fitted classifier gives to a row.

    By distances the score is the log of a ratio of two means over training rows, or a sum of such logs: each training
    row has an exact share in a mean, and parts by feature sum up to the score. For a ratio fitted by least squares the
    answer says what the score would be with each feature at its mean. A learned score has no such parts: the answer has
    the training rows next to this one in that score, and the importances of its features. Features that were made of
    one column of a data frame are summed up: the parts are those of columns. Parts of a `PUClassifier` that cannot be
    explained, such as distances by the inverse kernel, are left out: ``unexplained`` is what they add to the score.

    Parameters
    ----------
    model : PUClassifier, WMMDClassifier, LeastSquaresPUClassifier or ScoreWMMDClassifier, or a pipeline
        Fitted; of a pipeline the last step is one of these. A model that the command line saved is such a pipeline.
    row : array of shape (n_features,), array, sparse matrix or data frame of shape (1, n_features), or mapping
        From columns to values, for a pipeline that takes one. For a pipeline that takes texts: a list of one text.

    Returns
    -------
    explanation : Explanation
        Its training rows are counted from 0, as in the table that `fit` was given.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, explain
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> found = explain(model, data.X[3])
    >>> reasons = found.reasons[0].made_of
    >>> bool(abs(reasons.by_feature.sum() + reasons.crowding - found.score) < 1e-5)
    True
    """
    check_is_fitted(model)
    model = without_search(model)
    table: Any = row
    if not is_frame(row) and np.ndim(row) == 1 and not isinstance(next(iter(table), None), str):
        table = row.to_frame().T if hasattr(row, "to_frame") else [row]  # a pandas row knows its columns
    if isinstance(model, Pipeline):
        return _of_pipeline(model, table)
    if getattr(model, "known_negatives_", None) is not None:
        raise ValueError(
            "Scores with known negatives are made of two fits and are not explained; fit without negative= to explain "
            "the score of positives and population."
        )
    rows = model._validated(on_host(table))
    if rows.shape[0] != 1:
        raise ValueError(f"explain takes one row; got {rows.shape[0]}.")
    reasons = _reasons_of(model, rows)
    names = getattr(model, "feature_names_in_", None)
    columns = None if names is None else tuple(names)
    return Explanation(float(model.score_rows(rows)[0]), float(model.threshold_), reasons, columns)


def _of_pipeline(model: Pipeline, table: Any) -> Explanation:
    """An explanation in terms of the table, if an encoder made features of it, else of what its last step sees."""
    before, encoder = model[:-1], model[0]
    found = explain(model[-1], before.transform(table))
    if len(before) == 1 and hasattr(encoder, "by_column"):
        names = getattr(encoder, "feature_names_in_", None)
        columns = None if names is None else tuple(names)
        reasons = tuple(replace(part, made_of=part.made_of.by_column(encoder.by_column)) for part in found.reasons)
        return replace(found, reasons=reasons, columns=columns)
    if found.columns is None and hasattr(before, "get_feature_names_out"):
        return replace(found, columns=tuple(before.get_feature_names_out()))
    return found


def in_words(model: Any) -> str:
    """What scores the rows of a fitted classifier, in words."""
    words = [
        _KINDS[type(part)].in_words(part) if type(part) in _KINDS else type(part).__name__
        for _, part, _ in _scores_in_use(model)
    ]
    return ", and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _scores_in_use(model: Any) -> list[tuple[str | None, Any, float]]:
    """The classifiers that give the score, the names of those that users gave, and what each score is multiplied by."""
    if not hasattr(model, "parts_"):
        return [(None, model, 1.0)]
    return [(None if name in PARTS else name, part, model.weights_[name]) for name, part in model.parts_.items()]


def _reasons_of(model: Any, rows: FloatArray) -> tuple[Reasons, ...]:
    """The reasons of all scores in use: of those of several that can be explained, and of one that must be."""
    found: list[Reasons] = []
    for name, part, weight in _scores_in_use(model):
        kind = _KINDS.get(type(part))
        by = name or (type(part).__name__ if kind is None else kind.by)
        try:
            found.append(Reasons(by, weight, _made_of(part, rows)))
        except ValueError as error:
            if part is model:
                raise
            found.append(Reasons(by, weight, OtherReasons(float(part.score_rows(rows)[0]), str(error))))
    refusals = [each.made_of.why for each in found if isinstance(each.made_of, OtherReasons)]
    if len(refusals) == len(found):
        raise ValueError(refusals[0])
    return tuple(found)


def _made_of(part: Any, rows: FloatArray) -> MadeOf:
    if type(part) not in _KINDS:
        known = " and ".join(kind.__name__ for kind in _KINDS)
        raise ValueError(f"Scores of {type(part).__name__} are not explained; those of {known} are.")
    return _KINDS[type(part)].explain(part, rows)
