"""Cells of methods that are trained, many small ones at once in this process: NNPU, and LOG and DH as released.

The rows are those of cells run one by one, to rounding error; ``fit_seconds`` is a share of the time of all.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from unlabeled.baselines import convex, nnpu
from unlabeled.experiments import gaussians, real_data
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.harness import row_of
from unlabeled.experiments.methods import METHODS, Prior, Task, measured
from unlabeled.results import ResultsFile, Row

#: How the models of a method are fitted together.
FIT_TOGETHER = {
    **dict.fromkeys(("nnpu", "nnpu-last", "nnpu-20"), nnpu.fit_together),
    "log-released": convex.fit_together,
    "dh-released": convex.fit_together,
}
_MODULES = {gaussians.NAME: gaussians, real_data.NAME: real_data}


def can_run_together(cell: Cell) -> bool:
    """Whether a cell is one of these methods on a small table."""
    small = cell.experiment == gaussians.NAME or cell.dataset not in real_data.LARGE
    return cell.method in FIT_TOGETHER and cell.experiment in _MODULES and small


def run_together(
    cells: Iterable[Cell],
    results: ResultsFile,
    n_models: int,
    *,
    device: str = "auto",
    on_row: Callable[[Row], None] = lambda _: None,
    prior_of: Callable[[Cell, Prior], Prior] = lambda _, prior: prior,
) -> int:
    """Run the cells that have no row yet, ``n_models`` at a time. Answers how many rows were written.

    ``prior_of`` may give an estimate of the prior that is known already, in the place of the estimator's name.
    """
    results.refresh()
    n_written = 0
    for alike in _groups((cell for cell in cells if cell.key not in results), n_models):
        for row in _rows(alike, device, prior_of):
            if results.append(row):
                n_written += 1
                on_row(row)
    return n_written


def _groups(cells: Iterable[Cell], size: int) -> Iterator[list[Cell]]:
    """Cells with tables of one size, at most so many at a time."""
    alike = defaultdict(list)
    for cell in cells:
        sort = cell.experiment, cell.dataset, cell.method, cell.setting.get("n_unlabeled"), cell.setting.get("kernel")
        alike[sort].append(cell)
    for group in alike.values():
        for start in range(0, len(group), size):
            yield group[start : start + size]


def _rows(cells: list[Cell], device: str, prior_of: Callable[[Cell, Prior], Prior]) -> Iterator[Row]:
    start, method = time.perf_counter(), cells[0].method
    drawn = [_MODULES[cell.experiment].drawn(cell) for cell in cells]
    models = [
        METHODS[method](Task(prior_of(cell, prior), str(cell.setting.get("kernel", "rbf")), cell.seed, len(data.y)))
        for cell, (data, prior) in zip(cells, drawn, strict=True)
    ]
    FIT_TOGETHER[method](models, [(data.X, data.y) for data, _ in drawn], device)
    seconds = (time.perf_counter() - start) / len(cells)
    for cell, model, (data, _) in zip(cells, models, drawn, strict=True):
        metrics = measured(method, model, data, seconds)
        if cell.experiment == real_data.NAME:
            metrics = real_data.with_note(cell, metrics)
        yield row_of(cell, metrics=metrics, seconds=seconds)
