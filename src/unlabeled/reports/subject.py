"""What a report is about: a model, what it knows of itself, and a table to look at, of which some rows are scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.contract import without_search
from unlabeled.displays.decision_boundary import feature_names, margins_of
from unlabeled.evaluation import Evidence, features_of, find_evidence, has_features_of_fit, has_honest_scores
from unlabeled.frames import columns_of_words, is_frame
from unlabeled.labels import known_among
from unlabeled.samples import some_rows
from unlabeled.tables import Column, Columns, TableModel
from unlabeled.tables.conversion import as_table
from unlabeled.tables.finding import columns_by_type
from unlabeled.tables.profile import ColumnProfile, profile

#: The most labelled and the most other rows of a table that are scored.
MOST_POSITIVES, MOST_UNLABELED = 2_000, 8_000


@dataclass(frozen=True)
class TableRows:
    """Some rows of a table, scored: labelled positives first, if the table says which these are.

    ``numbers`` are their places in the table, counted from 0; ``features`` are what the classifier sees. Of a long
    table most labelled rows may be here and few others: ``fair`` are places in which both are as frequent as there.
    """

    X: Any
    numbers: np.ndarray
    is_positive: np.ndarray | None
    features: Any
    margins: FloatArray
    names: tuple[str, ...]
    fair: np.ndarray
    is_negative: np.ndarray | None = None

    def of_population(self, scenario: str) -> np.ndarray:
        """Places of rows that are a sample of the population."""
        return self.unlabeled if scenario == "case-control" else self.fair

    @property
    def unlabeled(self) -> np.ndarray:
        """Places of the rows that are not labelled."""
        return np.arange(len(self.numbers)) if self.is_positive is None else np.flatnonzero(~self.is_positive)

    @property
    def unknown(self) -> np.ndarray:
        """Those of them that are not known to be negative."""
        places = self.unlabeled
        return places if self.is_negative is None else places[~self.is_negative[places]]

    def some(self, places: np.ndarray) -> Any:
        """The table of some of these rows."""
        return _safe_indexing(self.X, places)

    def frame(self, places: np.ndarray) -> pl.DataFrame | None:
        """The same as a data frame of polars, for people to read; None for sparse rows."""
        rows = self.some(places)
        if issparse(rows):
            return None
        if not is_frame(rows) and rows.ndim == 1:
            return pl.DataFrame({self.names[0]: [str(text) for text in rows]})
        return as_table(rows, self.names)


@dataclass(frozen=True)
class Subject:
    """A fitted model, and a table: the one it was fitted to (``is_training``), or another.

    ``labels`` are those of all rows of the table, if it has any, and ``negatives`` which of them are known to be
    negative; ``source`` is what it is called.
    """

    model: Any
    X: Any = None
    labels: np.ndarray | None = None
    is_training: bool = False
    source: str = ""
    y: Any = None
    before: tuple[ColumnProfile, ...] = ()
    negatives: np.ndarray | None = None
    known_columns: Columns | None = None

    @classmethod
    def of(cls, model: Any, X: Any = None, y: Any = None, *, source: str = "", after: Subject | None = None) -> Subject:
        """Check what was given, and find out whether the table is the one that the model was fitted to.

        ``after`` is about that one, and tells what its columns look like where the model does not know it.
        """
        check_is_fitted(model)
        model = without_search(model)
        if (X is None) != (y is None) and X is None:
            raise ValueError("y came without X; give both, or neither.")
        classifier = model[-1] if isinstance(model, Pipeline) else model
        if not hasattr(classifier, "scenario"):
            raise TypeError(
                f"A report is about a classifier of this package; {type(classifier).__name__} is none. "
                f"ScoreWMMDClassifier({type(classifier).__name__}()) makes one of a classifier of scikit-learn."
            )
        if X is None:
            return cls(model, source=source)
        before, columns = ((), None) if after is None or after.X is None else (after.training_profile, after.columns)
        labels = negatives = None
        if y is not None:
            unlabeled = getattr(classifier, "unlabeled_label_", None)
            labels, negatives = known_among(np.asarray(y), classifier.classes_, unlabeled)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if labels is not None and len(labels) != n_rows:
            raise ValueError(f"X has {n_rows:,} rows and y {len(labels):,}; they must agree.")
        if labels is not None and not labels.any():
            labels = negatives = None  # a table of which no row is labelled has no labels
        X = X if is_frame(X) or issparse(X) else np.asarray(X)
        found = cls(model, X, labels, source=source, y=y, before=before, negatives=negatives, known_columns=columns)
        return replace(found, is_training=_is_training(found))

    @property
    def classifier(self) -> Any:
        """The last step of a pipeline, or the model itself."""
        return self.model[-1] if isinstance(self.model, Pipeline) else self.model

    @property
    def facts(self) -> dict[str, Any]:
        """What `unlabeled fit` has kept."""
        return getattr(self.model, "facts", None) or {}

    @property
    def scenario(self) -> str:
        """How the labelled rows came about."""
        return str(self.classifier.scenario)

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return 0 if self.X is None else int(self.X.shape[0])

    @cached_property
    def evidence(self) -> Evidence | None:
        """Honest scores of the training rows; None where neither model nor table tells."""
        if has_honest_scores(self.classifier) or not self.is_training:
            return find_evidence(self.model)
        return find_evidence(self.model, self.X, self.y)

    @cached_property
    def rows(self) -> TableRows | None:
        """Some rows of the table, scored; None without a table."""
        if self.X is None:
            return None
        rng, all_rows = np.random.RandomState(0), np.arange(self.n_rows)
        labels = np.zeros(self.n_rows, dtype=bool) if self.labels is None else self.labels
        others = ~labels
        if self.negatives is not None and self.scenario == "case-control":  # of neither sample
            others = others & ~self.negatives
        sides = (all_rows[labels], MOST_POSITIVES), (all_rows[others], MOST_UNLABELED)
        chosen = [side[some_rows(len(side), most, rng)] for side, most in sides]
        numbers, fair = np.concatenate(chosen), _in_proportion(chosen, [len(side) for side, _ in sides])
        X = _safe_indexing(self.X, numbers)
        features = self.features(X)
        is_positive = None if self.labels is None else self.labels[numbers]
        is_negative = None if self.negatives is None else self.negatives[numbers]
        margins, names = self.margins(features), self.column_names
        return TableRows(X, numbers, is_positive, features, margins, names, fair, is_negative)

    @property
    def labelled_share(self) -> float | None:
        """The share of the table's rows that is labelled, where that is one of the population; else None."""
        if self.labels is None or self.scenario == "case-control":
            return None
        return float(self.labels.mean())

    @property
    def is_weighted(self) -> bool:
        """Whether the model was fitted with weights, which a report is not given."""
        return bool((self.classifier._table_seen or {}).get("is_weighted"))

    def features(self, X: Any) -> Any:
        """Rows of a table as the classifier sees them."""
        return features_of(self.model, X)

    def margins(self, features: Any) -> FloatArray:
        """Score less threshold."""
        return margins_of(self.classifier)(features)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the table, as people call them."""
        if is_frame(self.X):
            return tuple(str(name) for name in self.X.columns)
        if len(self.X.shape) == 1:
            return ("text",)  # a pipeline makes features of it
        names: Sequence[Any] = getattr(self.classifier, "feature_names_in_", ())
        if isinstance(self.model, Pipeline):
            names = getattr(self.model[0], "feature_names_in_", names)
        n_columns = self.X.shape[1]
        return tuple(map(str, names)) if len(names) == n_columns else tuple(f"x{place}" for place in range(n_columns))

    @cached_property
    def feature_names(self) -> list[str]:
        """The names of what the classifier sees."""
        return feature_names(self.model, self.rows.features.shape[1] if self.rows is not None else 0)

    @property
    def encoder(self) -> Any:
        """What makes features of the table's columns; None where they are features as they are, or by other steps."""
        return self.model[0] if isinstance(self.model, TableModel) else getattr(self.classifier, "encoder_", None)

    @cached_property
    def columns(self) -> Columns:
        """What the columns of the table are: as the encoder or another table knows them, or by their types."""
        found = getattr(self.encoder, "columns_", self.known_columns)
        if found is not None:
            return found
        if not is_frame(self.X):
            return Columns(tuple(Column(name, "number") for name in self.column_names))
        words = {str(name): name for name in self.X.columns if str(name) in columns_of_words(self.X)}
        frame = as_table(self.X[list(words.values())]) if words else pl.DataFrame()
        return columns_by_type(frame, self.column_names)

    @property
    def are_columns_known(self) -> bool:
        """Whether it is known which values the columns had in `fit`."""
        known = self.is_training or self.known_columns is not None or self.encoder is not None
        return known or not any(column.kind == "category" for column in self.columns.all)

    @cached_property
    def training_profile(self) -> tuple[ColumnProfile, ...]:
        """What the columns of the training table look like: as was said, as the model has kept it, or as seen here."""
        if self.before:
            return self.before
        if "profile" in self.facts:
            return tuple(ColumnProfile.from_dict(entry) for entry in self.facts["profile"])
        rows = self.rows
        if rows is None or not self.is_training:
            return ()
        frame = self.as_frame(rows.some(rows.of_population(self.scenario)))
        return () if frame is None else tuple(profile(frame, self.columns))

    def as_frame(self, X: Any) -> pl.DataFrame | None:
        """A table in which columns are found by name; None for sparse rows, for texts, and for none."""
        if X is None or issparse(X) or len(X.shape) == 1:
            return None
        return as_table(X) if is_frame(X) else as_table(np.asarray(X, dtype=np.float64), self.column_names)


def hidden_share(prior: float, labelled_share: float) -> float:
    """The share of the unlabeled rows that is positive."""
    return float(np.clip((prior - labelled_share) / max(1 - labelled_share, 1e-9), 0, 1))


def _in_proportion(chosen: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """Places, in the concatenation of chosen rows of two sides, that have both in the proportion of their sizes."""
    share = min((len(some) / size for some, size in zip(chosen, sizes, strict=True) if size), default=0.0)
    kept = [np.linspace(0, len(some) - 1, round(share * size)) for some, size in zip(chosen, sizes, strict=True)]
    return np.concatenate([np.round(kept[0]), len(chosen[0]) + np.round(kept[1])]).astype(int)


def _is_training(subject: Subject) -> bool:
    """Whether a table is that of `fit`: the same features in some rows, and labels where they were."""
    labels = subject.labels
    if labels is None or not has_features_of_fit(subject.model, subject.X, labels):
        return False
    return _has_labels_of_fit(subject.model, subject.classifier, labels)


def _has_labels_of_fit(model: Any, classifier: Any, labels: np.ndarray) -> bool:
    """Whether labels are where they were: as many rows, and the honest scores' rows have their labels."""
    facts = getattr(model, "facts", None) or {}
    if "n_rows" in facts and facts["n_rows"] != len(labels):
        return False
    if not has_honest_scores(classifier):
        return not facts or facts["label"]["n_positive"] == int(labels.sum())
    honest = classifier.honest_scores_
    positive, unlabeled = honest.positive_rows, honest.unlabeled_rows
    if positive is None or max(positive.max(), unlabeled.max()) >= len(labels):
        return False
    if not labels[positive].all() or int(labels.sum()) < len(np.unique(positive)):
        return False
    among_others = classifier.scenario == "single-sample" and not honest.labelled_share
    return among_others or not labels[unlabeled].any()
