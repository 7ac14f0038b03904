"""Which cells a figure or table of the paper needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from unlabeled.datasets import PAPER_DATASETS
from unlabeled.experiments import gaussians, moons, real_data, theory, timing
from unlabeled.experiments.cell import Cell
from unlabeled.experiments.methods import (
    METHODS,
    METHODS_BY_PRIOR,
    OUR_METHODS,
    PAPER_METHODS,
    PLAIN_METHODS,
    SMALL_METHODS,
    SMALL_PRIORS,
    TRIED_METHODS,
)

N_DRAWS, N_LARGE_DRAWS = 100, 10
QUICK_DRAWS, QUICK_LARGE_DRAWS = 3, 1
#: Ours take as long as the five together; in a quick run one draw shows where they lie in the figures.
QUICK_DRAWS_OF_OURS = 1
#: Readings that are only tried have fewer draws.
TRIED_DRAWS, QUICK_TRIED_DRAWS = 20, 1


@dataclass(frozen=True)
class Options:
    """What to run of a figure or table. ``draws=None`` is the paper's number."""

    methods: Sequence[str] = tuple(METHODS)
    datasets: Sequence[str] = PAPER_DATASETS
    draws: int | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        _check_names("method", self.methods, tuple(METHODS))
        _check_names("data set", self.datasets, tuple(PAPER_DATASETS))
        if self.draws is not None and self.draws < 1:
            raise ValueError(f"draws must be 1 or more; got {self.draws}.")

    @property
    def paper_methods(self) -> tuple[str, ...]:
        """Those of the methods that the paper compares."""
        return tuple(name for name in self.methods if name in PAPER_METHODS)

    @property
    def n_draws(self) -> int:
        """Draws of a synthetic experiment or a small data set."""
        return self.draws or (QUICK_DRAWS if self.quick else N_DRAWS)

    def draws_on_figures(self, method: str) -> int:
        """Draws of a method on Figures 2 and 3."""
        few = self.quick and self.draws is None and method in OUR_METHODS
        return QUICK_DRAWS_OF_OURS if few else self.n_draws

    @property
    def n_tried_draws(self) -> int:
        """Draws of a reading that is only tried."""
        return self.draws or (QUICK_TRIED_DRAWS if self.quick else TRIED_DRAWS)

    def draws_of(self, dataset: str) -> int:
        """Draws of a real data set."""
        if dataset not in real_data.LARGE:
            return self.n_draws
        return self.draws or (QUICK_LARGE_DRAWS if self.quick else N_LARGE_DRAWS)


def _check_names(what: str, given: Sequence[str], known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise ValueError(f"{what} {name!r} is not known; use some of {', '.join(known)}.")


def _figure1(options: Options) -> list[Cell]:
    return moons.cells(options.n_draws) if "wmmd" in options.methods else []


def _figure2(options: Options, prior: str = "known", kernel: str = "rbf") -> list[Cell]:
    in_tables = PLAIN_METHODS | SMALL_METHODS | TRIED_METHODS  # other readings are in the tables
    methods = [name for name in options.methods if name not in in_tables]
    draws = {name: options.draws_on_figures(name) for name in methods}
    return gaussians.cells(methods, draws, prior=prior, kernel=kernel, quick=options.quick)


def _figure3(options: Options) -> list[Cell]:
    return _figure2(options, prior="estimated")


def _appendix_e(options: Options) -> list[Cell]:
    options = replace(options, methods=options.paper_methods)
    return _figure2(options) + _figure2(options, kernel="inverse")


def _table1(options: Options) -> list[Cell]:
    return timing.cells(options.paper_methods, options.n_draws) if options.paper_methods else []


def _table2(options: Options) -> list[Cell]:
    return real_data.summary_cells(options.datasets)


def _table3(options: Options, prior: str = "known", layout: str = "paper") -> list[Cell]:
    draws = {name: options.draws_of(name) for name in options.datasets}
    methods = [name for name in options.methods if name not in SMALL_METHODS | TRIED_METHODS]
    return real_data.cells(options.datasets, methods, draws, prior=prior, layout=layout, quick=options.quick)


def _table4(options: Options) -> list[Cell]:
    return _table3(options, prior="estimated")


def _accuracy(options: Options) -> list[Cell]:
    """Tables 3 and 4; and, in a full run, again with each value in its own column what the paper read out of line."""
    out_of_line = tuple(name for name in options.datasets if name in real_data.ALSO_INDEXED and not options.quick)
    again = replace(options, datasets=out_of_line)
    return [
        cell
        for prior in ("known", "estimated")
        for cell in _table3(options, prior) + _table3(again, prior, layout="indexed")
    ]


def _readings(options: Options) -> list[Cell]:
    """The small data sets with other estimates of the prior, and other readings of tADJ and NNPU."""
    small = tuple(name for name in options.datasets if name not in real_data.LARGE)
    tried = dict.fromkeys(small, options.n_tried_draws)
    whole = tried if options.quick else dict.fromkeys(small, options.n_draws)
    cells = real_data.cells(small, [name for name in options.methods if name in TRIED_METHODS], tried)
    cells += real_data.cells(small, [name for name in options.methods if name in SMALL_METHODS], whole)
    for prior, methods in METHODS_BY_PRIOR.items():
        draws = tried if prior in SMALL_PRIORS else whole
        cells += real_data.cells(small, [name for name in methods if name in options.methods], draws, prior=prior)
    if "wmmd" in options.methods:
        for prior, n_draws in (("km1", options.n_draws), ("km2", options.n_tried_draws)):
            cells += gaussians.cells(["wmmd"], {"wmmd": n_draws}, prior=prior, quick=options.quick)
        large = tuple(name for name in options.datasets if name in real_data.SKIN and not options.quick)
        cells += real_data.cells(large, ["wmmd"], dict.fromkeys(large, 1), prior="km1-released")
    return cells


def _theory(options: Options) -> list[Cell]:
    return theory.cells(options.draws, quick=options.quick)


TARGETS: dict[str, Callable[[Options], list[Cell]]] = {
    "table1": _table1,
    "table2": _table2,
    "figure1": _figure1,
    "figure2": _figure2,
    "figure3": _figure3,
    "table3": _table3,
    "table4": _table4,
    "appendix-e": _appendix_e,
    "accuracy": _accuracy,
    "readings": _readings,
    "theory": _theory,
}


def plan(targets: Sequence[str], options: Options) -> list[list[Cell]]:
    """Stages of cells: those that are timed, which must run one at a time, and then all others.

    The others come draw by draw, so that a run that is stopped early has all methods and data sets side by side.
    """
    _check_names("figure or table", targets, tuple(TARGETS))
    unique = {cell.key: cell for target in targets for cell in TARGETS[target](options)}
    timed = [cell for cell in unique.values() if cell.experiment == timing.NAME]
    others = sorted((cell for cell in unique.values() if cell.experiment != timing.NAME), key=lambda cell: cell.draw)
    return [stage for stage in (timed, others) if stage]
