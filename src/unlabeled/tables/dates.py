"""Dates that are written as text: how all dates of a column are written, and what they are then."""

from __future__ import annotations

import warnings

import polars as pl

from unlabeled.tables.remedies import say_kind

#: The standard for dates leaves no doubt, so that with or without a time are read alike.
_ISO = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M",
)
_CERTAIN = (
    *_ISO,
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
)
#: These may begin with the day just as well.
_MONTH_FIRST = (
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M:%S%.f",
    "%m/%d/%Y %H:%M",
    "%m/%d/%y",
    "%m-%d-%Y",
    "%m-%d-%Y %H:%M:%S%.f",
    "%m-%d-%Y %H:%M",
)
#: The parser takes 13/02/24 for a day of the year 24, or 13.
_FIRST_YEAR = 1000
#: Most columns of text hold no dates; this many values are enough to tell.
_N_PROBES = 100


def date_pattern(present: pl.Series) -> str:
    """How all dates of a text column are written; "" if they are no dates.

    All values are looked at: one with a number above 12 in the first place says that the day is first, in the second
    place that the month is. If none does, they are read month first, with a warning.
    """
    for pattern in _CERTAIN:
        if _fits(present, pattern):
            return pattern
    for pattern in _MONTH_FIRST:
        by_month, by_day = _fits(present, pattern), _fits(present, _day_first(pattern))
        if by_month and by_day:
            _warn_if_it_matters(present, pattern)
        if by_month or by_day:
            return pattern if by_month else _day_first(pattern)
    return ""


def read_dates(text: pl.Series, pattern: str) -> pl.Series:
    """Text as dates with time, null where it is not written that way."""
    text = text.str.strip_chars()
    dates = _read(text, pattern or _ISO[0])
    for other in _ISO if pattern in ("", *_ISO) and dates.null_count() > text.null_count() else ():
        dates = dates.zip_with(dates.is_not_null(), _read(text, other))
    return dates.set((dates.dt.year() < _FIRST_YEAR).fill_null(value=False), None)


def _read(text: pl.Series, pattern: str) -> pl.Series:
    dates = text.str.to_datetime(pattern, strict=False)
    return dates.dt.convert_time_zone("UTC").dt.replace_time_zone(None).dt.cast_time_unit("us")


def _fits(present: pl.Series, pattern: str) -> bool:
    return all(read_dates(part, pattern).null_count() == 0 for part in (present.head(_N_PROBES), present))


def _day_first(pattern: str) -> str:
    return pattern.translate(str.maketrans("md", "dm"))


def _warn_if_it_matters(present: pl.Series, pattern: str) -> None:
    by_month, by_day = read_dates(present, pattern), read_dates(present, _day_first(pattern))
    if (by_month == by_day).all():
        return
    place = int((by_month != by_day).arg_true()[0])
    warnings.warn(
        f"Column {present.name!r}: no date says whether the month or the day is first. They are read month first, "
        f"{present[place].strip()!r} as {by_month[place]:%Y-%m-%d}. If that is wrong: "
        f"{say_kind(present.name, f'date:{_day_first(pattern)}')}.",
        stacklevel=2,
    )
