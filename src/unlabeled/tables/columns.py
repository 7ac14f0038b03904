"""What the columns of a table hold, and each of them as numbers.

A column is a number, a date, a boolean or a category, or it is left out: constant, empty, an identifier, or of a type
that is no value (lists and the like). Text is a number or a date if all of its values are. Words for "missing" are
`MISSING_WORDS`, and infinity counts as missing too.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.tables.dates import date_pattern, read_dates
from unlabeled.tables.formats import TableError

MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")
#: Kinds that are turned into numbers; the others are left out.
USED = ("number", "date", "boolean", "category")
#: A column of words that differ in more than this share of the rows names the rows.
_IDENTIFIER_SHARE = 0.5
_FEWEST_IDENTIFIERS = 20
_IDENTIFIER_NAME = re.compile(r"(?:^|[_\W])(?:id|key|no|nr|index|uuid|guid|row)$|[a-z](?:Id|ID|Key|No)$", re.IGNORECASE)
#: Digits with decimal commas or thousands marks, between currencies or per cent signs; but no dashes or colons.
_STRANGE_NUMBER = r"^\s*[-+]?[\p{Sc}]?\s*[-+]?\d[\d.,' \u{00a0}]*\s*(?:%|\p{Sc}|[A-Z]{3})?\s*$"
_MICROSECONDS_A_DAY = 86_400e6
_TRUE_WORDS, _FALSE_WORDS = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
_TRUTH = ("false", "true")
_NO_VALUE = "left out: no value in it"
#: The number that stands for a category that was not in the table the model was fitted to.
UNSEEN = -1.0


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, a word on why or how, the categories it has, and how its dates are written."""

    name: str
    kind: str
    note: str = ""
    categories: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def used(self) -> bool:
        """Whether it says anything about a row."""
        return self.kind in USED


@dataclass
class Notices:
    """What was strange in the rows that were encoded: counts by column."""

    unseen: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)

    def add(self, other: Notices) -> None:
        """Count those of another batch too."""
        for mine, theirs in ((self.unseen, other.unseen), (self.unreadable, other.unreadable)):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count


@dataclass(frozen=True)
class Columns:
    """All columns of the table a model was fitted to, but for the label."""

    all: tuple[Column, ...]

    def __getstate__(self) -> dict[str, Any]:
        return {"json": json.dumps([asdict(column) for column in self.all])}  # one text, for tables of 10,000 columns

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns = [Column(**{**entry, "categories": tuple(entry["categories"])}) for entry in json.loads(state["json"])]
        object.__setattr__(self, "all", tuple(columns))

    @property
    def used(self) -> tuple[Column, ...]:
        """Those that are turned into numbers: numbers and dates first, then those with categories."""
        return tuple(sorted((column for column in self.all if column.used), key=lambda column: bool(column.categories)))

    @property
    def n_with_scale(self) -> int:
        """How many of the used columns, from the first, are numbers or dates."""
        return sum(not column.categories for column in self.used)

    @property
    def names(self) -> list[str]:
        """The names of those that are used: what a table must have."""
        return [column.name for column in self.used]

    @property
    def identifiers(self) -> list[str]:
        """The names of the columns that name the rows."""
        return [column.name for column in self.all if column.kind == "identifier"]

    def places(self, *kinds: str) -> list[int]:
        """Where the used columns of some kinds are in the matrix."""
        return [place for place, column in enumerate(self.used) if column.kind in kinds]

    def check_present(self, names: Collection[str], where: str) -> None:
        """Refuse a table that lacks columns."""
        present = set(names)
        lacking = [name for name in self.names if name not in present]
        if lacking:
            shown = ", ".join(repr(name) for name in lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            raise TableError(
                f"{where} lacks {len(lacking)} of the {len(self.names)} columns that the model was fitted to: {shown}."
            )

    def matrix(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The used columns as numbers (n_rows, n_used), NaN where missing, and what was strange in them.

        Dates are days since 1970, categories their number in the list of the column.
        """
        frame = _categories_as_text(frame)
        matrix = np.empty((len(frame), len(self.used)))
        notices = Notices()
        numbers = [column.name for column in self.used if column.kind == "number"]
        matrix[:, self.places("number")] = _numbers(frame, numbers, notices)
        for place, column in enumerate(self.used):
            if column.kind != "number":
                matrix[:, place] = _codes_or_days(frame[column.name], column, notices)
        return matrix, notices


def find_columns(
    frame: pl.DataFrame, *, categories: Collection[str] = (), identifiers: Collection[str] = (), first_line: int = 1
) -> Columns:
    """Find out what each column of a table holds.

    ``categories`` and ``identifiers`` name columns that are to be taken as such. ``first_line`` is the number of the
    first row, for messages.
    """
    categories = {*categories, *_typed_categories(frame)}
    frame = _categories_as_text(frame)
    open_to_question = [name for name in frame.columns if name not in {*categories, *identifiers}]
    numbers = _surely_numbers(frame.select(open_to_question))
    found = []
    for values in frame.iter_columns():
        if values.name in identifiers:
            found.append(Column(values.name, "identifier", "as you said"))
        elif values.name in numbers:
            found.append(_number(values.name, numbers[values.name]))
        else:
            found.append(_find_column(values, as_category=values.name in categories, first_line=first_line))
    return Columns(tuple(found))


def _typed_categories(frame: pl.DataFrame) -> list[str]:
    """Columns that are categories by their type, even if the values look like numbers."""
    return [name for name, dtype in frame.schema.items() if dtype in (pl.Categorical, pl.Enum)]


def _categories_as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col(_typed_categories(frame)).cast(pl.String))


def _surely_numbers(frame: pl.DataFrame) -> dict[str, FloatArray]:
    """Columns of numbers, and text columns whose every value is a number; all at once, for there may be thousands."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    read = _read_numbers(frame, texts)
    typed = frame.select(name for name, dtype in frame.schema.items() if dtype.is_numeric()).cast(pl.Float64)
    nothing_lost = [name for name in texts if read[name].null_count() == frame[name].null_count() < len(frame)]
    return {values.name: values.to_numpy() for part in (typed, read.select(nothing_lost)) for values in part}


def _read_numbers(frame: pl.DataFrame, texts: list[str]) -> pl.DataFrame:
    """Text columns as numbers, null where they are none."""
    return frame.select(pl.col(texts).str.strip_chars().cast(pl.Float64, strict=False))


def _find_column(values: pl.Series, *, as_category: bool, first_line: int) -> Column:
    name, dtype = values.name, values.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return Column(name, "no value", f"left out: it holds {dtype}")
    present = _present(values)
    n_different = present.n_unique()
    if n_different == 0:
        return Column(name, "empty", _NO_VALUE)
    if n_different == 1 and len(present) == len(values):
        return Column(name, "constant", f"left out: always {present[0]!r}")
    if as_category:
        return _category(name, present, n_different)
    if dtype == pl.Boolean or dtype.is_temporal():
        return Column(name, "boolean", categories=_TRUTH) if dtype == pl.Boolean else Column(name, "date")
    return _text(present.cast(pl.String), n_different, values, first_line)


def _present(values: pl.Series) -> pl.Series:
    """The values that are not missing."""
    if values.dtype == pl.String:
        values = values.to_frame().select(_without_missing(values.name)).to_series()
    values = values.drop_nulls()
    return values.filter(values.is_finite()) if values.dtype.is_float() else values


def _number(name: str, values: FloatArray) -> Column:
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return Column(name, "empty", _NO_VALUE)
    low, high = finite.min(), finite.max()
    if low == high and len(finite) == len(values):
        return Column(name, "constant", f"left out: always {low:g}")
    may_count = len(finite) == len(values) >= _FEWEST_IDENTIFIERS and (finite % 1 == 0).all()
    names_rows = may_count and (high - low + 1 == len(values) or _IDENTIFIER_NAME.search(name))
    if names_rows and len(np.unique(values)) == len(values):
        return Column(name, "identifier", "left out: a different whole number in every row")
    return Column(name, "number")


def _text(present: pl.Series, n_different: int, values: pl.Series, first_line: int) -> Column:
    """A text column is what all of its values are; numbers with a few words between them are an error."""
    numbers = present.str.strip_chars().cast(pl.Float64, strict=False)
    n_numbers = int(numbers.is_not_null().sum())
    if n_numbers == len(present):
        return _number(values.name, _read_numbers(values.to_frame(), [values.name]).to_series().to_numpy())
    if n_numbers > len(present) / 2:
        _refuse_mixture(values, first_line)
    if set(present.str.to_lowercase().unique()) <= {"true", "false"}:
        return Column(values.name, "boolean", categories=_TRUTH)
    if pattern := date_pattern(present):
        return Column(values.name, "date", pattern=pattern)
    return _category(values.name, present, n_different)


def _category(name: str, present: pl.Series, n_different: int) -> Column:
    if n_different > max(_IDENTIFIER_SHARE * len(present), _FEWEST_IDENTIFIERS):
        _warn_of_strange_numbers(name, present)
        return Column(name, "identifier", f"left out: {n_different:,} different values in {len(present):,} rows")
    categories = tuple(sorted(present.cast(pl.String).unique().to_list()))
    return Column(name, "category", f"{n_different} different values", categories)


def _warn_of_strange_numbers(name: str, present: pl.Series) -> None:
    """Say that a column that is about to be left out looks like numbers, such as 1.234,50 or $1,234.50."""
    if present.cast(pl.String).str.contains(_STRANGE_NUMBER).all():
        warnings.warn(
            f"Column {name!r} is left out: its values, such as {present[0]!r}, are not written as numbers. If they are "
            "numbers, write them as 1234.50 in the table.",
            stacklevel=2,
        )


def _refuse_mixture(values: pl.Series, first_line: int) -> None:
    numbers = values.to_frame().select(_without_missing(values.name).str.strip_chars().cast(pl.Float64, strict=False))
    words = values.to_frame().select(_without_missing(values.name)).to_series()
    row = int((words.is_not_null() & numbers.to_series().is_null()).arg_true()[0])
    word = "line" if first_line > 1 else "row"
    raise TableError(
        f"Column {values.name!r} mixes numbers and words: {words[row]!r} on {word} {row + first_line}. Correct it, "
        f"leave it empty if it means missing, or say that its values are categories (--category {values.name!r})."
    )


def _without_missing(name: str) -> pl.Expr:
    """A text column, null where it says that it is missing."""
    text = pl.col(name)
    return pl.when(text.str.strip_chars().is_in(MISSING_WORDS)).then(None).otherwise(text).alias(name)


def _numbers(frame: pl.DataFrame, names: list[str], notices: Notices) -> FloatArray:
    """Number columns as they are in this table, typed or text, NaN where missing or infinite; (n_rows, n_names)."""
    schema = frame.schema  # asked once: it is made anew each time
    texts = [name for name in names if schema[name] == pl.String]
    read = _read_numbers(frame, texts)
    for name in texts:
        if read[name].null_count() > frame[name].null_count():
            n_present = len(_present(frame[name]))
            _count(notices.unreadable, name, n_present - int(read[name].is_not_null().sum()))
    typed = frame.select(name for name in names if schema[name] != pl.String).cast(pl.Float64, strict=False)
    if not names:
        return np.empty((len(frame), 0))
    numbers = pl.concat([typed, read], how="horizontal").select(names).to_numpy()
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _codes_or_days(values: pl.Series, column: Column, notices: Notices) -> FloatArray:
    """A category, boolean or date column as numbers, NaN where missing."""
    if values.dtype == pl.String:
        values = values.to_frame().select(_without_missing(values.name)).to_series()
    if column.kind == "date":
        numbers = _days(values, column)
        _count(notices.unreadable, column.name, numbers.null_count() - values.null_count())
    else:
        numbers = _codes(values, column)
        _count(notices.unseen, column.name, int((numbers == UNSEEN).sum()))
    return numbers.to_numpy().astype(np.float64)


def _codes(values: pl.Series, column: Column) -> pl.Series:
    text = values.cast(pl.String, strict=False)
    codes = {category: float(code) for code, category in enumerate(column.categories)}
    if column.kind == "boolean":
        text = text.str.to_lowercase()
        codes = dict.fromkeys(_FALSE_WORDS, 0.0) | dict.fromkeys(_TRUE_WORDS, 1.0)
    found = text.replace_strict(list(codes), list(codes.values()), default=UNSEEN, return_dtype=pl.Float64)
    return found.set(text.is_null(), None)


def _days(values: pl.Series, column: Column) -> pl.Series:
    if values.dtype.is_numeric():
        return values.cast(pl.Float64)
    if values.dtype in (pl.Time, pl.Duration):
        return values.cast(pl.Int64).cast(pl.Float64)
    if values.dtype == pl.String:
        values = read_dates(values, column.pattern)
    return values.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64) / _MICROSECONDS_A_DAY


def _count(counts: dict[str, int], name: str, number: int) -> None:
    if number:
        counts[name] = number


def nearest_first(name: str, names: Iterable[str]) -> list[str]:
    """Names in the order of their likeness to one that was not found."""
    return sorted(names, key=lambda other: -SequenceMatcher(None, name.lower(), other.lower()).ratio())
