"""Numbers that are written as text: with a decimal comma, thousands marks, a currency or a per cent sign.

A column is written in one way throughout, which is called by an example of it: `PLAIN` is what computers write,
`POINT` and `COMMA` are what people do. Thousands marks may be left out, and a space or an apostrophe is one everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

PLAIN, POINT, COMMA = "1234.5", "1,234.5", "1.234,5"
SPELLINGS = (PLAIN, POINT, COMMA)
#: The decimal mark of each, and how it is called.
DECIMAL_MARKS = {PLAIN: ".", POINT: ".", COMMA: ","}
IN_WORDS = {PLAIN: "decimal point", POINT: "decimal point", COMMA: "decimal comma"}

_SPACES = r" '\u{2019}\u{00a0}\u{202f}\u{2009}"
_CURRENCY = r"(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|%|kr\.?|zł|Fr\.)?"
_MINUS = r"\-\u{2212}"
_DIGITS = rf"(\d[\d.,{_SPACES}]*(?:[eE][-+]?\d+)?|[.,]\d+)"
#: A sign or a bracket, a currency, a sign, digits; a currency and a minus sign or a bracket behind them.
_DRESSED = rf"^[{_MINUS}+(]?\s*{_CURRENCY}\s*[{_MINUS}+]?\s*{_DIGITS}\s*{_CURRENCY}\s*[{_MINUS})]?$"
_NEGATIVE = rf"^\(|[{_MINUS}]$|^[^\d]*[{_MINUS}]"
_MARK = r"(\p{Sc}|[A-Z]{3})"
#: What the marks of thousands, every three digits (or two, as in 1,00,000), may be beside the decimal mark.
_THOUSANDS = {".": f",{_SPACES}", ",": f".{_SPACES}"}
#: Most columns of text hold no numbers; this many values are enough to tell.
_N_PROBES = 100


def read_numbers(text: pl.Expr, spelling: str = PLAIN) -> pl.Expr:
    """Text as numbers, null where it is not written that way."""
    if spelling == PLAIN:
        return text.str.strip_chars().cast(pl.Float64, strict=False)
    return text.map_batches(lambda values: _read_spelled(values, spelling), return_dtype=pl.Float64)


def _read_spelled(values: pl.Series, spelling: str) -> pl.Series:
    """Numbers as people write them: at once where there is only a decimal mark, and with care where there is more."""
    text, decimal = values.str.strip_chars(), DECIMAL_MARKS[spelling]
    other = "," if decimal == "." else "."
    simple = text.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    numbers = simple.set(text.str.contains(other, literal=True), None)
    left = (numbers.is_null() & text.is_not_null()).arg_true()
    if len(left) == 0:
        return numbers
    read = text.gather(left).to_frame().select(_read_dressed(pl.first(), decimal)).to_series()
    return numbers.scatter(left, read)


def _read_dressed(text: pl.Expr, decimal: str) -> pl.Expr:
    digits = text.str.extract(_DRESSED, 1).str.strip_chars(" '\u2019\u00a0\u202f\u2009")
    bare = pl.when(digits.str.contains(_well_grouped(decimal))).then(digits)
    without_marks = bare.str.replace_all(f"[{_THOUSANDS[decimal]}]", "").str.replace(decimal, ".", literal=True)
    size = without_marks.cast(pl.Float64, strict=False)
    return pl.when(text.str.contains(_NEGATIVE)).then(-size).otherwise(size)


def _well_grouped(decimal: str) -> str:
    mark, thousands = f"[{decimal}]", f"[{_THOUSANDS[decimal]}]"
    fraction = rf"(?:{mark}\d*)?(?:[eE][-+]?\d+)?"
    return rf"^(?:\d+{fraction}|[1-9]\d{{0,2}}(?:{thousands}\d{{2,3}})*{thousands}\d{{3}}{fraction}|{mark}\d+)$"


def find_spellings(present: pl.Series) -> tuple[str, ...]:
    """The ways in which all values of a text column may be written as numbers; none if they are not numbers.

    Amounts in several currencies are no numbers of one kind.
    """
    head = present.head(_N_PROBES)
    likely = [way for way in SPELLINGS if len(head) and n_read(head, way) == len(head)]
    fitting = tuple(way for way in likely if n_read(present, way) == len(present))
    if fitting and PLAIN not in fitting and len(currencies(present)) > 1:
        return ()
    return fitting


def other_spelling(spelling: str) -> str:
    """The spelling with the other decimal mark."""
    return POINT if spelling == COMMA else COMMA


def n_read(present: pl.Series, spelling: str) -> int:
    """How many values are numbers, if they are written that way."""
    return int(present.to_frame().select(read_numbers(pl.first(), spelling).is_not_null().sum()).item())


def currencies(present: pl.Series) -> list[str]:
    """The currency signs and codes that stand before or after the digits."""
    return sorted(present.str.extract(_MARK, 1).drop_nulls().unique().to_list())


def check_spelling(spelling: str) -> str:
    """A spelling that a person named, by its example or by its decimal mark alone."""
    by_mark = {".": POINT, ",": COMMA}
    found = by_mark.get(spelling, spelling)
    if found not in SPELLINGS:
        raise ValueError(f"{spelling!r} is no way to write numbers; use one of {_listed(SPELLINGS)}.")
    return found


def _listed(values: Iterable[str]) -> str:
    return ", ".join(repr(value) for value in values)
