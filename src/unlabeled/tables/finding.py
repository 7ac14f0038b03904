"""What the columns of a table hold: found by looking at all of their values, or said by a person.

Text is a number or a date if all of its values are, written in one way (`unlabeled.tables.numbers`,
`unlabeled.tables.dates`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import Column, Columns, categories_as_text, present_text, typed_categories
from unlabeled.tables.dates import date_pattern
from unlabeled.tables.errors import TableError
from unlabeled.tables.numbers import (
    DECIMAL_MARKS,
    IN_WORDS,
    PLAIN,
    SPELLINGS,
    currencies,
    find_spellings,
    n_read,
    other_spelling,
    read_numbers,
)
from unlabeled.tables.remedies import say_kind
from unlabeled.tables.said import (
    TRUTH,
    as_category,
    column_as_said,
    is_no_value,
    present_values,
    said_kinds,
    without_use,
)

#: A column of words that differ in more than this share of the rows names the rows.
_IDENTIFIER_SHARE = 0.5
_FEWEST_IDENTIFIERS = 20
_IDENTIFIER_NAME = re.compile(r"(?:^|[_\W])(?:id|key|no|nr|index|uuid|guid|row)$|[a-z](?:Id|ID|Key|No)$", re.IGNORECASE)
#: Whole numbers between these, of 15 to 20 digits, are those of cards and accounts; what is larger was measured.
_LONG_NUMBERS = 1e14, 1e20
#: Text has at least this many words in at least half of the rows, and more different values than categories do.
_WORDS_OF_TEXT, _FEWEST_TEXTS = 3, 50
#: Most columns of words hold neither numbers nor booleans; this many values are enough to tell.
_N_PROBES = 1000
_WORD = r"\S*\p{L}\S*"
#: Digits with decimal commas or thousands marks, between currencies or per cent signs; but no dashes or colons.
_STRANGE_NUMBER = r"^\s*[-+]?[\p{Sc}]?\s*[-+]?\d[\d.,' \u{00a0}]*\s*(?:%|\p{Sc}|[A-Z]{3})?\s*$"


def find_columns(
    frame: pl.DataFrame, *, kinds: Mapping[str, str] | None = None, decimal: str | None = None, first_line: int = 1
) -> Columns:
    """Find out what each column of a table holds.

    Parameters
    ----------
    frame : DataFrame of polars
        The table, without its label. Columns of text may be anything; others are what their type says.
    kinds : mapping from names to kinds, optional
        What columns are, instead of what would be found: "number", "category", "date", "boolean", "text", "identifier"
        or "drop". Numbers and dates may be said to be written in some way: "number:1.234,5", "date:%d/%m/%Y".
        `Column.said` has the same form.
    decimal : {".", ","}, optional
        The decimal mark, where a column leaves that open, such as one of 1,234 and 5,678. Otherwise the other columns
        decide, or it is the point, with a warning.
    first_line : int
        The number of the first row, for messages.

    Returns
    -------
    Columns

    Examples
    --------
    >>> import polars as pl
    >>> from unlabeled.tables import find_columns
    >>> frame = pl.DataFrame({"price": ["1.234,50 €", "7,99 €"], "code": ["10", "20"]})
    >>> [(column.kind, column.pattern) for column in find_columns(frame, kinds={"code": "category"}).all]
    [('number', '1.234,5'), ('category', '')]
    """
    said = said_kinds(kinds or {}, frame.columns)
    categories = [name for name in typed_categories(frame) if name not in said]
    frame = categories_as_text(frame)
    numbers = _find_numbers(frame.drop(*said, *categories, strict=True), decimal)
    found = []
    for values in frame.iter_columns():
        if values.name in said:
            found.append(column_as_said(values, said[values.name]))
        elif values.name in numbers:
            found.append(_number(*numbers[values.name]))
        else:
            found.append(_find_column(values, is_category=values.name in categories, first_line=first_line))
    return Columns(tuple(found))


def columns_by_type(frame: pl.DataFrame, names: Sequence[str]) -> Columns:
    """What columns are that features are made of in some other way: by their types, all of them used if possible.

    Those that are not in the frame are numbers. Words are categories, unless most rows have a value of their own.
    """
    return Columns(tuple(_by_type(frame[name]) if name in frame.columns else Column(name, "number") for name in names))


def _by_type(values: pl.Series) -> Column:
    present = None if is_no_value(values.dtype) else present_values(values)
    if present is None or len(present) == 0:
        return Column(values.name, "drop")
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return Column(values.name, "number")
    if values.dtype.is_temporal():
        return Column(values.name, "date")
    if present.n_unique() > max(_IDENTIFIER_SHARE * len(present), _FEWEST_IDENTIFIERS):
        return Column(values.name, "text")
    return as_category(values.name, present)


# --- numbers ---


def _find_numbers(frame: pl.DataFrame, decimal: str | None) -> dict[str, tuple[FloatArray, Column]]:
    """Columns of numbers, and text columns whose every value is a number, with how they are written.

    All at once where they are written plainly, for there may be thousands.
    """
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    plain = frame.select(read_numbers(pl.col(texts)))
    typed = frame.select(name for name, dtype in frame.schema.items() if dtype.is_numeric()).cast(pl.Float64)
    found = {values.name: (values.to_numpy(), Column(values.name, "number")) for values in typed}
    for name, column in _spelled(frame, plain, decimal).items():
        read = frame.select(read_numbers(pl.col(name), column.pattern))[name] if column.pattern else plain[name]
        found[name] = read.to_numpy(), column
    return found


def _spelled(frame: pl.DataFrame, plain: pl.DataFrame, decimal: str | None) -> dict[str, Column]:
    """The text columns that are numbers, and how they are written; ``plain`` is what they are if written plainly."""
    are_plain = {name for name in plain.columns if plain[name].null_count() == frame[name].null_count() < len(frame)}
    ways = {name: find_spellings(present_values(frame[name])) for name in plain.columns if name not in are_plain}
    mark = decimal or _decimal_of_others(ways)
    for name in are_plain:  # with a decimal comma, 1.234 may be a thousand
        ways[name] = find_spellings(present_values(frame[name])) if mark == "," else (PLAIN,)
    return {
        name: _choose(frame[name], spellings, mark, said=decimal is not None)
        for name, spellings in ways.items()
        if spellings
    }


def _decimal_of_others(spellings: dict[str, tuple[str, ...]]) -> str | None:
    """The decimal mark that the columns agree on which leave no doubt."""
    marks = {DECIMAL_MARKS[ways[0]] for ways in spellings.values() if ways and len(_marks(ways)) == 1}
    return marks.pop() if len(marks) == 1 else None


def _marks(spellings: tuple[str, ...]) -> set[str]:
    return {DECIMAL_MARKS[spelling] for spelling in spellings}


def _choose(values: pl.Series, spellings: tuple[str, ...], mark: str | None, *, said: bool) -> Column:
    """The way in which a column is written, of those that are possible; if that is a guess, it is told."""
    chosen = next((spelling for spelling in spellings if DECIMAL_MARKS[spelling] == mark), spellings[0])
    if chosen == PLAIN:
        return Column(values.name, "number")
    present = present_values(values)
    marked = present.filter(present.str.contains(r"[.,]"))
    if len(marked) == 0:
        return Column(values.name, "number", pattern=chosen)
    example = marked[0].strip()
    if len(_marks(spellings)) == 2 and not said:
        other = say_kind(values.name, f"number:{other_spelling(chosen)}")
        warnings.warn(
            f"Column {values.name!r}: {example!r} may have a decimal mark or a thousands mark. It is read with a "
            f"{IN_WORDS[chosen]}. If that is wrong: {other}.",
            stacklevel=2,
        )
    return Column(values.name, "number", f"read with a {IN_WORDS[chosen]}, such as {example!r}", pattern=chosen)


def _number(values: FloatArray, column: Column) -> Column:
    """A number column, unless it says nothing or names the rows."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return Column(column.name, "empty", "left out: no value in it")
    if finite.min() == finite.max() and len(finite) == len(values):
        return Column(column.name, "constant", f"left out: always {finite[0]:g}")
    if why := _names_rows(column.name, finite, len(values)):
        return Column(column.name, "identifier", f"left out: {why}")
    return column


def _names_rows(name: str, finite: FloatArray, n_rows: int) -> str:
    """Why numbers are names of rows, cards or accounts; "" if they are numbers."""
    if (finite % 1 != 0).any():
        return ""
    shortest, longest = _LONG_NUMBERS
    if np.mean((np.abs(finite) >= shortest) & (np.abs(finite) < longest)) > 0.9:
        n_digits = len(f"{np.median(np.abs(finite)):.0f}")
        return f"whole numbers of {n_digits} digits, such as those of cards; {_otherwise(name, 'number')}"
    low, high = finite.min(), finite.max()
    may_count = len(finite) == n_rows >= _FEWEST_IDENTIFIERS
    if may_count and (high - low + 1 == n_rows or _IDENTIFIER_NAME.search(name)) and len(np.unique(finite)) == n_rows:
        return "a different whole number in every row"
    return ""


def _otherwise(name: str, kind: str) -> str:
    return f"if not, {say_kind(name, kind)}"


# --- text and the rest ---


def _find_column(values: pl.Series, *, is_category: bool, first_line: int) -> Column:
    """A column that is no number."""
    name, dtype = values.name, values.dtype
    if is_no_value(dtype):
        return Column(name, "no value", f"left out: it holds {dtype}")
    present = present_values(values)
    if useless := without_use(values, present):
        return useless
    if dtype == pl.Boolean:
        return Column(name, "boolean", categories=TRUTH)
    if dtype.is_temporal():
        return Column(name, "date")
    return _words(present) if is_category else _text(present, values, first_line)


def _text(present: pl.Series, values: pl.Series, first_line: int) -> Column:
    """A text column is what all of its values are; numbers with a few words between them are an error."""
    _refuse_mixture(present, values, first_line)
    if all(set(part.str.to_lowercase().unique()) <= {"true", "false"} for part in (present.head(_N_PROBES), present)):
        return Column(present.name, "boolean", categories=TRUTH)
    if pattern := date_pattern(present):
        return Column(present.name, "date", pattern=pattern)
    return _words(present)


def _words(present: pl.Series) -> Column:
    """A column of words: text if there are many in most rows, an identifier if most differ, else categories."""
    name, n_different = present.name, present.n_unique()
    names_rows = n_different > max(_IDENTIFIER_SHARE * len(present), _FEWEST_IDENTIFIERS)
    if (names_rows or n_different > _FEWEST_TEXTS) and _is_text(present):
        return Column(name, "text", f"words of {n_different:,} different texts; {_otherwise(name, 'drop')}")
    if not names_rows:
        return as_category(name, present)
    _warn_of_strange_numbers(name, present)
    return Column(name, "identifier", f"left out: {n_different:,} different values in {len(present):,} rows")


def _is_text(present: pl.Series) -> bool:
    return float((present.str.count_matches(_WORD) >= _WORDS_OF_TEXT).mean()) >= 0.5  # type: ignore[arg-type]


def _warn_of_strange_numbers(name: str, present: pl.Series) -> None:
    """Say that a column that is about to be left out looks like numbers, in several currencies or spellings."""
    if present.str.contains(_STRANGE_NUMBER).all():
        found = currencies(present)
        why = f"are in several currencies ({', '.join(found)})" if len(found) > 1 else "are not written in one way"
        warnings.warn(
            f"Column {name!r} is left out: its values, such as {present[0]!r}, {why}. If they are numbers, write them "
            f"in one way, or take those that can be read: {say_kind(name, 'number')}.",
            stacklevel=2,
        )


def _refuse_mixture(present: pl.Series, values: pl.Series, first_line: int) -> None:
    probes = present.gather_every(max(len(present) // _N_PROBES, 1))
    spelling = max(SPELLINGS, key=lambda way: n_read(probes, way))
    if n_read(probes, spelling) < len(probes) / 4 or not len(present) / 2 < n_read(present, spelling) < len(present):
        return
    words = present_text(values)
    numbers = words.to_frame().select(read_numbers(pl.first(), spelling)).to_series()
    row = int((words.is_not_null() & numbers.is_null()).arg_true()[0])
    name, word = values.name, "line" if first_line > 1 else "row"
    ways = ", or ".join(say_kind(name, kind) for kind in ("number", "category"))
    raise TableError(
        f"Column {name!r} mixes numbers and words: {words[row]!r} on {word} {row + first_line}. Correct it, leave it "
        f"empty if it means missing, or say what the column is: {ways}; what is no number is missing then."
    )
