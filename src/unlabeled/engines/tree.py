"""The engine for few features and many rows: it computes no pair that does not matter, and few that do.

For each gamma it takes the cheapest of three ways, by what the data say:

1. ``cells``: expansions between the cells of a grid (`unlabeled.engines.cells`), where many rows share a bandwidth;
2. ``leaves``: only near points, found in a k-d tree (`unlabeled.engines.leaves`), where kernels are narrow;
3. ``numba``: all pairs by the engine of that name, where neither is cheaper.

A log sum is within ``rtol`` (1e-6) of the true one, for every query: an expansion comes with a bound of its error, and
the queries for which that is too large, such as those far from everything, go the second way; what is too faint there
for float32 goes the third. Jobs that nothing can be gained for (`unsuited` says which and why), those that shall be
exact among them, go to ``numba`` as they are. The own pair is left out of an expansion by taking it away, and the bound
is then that of the error relative to what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.engines import cells, leaves
from unlabeled.engines import numba as brute
from unlabeled.engines.cells import Grid, InCells
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.leaves import Leaves
from unlabeled.engines.threads import n_threads, on_threads
from unlabeled.engines.vectors import LADDER
from unlabeled.kernels import Kernel

#: Errors of sums, relative to them, may be asked for: this by default. What of it an expansion may take: the rest is
#: for points outside of its grid.
TAKES_RTOL, RTOL, EXPANSION_SHARE = True, 1e-6, 0.7
#: Most features, fewest pairs, and fewest queries and points for which trees are worth their making. Fewer pairs are
#: done in a fraction of a second, while these loops, once on a machine, wait for the compiler.
MOST_FEATURES, LEAST_PAIRS, LEAST_ROWS = 4, 100_000_000, 1000
#: Features for which there are expansions.
EXPANDED_FEATURES = 3
#: Share of queries that may be too faint for leaves, as they are where weights are very uneven.
MOST_FAINT = 0.1
#: Costs in nanoseconds, of which only the ratios matter: a pair of all pairs, for one gamma and for each of a grid; a
#: near pair, and a query among leaves.
BRUTE_PAIR, BRUTE_PAIR_OF_GRID, NEAR_PAIR, NEAR_QUERY = 0.6, 0.45, 1.7, 700.0
#: A coefficient of a point or query in a cell, a multiplication between cells, a row to be sorted into cells or into a
#: tree; all there is to do once.
COEFFICIENT, BETWEEN_CELLS, ROW_IN_CELL, ROW_IN_TREE, ONCE = 0.25, 0.2, 250.0, 600.0, 6e6
#: What another weighting adds to a pair of all pairs.
MORE_WEIGHTS = 0.3
#: Groups of queries that are tried to see how many points are near, and rows to see how many cells are taken.
SCOUTS, ROWS_TO_COUNT = 8, 4096
#: Shares of the points at both ends of each feature that may stay out of a grid, if it would have too many cells.
OUTSIDE = (1e-4, 1e-3, 1e-2)
_LOG2E = 1 / math.log(2)


def unsuited(kernel: Kernel, n_queries: int, n_points: int, n_features: int, *, exact: bool) -> str | None:
    """Why a job gains nothing here, or None if it may."""
    if kernel.name != "rbf":
        return f"the kernel {kernel.name!r} has no end beyond which points do not matter"
    if exact:
        return "exact sums leave nothing out"
    if n_features > MOST_FEATURES:
        return f"of {n_features} features (more than {MOST_FEATURES}) all rows are about equally far from each other"
    if n_queries * n_points < LEAST_PAIRS or min(n_queries, n_points) < LEAST_ROWS:
        return f"{n_queries} x {n_points} pairs are done before a tree is made"
    return None


def log_sums(
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    own: np.ndarray | None,
    log_weights: FloatArray | None,
    *,
    exact: bool,
    n_jobs: int | None,
    rtol: float = RTOL,
) -> FloatArray:
    """Log kernel sums for each weighting, or the plain ones; see `unlabeled.engines.log_kernel_sums`."""

    def by_brute_force(rows: np.ndarray | slice, gammas: FloatArray) -> FloatArray:
        own_here = None if own is None else own[rows]
        some = queries[rows], points, kernel, gammas, own_here, log_weights
        return brute.log_sums(*some, exact=exact, n_jobs=n_jobs)

    if unsuited(kernel, len(queries), *points.shape, exact=exact):
        return by_brute_force(slice(None), gammas)
    job = Job.of(queries, points, own, log_weights, n_threads(n_jobs), rtol)
    sums = job.log_sums(gammas)
    _fill_rest(sums, gammas, by_brute_force)
    return sums


def _fill_rest(
    sums: FloatArray, gammas: FloatArray, by_brute_force: Callable[[np.ndarray | slice, FloatArray], FloatArray]
) -> None:
    """Compute by brute force what is not a number yet: the gammas that have none together, they share their kernels."""
    left = np.asarray(np.isnan(sums).any(axis=0))  # (n_gammas, n_queries)
    whole = left.all(axis=1)
    if whole.any():
        sums[:, whole] = by_brute_force(slice(None), gammas[whole])
    for place in np.flatnonzero(~whole & left.any(axis=1)):
        rows = np.flatnonzero(left[place])
        sums[:, place, rows] = by_brute_force(rows, gammas[place : place + 1])[:, 0]


@dataclass(frozen=True)
class Plan:
    """How one gamma is computed: the cheapest way, its grid, and what each way costs (nanoseconds)."""

    way: str
    grid: Grid | None
    costs: dict[str, float]


@dataclass(frozen=True)
class Job:
    """What stays the same for all gammas."""

    queries: FloatArray
    points: FloatArray
    own: np.ndarray  # (n_queries,)
    weights: FloatArray | None  # (n_weightings, n_points), the largest of each is 1
    log_tops: FloatArray  # their logs
    n_threads: int
    rtol: float = RTOL

    @classmethod
    def of(
        cls,
        queries: FloatArray,
        points: FloatArray,
        own: np.ndarray | None,
        log_weights: FloatArray | None,
        n_threads: int,
        rtol: float = RTOL,
    ) -> Job:
        """A job in float64, of weights that are relative to the largest."""
        queries, points = (np.ascontiguousarray(rows, dtype=np.float64) for rows in (queries, points))
        log_tops = np.zeros(1) if log_weights is None else log_weights.max(axis=1)
        weights = None if log_weights is None else np.exp(log_weights - log_tops[:, None])
        own = np.full(len(queries), -1) if own is None else own
        return cls(queries, points, own, weights, log_tops, n_threads, rtol)

    @cached_property
    def leaves(self) -> Leaves:
        """All points in a tree."""
        return Leaves.of(self.points, self.weights)

    @cached_property
    def order(self) -> np.ndarray:
        """All queries, neighbours after each other."""
        return self._in_order(np.arange(len(self.queries)))

    def _in_order(self, rows: np.ndarray) -> np.ndarray:
        order = leaves.kd_order(self.queries[rows], leaves.QUERIES).ravel()
        return rows[order[order >= 0]]

    def log_sums(self, gammas: FloatArray) -> FloatArray:
        """Log sums (n_weightings, n_gammas, n_queries), not a number where brute force is cheaper or needed."""
        sums = np.full((len(self.log_tops), len(gammas), len(self.queries)), np.nan)
        brute_pair = BRUTE_PAIR if len(gammas) < 3 else BRUTE_PAIR_OF_GRID
        brute_pair *= 1 + MORE_WEIGHTS * (len(self.log_tops) - 1)
        plans = [self.plan(float(gamma), brute_pair * len(self.points) * len(self.queries)) for gamma in gammas]
        by_leaves = np.flatnonzero([plan.way == "leaves" for plan in plans])
        if len(by_leaves):
            sums[:, by_leaves[:, None], self.order] = self._by_leaves(gammas[by_leaves], self.order)
        for place, plan in enumerate(plans):
            if plan.way == "cells" and plan.grid is not None:
                sums[:, place] = self._by_cells(float(gammas[place]), plan.grid)
        return sums + self.log_tops[:, None, None]

    def plan(self, gamma: float, of_brute_force: float) -> Plan:
        """The way that costs least."""
        grid, of_cells = self.best_grid(gamma)
        of_leaves = self.cost_of_leaves(gamma, min(of_cells, of_brute_force))
        costs = {"cells": of_cells, "leaves": of_leaves, "numba": of_brute_force}
        return Plan(min(costs, key=costs.__getitem__), grid, costs)

    # --- leaves ---

    def cost_of_leaves(self, gamma: float, most: float) -> float:
        """Nanoseconds that leaves take: some groups of queries try. Infinite if more than ``most``."""
        least = NEAR_QUERY * len(self.queries) + ROW_IN_TREE * (len(self.queries) + len(self.points))
        if most < least:
            return math.inf
        size = leaves.QUERIES
        firsts = np.unique(np.linspace(0, len(self.queries) - size, SCOUTS).astype(int) // size * size)
        scouts = self.order[(firsts[:, None] + np.arange(size)).ravel()]
        tops, sums = np.full(len(scouts), np.inf), np.zeros((len(self.log_tops), 1, len(scouts)))
        share = len(self.queries) / len(scouts)
        most_pairs = int((most - least) / NEAR_PAIR / share)
        n_pairs = self._add_near(gamma, self.leaves, scouts, tops, sums, most_pairs)
        faint = (sums <= 2.0**-leaves.FAINT).any(axis=(0, 1)).mean()
        return math.inf if n_pairs > most_pairs or faint > MOST_FAINT else NEAR_PAIR * n_pairs * share + least

    def _by_leaves(self, gammas: FloatArray, rows: np.ndarray) -> FloatArray:
        """Log sums of some queries (n_weightings, n_gammas, n_rows), not a number where they are too faint."""
        ladders = Ladders.of(gammas, LADDER)
        found = np.empty((len(self.log_tops), len(ladders.steps), len(rows)))
        first = 0
        for length in ladders.lengths:
            tops, sums = np.full(len(rows), np.inf), np.zeros((len(found), length, len(rows)))
            self._add_near_on_threads(ladders.base * ladders.steps[first], self.leaves, rows, tops, sums)
            found[:, first : first + length] = _logs(tops, sums)
            first += length
        return found[:, ladders.slots]

    def _add_near_on_threads(
        self, gamma: float, of_points: Leaves, rows: np.ndarray, tops: FloatArray, sums: FloatArray
    ) -> None:
        def run(part: slice) -> None:
            some = sums[..., part].copy()
            self._add_near(gamma, of_points, rows[part], tops[part], some)
            sums[..., part] = some

        size = leaves.QUERIES
        n_groups = -(-len(rows) // size)
        parts = [slice(size * part.start, size * part.stop) for part in cells.parts(n_groups, 16 * self.n_threads)]
        for _ in on_threads(run, parts, self.n_threads):
            pass

    def _add_near(
        self,
        gamma: float,
        of_points: Leaves,
        rows: np.ndarray,
        tops: FloatArray,
        sums: FloatArray,
        most: int = 2**62,
    ) -> int:
        own = self.own[rows]
        own = np.where(own >= 0, of_points.places[own], -1)
        depth = math.log2(of_points.total / (leaves.DROPPED * self.rtol))
        arrays = of_points.blocks, of_points.weights, of_points.lower, of_points.upper
        room = leaves.room_for(of_points)
        return int(leaves.add_near(self.queries[rows], own, gamma * _LOG2E, depth, most, *arrays, tops, sums, *room))

    # --- cells ---

    def best_grid(self, gamma: float) -> tuple[Grid | None, float]:
        """The grid with the least cost, and nanoseconds that it takes."""
        best, least = None, math.inf
        if self.points.shape[1] <= EXPANDED_FEATURES:
            for n_nodes in cells.NODES:
                grid = self._grid(gamma, n_nodes)
                if grid is not None and self._cost_of_rows(grid) < least:
                    cost = self._cost(grid)
                    best, least = (grid, cost) if cost < least else (best, least)
        return best, least

    @cached_property
    def _boxes(self) -> list[tuple[FloatArray, FloatArray]]:
        """Around all points, and around most of them."""
        some = self.points[:: max(1, len(self.points) // 100_000)]
        inner = [tuple(np.quantile(some, [share, 1 - share], axis=0)) for share in OUTSIDE]
        return [(self.points.min(axis=0), self.points.max(axis=0)), *inner]

    def _grid(self, gamma: float, n_nodes: int) -> Grid | None:
        for lower, upper in self._boxes:
            grid = Grid.of(lower, upper, gamma, n_nodes, self.rtol / RTOL)
            if grid.n_cells <= cells.MOST_CELLS:
                of_slice = grid.shape[1] * grid.shape[2] * grid.n_coefficients
                return grid if of_slice <= cells.MOST_NUMBERS // 2 else None
        return None

    def _cost_of_rows(self, grid: Grid) -> float:
        n_rows = len(self.points) + len(self.queries)
        return ONCE + (COEFFICIENT * len(self.log_tops) * grid.n_coefficients + ROW_IN_CELL) * n_rows

    def _cost(self, grid: Grid) -> float:
        some = self.points[:: max(1, len(self.points) // ROWS_TO_COUNT)]
        n_cells = len(InCells.of(some, grid).cells)
        if n_cells > len(some) / 4:  # more rows would take more cells
            n_cells = min(grid.n_cells, n_cells * len(self.points) // len(some))
        if n_cells * grid.n_coefficients > cells.MOST_NUMBERS:
            return math.inf
        return self._cost_of_rows(grid) + BETWEEN_CELLS * len(self.log_tops) * n_cells * grid.flops()

    def _by_cells(self, gamma: float, grid: Grid) -> FloatArray:
        """Log sums (n_weightings, n_queries), by leaves where an expansion is not good enough."""
        queries, points = on_threads(lambda rows: InCells.of(rows, grid), [self.queries, self.points], self.n_threads)
        sums, errors = np.empty((2, len(self.log_tops), len(queries.rows)))
        for place in range(len(sums)):
            weights = np.ones(len(points.rows)) if self.weights is None else self.weights[place, points.rows]
            sums[place], errors[place] = cells.expanded_sums(grid, queries, points, weights, self.n_threads)
        inside = np.zeros(len(self.points), dtype=bool)
        inside[points.rows] = True
        self._take_own_away(gamma, queries.rows, inside, sums, errors)
        good = (errors <= EXPANSION_SHARE * self.rtol * sums).all(axis=0)
        found = np.full((len(sums), len(self.queries)), np.nan)
        found[:, queries.rows[good]] = self._with_outside(gamma, queries.rows[good], ~inside, sums[:, good])
        left = np.flatnonzero(np.isnan(found).any(axis=0))
        if len(left) and (
            "leaves" in self.__dict__ or len(left) * BRUTE_PAIR > ROW_IN_TREE
        ):  # else brute force is done sooner
            left = self._in_order(left)
            found[:, left] = self._by_leaves(np.array([gamma]), left)[:, 0]
        return found

    def _take_own_away(
        self, gamma: float, rows: np.ndarray, inside: np.ndarray, sums: FloatArray, errors: FloatArray
    ) -> None:
        own = self.own[rows]
        with_own = np.flatnonzero((own >= 0) & inside[own])
        own = own[with_own]
        sq_dist = ((self.queries[rows[with_own]] - self.points[own]) ** 2).sum(axis=1)
        kernels = np.exp(-gamma * sq_dist) * (1.0 if self.weights is None else self.weights[:, own])
        errors[:, with_own] += cells.ROUNDING * sums[:, with_own]
        sums[:, with_own] -= kernels

    def _with_outside(self, gamma: float, rows: np.ndarray, outside: np.ndarray, sums: FloatArray) -> FloatArray:
        """Log sums with those over the points that are outside of the grid."""
        if not outside.any():
            return np.log(sums)
        places = np.flatnonzero(outside)
        new_place = np.full(len(self.points), -1)
        new_place[places] = np.arange(len(places))
        own = np.where(self.own >= 0, new_place[self.own], -1)
        weights = None if self.weights is None else self.weights[:, places]
        job = Job(self.queries, self.points[places], own, weights, self.log_tops, self.n_threads, self.rtol)
        # The rows are sorted by cell, so neighbours follow each other.
        tops, found = np.zeros(len(rows)), sums[:, None].copy()
        job._add_near_on_threads(gamma, job.leaves, rows, tops, found)
        return _logs(tops, found)[:, 0]


def _logs(tops: FloatArray, sums: FloatArray) -> FloatArray:
    """Logs of sums (n_weightings, n_steps, n_queries) that are relative to tops, not a number where they are faint."""
    good = np.isfinite(tops) & (sums > 2.0**-leaves.FAINT)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(good, np.log(sums) - 2.0 ** np.arange(sums.shape[1])[:, None] * tops / _LOG2E, np.nan)
