"""Rows of results in a file, so that a benchmark that was stopped goes on where it was.

A benchmark lists what it wants to know as rows without "metrics", in the order in which they are to be made; `filled`
makes those that the file does not have, and answers with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from unlabeled.results import ResultsFile, Row, row_key


def wanted(experiment: str, dataset: str, method: str, setting: dict[str, Any], draw: int) -> Row:
    """What tells a row apart from others."""
    return {"experiment": experiment, "dataset": dataset, "method": method, "setting": setting, "draw": draw}


def filled(path: str, rows: Iterable[Row], measure: Callable[[Row], dict[str, Any]]) -> list[Row]:
    """The rows with their "metrics": from the file where it has them, else measured and written to it."""
    file, keys = ResultsFile(path), []
    file.refresh()
    for row in rows:
        keys.append(row_key(row))
        if keys[-1] not in file:
            file.append(row | {"metrics": measure(row)})
    found = {row_key(row): row for row in file.rows()}
    return [found[key] for key in keys]
