"""Which rows are labelled positives, from the label column of a table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from unlabeled.labels import NEGATIVE_WORDS, says_unlabeled, surely_positive
from unlabeled.tables.columns import MISSING_WORDS, nearest_first
from unlabeled.tables.errors import TableError


@dataclass(frozen=True)
class Labels:
    """Which rows are labelled positives, and the value that says so.

    Examples
    --------
    >>> import polars as pl
    >>> from unlabeled.tables import find_labels
    >>> labels = find_labels(pl.DataFrame({"fraud": ["yes", None, "yes", None]}), "fraud")
    >>> labels.is_positive, labels.positive
    (array([ True, False,  True, False]), 'yes')
    """

    is_positive: np.ndarray
    positive: str
    is_negative: np.ndarray | None = None
    negative: str | None = None

    @property
    def n_positive(self) -> int:
        """How many rows are labelled."""
        return int(self.is_positive.sum())

    @property
    def n_negative(self) -> int:
        """How many rows are known to be negative."""
        return 0 if self.is_negative is None else int(self.is_negative.sum())


def find_labels(frame: pl.DataFrame, label: str, positive: str | None = None, negative: str | None = None) -> Labels:
    """Mark the rows whose label is the positive value; all others, empty ones too, are unlabeled.

    Without ``positive`` it is the larger of two numbers, the one of two words that `unlabeled.labels` knows for it,
    such as yes or true, or the one value of a column that is empty otherwise. ``negative`` is the value of rows that
    are known to be negative. A third value, beside these and what says that a row is unlabeled, is warned of.

    Examples
    --------
    >>> import polars as pl
    >>> from unlabeled.tables import find_labels
    >>> find_labels(pl.DataFrame({"fraud": [1, 0, 0, 1]}), "fraud").is_positive
    array([ True, False, False,  True])
    """
    check_column(label, frame.columns)
    text = _as_text(frame[label])
    labels = _find(text, label, positive, negative)
    _warn_of_others(text, label, labels)
    value, n_unlabeled = labels.positive, len(frame) - labels.n_positive - labels.n_negative
    if labels.n_positive == 0:
        raise TableError(f"No row has {value!r} in column {label!r}: there are no labelled positives to learn from.")
    if n_unlabeled == 0:
        raise TableError(
            f"Every row has {value!r} in column {label!r}. Unlabeled rows are needed too: add the rows that nobody has "
            "checked, with an empty label."
        )
    for count, name in (
        (labels.n_positive, "labelled positive"),
        (n_unlabeled, "unlabeled row"),
        (labels.n_negative, "known negative"),
    ):
        if count == 1:
            raise TableError(f"There is only one {name} in column {label!r}; two are the least, and ten a start.")
    return labels


def _find(text: pl.Series, label: str, positive: str | None, negative: str | None) -> Labels:
    known = None if negative is None else _match(negative, text, label)
    others = text if known is None else text.filter((text != known).fill_null(value=True))
    value = _find_positive(others, label) if positive is None else _match(positive, text, label)
    if known is None:
        return Labels(_equal(text, value), value)
    if known == value:
        raise TableError(f"--positive and --negative are both {value!r} in column {label!r}: no row can be both.")
    return Labels(_equal(text, value), value, _equal(text, known), known)


def _warn_of_others(text: pl.Series, label: str, labels: Labels) -> None:
    """Tell of values that make a row unlabeled and mean something else: one alone may well mean just that."""
    known = [value for value in (labels.positive, labels.negative) if value is not None]
    others: list[str] = text.filter(~text.is_in(known)).drop_nulls().unique(maintain_order=True).to_list()
    untold = [value for value in others if not says_unlabeled(value) or value.lower() in NEGATIVE_WORDS]
    if untold and len(others) + text.has_nulls() > 1:
        name = " If one of them marks" if len(untold) > 1 else " If it marks"
        remedy = f"{name} rows that are known to be negative, name it: --negative VALUE." * (labels.negative is None)
        warnings.warn(
            f"Beside {', '.join(map(repr, known))} column {label!r} has {_shown(untold)}: these rows are taken for "
            f"unlabeled ones.{remedy}",
            stacklevel=3,
        )


def _equal(text: pl.Series, value: str) -> np.ndarray:
    return (text == value).fill_null(value=False).to_numpy()


def is_labelled(values: pl.Series, positive: str) -> pl.Series:
    """Which values of the label column of another table are the positive one, however that table writes it.

    What was 1 or true in the table of the model may be 1.0 or TRUE in this one.
    """
    text = _as_text(values)
    same = text.str.to_lowercase() == positive.lower()
    if (number := _number(positive)) is not None:
        same |= text.cast(pl.Float64, strict=False) == number
    return same.fill_null(value=False)


def check_column(name: str, names: Sequence[str]) -> None:
    """Refuse a name that is not among the columns, listing those nearest first."""
    if name not in names:
        nearest = nearest_first(name, names)
        shown = ", ".join(repr(other) for other in nearest[:10]) + (", ..." if len(nearest) > 10 else "")
        raise TableError(f"There is no column {name!r}. The columns are: {shown}.")


def _as_text(values: pl.Series) -> pl.Series:
    """Labels as text, null where missing; whole numbers without a decimal point."""
    if values.dtype.is_nested():
        raise TableError(f"Column {values.name!r} holds {values.dtype}, which cannot be a label.")
    if values.dtype.is_float():
        values = values.fill_nan(None)
        if (values.drop_nulls() % 1 == 0).all():
            values = values.cast(pl.Int64)
    text = values.cast(pl.String).str.strip_chars()
    return text.to_frame().select(pl.when(pl.first().is_in(MISSING_WORDS)).then(None).otherwise(pl.first())).to_series()


def _find_positive(text: pl.Series, label: str) -> str:
    found = text.drop_nulls().value_counts(sort=True, name="count")
    values: list[str] = found[found.columns[0]].to_list()
    if not values:
        raise TableError(f"Column {label!r} is empty throughout: there are no labelled positives to learn from.")
    if len(values) == 1:
        return _only_value(values[0], label)
    if len(values) == 2 and (place := surely_positive(values)) is not None:
        return values[place]
    raise TableError(
        f"Column {label!r} has {len(values)} values: {_shown(values)}. Say which marks the positives: --positive "
        "VALUE. If one of them marks rows that are known to be negative: --negative VALUE."
    )


def _only_value(value: str, label: str) -> str:
    """The one value of a label column, which must not say no."""
    if says_unlabeled(value):
        raise TableError(f"Column {label!r} holds only {value!r}: there are no labelled positives to learn from.")
    return value


def _match(positive: str, text: pl.Series, label: str) -> str:
    """The spelling in the table of the value that was given, such as 1 for "1.0" or true for "True"."""
    values: list[str] = text.drop_nulls().value_counts(sort=True, name="count").to_series().to_list()
    if positive in values:
        return positive
    number = _number(positive)
    for value in values:
        if value.lower() == positive.lower() or (number is not None and _number(value) == number):
            return value
    raise TableError(f"No row has {positive!r} in column {label!r}; its values are {_shown(values)}.")


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _shown(values: list[str]) -> str:
    return ", ".join(repr(value) for value in values[:5]) + (", ..." if len(values) > 5 else "")
