"""The CPU engine: compiled tiles, float32 where that is exact enough, float64 elsewhere, all cores.

The sums of a query are computed by the first of these ways that can do it well:

1. float32 tiles (RBF), while rounding the exponents moves the log sum by less than about 1e-6;
2. tiles in float64 whose exponents, less the query's largest, are rounded to float32 (RBF): as exact for any gamma,
   unless sums with weights are decided far from a query whose nearest point is light;
3. float64 tiles, while the digits of a float64 suffice for the matrix product: all but extreme input;
4. differences in float64: any input, and small jobs.

The choice is made for each query, so that one far query does not slow the others. Jobs of less than `EXACT_PAIRS` pairs
leave out the first two: their answers then agree to rounding however they are cut into batches. A gamma and its
doubles, up to the eightfold, share an exponential. Work is cut into chunks of bounded memory and handed to threads by
blocks of queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.engines import tiles
from unlabeled.engines.kept import Kept
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.threads import n_threads, on_threads
from unlabeled.engines.vectors import LADDER, ROWS
from unlabeled.kernels import Kernel

#: Jobs of fewer pairs are computed in float64.
EXACT_PAIRS = 1_000_000
#: Jobs of fewer pairs and numbers are computed by differences, in one thread: there is little to gain from tiles.
SMALL_PAIRS, SMALL_JOB = 300_000, 8_000_000
#: Numbers held at once for a chunk of points or of queries (8 bytes each).
_CHUNK = 8_000_000
#: Bytes of packed points that are kept for the next queries.
MOST_KEPT = 40_000_000
#: Arrays (n_gammas, n_queries) alive at once for a chunk of queries.
ARRAYS_A_GAMMA = 12
#: Queries that go ahead to see whether float32 suffices.
SCOUTS = 64
#: From about so many features on their number decides how exact products are.
MANY_FEATURES = 50
#: How far a log sum may be off because its query was rounded.
MOVED = 7e-7
#: Terms that sum to less than 2^-this of a sum are left out.
_NEGLIGIBLE = 24
#: Exponents of weighted terms that are rounded to float32 may be so far from 0 on average: each unit moves the log sum
#: by up to 5e-8.
_FARTHEST_EXPONENT = 12
_LOG2E = 1 / np.log(2)


@dataclass(frozen=True)
class Precision:
    """Floating-point types of the matrix product and of the exponents, and what can be asked of them.

    ``limit``: largest amplitude, sharpness * (|z|^2 + |x|^2), that may be rounded: in float32 the error of a log kernel
    is about 1e-7 of it. Errors of many terms average out, so of a sum S of kernels it may be sqrt(S) times as large;
    but those of copies of a point are one error, so where there are up to c of a point, sqrt(S / c) times.
    ``most``: largest amplitude whose exponents stay in range.
    ``depth``: a point whose log kernel is below -depth does not matter to a log sum above 30 - depth.
    ``least``: smallest sum, for each point, that has lost no terms to underflow.
    """

    product: type
    exponents: type
    limit: float
    most: float
    depth: float
    least: float
    shifted: bool = True

    def suffices(self, amplitude: FloatArray, log_sums: FloatArray, n_features: int) -> np.ndarray:
        """Whether amplitudes may be rounded, by the logs of sums of terms that have errors of their own.

        Errors can meet, and each feature adds one: so much less than the limit is right to 1e-6 also for copies.
        """
        limit = self.limit / math.sqrt(2 * (1 + n_features / MANY_FEATURES))
        return np.asarray(amplitude <= limit * np.exp(np.clip(log_sums, 0, 100) / 2))


# A ladder lets terms fall to half the range of exponents, 2^-63 or 2^-511.
FLOAT32 = Precision(np.float32, np.float32, limit=10, most=80, depth=57, least=2.0**-40, shifted=False)
MIXED = Precision(np.float64, np.float32, limit=1e8, most=1e8, depth=1e6, least=2.0**-40)
FLOAT64 = Precision(np.float64, np.float64, limit=1e8, most=1e8, depth=1e6, least=2.0**-450)


@dataclass(frozen=True)
class Loops:
    """What this engine knows of a kernel.

    ``tiled`` computes sums by tiles, ``log_kernel`` is the number that sums by differences know the kernel by,
    ``rounding`` tells how large the terms get that tiles round, and ``precisions`` are those in which tiles may be
    tried.
    """

    tiled: Callable[..., tuple[FloatArray, np.ndarray]]
    log_kernel: int
    rounding: Callable[..., tuple[FloatArray, FloatArray]]
    precisions: tuple[Precision, ...]


#: Blocks of points, their offsets, and their weights, if they have any.
PackedPoints = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Job:
    """What stays the same for all chunks of queries.

    The centre is that of the points alone: an answer must not depend on the batch it came in.
    """

    points: FloatArray
    kernel: Kernel
    loops: Loops
    log_weights: FloatArray | None  # (n_weightings, n_points)
    centre: FloatArray
    reach: float  # largest squared distance of a point from the centre
    precisions: tuple[Precision, ...]  # to be tried in this order
    n_threads: int
    packed_points: dict[tuple[Any, ...], PackedPoints] = field(default_factory=dict)  # chunks, by their start

    @cached_property
    def log_copies(self) -> float:
        """Log of the most points that float32 makes the same."""
        return math.log(_COPIES.of(self.points))

    @cached_property
    def log_totals(self) -> FloatArray:
        """Log of the sum of the weights of each weighting, relative to the largest."""
        if self.log_weights is None:
            return np.log([len(self.points)])
        return np.log(np.exp(self.log_weights - self.log_top_weights[:, None]).sum(axis=1))

    @cached_property
    def log_top_weights(self) -> FloatArray:
        """Log of the largest weight of each weighting: sums in tiles are relative to it."""
        return np.zeros(1) if self.log_weights is None else self.log_weights.max(axis=1)

    @cached_property
    def relative_weights(self) -> FloatArray:
        """The sum of the weights of each weighting, relative to its largest."""
        if self.log_weights is None:
            return np.full(1, float(len(self.points)))
        return np.asarray(np.exp(self.log_weights - self.log_top_weights[:, None]).sum(axis=1))


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
) -> FloatArray:
    """Log kernel sums for each weighting, or the plain ones; see `unlabeled.engines.log_kernel_sums`."""
    loops = _loops_of(kernel)
    own = np.full(len(queries), -1) if own is None else own
    if len(queries) * len(points) < SMALL_PAIRS and len(queries) * points.size < SMALL_JOB:
        job = Job(points, kernel, loops, log_weights, centre=np.empty(0), reach=0.0, precisions=(), n_threads=1)
        return _direct(job, queries, own, gammas)
    threads = n_threads(n_jobs)
    centre, reach = centre_and_reach(points, threads)
    exact = exact or len(queries) * len(points) < EXACT_PAIRS
    precisions = (FLOAT64,) if exact else loops.precisions
    job = Job(points, kernel, loops, log_weights, centre, reach, precisions, threads)
    compute = _best if _tiles_can(job, gammas) else _direct
    sums = np.empty((len(job.log_top_weights), len(gammas), len(queries)))
    row_size = queries.shape[1] + ARRAYS_A_GAMMA * len(gammas) * len(sums)
    for rows in _chunks(len(queries), row_size, multiple=ROWS):
        sums[..., rows] = compute(job, queries[rows], own[rows], gammas)
    return sums


def centre_and_reach(points: FloatArray, n_threads: int = 1) -> tuple[FloatArray, float]:
    """The mean of points, and the largest squared distance from it."""
    centre = points.mean(axis=0, dtype=np.float64)
    return centre, float(tiles.sq_norms(points, centre, n_threads).max())


def most_copies(points: FloatArray) -> int:
    """The most points that float32 makes the same, or nearly."""
    keys = np.sort(tiles.coarse_keys(points, points.mean(axis=0, dtype=np.float64)))
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return int(np.diff(starts, append=len(keys)).max())


#: A model scores by the same points again and again.
_COPIES: Kept[int] = Kept(most_copies, most=32)


def in_float32(
    norms: FloatArray, reach: float, gamma: float, log_sums: FloatArray, log_copies: float, n_features: int
) -> np.ndarray:
    """Whether float32 suffices for RBF sums of queries with these squared norms and, about, log sums."""
    amplitude, floor = _rbf_rounding(reach, norms, np.array([gamma]), FLOAT32)
    exact = FLOAT32.suffices(amplitude, log_sums - log_copies, n_features)
    return np.asarray(exact & (amplitude <= FLOAT32.most) & (log_sums >= floor))[0]


def _tiles_can(job: Job, gammas: FloatArray) -> bool:
    in_range = job.reach * job.kernel.sharpness(gammas).max() < -tiles.UNREAL and job.reach < -tiles.UNREAL
    return bool(in_range and np.isfinite(job.log_top_weights).all())


def _best(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Give each query to the first precision that suffices for all gammas, and what is left to `_direct`."""
    sums = np.empty((len(job.log_top_weights), len(gammas), len(queries)))
    left = np.ones(len(queries), dtype=bool)
    for precision in job.precisions:
        _try(job, queries, own, gammas, precision, sums, left)
    if left.any():
        sums[..., left] = _direct(job, queries[left], own[left], gammas)
    return sums


def _try(
    job: Job,
    queries: FloatArray,
    own: np.ndarray,
    gammas: FloatArray,
    precision: Precision,
    sums: FloatArray,
    left: np.ndarray,
) -> None:
    """Fill in the sums of the queries that one precision can do, and mark them as no longer left.

    Beyond its limit, whether float32 suffices depends on the sum itself, so a few queries go ahead: if most of them
    fail, the others are not tried.
    """
    norms = tiles.sq_norms(queries, job.centre, job.n_threads)
    amplitude, floor = job.loops.rounding(job.reach, norms, gammas, precision)
    possible = left & (amplitude <= precision.most).all(axis=0)
    n_features, alone = queries.shape[1], np.zeros(())
    surely = np.asarray(precision.suffices(amplitude, alone, n_features).all(axis=0))
    if len(queries) > 4 * SCOUTS and (possible & ~surely).any():
        scouts = np.linspace(0, len(queries) - 1, SCOUTS).astype(int)
        scouted = possible[scouts]
        _try(job, queries[scouts], own[scouts], gammas, precision, np.empty_like(sums[..., scouts]), scouted)
        if scouted.mean() >= 0.5:
            return
    if not possible.any():
        return
    found, in_range = job.loops.tiled(job, queries[possible], own[possible], gammas, precision)
    log_sum = found - job.log_top_weights[:, None, None]
    log_copies = 0.0 if surely[possible].all() else job.log_copies
    with np.errstate(invalid="ignore"):  # where it is not in range
        exact = precision.suffices(amplitude[:, possible], log_sum - log_copies, n_features)
        done = (in_range & exact & (log_sum >= floor[:, possible])).all(axis=(0, 1))
    rows = np.flatnonzero(possible)[done]
    sums[..., rows] = found[..., done]
    left[rows] = False


# --- tiles -----------------------------------------------------------------------------------------------------------
#
# For each kernel: log sums by tiles and where they lost nothing to underflow (n_weightings or 1, n_gammas, n_queries);
# how large the rounded terms get, and the log sum below which that is not known (n_gammas, n_queries).


def _rbf_rounding(
    reach: float, norms: FloatArray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, FloatArray]:
    """A point with gamma |x|^2 > (sqrt(gamma |z|^2) + sqrt(depth))^2 is too far from z to matter."""
    near, far = gammas[:, None] * norms, gammas[:, None] * reach
    matters = (np.sqrt(near) + np.sqrt(precision.depth)) ** 2
    return near + np.minimum(far, matters), np.where(matters < far, 30 - precision.depth, -np.inf)


def _rbf_tiled(
    job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, np.ndarray]:
    grid = Ladders.of(gammas, LADDER)
    tiling = Tiling(job, queries, own, float(np.sqrt(grid.base * _LOG2E)), precision)
    sums, tops = tiling.run(_rbf_loop(job, grid, tiling.shape, precision), grid.steps)
    # Without a shift |z|^2 is still in the exponents, multiplied by the steps as they were rounded.
    with np.errstate(over="ignore"):  # a step beyond float32 is answered by another precision
        steps = grid.steps if precision.shifted else grid.steps.astype(precision.exponents).astype(np.float64)
    in_range = sums >= precision.least * len(job.points)
    if precision is MIXED and job.log_weights is not None:  # plain sums have a term with an exponent of 0
        in_range &= _mean_exponents(job, grid.steps, sums) <= _FARTHEST_EXPONENT
    with np.errstate(divide="ignore", invalid="ignore"):  # where it is not in range
        of_tops = np.multiply.outer(steps, tops - tiling.norms) / _LOG2E
        found = np.log(sums) + of_tops + job.log_top_weights[:, None, None]
    found[np.isnan(found)] = -np.inf  # the top of an empty sum
    if precision.product is np.float32:
        in_range &= tiling.moved_by_queries(found, grid.steps) <= MOVED
    return found[:, grid.slots], in_range[:, grid.slots]


def _mean_exponents(job: Job, steps: FloatArray, sums: FloatArray) -> FloatArray:
    """How far from 0 the exponents of the terms of sums are at most, on average; shape of the sums.

    Log2 of a sum is a convex function of the step, and its slope times the step is the mean exponent. So that is no
    farther from 0 than the chord from a smaller step, or from step 0, where the sum is that of the weights.
    """
    order = np.argsort(steps)
    of_weights = job.relative_weights[:, None, None]
    with np.errstate(divide="ignore", invalid="ignore"):  # of sums that are not in range
        logs = np.log2(np.concatenate([np.broadcast_to(of_weights, sums[:, :1].shape), sums[:, order]], axis=1))
        widths = np.diff(steps[order], prepend=0) / steps[order]
        from_before = np.divide(logs[:, :-1] - logs[:, 1:], widths[:, None])
        from_0 = logs[:, :1] - logs[:, 1:]
    found = np.empty_like(sums)
    found[:, order] = np.minimum(from_before, from_0)
    return found


def _rbf_loop(job: Job, grid: Ladders, shape: tiles.TileShape, precision: Precision) -> Callable[..., None]:
    # Plain sums are at least 1, the others what may be in range.
    log_least = 0.0 if job.log_weights is None else np.log2(precision.least * len(job.points))
    depth = float(np.log2(len(job.points)) + _NEGLIGIBLE - log_least)

    def loop(*blocks: Any, norms: Any, tops: Any, sums: Any) -> None:  # noqa: ARG001
        tile: np.ndarray = np.empty(shape.tile, precision.product)
        terms: np.ndarray = np.empty((LADDER, shape.width), precision.exponents)
        job_of_tiles = *blocks, grid.lengths, grid.steps, tile, terms, sums
        if precision.shifted:
            tops[:] = -np.inf
            tiles.shifted_rbf_tiles(*job_of_tiles, depth, np.empty(shape.width, precision.exponents), tops)
        else:
            tops[:] = 0.0
            tiles.rbf_tiles(*job_of_tiles)

    return loop


def _inverse_rounding(
    reach: float,
    norms: FloatArray,
    gammas: FloatArray,
    precision: Precision,  # noqa: ARG001
) -> tuple[FloatArray, FloatArray]:
    amplitude = (norms + reach) / gammas[:, None]
    return amplitude, np.full(amplitude.shape, -np.inf)


def _inverse_tiled(
    job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, np.ndarray]:
    tiling = Tiling(job, queries, own, 1.0, precision)

    def loop(*blocks: Any, norms: Any, tops: Any, sums: Any) -> None:
        tops[:] = 0.0
        tile, row = np.empty(tiling.shape.tile), np.empty(tiling.shape.width)
        tiles.inverse_tiles(*blocks, norms, gammas, tile, row, sums)

    sums, _ = tiling.run(loop, np.ones(len(gammas)))
    with np.errstate(divide="ignore"):  # the log of an empty sum
        return np.log(sums) + job.log_top_weights[:, None, None], np.ones(sums.shape, dtype=bool)


class Tiling:
    """Queries packed in blocks, to be run against all points by a compiled loop."""

    def __init__(self, job: Job, queries: FloatArray, own: np.ndarray, scale: float, precision: Precision) -> None:
        self.job, self.scale, self.precision, self.n_queries = job, scale, precision, len(queries)
        self.shape = tiles.TileShape.of(queries.shape[1], len(job.points), precision.product)
        self.packed = tiles.pack_queries(queries, job.centre, scale, self.shape, precision.product, job.n_threads)
        self.own = np.append(own, np.full(len(self.packed.sq_norms) - self.n_queries, -1))

    @property
    def norms(self) -> FloatArray:
        """Squared norms of the queries as they were rounded."""
        return self.packed.sq_norms[: self.n_queries]

    def moved_by_queries(self, log_sums: FloatArray, steps: FloatArray) -> FloatArray:
        """By how much at most RBF log sums (n_weightings or 1, n_steps, n_queries) are off as queries were rounded.

        All terms share that error. A step d of the query moves their mean exponent by 2 sharpness |z - m| d, where m is
        the mean of the points, each with the weight of its term; and sharpness |z - m|^2 is no more than the mean
        exponent, which is at most log(total weight / sum), for no entropy is larger than that of equal shares.
        """
        exponents = np.maximum(
            self.job.log_totals[:, None, None] + self.job.log_top_weights[:, None, None] - log_sums, 0
        )
        sq_steps = np.multiply.outer(steps, self.packed.moved) / _LOG2E
        return np.asarray(2 * np.sqrt(exponents * sq_steps))

    def run(self, loop: Callable[..., None], steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums (n_weightings or 1, n_steps, n_queries), relative to 2^(step * top) of each query's top (n_queries,)."""
        sums = np.zeros((len(self.job.log_top_weights), len(steps), len(self.own)))
        tops = np.full(len(self.own), -np.inf)
        row_size = self.job.points.shape[1] + 2 + 2 * len(sums)
        for rows in _chunks(len(self.job.points), row_size, multiple=self.shape.width):
            for some, more, top in self._run_chunk(loop, rows, sums.shape[:2]):
                _merge(sums[..., some], tops[some], more, top, steps)
        return sums[..., : self.n_queries], tops[: self.n_queries]

    def _run_chunk(
        self, loop: Callable[..., None], rows: slice, n_sums: tuple[int, ...]
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        blocks = self._packed_points(rows)
        own_here = np.where(self.own >= rows.start, self.own - rows.start, -1)

        def run(part: tuple[slice, slice]) -> tuple[slice, FloatArray, FloatArray]:
            of_queries, of_points = part
            some = slice(of_queries.start * self.shape.height, of_queries.stop * self.shape.height)
            sums, tops = np.zeros((*n_sums, some.stop - some.start)), np.empty(some.stop - some.start)
            own = own_here[some] - of_points.start * self.shape.width
            points = (array[of_points] for array in blocks)
            loop(self.packed.panels[of_queries], *points, own, norms=self.packed.sq_norms[some], tops=tops, sums=sums)
            return some, sums, tops

        n_threads = self.job.n_threads
        yield from on_threads(run, _parts(len(self.packed.panels), len(blocks[0]), n_threads), n_threads)

    def _packed_points(self, rows: slice) -> PackedPoints:
        """A chunk of the points, packed once for the scouts and for all."""
        key, kept = (rows.start, self.scale, self.shape, self.precision), self.job.packed_points
        if key in kept:
            return kept[key]
        if any(other[1:] != key[1:] for other in kept):
            kept.clear()
        packed = self._pack_points(rows)
        if sum(array.nbytes for arrays in (packed, *kept.values()) for array in arrays) <= MOST_KEPT:
            kept[key] = packed
        return packed

    def _pack_points(self, rows: slice) -> PackedPoints:
        points, precision = self.job.points[rows], self.precision
        how = self.job.centre, self.scale, self.shape, precision.product, self.job.n_threads
        packed, offsets = tiles.pack_points(points, *how)
        log_weights = np.empty((0, len(points))) if self.job.log_weights is None else self.job.log_weights[:, rows]
        weights: np.ndarray = np.zeros((len(log_weights), *offsets.shape), precision.exponents)
        for of_weighting, values, top in zip(weights, log_weights, self.job.log_top_weights, strict=False):
            of_weighting.flat[: len(points)] = np.exp(values - top)
        return packed, offsets, np.ascontiguousarray(weights.transpose(1, 0, 2))


def _merge(sums: FloatArray, tops: FloatArray, more: FloatArray, top: FloatArray, steps: FloatArray) -> None:
    """Add sums that are relative to other tops, in place."""
    if np.isneginf(tops).all():  # the first ones
        sums[:], tops[:] = more, top
        return
    higher = np.maximum(tops, top)
    with np.errstate(invalid="ignore"):  # both tops are those of empty sums
        for of_part, top_of_part in ((sums, tops), (more, top)):
            change = np.where(top_of_part == higher, 0.0, top_of_part - higher)
            np.multiply(of_part, np.exp2(np.multiply.outer(steps, change)), out=of_part)
    sums += more
    tops[:] = higher


def _parts(n_query_blocks: int, n_point_blocks: int, n_threads: int) -> list[tuple[slice, slice]]:
    """Cut the blocks into some tasks a thread: by queries, and by points too where there are few queries."""
    by_query = _cut(n_query_blocks, 8 * n_threads)
    by_point = _cut(n_point_blocks, -(-8 * n_threads // len(by_query)) if n_threads > 1 else 1)
    return [(some_queries, some_points) for some_queries in by_query for some_points in by_point]


def _cut(n_blocks: int, n_parts: int) -> list[slice]:
    n_parts = max(1, min(n_blocks, n_parts))
    return [slice(*edges) for edges in pairwise(n_blocks * part // n_parts for part in range(n_parts + 1))]


# --- differences -----------------------------------------------------------------------------------------------------


def _direct(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Log sums by differences in float64."""
    queries, gammas = _in_one_form(queries), _in_one_form(gammas)
    tops = np.full((len(job.log_top_weights), len(gammas), len(queries)), -np.inf)
    sums = np.zeros(tops.shape)
    for rows in _chunks(len(job.points), max(job.points.shape[1], len(tops))):
        points = _in_one_form(job.points[rows].T)
        weights = np.zeros((1, points.shape[1])) if job.log_weights is None else job.log_weights[:, rows].copy()
        own_here = np.where(own >= rows.start, own - rows.start, -1)

        def run(part: slice, points: Any = points, weights: Any = weights, own: Any = own_here) -> None:
            running = tops[..., part], sums[..., part]
            tiles.direct_sums(job.loops.log_kernel, queries[part], points, weights, own[part], gammas, *running)

        work = len(queries) * points.size * len(weights)
        n_threads = job.n_threads if work > SMALL_JOB else 1
        # Short parts, so that an interrupt is answered soon.
        for _ in on_threads(run, _cut(len(queries), max(n_threads, work // 100_000_000)), n_threads):
            pass
    with np.errstate(divide="ignore"):
        return tops + np.log(sums)


def _in_one_form(array: FloatArray) -> FloatArray:
    """The array in float64, one number after the other and free to be written to: all else is compiled for anew."""
    return np.require(array, np.float64, ["C", "W"])


# --- kernels ---------------------------------------------------------------------------------------------------------

#: By the names of `unlabeled.kernels`.
LOOPS: dict[str, Loops] = {
    "rbf": Loops(_rbf_tiled, tiles.LOG_RBF, _rbf_rounding, (FLOAT32, MIXED, FLOAT64)),
    # The rounding of |z|^2 does not average out here: no float32.
    "inverse": Loops(_inverse_tiled, tiles.LOG_INVERSE, _inverse_rounding, (FLOAT64,)),
}


def _loops_of(kernel: Kernel) -> Loops:
    if kernel.name not in LOOPS:
        raise ValueError(
            f"engine='numba' has no loops for the kernel {kernel.name!r}, only for {sorted(LOOPS)}; use "
            "engine='reference'."
        )
    return LOOPS[kernel.name]


# --- memory ----------------------------------------------------------------------------------------------------------


def _chunks(n_rows: int, row_size: int, multiple: int = 1) -> Iterator[slice]:
    """Slices of rows that hold about `_CHUNK` numbers, alike in size, each but the last a multiple of ``multiple``."""
    n_chunks = -(-n_rows * row_size // _CHUNK)
    size = -(-n_rows // n_chunks // multiple) * multiple
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
