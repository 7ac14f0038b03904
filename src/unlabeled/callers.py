"""Where a warning is told: at the line that called, not at one of this library."""

from __future__ import annotations

import sys

#: Packages that the way from a user's line to a warning leads through; the others wrap `fit`.
_ON_THE_WAY = ("unlabeled", "sklearn", "joblib", "contextlib")


def levels_to_caller() -> int:
    """``stacklevel`` of a warning that the function which asks gives: that of the nearest line outside."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _ON_THE_WAY:
        level, frame = level + 1, frame.f_back
    return level
