"""Columns of numbers, dates, categories and texts as features of one scale."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from unlabeled.arrays import FloatArray
from unlabeled.tables.categories import ManyCategories
from unlabeled.tables.columns import Column, Columns, Notices, present_text
from unlabeled.tables.conversion import array_names, as_table, column_names, is_table
from unlabeled.tables.cycles import find_cycles, on_circles
from unlabeled.tables.errors import TableError
from unlabeled.tables.finding import find_columns
from unlabeled.tables.remedies import said_in_python
from unlabeled.tables.texts import MOST_FEATURES, TextFeatures

#: The most features that say which category it is; the rarest values share one.
MOST_CATEGORIES = 50
#: How the inner transformer calls features: of which column, and which category or that it is missing.
_CODED = re.compile(r"\w+__(missingindicator_)?column(\d+)(?:_(.*))?")


class TableEncoder(TransformerMixin, BaseEstimator):
    """From a table of numbers, dates, booleans, categories and texts, with missing values, to features.

    What a column is, is found by looking at all of its values, or said (``kinds``). This is how the command line reads
    its tables, and how the classifiers read data frames that have columns of words.

    - *Numbers* and *dates* are brought to mean 0 and variance 1; where one is missing it becomes the median, and a
      feature says that it was.
    - *Dates* have the time of day, the day of the week and the time of year besides, as points on circles, where they
      go round them at least twice.
    - *Booleans* and *categories* become one feature for each value, missing being a value. The rarest values share a
      feature (``max_categories``), and columns with as many values also tell how frequent each is and how it is
      spelled. A value that is new in `transform` counts as a rare one, or as none.
    - *Text* becomes a few features by latent semantic analysis.
    - Columns that are constant, empty or name the rows, such as numbers of customers, are left out.

    Two rows that differ in a category are then as far apart as two rows that differ by 1.4 standard deviations in a
    number, so that features can be compared by a kernel. Labels take no part.

    Parameters
    ----------
    kinds : mapping from names to kinds, optional
        What columns are, instead of what would be found: "number", "category", "date", "boolean", "text", "identifier"
        or "drop". Numbers and dates may be said to be written in some way: "number:1.234,5", "date:%d/%m/%Y".
    decimal : {".", ","}, optional
        The decimal mark of numbers that are written as text, where they leave that open.
    max_categories : int, default=50
        The most features that say which value a category has.
    max_text_features : int, default=10
        The most features that a text, or the spelling of a category, becomes.

    Attributes
    ----------
    columns_ : Columns
        What each column is: ``columns_.all`` has a name, a kind and a note for each.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Their names, where they have any.
    n_missing_ : array of shape (`n_features_in_`,)
        How many values of each were missing in `fit`.
    n_features_out_ : int
        The number of features.

    Examples
    --------
    >>> from unlabeled.tables import TableEncoder
    >>> table = {"age": [31, None, 54, 18], "city": ["Bonn", "Rome", "Bonn", None], "id": ["a7", "b2", "b3", "c1"]}
    >>> encoder = TableEncoder(kinds={"id": "identifier"}).fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age_missing', 'city_Bonn', 'city_Rome', 'city_missing']
    >>> encoder.transform({"age": 31, "city": "Oslo"}).shape
    (1, 5)
    """

    columns_: Columns
    n_features_in_: int
    feature_names_in_: np.ndarray
    n_missing_: np.ndarray
    n_features_out_: int

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        decimal: str | None = None,
        max_categories: int = MOST_CATEGORIES,
        max_text_features: int = MOST_FEATURES,
    ) -> None:
        self.kinds = kinds
        self.decimal = decimal
        self.max_categories = max_categories
        self.max_text_features = max_text_features

    def fit(self, X: Any, y: object = None) -> TableEncoder:
        """Learn what the columns are, their scales, medians, categories and words.

        Parameters
        ----------
        X : data frame of pandas or polars, mapping from names to columns, or array of shape (n_samples, n_columns)
        y : ignored

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> encoder = TableEncoder().fit(table)
        >>> [column.kind for column in encoder.columns_.all]
        ['number', 'category']
        """
        del y
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: object = None, **_metadata: Any) -> FloatArray:
        """Learn from a table, and answer with its features (n_samples, n_features).

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> TableEncoder().fit_transform(table).shape
        (4, 4)
        """
        del y
        return self._fit(X)

    def transform(self, X: Any) -> FloatArray:
        """The features (n_samples, n_features) of a table; columns are found by name, in any order.

        A value that cannot be read, such as a word among numbers, is taken as missing, with a warning.

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> encoder = TableEncoder().fit(table)
        >>> encoder.transform({"age": 40, "city": "Rome"})[0, 1:]
        array([0., 0., 1.])
        """
        return self.features(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """The names of the features: that of the column, and what of it.

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> encoder = TableEncoder().fit(table)
        >>> encoder.get_feature_names_out().tolist()
        ['age', 'city_Bonn', 'city_Oslo', 'city_Rome']
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        names = [f"{given[place]}{what and f'_{what}'}" for place, what in self._named()]
        return np.array(_made_different(names), dtype=object)

    def by_column(self, values: ArrayLike) -> FloatArray:
        """Values of features, such as importances, summed up by column (n_columns,).

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> encoder = TableEncoder().fit(table)
        >>> encoder.by_column([5.0, 1.0, 2.0, 3.0])
        array([5., 6.])
        """
        sums = np.zeros(self.n_features_in_)
        np.add.at(sums, self.columns_of_features, values)
        return sums

    @property
    def columns_of_features(self) -> np.ndarray:
        """For each feature, the place of the column that it was made of."""
        return np.array([place for place, _ in self._named()])

    def features(self, X: Any) -> FloatArray:
        """What `transform` answers, as an array whatever `set_output` was told.

        Examples
        --------
        >>> from unlabeled.tables import TableEncoder
        >>> table = {"age": [31, 40, 58, 18], "city": ["Bonn", "Rome", "Bonn", "Oslo"]}
        >>> encoder = TableEncoder().fit(table)
        >>> encoder.set_output(transform="pandas").features(table).shape
        (4, 4)
        """
        check_is_fitted(self)
        features, notices = self.encode(self._table(X))
        for name, n_bad in notices.unreadable.items():
            warnings.warn(
                f"Column {name!r}: {n_bad:,} values cannot be read, such as {notices.examples[name]!r}; taken as "
                "missing.",
                stacklevel=3,
            )
        return features

    # --- tables of polars, whose columns are known ---

    def fit_columns(self, frame: pl.DataFrame, columns: Columns) -> FloatArray:
        """Learn from a table of which it is known what its columns are, and answer with its features."""
        self._check_parameters()
        if not columns.used:
            reasons = "; ".join(f"{column.name}: {column.note}" for column in columns.all[:5])
            raise TableError(f"No column says anything about the rows, n_samples={len(frame)} ({reasons}).")
        self.columns_, self.n_features_in_ = columns, len(columns.all)
        self.feature_names_in_ = np.array([column.name for column in columns.all], dtype=object)
        matrix, _ = columns.matrix(frame)
        self.n_missing_ = _n_missing(frame, columns, matrix)
        self.matrix_encoder_ = _matrix_encoder(columns, self.max_categories)
        if columns.coded:
            self.matrix_encoder_.fit(matrix)
        self.cycles_ = {
            columns.coded[place].name: _cycles(frame[columns.coded[place].name], matrix[:, place])
            for place in columns.places("date")
        }
        self.word_encoders_ = {
            column.name: encoder.fit(columns.words(frame, column.name)) for column, encoder in self._word_encoders()
        }
        features, _ = self.encode(frame)
        self.n_features_out_ = features.shape[1]
        return features

    def encode(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The features of a table, and what was strange in it."""
        columns = self.columns_
        matrix, notices = columns.matrix(frame)
        blocks = [self.matrix_encoder_.transform(matrix)] if columns.coded else []
        blocks += [on_circles(matrix[:, p], self.cycles_[columns.coded[p].name]) for p in columns.places("date")]
        blocks += [encoder.transform(columns.words(frame, name)) for name, encoder in self.word_encoders_.items()]
        return np.hstack(blocks), notices

    def _word_encoders(self) -> Iterator[tuple[Column, TextFeatures | ManyCategories]]:
        """The columns whose letters count, texts and categories of which there are many, and what makes features."""
        for column in self.columns_.used:
            if column.kind == "text":
                yield column, TextFeatures(self.max_text_features)
            elif column.kind == "category" and len(column.categories) > self.max_categories:
                yield column, ManyCategories(self.max_text_features)

    def _named(self) -> list[tuple[int, str]]:
        """For each feature, the place of its column among all, and what of the column it is."""
        columns, coded = self.columns_, self.columns_.coded
        place_of = {column.name: place for place, column in enumerate(columns.all)}
        named = []
        if coded:
            inner = self.matrix_encoder_.get_feature_names_out([f"column{place}" for place in range(len(coded))])
            named += [_coded_name(name, coded) for name in inner]
        for name, cycles in self.cycles_.items():
            named += [(name, f"{cycle}_{side}") for cycle in cycles for side in ("sin", "cos")]
        for name, encoder in self.word_encoders_.items():
            named += [(name, what) for what in encoder.get_feature_names_out()]
        return [(place_of[name], what) for name, what in named]

    # --- how tables come in ---

    def _fit(self, X: Any) -> FloatArray:
        has_names = is_table(X) and all(isinstance(name, str) for name in column_names(X))
        frame = self._checked_table(X, reset=True)
        with said_in_python():
            columns = find_columns(frame, kinds=self.kinds, decimal=self.decimal)
        features = self.fit_columns(frame, columns)
        if not has_names:
            del self.feature_names_in_
        return features

    def _table(self, X: Any) -> pl.DataFrame:
        """A table to answer for, with the names that it had in fit: by name, or by place where it had none."""
        frame = self._checked_table(X, reset=False)
        if is_table(X) and hasattr(self, "feature_names_in_"):
            self.columns_.check_present(frame.columns, "The table")
            return frame
        names = [column.name for column in self.columns_.all]
        if len(names) != frame.width:
            raise ValueError(
                f"X has {frame.width} features, but TableEncoder is expecting {len(names)} features as input."
            )
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def _checked_table(self, X: Any, *, reset: bool) -> pl.DataFrame:
        if not is_table(X):
            X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            return as_table(X, array_names(X.shape[1]))
        frame = as_table(X)
        if frame.is_empty():
            raise TableError(f"The table has {frame.width:,} columns and no rows.")
        return frame

    def _check_parameters(self) -> None:
        for name, least in (("max_categories", 2), ("max_text_features", 1)):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} must be a whole number of {least} or more; got {value!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _matrix_encoder(columns: Columns, max_categories: int) -> ColumnTransformer:
    """The transformer from the matrix of `Columns.matrix` to features."""
    numbers = make_pipeline(StandardScaler(), SimpleImputer(strategy="median", add_indicator=True))
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=max_categories, sparse_output=False)
    n_numbers, n_columns = columns.n_with_scale, len(columns.coded)
    steps = [("numbers", numbers, slice(0, n_numbers)), ("words", words, slice(n_numbers, n_columns))]
    return ColumnTransformer([step for step in steps if step[2].start < step[2].stop], sparse_threshold=0)


def _n_missing(frame: pl.DataFrame, columns: Columns, matrix: FloatArray) -> np.ndarray:
    """How many values of each column are missing, given the matrix of those that are coded."""
    coded = dict(zip((column.name for column in columns.coded), np.isnan(matrix).sum(axis=0), strict=True))
    texts = {column.name: present_text(frame[column.name]).null_count() for column in columns.texts}
    known = coded | texts
    return np.array([known[c.name] if c.name in known else frame[c.name].null_count() for c in columns.all])


def _cycles(values: pl.Series, days: FloatArray) -> list[str]:
    if values.dtype == pl.Time:
        return ["hour"]
    return [] if values.dtype == pl.Duration else find_cycles(days)


def _coded_name(name: str, coded: tuple[Column, ...]) -> tuple[str, str]:
    """The column of a feature of the matrix, and what of it: nothing more, a value, the rare values, or missing."""
    missing, place, code = _CODED.fullmatch(name).groups()  # type: ignore[union-attr]
    column = coded[int(place)]
    if missing or code == "nan":
        return column.name, "missing"
    if code == "infrequent_sklearn":
        return column.name, "rare"
    return column.name, column.categories[int(float(code))] if code else ""


def _made_different(names: list[str]) -> list[str]:
    """Names, with a number behind those that are taken: of a column that is called like a feature of another."""
    taken: set[str] = set()
    for place, name in enumerate(names):
        free, number = name, 2
        while free in taken:
            free, number = f"{name}_{number}", number + 1
        taken.add(free)
        names[place] = free
    return names
