"""Columns that a person has said something of: ``number``, ``number:1.234,5``, ``date:%d/%m/%Y``, ``drop``, ..."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from unlabeled.tables.columns import Column, nearest_first, present_text, whole_as_whole
from unlabeled.tables.dates import date_pattern, read_dates
from unlabeled.tables.errors import TableError
from unlabeled.tables.numbers import PLAIN, SPELLINGS, check_spelling, n_read
from unlabeled.tables.remedies import say_kind

#: What can be said of a column.
KINDS = ("number", "category", "date", "boolean", "text", "identifier", "drop")
_AS_YOU_SAID = "as you said"
_WORDS_OF_TRUTH = ("true", "false", "yes", "no", "1", "0", "1.0", "0.0")
TRUTH = ("false", "true")
_NAME_AND_KIND = re.compile(rf"(.*)=((?:{'|'.join(KINDS)})(?::.*)?)", re.DOTALL)


@dataclass(frozen=True)
class Said:
    """A kind of `KINDS`, and how numbers or dates are written, if that was said."""

    kind: str
    pattern: str = ""


def parse_kinds(texts: Sequence[str]) -> dict[str, str]:
    """What is said of columns in the form ``NAME=KIND``, as a mapping from names to kinds.

    Examples
    --------
    >>> from unlabeled.tables import parse_kinds
    >>> parse_kinds(["customer_id=identifier", "age=number"])
    {'customer_id': 'identifier', 'age': 'number'}
    """
    found = {}
    for text in texts:
        match = _NAME_AND_KIND.fullmatch(text)
        if match is None:
            raise TableError(f"--column {text} does not say what the column is: NAME=KIND, one of {', '.join(KINDS)}.")
        found[match[1]] = match[2]
    return found


def said_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> dict[str, Said]:
    """What was said of each column; refused if there is no such column or no such kind."""
    for name in kinds:
        if name not in names:
            nearest = ", ".join(repr(other) for other in nearest_first(name, names)[:10])
            raise TableError(f"There is no column {name!r} to say something of. The columns are: {nearest}.")
    return {name: _parse(name, text) for name, text in kinds.items()}


def _parse(name: str, text: str) -> Said:
    kind, _, pattern = text.partition(":")
    if kind not in KINDS:
        raise TableError(f"Column {name!r} cannot be {kind!r}; say one of {', '.join(KINDS)}.")
    if pattern and kind not in {"number", "date"}:
        raise TableError(f"Column {name!r} cannot be {text!r}: only numbers and dates are written in some way.")
    try:
        return Said(kind, check_spelling(pattern) if pattern and kind == "number" else pattern)
    except ValueError as error:
        raise TableError(f"Column {name!r}: {error}") from error


def column_as_said(values: pl.Series, said: Said) -> Column:
    """A column that is what a person says, if it can be."""
    name = values.name
    if said.kind == "identifier":
        return Column(name, said.kind, _AS_YOU_SAID)
    if said.kind == "drop":
        return Column(name, said.kind, f"left out: {_AS_YOU_SAID}")
    if is_no_value(values.dtype):
        raise TableError(f"Column {name!r} holds {values.dtype}, which cannot be a {said.kind}. It can be dropped.")
    present = present_values(values)
    return without_use(values, present) or _MAKERS[said.kind](values, present, said.pattern)


def is_no_value(dtype: pl.DataType) -> bool:
    """Whether a type is of lists, bytes and the like."""
    return dtype.is_nested() or dtype in (pl.Binary, pl.Object) or isinstance(dtype, pl.BaseExtension)


def present_values(values: pl.Series) -> pl.Series:
    """The values that are not missing."""
    values = (present_text(values) if values.dtype == pl.String else values).drop_nulls()
    return values.filter(values.is_finite()) if values.dtype.is_float() else values


def without_use(values: pl.Series, present: pl.Series) -> Column | None:
    """An empty or constant column, which nothing can be learned from, or None."""
    n_different = present.n_unique()
    if n_different == 0:
        return Column(values.name, "empty", "left out: no value in it")
    if n_different == 1 and len(present) == len(values):
        return Column(values.name, "constant", f"left out: always {present[0]!r}")
    return None


def as_category(name: str, present: pl.Series) -> Column:
    """A column of categories, with the list of them."""
    categories = tuple(sorted(whole_as_whole(present).cast(pl.String).unique().to_list()))
    return Column(name, "category", f"{len(categories)} different values", categories)


def _as_number(values: pl.Series, present: pl.Series, pattern: str) -> Column:
    if values.dtype.is_temporal():
        raise TableError(f"Column {values.name!r} holds dates ({values.dtype}), which are no numbers.")
    if values.dtype != pl.String:
        return Column(values.name, "number", _AS_YOU_SAID)
    spelling = pattern or max(SPELLINGS, key=lambda way: n_read(present, way))
    _tell_unread(present, len(present) - n_read(present, spelling), f"a number written as {spelling}")
    return Column(values.name, "number", _AS_YOU_SAID, pattern="" if spelling == PLAIN else spelling)


def _as_date(values: pl.Series, present: pl.Series, pattern: str) -> Column:
    if values.dtype.is_temporal():
        return Column(values.name, "date", _AS_YOU_SAID)
    text = present.cast(pl.Int64, strict=False).cast(pl.String) if values.dtype.is_numeric() else present
    pattern = pattern or date_pattern(text)
    if not pattern:
        raise TableError(
            f"Column {values.name!r} cannot be read as dates: {text[0]!r}. Say how they are written, such as "
            f"{say_kind(values.name, 'date:%d/%m/%Y')}."
        )
    _tell_unread(text, read_dates(text, pattern).null_count(), f"a date written as {pattern}")
    return Column(values.name, "date", _AS_YOU_SAID, pattern=pattern)


def _as_boolean(values: pl.Series, present: pl.Series, _pattern: str) -> Column:
    words = set(present.cast(pl.String).str.strip_chars().str.to_lowercase().unique())
    if strange := sorted(words - set(_WORDS_OF_TRUTH)):
        raise TableError(f"Column {values.name!r} is no boolean: it holds {strange[0]!r}. It can be a category.")
    return Column(values.name, "boolean", _AS_YOU_SAID, TRUTH)


def _as_text(values: pl.Series, present: pl.Series, _pattern: str) -> Column:
    if not present.cast(pl.String).str.contains(r"\w").any():
        raise TableError(f"Column {values.name!r} has no words in it, such as {str(present[0])!r}: it is no text.")
    return Column(values.name, "text", _AS_YOU_SAID)


_MAKERS: dict[str, Callable[[pl.Series, pl.Series, str], Column]] = {
    "number": _as_number,
    "date": _as_date,
    "boolean": _as_boolean,
    "category": lambda values, present, _pattern: as_category(values.name, present),
    "text": _as_text,
}


def _tell_unread(present: pl.Series, n_unread: int, what: str) -> None:
    """Refuse a column that cannot be what was said in any row, and warn of some."""
    if n_unread == len(present):
        raise TableError(f"No value of column {present.name!r} is {what}, such as {present[0]!r}.")
    if n_unread:
        warnings.warn(
            f"Column {present.name!r}: {n_unread:,} of {len(present):,} values are not {what}; taken as missing.",
            stacklevel=2,
        )
