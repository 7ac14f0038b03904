"""Error of the prior estimators on Gaussians, against the hidden truth.

    python benchmarks/priors.py [--dims 1 2 5 10] [--draws 10] [--methods best-bin km2] [--results priors.csv]

Two normal distributions 2, 3 or 4 apart, 400 positives and 1,100 unlabeled rows; mean absolute error for each prior.
Every fit is appended to the results file as it ends. A run goes on where the file ends, so it may be interrupted, left
to run in the background, or asked for more draws. `--table` prints what is there and fits nothing.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from unlabeled.datasets import make_gaussians
from unlabeled.priors import PRIORS, ScarWarning

SEPARATIONS = (2.0, 3.0, 4.0)
TRUE_PRIORS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


class Cell(NamedTuple):
    """One fit."""

    method: str
    dim: int
    prior: float
    separation: float
    seed: int


class Row(NamedTuple):
    """What came of it."""

    cell: Cell
    estimate: float
    seconds: float
    warned: int


def run(cell: Cell) -> Row:
    data = make_gaussians(
        400,
        1100,
        1,
        prior=cell.prior,
        n_features=cell.dim,
        separation=cell.separation,
        random_state=cell.seed,
    )
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate = clone(PRIORS[cell.method]).fit(data.X, data.y).prior_
    warned = sum(issubclass(warning.category, ScarWarning) for warning in caught)
    return Row(cell, estimate, time.perf_counter() - start, warned)


def read(results: Path) -> dict[Cell, Row]:
    if not results.exists():
        return {}
    with results.open(newline="") as file:
        # An interrupt may leave part of a line.
        lines = [line for line in csv.reader(file) if len(line) == 8 and all(line)]
    cells = ((Cell(m, int(d), float(p), float(s), int(n)), rest) for m, d, p, s, n, *rest in lines)
    return {cell: Row(cell, float(rest[0]), float(rest[1]), int(rest[2])) for cell, rest in cells}


def append(results: Path, row: Row) -> None:
    is_cut = results.exists() and results.read_bytes()[-1:] not in {b"\n", b""}
    with results.open("a", newline="") as file:
        if is_cut:
            file.write("\n")
        csv.writer(file).writerow([*row.cell, row.estimate, f"{row.seconds:.3f}", row.warned])


def table(rows: list[Row]) -> Iterator[str]:
    yield "Mean absolute error over separations and draws; .1-.7: over those priors; n: fits; scar: warnings.\n"
    yield (
        f"{'d':>3} {'method':12}"
        + "".join(f"{prior:>8}" for prior in TRUE_PRIORS)
        + f"{'.1-.7':>8}{'s/fit':>8}"
        + (f"{'n':>6}{'scar':>6}")
    )
    for d, method in sorted({(row.cell.dim, row.cell.method) for row in rows}):
        found = [row for row in rows if (row.cell.dim, row.cell.method) == (d, method)]
        by_prior = [mean_error([row for row in found if row.cell.prior == prior]) for prior in TRUE_PRIORS]
        middle = mean_error([row for row in found if 0.1 <= row.cell.prior <= 0.7])
        seconds = np.median([row.seconds for row in found])
        yield (
            f"{d:>3} {method:12}"
            + "".join(f"{error:>8.3f}" for error in by_prior)
            + (f"{middle:>8.3f}{seconds:>8.2f}{len(found):>6}{sum(row.warned for row in found):>6}")
        )


def mean_error(rows: list[Row]) -> float:
    return float(np.mean([abs(row.estimate - row.cell.prior) for row in rows])) if rows else np.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=sorted(PRIORS), default=sorted(PRIORS))
    parser.add_argument("--results", type=Path, default=Path("priors.csv"))
    parser.add_argument("--table", action="store_true", help="print what is in the results file, and fit nothing")
    args = parser.parse_args()
    # Draws outermost: what is there after an interrupt is a table of fewer draws, not of fewer methods.
    grid = product(range(args.draws), args.dims, args.methods, TRUE_PRIORS, SEPARATIONS)
    cells = [Cell(method, d, prior, separation, seed) for seed, d, method, prior, separation in grid]
    done = read(args.results)
    if not args.table:
        for cell in cells:
            if cell not in done:
                done[cell] = run(cell)
                append(args.results, done[cell])
    print("\n".join(table([done[cell] for cell in cells if cell in done])))


if __name__ == "__main__":
    main()
