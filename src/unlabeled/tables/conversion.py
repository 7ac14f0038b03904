"""Tables in memory as one kind of table: data frames of pandas and polars, mappings of columns, arrays.

Columns of pandas are taken over one by one, by their type or, where that is "object", by their values, so that neither
pandas nor pyarrow need be there. Times with a zone become those of UTC.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from numbers import Number
from typing import Any

import numpy as np
import polars as pl

from unlabeled.frames import is_frame
from unlabeled.tables.errors import TableError


def as_table(X: Any, names: Sequence[str] | None = None) -> pl.DataFrame:
    """A table in memory as a data frame of polars; ``names`` are those of the columns of an array.

    A mapping is from names to columns, or to single values, which make one row.
    """
    if isinstance(X, pl.DataFrame):
        return X
    if _is_mapping(X):
        return _together([_column(str(name), values) for name, values in X.items()])
    if is_frame(X):
        return _together([_of_pandas(str(name), column) for name, column in X.items()])
    if isinstance(X, np.ndarray) and X.ndim == 2:
        names = array_names(X.shape[1]) if names is None else names
        if X.dtype.kind == "f":
            return pl.DataFrame(X, schema=list(names), orient="row")
        return _together([_of_array(str(name), column) for name, column in zip(names, X.T, strict=True)])
    raise TypeError(f"{type(X).__name__} is no table; give a data frame, a mapping of columns, or an array of rows.")


def is_table(X: object) -> bool:
    """Whether X has columns with names."""
    return is_frame(X) or _is_mapping(X)


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a data frame or mapping, of whatever type they are."""
    return list(X.columns) if is_frame(X) else list(X)


def array_names(n_columns: int) -> list[str]:
    """What the columns of an array are called, as by scikit-learn."""
    return [f"x{place}" for place in range(n_columns)]


def _is_mapping(X: object) -> bool:
    return isinstance(X, Mapping) and not hasattr(X, "shape")  # some sparse matrices are mappings too


def _together(columns: list[pl.Series]) -> pl.DataFrame:
    name, count = next(iter(Counter(column.name for column in columns).most_common(1)), ("", 0))
    if count > 1:
        raise TableError(f"The table has {count} columns called {name!r}: rename all but one of them.")
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{column.name!r} has {len(column):,}" for column in columns[:5])
        raise TableError(f"The columns have different numbers of values: {lengths}.")
    return pl.DataFrame(columns)


def _column(name: str, values: Any) -> pl.Series:
    """A column of a mapping."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if hasattr(values, "isna"):
        return _of_pandas(name, values)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return _of_array(name, values)
    if isinstance(values, (list, tuple)):
        return _of_values(name, list(values))
    return _of_values(name, [values])


def _of_array(name: str, values: np.ndarray) -> pl.Series:
    if values.dtype.kind in "biuf":
        return pl.Series(name, np.ascontiguousarray(values))
    if values.dtype.kind in "mM":
        return pl.Series(name, values.astype(f"{values.dtype.kind}8[us]"))
    return _of_values(name, values.tolist())


def _of_pandas(name: str, column: Any) -> pl.Series:
    """A column of pandas: of numpy's types, of pandas' own with missing values, of categories, or of objects."""
    dtype = column.dtype
    if str(dtype) == "category":
        words = pl.Series(name, [str(category) for category in column.cat.categories], dtype=pl.String)
        codes = pl.Series(column.cat.codes.to_numpy()).cast(pl.Int64)
        return words.gather(codes.set(codes < 0, None)).cast(pl.Categorical)
    if str(dtype).startswith("period"):
        column, dtype = column.dt.to_timestamp(), np.dtype("M8[us]")
    if getattr(dtype, "tz", None) is not None:
        column, dtype = column.dt.tz_convert("UTC").dt.tz_localize(None), np.dtype("M8[us]")
    if dtype.kind in "iuf":
        has_gaps = not isinstance(dtype, np.dtype) and column.isna().any()
        return pl.Series(name, column.to_numpy(dtype=np.float64, na_value=np.nan) if has_gaps else column.to_numpy())
    if dtype.kind in "mM" or (dtype.kind == "b" and isinstance(dtype, np.dtype)):
        return _of_array(name, column.to_numpy())
    values = column.to_numpy(dtype=object).copy()
    values[column.isna().to_numpy()] = None
    return _of_values(name, values.tolist())


def _of_values(name: str, values: list[Any]) -> pl.Series:
    """A column of Python's values, of the type that all of them are; words if they are of several, such as 1 and a."""
    values = [None if _is_missing(value) else value for value in values]
    present = [value for value in values if value is not None]
    if not present:
        return pl.Series(name, values, dtype=pl.Null)
    for kinds, dtype, convert in _TYPES:
        if all(isinstance(value, kinds) for value in present):
            return pl.Series(name, [None if value is None else convert(value) for value in values], dtype=dtype)
    if all(isinstance(value, _PLAIN) for value in present):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.Series(name, values, dtype=pl.Object)


def _is_missing(value: Any) -> bool:
    """Whether a value is None, not a number, or what pandas has for either."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, Number) and bool(value != value)  # noqa: PLR0124


def _moment(value: date) -> datetime:
    """A date, or a time of a day in some zone, as a time of UTC."""
    if not isinstance(value, datetime):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001  # it has no zone
    return value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)


#: Types that a column may be of, what polars calls them, and how a value is converted.
_TYPES: tuple[tuple[tuple[type, ...], Any, Callable[[Any], Any]], ...] = (
    ((str,), pl.String, str),
    ((bool, np.bool_), pl.Boolean, bool),
    ((Number, np.bool_), pl.Float64, float),
    ((date,), pl.Datetime("us"), _moment),
    ((time,), pl.Time, lambda value: value),
    ((timedelta,), pl.Duration("us"), lambda value: value),
)
_PLAIN = (str, Number, np.bool_, date, time, timedelta)
