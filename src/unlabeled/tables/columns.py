"""The columns of a table, and each of them as numbers.

A column is a number, a date, a boolean, a category or free text, or it is left out: constant, empty, an identifier, or
of a type that is no value (lists and the like). `unlabeled.tables.finding` finds out which. Words for "missing" are
`MISSING_WORDS`, and infinity counts as missing too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.tables.dates import read_dates
from unlabeled.tables.errors import TableError
from unlabeled.tables.numbers import PLAIN, check_spelling, read_numbers

MISSING_WORDS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")
#: Kinds that features are made of, in the order of their features; the others are left out.
USED = ("number", "date", "boolean", "category", "text")
#: Those with a scale, and those with a list of values.
SCALED, LISTED = ("number", "date"), ("boolean", "category")
_MICROSECONDS_A_DAY = 86_400e6
_TRUE_WORDS, _FALSE_WORDS = ("true", "1", "1.0", "yes"), ("false", "0", "0.0", "no")
#: The number that stands for a category that was not in the table the model was fitted to.
UNSEEN = -1.0
#: A table with a larger share of values that cannot be read, in any column, is not what the model was fitted to.
MOST_UNREADABLE = 0.1


@dataclass(frozen=True)
class Column:
    """A column: its name, its kind, a word on why or how, the categories it has, and how its values are written.

    ``pattern`` is the pattern of dates (``%d/%m/%Y``), or the spelling of numbers by an example (``1.234,5``); "" is
    what computers write, and the one for columns that are typed.

    Examples
    --------
    >>> from unlabeled.tables import Column
    >>> Column("channel", "category", categories=("shop", "web")).kind
    'category'
    """

    name: str
    kind: str
    note: str = ""
    categories: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def used(self) -> bool:
        """Whether features are made of it."""
        return self.kind in USED

    @property
    def said(self) -> str:
        """What to say so that it is taken for just this: its name, ``=``, its kind, and how it is written."""
        kind = self.kind if self.used or self.kind == "identifier" else "drop"
        return f"{self.name}={kind}{self.pattern and f':{self.pattern}'}"


@dataclass
class Notices:
    """What was strange in the rows that were encoded: counts by column, and a value that cannot be read.

    Examples
    --------
    >>> from unlabeled.tables import Notices
    >>> Notices(unseen={"channel": 3}).unseen
    {'channel': 3}
    """

    unseen: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, other: Notices) -> None:
        """Count those of another batch too."""
        for mine, theirs in (
            (self.unseen, other.unseen),
            (self.unreadable, other.unreadable),
            (self.read, other.read),
        ):
            for name, count in theirs.items():
                mine[name] = mine.get(name, 0) + count
        self.examples = other.examples | self.examples

    def unreadable_share(self, name: str) -> float:
        """The share of the values of a column, missing ones aside, that cannot be read."""
        bad = self.unreadable.get(name, 0)
        return bad / max(bad + self.read.get(name, 0), 1)

    def count_read(self, text: pl.Series, read: pl.Series) -> None:
        """Count what was read of the text of a column, null where missing, and what was not."""
        n_read = len(read) - read.null_count()
        self.read[text.name] = n_read
        n_bad = len(text) - text.null_count() - n_read
        if n_bad > 0:
            self.unreadable[text.name] = n_bad
            place = int((text.is_not_null() & read.is_null()).arg_true()[0])
            self.examples[text.name] = str(text[place])


@dataclass(frozen=True)
class Columns:
    """All columns of the table a model was fitted to, but for the label.

    Examples
    --------
    >>> import polars as pl
    >>> from unlabeled.tables import find_columns
    >>> columns = find_columns(pl.DataFrame({"age": [31, 40, 58], "channel": ["web", "shop", "web"]}))
    >>> [(column.name, column.kind) for column in columns.all]
    [('age', 'number'), ('channel', 'category')]
    """

    all: tuple[Column, ...]

    def __getstate__(self) -> dict[str, Any]:
        return {"json": json.dumps([asdict(column) for column in self.all])}  # one text, for tables of 10,000 columns

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns = [Column(**{**entry, "categories": tuple(entry["categories"])}) for entry in json.loads(state["json"])]
        object.__setattr__(self, "all", tuple(columns))

    @property
    def used(self) -> tuple[Column, ...]:
        """Those that features are made of: numbers and dates first, then those with categories, then texts."""
        return tuple(column for kinds in (SCALED, LISTED, ("text",)) for column in self.all if column.kind in kinds)

    @property
    def coded(self) -> tuple[Column, ...]:
        """Those of the used columns that are turned into one number each: all but the texts."""
        return tuple(column for column in self.used if column.kind != "text")

    @property
    def texts(self) -> tuple[Column, ...]:
        """Those of the used columns that are free text."""
        return tuple(column for column in self.all if column.kind == "text")

    @property
    def n_with_scale(self) -> int:
        """How many of the used columns, from the first, are numbers or dates."""
        return sum(column.kind in SCALED for column in self.all)

    @property
    def names(self) -> list[str]:
        """The names of those that are used: what a table must have."""
        return [column.name for column in self.used]

    @property
    def identifiers(self) -> list[str]:
        """The names of the columns that name the rows."""
        return [column.name for column in self.all if column.kind == "identifier"]

    def places(self, *kinds: str) -> list[int]:
        """Where the columns of some kinds are in the matrix."""
        return [place for place, column in enumerate(self.coded) if column.kind in kinds]

    def with_decimal(self, mark: str) -> Columns:
        """The same columns in a table that writes decimals with another mark, "." or ","."""
        pattern = check_spelling(mark)
        columns = (replace(column, pattern=pattern) if column.kind == "number" else column for column in self.all)
        return Columns(tuple(columns))

    def check_present(self, names: Collection[str], where: str) -> None:
        """Refuse a table that lacks columns."""
        present = set(names)
        lacking = [name for name in self.names if name not in present]
        if lacking:
            shown = ", ".join(repr(name) for name in lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            raise TableError(
                f"{where} lacks {len(lacking)} of the {len(self.names)} columns that the model was fitted to: {shown}."
            )

    def check_readable(self, notices: Notices, where: str) -> None:
        """Refuse a table that has a column with too many values that cannot be read (`MOST_UNREADABLE`)."""
        for name, n_bad in notices.unreadable.items():
            if notices.unreadable_share(name) > MOST_UNREADABLE:
                n_values = n_bad + notices.read.get(name, 0)
                column = next(column for column in self.all if column.name == name)
                raise TableError(
                    f"{where}: {n_bad:,} of the first {n_values:,} values of column {name!r} cannot be read, such as "
                    f"{notices.examples[name]!r}. {_how_written(column)} A few such values are taken as missing, but "
                    f"not more than {MOST_UNREADABLE:.0%}."
                )

    def matrix(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The used columns but for texts as numbers (n_rows, n_coded), NaN where missing, and what was strange in them.

        Dates are days since 1970, categories their number in the list of the column.
        """
        frame = categories_as_text(frame)
        coded = self.coded
        matrix = np.empty((len(frame), len(coded)))
        notices = Notices()
        numbers = [column for column in coded if column.kind == "number"]
        matrix[:, self.places("number")] = _numbers(frame, numbers, notices)
        for place, column in enumerate(coded):
            if column.kind != "number":
                matrix[:, place] = _codes_or_days(frame[column.name], column, notices)
        return matrix, notices

    def words(self, frame: pl.DataFrame, name: str) -> list[str]:
        """A column as it is written, "" where missing."""
        return present_text(whole_as_whole(frame[name])).fill_null("").to_list()


def typed_categories(frame: pl.DataFrame) -> list[str]:
    """Columns that are categories by their type, even if the values look like numbers."""
    return [name for name, dtype in frame.schema.items() if dtype in (pl.Categorical, pl.Enum)]


def categories_as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """A table with categories by type as text."""
    return frame.with_columns(pl.col(typed_categories(frame)).cast(pl.String))


def without_missing(name: str) -> pl.Expr:
    """A text column, null where it says that it is missing."""
    text = pl.col(name)
    return pl.when(text.str.strip_chars().is_in(MISSING_WORDS)).then(None).otherwise(text).alias(name)


def present_text(values: pl.Series) -> pl.Series:
    """A column as text, null where it is missing or says so."""
    return values.cast(pl.String, strict=False).to_frame().select(without_missing(values.name)).to_series()


def whole_as_whole(values: pl.Series) -> pl.Series:
    """A column in which numbers that are whole are so by type as well: 1.0 is the category 1, with gaps or without."""
    if not values.dtype.is_float():
        return values
    whole = pl.first().cast(pl.Int64, strict=False)
    text = pl.when(whole == pl.first()).then(whole.cast(pl.String)).otherwise(pl.first().cast(pl.String))
    return values.fill_nan(None).to_frame().select(text).to_series()


def nearest_first(name: str, names: Iterable[str]) -> list[str]:
    """Names in the order of their likeness to one that was not found."""
    return sorted(names, key=lambda other: -SequenceMatcher(None, name.lower(), other.lower()).ratio())


def _numbers(frame: pl.DataFrame, columns: list[Column], notices: Notices) -> FloatArray:
    """Number columns as they are in this table, typed or text, NaN where missing or infinite; (n_rows, n_columns)."""
    if not columns:
        return np.empty((len(frame), 0))
    schema = frame.schema  # asked once: it is made anew each time
    as_text = [column for column in columns if schema[column.name] == pl.String]
    spelled = [read_numbers(pl.col(column.name), column.pattern or PLAIN) for column in as_text]
    read = frame.select(spelled) if spelled else pl.DataFrame()
    for name in read.columns:
        is_whole = read[name].null_count() == frame[name].null_count()  # as most are: no need to look for words
        notices.count_read(frame[name] if is_whole else present_text(frame[name]), read[name])
    typed = [_typed_number(frame[c.name], notices) for c in columns if schema[c.name] != pl.String]
    numbers = pl.concat([pl.DataFrame(typed), read], how="horizontal").select(column.name for column in columns)
    matrix = numbers.to_numpy()
    return np.where(np.isfinite(matrix), matrix, np.nan)


def _typed_number(values: pl.Series, notices: Notices) -> pl.Series:
    """A typed column as numbers; a date or a list is none, whatever it is made of inside."""
    if values.dtype.is_numeric() or values.dtype in (pl.Boolean, pl.Null):
        return values.cast(pl.Float64, strict=False)
    numbers = pl.Series(values.name, [None] * len(values), dtype=pl.Float64)
    notices.count_read(values, numbers)
    return numbers


def _codes_or_days(values: pl.Series, column: Column, notices: Notices) -> FloatArray:
    """A category, boolean or date column as numbers, NaN where missing."""
    if values.dtype == pl.String:
        values = present_text(values)
    if column.kind == "date":
        numbers = _days(values, column)
        notices.count_read(values, numbers)
        return numbers.to_numpy().astype(np.float64)
    numbers = _codes(values, column)
    if column.kind == "boolean":
        notices.count_read(values, numbers.set(numbers == UNSEEN, None))
    elif n_unseen := int((numbers == UNSEEN).sum()):
        notices.unseen[column.name] = n_unseen
    return numbers.to_numpy().astype(np.float64)


def _codes(values: pl.Series, column: Column) -> pl.Series:
    text = whole_as_whole(values).cast(pl.String, strict=False)
    codes = {category: float(code) for code, category in enumerate(column.categories)}
    if column.kind == "boolean":
        text = text.str.strip_chars().str.to_lowercase()
        codes = dict.fromkeys(_FALSE_WORDS, 0.0) | dict.fromkeys(_TRUE_WORDS, 1.0)
    found = text.replace_strict(list(codes), list(codes.values()), default=UNSEEN, return_dtype=pl.Float64)
    return found.set(text.is_null(), None)


def _days(values: pl.Series, column: Column) -> pl.Series:
    if values.dtype.is_numeric():  # days written as 20241231, if the pattern says so
        values = values.cast(pl.Int64, strict=False).cast(pl.String)
    if values.dtype == pl.Duration:
        return values.cast(pl.Duration("us")).cast(pl.Int64) / _MICROSECONDS_A_DAY
    if values.dtype == pl.Time:
        return values.cast(pl.Int64) / (1000 * _MICROSECONDS_A_DAY)
    if values.dtype == pl.String:
        values = read_dates(values, column.pattern)
    return values.cast(pl.Datetime("us"), strict=False).dt.epoch("us").cast(pl.Float64) / _MICROSECONDS_A_DAY


def _how_written(column: Column) -> str:
    """How values are to be written that the model can read, and what to do."""
    if column.kind == "number":
        other = "," if (column.pattern or PLAIN)[-2] == "." else "."
        return (
            f"The model reads numbers written as {column.pattern or PLAIN}: write them so, or say how this table does "
            f"(--decimal {other!r})."
        )
    if column.kind == "date":
        return f"The model reads dates written as {column.pattern or '%Y-%m-%d'}: write them so."
    return "The model reads true and false, yes and no, 1 and 0: write them so."
