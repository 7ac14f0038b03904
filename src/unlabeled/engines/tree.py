"""The engine for few features and many rows: it computes no pair that does not matter, and few that do.

For each gamma it takes the cheapest of three ways, by what the data say (`Job.plans`):

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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
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
#: For each number of features the fewest pairs for which trees are worth their making, and the fewest queries and
#: points. Fewer pairs are done in a fraction of a second, and a look at the data must be cheap beside that: with more
#: features there is less to gain, and from four on there are no expansions.
LEAST_PAIRS = {1: 100_000_000, 2: 100_000_000, 3: 300_000_000, 4: 500_000_000}
LEAST_ROWS = 1000
#: Features for which there are expansions.
EXPANDED_FEATURES = 3
#: Share of queries that may be too faint for leaves, as they are where weights are very uneven.
MOST_FAINT = 0.1
#: Costs in nanoseconds, of which only the ratios matter. All pairs, by what float32 suffices for (not, so): a pass over
#: them, and a pair for an exponential that serves one gamma, or a ladder of several.
PASS, ONE_STEP, LADDER_STEPS = (0.5, 0.1), 0.2, 0.29
#: A near pair, and what each feature adds to it; a query among leaves.
NEAR_PAIR, NEAR_FEATURE, NEAR_QUERY = 0.65, 0.15, 700.0
#: A coefficient of a point or query in a cell, a multiplication between cells, a row to be sorted into cells or into a
#: tree; all there is to do once.
COEFFICIENT, BETWEEN_CELLS, ROW_IN_CELL, ROW_IN_TREE, ONCE = 0.25, 0.2, 250.0, 600.0, 6e6
#: What another weighting adds to a pair of all pairs.
MORE_WEIGHTS = 0.3
#: Groups of queries that are tried to see how many points are near, and rows to see how many cells are taken.
SCOUTS, ROWS_TO_COUNT = 8, 2048
#: Leaves hold more than what is near, and a try costs too: so much of what may be near at most has to be, in a sample.
WORTH_A_TRY = 0.6
#: Queries and points whose distances tell what is worth trying.
SAMPLE_QUERIES, SAMPLE_POINTS = 32, 1024
#: Shares of the points at both ends of each feature that may stay out of a grid, if it would have too many cells.
OUTSIDE = (1e-4, 1e-3, 1e-2)
_LOG2E = 1 / math.log(2)


def unsuited(kernel: Kernel, n_queries: int, n_points: int, n_features: int, *, exact: bool) -> str | None:
    """Why a job gains nothing here, or None if it may."""
    if kernel.name != "rbf":
        return f"the kernel {kernel.name!r} has no end beyond which points do not matter"
    if exact:
        return "exact sums leave nothing out"
    if n_features not in LEAST_PAIRS:
        return f"of {n_features} features (more than {max(LEAST_PAIRS)}) all rows are about equally far from each other"
    if n_queries * n_points < LEAST_PAIRS[n_features] or min(n_queries, n_points) < LEAST_ROWS:
        return f"{n_queries} x {n_points} pairs are done before a tree is made"
    return None


def ways(n_queries: int, points: FloatArray | None, gammas: FloatArray | None) -> tuple[str, bool]:
    """The ways that gammas would take, in words, for queries like the points; and whether any is not all pairs."""
    if points is None or gammas is None:
        return "which computes all pairs by numba for gammas where nothing is cheaper", True
    queries = np.resize(points, (n_queries, points.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        plans = Job.of(queries, points, None, None, n_threads=1).plans(gammas)
    told = [
        f"{plan.way} for gamma={gamma:.3g}" for plan, gamma in zip(plans, gammas, strict=True) if plan.way != "numba"
    ]
    if not told:
        return "all pairs are cheaper for each of these gammas", False
    return ", ".join([*told, "all pairs for the rest"] if len(told) < len(plans) else told), True


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
    with np.errstate(over="ignore", invalid="ignore"):  # of squared distances: what is no number goes to brute force
        sums = Job.of(queries, points, own, log_weights, n_threads(n_jobs), rtol).log_sums(gammas)
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
class Sample:
    """Some queries and points, from which is told what all would cost: cheap enough to ask before anything is built."""

    sq_dist: FloatArray  # (n_queries, n_points), of the sample
    weights: FloatArray  # (n_weightings or 1, n_points), so that sums are about those over all points
    total: float  # of all weights, the largest
    norms: FloatArray  # (n_queries,), squared distances from the centre of all points
    reach: float  # of the point that is furthest from there
    n_features: int
    log_copies: float  # of about as many points as are alike
    rtol: float

    @classmethod
    def of(cls, job: Job) -> Sample:
        """Rows at equal distances in their order."""
        rows, places = (
            np.linspace(0, len(some) - 1, min(size, len(some))).astype(int)
            for some, size in ((job.queries, SAMPLE_QUERIES), (job.points, SAMPLE_POINTS))
        )
        queries, points = job.queries[rows], job.points[places]
        weights = np.ones((1, len(places))) if job.weights is None else job.weights[:, places]
        total = len(job.points) if job.weights is None else job.weights.sum(axis=1).max()
        sq_dist = np.array([((points - query) ** 2).sum(axis=1) for query in queries])
        centre, reach = brute.centre_and_reach(job.points)
        norms = ((queries - centre) ** 2).sum(axis=1)
        share = len(job.points) / len(places)
        copies = brute.most_copies(points)
        log_copies = math.log(copies * share) if copies > 2 else 0.0
        return cls(sq_dist, weights * share, float(total), norms, reach, points.shape[1], log_copies, job.rtol)

    def _least_sums(self, gamma: float) -> FloatArray:
        """The least sum of each query over all weightings, at least 1: that of a query near a point."""
        return np.maximum(np.exp(-gamma * self.sq_dist) @ self.weights.T, 1.0).min(axis=1)

    def share_near(self, gamma: float) -> float:
        """The share of pairs that leaves cannot leave out, at least."""
        limits = np.log(self.total / (leaves.DROPPED * self.rtol * self._least_sums(gamma)))
        return float((gamma * self.sq_dist < limits[:, None]).mean())

    def in_float32(self, gamma: float) -> bool:
        """Whether float32 suffices for most queries when all pairs are summed."""
        log_sums = np.log(self._least_sums(gamma))
        enough = brute.in_float32(self.norms, self.reach, gamma, log_sums, self.log_copies, self.n_features)
        return bool(enough.mean() > 0.5)


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
        plans = self.plans(gammas)
        by_leaves = np.flatnonzero([plan.way == "leaves" for plan in plans])
        if len(by_leaves):
            sums[:, by_leaves[:, None], self.order] = self._by_leaves(gammas[by_leaves], self.order)
        for place, plan in enumerate(plans):
            if plan.way == "cells" and plan.grid is not None:
                sums[:, place] = self._by_cells(float(gammas[place]), plan.grid)
        return sums + self.log_tops[:, None, None]

    def plans(self, gammas: FloatArray) -> list[Plan]:
        """The way that costs least, for each gamma.

        All pairs are cheaper for several gammas together, so it is decided for all which are worth a way of their own:
        those with the cheapest.
        """
        plans = self._together(gammas, [self._plan_alone(float(gamma)) for gamma in gammas])
        if all(plan.way != "leaves" for plan in plans):
            return plans
        tried = [self._tried(plan, float(gamma)) for plan, gamma in zip(plans, gammas, strict=True)]
        return self._together(gammas, tried)

    def _together(self, gammas: FloatArray, plans: list[Plan]) -> list[Plan]:
        costs = np.array([plan.costs[plan.way] if plan.way != "numba" else math.inf for plan in plans])
        order = np.argsort(-costs)
        totals = [self.cost_of_pairs(gammas[order[:k]]) + costs[order[k:]].sum() for k in range(len(gammas) + 1)]
        dear = set(order[: int(np.argmin(totals))])
        return [replace(plan, way="numba") if place in dear else plan for place, plan in enumerate(plans)]

    def _plan_alone(self, gamma: float) -> Plan:
        """The cheaper of cells and leaves: each is infinite if it is dearer than all pairs for this gamma alone.

        What leaves cost is at least what a sample tells: only where that is cheap enough are they tried, for which the
        tree has to be made.
        """
        of_pairs = self.cost_of_pairs(np.array([gamma]))
        grid, of_cells = self.best_grid(gamma, of_pairs)
        costs = {"cells": of_cells, "leaves": self._least_of_leaves(gamma, min(of_cells, of_pairs)), "numba": of_pairs}
        return Plan("cells" if of_cells <= costs["leaves"] else "leaves", grid, costs)

    def _tried(self, plan: Plan, gamma: float) -> Plan:
        """A plan by leaves with what they cost where they are tried."""
        if plan.way != "leaves":
            return plan
        of_leaves = self.cost_of_leaves(gamma, min(plan.costs["cells"], plan.costs["numba"]))
        way = "cells" if plan.costs["cells"] <= of_leaves else "leaves"
        return replace(plan, way=way, costs={**plan.costs, "leaves": of_leaves})

    # --- all pairs ---

    def cost_of_pairs(self, gammas: FloatArray) -> float:
        """Nanoseconds that all pairs take for several gammas together."""
        if not len(gammas):
            return 0.0
        in_float32 = all(self.sample.in_float32(float(gamma)) for gamma in gammas)
        lengths = Ladders.of(gammas, LADDER).lengths
        a_pair = PASS[in_float32] + np.where(lengths == 1, ONE_STEP, LADDER_STEPS).sum()
        a_pair *= 1 + MORE_WEIGHTS * (len(self.log_tops) - 1)
        return float(a_pair * len(self.points) * len(self.queries))

    @cached_property
    def sample(self) -> Sample:
        """What some queries and points tell of all."""
        return Sample.of(self)

    # --- leaves ---

    def cost_of_leaves(self, gamma: float, most: float) -> float:
        """Nanoseconds that leaves take: some groups of queries try. Infinite if more than ``most``."""
        if math.isinf(self._least_of_leaves(gamma, most)):
            return math.inf
        least, near_pair = self._cost_before_leaves, self._cost_of_near_pair
        most_pairs = (most - least) / near_pair
        size = leaves.QUERIES
        firsts = np.unique(np.linspace(0, len(self.queries) - size, SCOUTS).astype(int) // size * size)
        scouts = self.order[(firsts[:, None] + np.arange(size)).ravel()]
        tops, sums = np.full(len(scouts), np.inf), np.zeros((len(self.log_tops), 1, len(scouts)))
        share = len(self.queries) / len(scouts)
        most_of_scouts = int(most_pairs / share)
        n_pairs = self._add_near(gamma, self.leaves, scouts, tops, sums, most_of_scouts)
        faint = (sums <= 2.0**-leaves.FAINT).any(axis=(0, 1)).mean()
        return math.inf if n_pairs > most_of_scouts or faint > MOST_FAINT else near_pair * n_pairs * share + least

    @property
    def _cost_before_leaves(self) -> float:
        return NEAR_QUERY * len(self.queries) + ROW_IN_TREE * (len(self.queries) + len(self.points))

    @property
    def _cost_of_near_pair(self) -> float:
        return NEAR_PAIR + NEAR_FEATURE * self.points.shape[1]

    def _least_of_leaves(self, gamma: float, most: float) -> float:
        """What leaves cost at least, by the sample; infinite if they are not worth a try."""
        least = self._cost_before_leaves
        of_pairs = self._cost_of_near_pair * self.sample.share_near(gamma) * len(self.points) * len(self.queries)
        return math.inf if WORTH_A_TRY * (most - least) < of_pairs else least + of_pairs

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

    def best_grid(self, gamma: float, most: float = math.inf) -> tuple[Grid | None, float]:
        """The grid with the least cost, and nanoseconds that it takes; none if that is more than ``most``."""
        best, least = None, most
        if self.points.shape[1] <= EXPANDED_FEATURES:
            for n_nodes in cells.NODES:
                grid = self._grid(gamma, n_nodes)
                if grid is not None and self._cost_of_rows(grid) < least:
                    cost = self._cost(grid)
                    best, least = (grid, cost) if cost < least else (best, least)
        return best, math.inf if best is None else least

    @cached_property
    def _box(self) -> tuple[FloatArray, FloatArray]:
        """Around all points."""
        return self.points.min(axis=0), self.points.max(axis=0)

    @cached_property
    def _inner_boxes(self) -> list[tuple[FloatArray, FloatArray]]:
        """Around most of the points."""
        some = self.points[:: max(1, len(self.points) // 100_000)]
        return [tuple(np.quantile(some, [share, 1 - share], axis=0)) for share in OUTSIDE]

    def _boxes(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        yield self._box
        yield from self._inner_boxes

    def _grid(self, gamma: float, n_nodes: int) -> Grid | None:
        for lower, upper in self._boxes():
            grid = Grid.of(lower, upper, gamma, n_nodes, self.rtol / RTOL)
            if grid.n_cells <= cells.MOST_CELLS:
                of_slice = grid.shape[1] * grid.shape[2] * grid.n_coefficients
                return grid if of_slice <= cells.MOST_NUMBERS // 2 else None
        return None

    def _cost_of_rows(self, grid: Grid) -> float:
        n_rows = len(self.points) + len(self.queries)
        return ONCE + (COEFFICIENT * len(self.log_tops) * grid.n_coefficients + ROW_IN_CELL) * n_rows

    def _cost(self, grid: Grid) -> float:
        n_cells = self._n_taken(grid)
        if n_cells * grid.n_coefficients > cells.MOST_NUMBERS:
            return math.inf
        return self._cost_of_rows(grid) + BETWEEN_CELLS * len(self.log_tops) * n_cells * grid.flops()

    def _n_taken(self, grid: Grid) -> int:
        """About how many cells have points: those seen in a sample, and by how many were seen just once, unseen ones.

        Chao's estimate, from how many cells have one point of the sample and how many have two.
        """
        some = self.points[:: max(1, len(self.points) // ROWS_TO_COUNT)]
        ids, inside = np.zeros(len(some)), np.ones(len(some), dtype=bool)
        for values, lower, n in zip(some.T, grid.lower, grid.shape, strict=False):
            steps = np.floor((values - lower) / (2 * grid.half))
            inside &= (steps >= 0) & (steps < n)
            ids = ids * n + steps
        ids = np.sort(ids[inside])
        n_rows = np.diff(np.flatnonzero(np.diff(ids, prepend=-1.0, append=np.inf)))
        once, twice = (int((n_rows == n).sum()) for n in (1, 2))
        unseen = once * (once - 1) // (2 * (twice + 1)) if len(some) < len(self.points) else 0
        return min(grid.n_cells, len(self.points), len(n_rows) + unseen)

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
            "leaves" in self.__dict__ or len(left) * PASS[0] > ROW_IN_TREE
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
