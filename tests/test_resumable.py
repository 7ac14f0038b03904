"""Benchmarks that were stopped go on where they were: each row is made once, and all are answered."""

import importlib
from pathlib import Path

import pytest


@pytest.fixture
def resumable(monkeypatch):
    """The module ``benchmarks/resumable.py``."""
    monkeypatch.syspath_prepend(Path(__file__).parent.parent / "benchmarks")
    return importlib.import_module("resumable")


def test_a_stopped_run_goes_on_where_it_was(resumable, tmp_path):
    rows = [resumable.wanted("trial", "moons", "wmmd", {"prior": 0.5}, draw) for draw in range(4)]
    made = []

    def measure(row):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(row["draw"])
        return {"square": row["draw"] ** 2}

    path = str(tmp_path / "rows.jsonl")
    with pytest.raises(KeyboardInterrupt):
        resumable.filled(path, rows, measure)
    assert made == [0, 1]

    def measure_the_rest(row):
        made.append(row["draw"])
        return {"square": row["draw"] ** 2}

    found = resumable.filled(path, rows[::-1], measure_the_rest)
    assert made == [0, 1, 3, 2]
    assert [row["metrics"]["square"] for row in found] == [9, 4, 1, 0]
