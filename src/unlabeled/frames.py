"""Data frames of pandas and polars, told by their type: neither library is loaded for it, nor need be installed."""

from __future__ import annotations

from importlib import import_module
from numbers import Number
from typing import Any

import numpy as np

_LIBRARIES = ("pandas", "polars")
#: Kinds of numpy's and pandas' types that are numbers already: booleans, whole numbers, floats.
_NUMBER_KINDS = "biuf"


def is_frame(X: object) -> bool:
    """Whether X is a data frame of pandas or polars, or of a class derived from theirs."""
    return any(_library(kind) in _LIBRARIES and kind.__name__ == "DataFrame" for kind in type(X).__mro__)


def columns_of_words(X: Any) -> list[str]:
    """The names of the columns of a data frame that are not numbers or booleans by type; none if X is no data frame."""
    if not is_frame(X):
        return []
    columns = X.iter_columns() if hasattr(X, "iter_columns") else (column for _, column in X.items())
    return [str(column.name) for column in columns if not _is_number(column)]


def check_names_differ(X: Any) -> None:
    """Refuse a data frame of pandas with two columns of one name: features could not be told apart."""
    if not is_frame(X):
        return
    names = list(X.columns)
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"X has several columns called {_shown(twice)}: rename all but one of each, as in "
            "X.columns = [f'{name}_{place}' for place, name in enumerate(X)]."
        )


def new_encoder(words: list[str]) -> Any:
    """A `TableEncoder`, for a data frame with columns of words; it needs polars, which need not be there."""
    try:
        return import_module("unlabeled.tables").TableEncoder()
    except ModuleNotFoundError as error:
        raise ImportError(
            f"X has columns that are not numbers ({_shown(words)}), and to make numbers of them takes polars: "
            "pip install 'unlabeled[tables]'. Or give numbers only."
        ) from error


def _library(kind: type) -> str:
    return kind.__module__.split(".")[0]


def _is_number(column: Any) -> bool:
    dtype = column.dtype
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) in {"Boolean", "Null"}
    if dtype.kind != "O":
        return dtype.kind in _NUMBER_KINDS
    values = column.to_numpy(dtype=object)[~column.isna().to_numpy()]
    return str(dtype) == "object" and all(isinstance(value, (Number, np.bool_)) for value in values)


def _shown(names: list[str], most: int = 5) -> str:
    return ", ".join(repr(name) for name in names[:most]) + (", ..." if len(names) > most else "")
