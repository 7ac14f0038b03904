"""Columns of numbers, dates, categories and texts as features of one scale, by scikit-learn's transformers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import Columns, Notices
from unlabeled.tables.texts import TextFeatures

#: The most features that a category column becomes; the rarest values share one.
MOST_CATEGORIES = 50


class FrameEncoder(TransformerMixin, BaseEstimator):
    """From the columns of a table to features for a kernel.

    Numbers and dates are brought to mean 0 and variance 1; where one is missing it becomes the median, and a feature
    says that it was. Booleans and categories become one feature for each value, missing being a value; a value
    that is new at prediction counts as one of the rare ones, or as none. Two rows that differ in a
    category are then as far apart as two rows that differ by 1.4 standard deviations in a number. Texts become a few
    features each (`TextFeatures`).

    Parameters
    ----------
    columns : Columns
        What the columns of the table are, see `unlabeled.tables.find_columns`.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns

    def fit(self, frame: pl.DataFrame, y: object = None) -> FrameEncoder:
        """Learn scales, medians, categories and words from a table."""
        self.fit_transform(frame, y)
        return self

    def fit_transform(self, frame: pl.DataFrame, y: object = None, **_metadata: Any) -> FloatArray:
        """Learn from a table, and answer with its features (n_rows, n_features)."""
        del y
        matrix, _ = self.columns.matrix(frame)
        self.matrix_encoder_ = _matrix_encoder(self.columns)
        self.text_encoders_ = [TextFeatures().fit(texts) for texts in self.columns.words(frame)]
        coded = [self.matrix_encoder_.fit_transform(matrix)] if self.columns.coded else []
        return np.hstack([*coded, *self._text_features(frame)])

    def transform(self, frame: pl.DataFrame) -> FloatArray:
        """The features (n_rows, n_features) of a table."""
        return self.encode(frame)[0]

    def encode(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The features of a table, and what was strange in it."""
        matrix, notices = self.columns.matrix(frame)
        coded = [self.matrix_encoder_.transform(matrix)] if self.columns.coded else []
        return np.hstack([*coded, *self._text_features(frame)]), notices

    def _text_features(self, frame: pl.DataFrame) -> list[FloatArray]:
        words = self.columns.words(frame)
        return [encoder.transform(texts) for encoder, texts in zip(self.text_encoders_, words, strict=True)]

    def feature_columns(self) -> list[int]:
        """For each feature, the place of the column it comes from among the used ones."""
        n_coded, places = len(self.columns.coded), []
        if n_coded:
            names = self.matrix_encoder_.get_feature_names_out([f"column{place}_" for place in range(n_coded)])
            places = [int(re.search(r"column(\d+)_", name)[1]) for name in names]  # type: ignore[index]
        for place, encoder in enumerate(self.text_encoders_, start=n_coded):
            places += [place] * len(encoder.directions_)
        return places


def _matrix_encoder(columns: Columns) -> ColumnTransformer:
    """The transformer from the matrix of `Columns.matrix` to features."""
    numbers = make_pipeline(StandardScaler(), SimpleImputer(strategy="median", add_indicator=True))
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False)
    n_numbers, n_columns = columns.n_with_scale, len(columns.coded)
    steps = [("numbers", numbers, slice(0, n_numbers)), ("words", words, slice(n_numbers, n_columns))]
    return ColumnTransformer([step for step in steps if step[2].start < step[2].stop], sparse_threshold=0)
