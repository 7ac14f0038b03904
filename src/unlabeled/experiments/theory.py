"""The paper's theory on simulations: errors against bounds, excess risk against its rate, which bound is sharper."""

from __future__ import annotations

from unlabeled.experiments import theory_estimation, theory_rate, theory_sharper
from unlabeled.experiments.cell import Cell

NAME = "theory"
N_DRAWS, QUICK_DRAWS = 30, 3

_RUNS = {
    theory_estimation.DATASET: theory_estimation.run,
    theory_rate.DATASET: theory_rate.run,
    theory_sharper.DATASET: theory_sharper.run,
}


def cells(draws: int | None = None, *, quick: bool = False) -> list[Cell]:
    """All cells of the three simulations."""
    n_draws = draws or (QUICK_DRAWS if quick else N_DRAWS)
    return [
        *theory_estimation.cells(n_draws, quick=quick),
        *theory_rate.cells(n_draws, quick=quick),
        *theory_sharper.cells(),
    ]


def run(cell: Cell) -> dict[str, float]:
    """The metrics of one cell."""
    return _RUNS[cell.dataset](cell)
