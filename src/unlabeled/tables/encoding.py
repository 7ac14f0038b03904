"""Columns of numbers, dates and categories as features of one scale, by a scikit-learn pipeline."""

from __future__ import annotations

import re
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from unlabeled.tables.columns import Columns

#: The most features that a category column becomes; the rarest values share one.
MOST_CATEGORIES = 50


def make_encoder(columns: Columns) -> ColumnTransformer:
    """The transformer from the matrix of `Columns.matrix` to features for a kernel.

    Numbers and dates are brought to mean 0 and variance 1; where one is missing it becomes the median, and a feature
    says that it was. Booleans and categories become one feature for each value, missing being a value; a value
    that is new at prediction counts as one of the rare ones, or as none. Two rows that differ in a
    category are then as far apart as two rows that differ by 1.4 standard deviations in a number.
    """
    numbers = make_pipeline(StandardScaler(), SimpleImputer(strategy="median", add_indicator=True))
    words = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False)
    n_numbers, n_columns = columns.n_with_scale, len(columns.used)
    steps = [("numbers", numbers, slice(0, n_numbers)), ("words", words, slice(n_numbers, n_columns))]
    return ColumnTransformer([step for step in steps if step[2].start < step[2].stop], sparse_threshold=0)


def feature_columns(pipeline: Pipeline, n_columns: int) -> list[int]:
    """For each feature that the encoder makes, the column of the matrix that it comes from."""
    encoder: Any = pipeline[:-1]
    names = encoder.get_feature_names_out([f"column{place}_" for place in range(n_columns)])
    return [int(re.search(r"column(\d+)_", name)[1]) for name in names]  # type: ignore[index]
