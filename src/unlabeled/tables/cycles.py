"""What comes round again in dates: the time of day, the day of the week, the time of year, as points on circles.

On a circle Sunday is next to Monday, and December next to January. Two dates that are opposite in a cycle are as far
apart as a number is from itself with the other sign, at one standard deviation.
"""

from __future__ import annotations

import numpy as np

from unlabeled.arrays import FloatArray

#: Each cycle in days. The time of year is that of a year of 365.25 days, as good as the calendar's to a day.
CYCLES = {"hour": 1.0, "weekday": 7.0, "year": 365.25}
#: A cycle is of use where the dates go round it this often: a single round says no more than the date itself.
_FEWEST_ROUNDS = 2


def find_cycles(days: FloatArray) -> list[str]:
    """The cycles that dates, as days since 1970, go round often enough; that of hours if they have any."""
    days = days[np.isfinite(days)]
    if len(days) == 0:
        return []
    span = days.max() - days.min()
    has_hours = bool((days % 1 != 0).any())
    return [
        name for name, length in CYCLES.items() if span >= _FEWEST_ROUNDS * length and (name != "hour" or has_hours)
    ]


def on_circles(days: FloatArray, cycles: list[str]) -> FloatArray:
    """Sine and cosine (n_rows, 2 n_cycles) of where dates are in each cycle; the centre where they are missing."""
    columns = [np.empty((len(days), 0))]
    for name in cycles:
        # Whole days: a Saturday is a Saturday until midnight.
        angle = 2 * np.pi * (days if name == "hour" else np.floor(days)) / CYCLES[name]
        columns.append(np.column_stack([np.sin(angle), np.cos(angle)]))
    return np.nan_to_num(np.hstack(columns), nan=0.0)
