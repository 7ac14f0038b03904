"""The CPU engine: compiled tiles, float32 where that is exact enough, float64 elsewhere, all cores.

Each sum is computed by the first of three ways that can do it well:

1. float32 tiles (RBF), while rounding the exponents moves the log sum by less than about 1e-6;
2. float64 tiles, while the digits of a float64 suffice for the matrix product: all but extreme input;
3. differences in float64: any input, and small jobs.

The choice is made for each query and gamma, so that one far query does not slow the others. Jobs of less than
`EXACT_PAIRS` pairs leave out the first way: their answers then agree to rounding however they are cut into batches.
Work is cut into chunks of bounded memory and handed to threads by blocks of queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.engines import tiles
from unlabeled.engines.threads import n_threads, on_threads, one_blas_thread
from unlabeled.kernels import Kernel

#: Jobs of fewer pairs are computed in float64.
EXACT_PAIRS = 1_000_000
#: Jobs of fewer numbers are computed by differences, in one thread: there is nothing to gain from tiles.
SMALL_JOB = 2_000_000
#: Numbers held at once for a chunk of points or of queries (8 bytes each).
_CHUNK = 8_000_000
#: Arrays (n_gammas, n_queries) alive at once for a chunk of queries.
ARRAYS_A_GAMMA = 12
#: Queries that go ahead to see whether float32 suffices.
SCOUTS = 64
_LOG2E = 1 / np.log(2)


@dataclass(frozen=True)
class Precision:
    """A floating-point type and what can be asked of it.

    ``limit``: largest amplitude, sharpness * (|z|^2 + |x|^2), that may be rounded: in float32 the error of a log kernel
    is about 1e-7 of it. Errors of many terms average out, so a sum S of kernels may be sqrt(S) times as large.
    ``most``: largest amplitude whose exponents stay in range.
    ``depth``: a point whose log kernel is below -depth does not matter to a log sum above 30 - depth.
    ``least``: smallest sum that has lost no terms to underflow.
    """

    dtype: type
    limit: float
    most: float
    depth: float
    least: float


FLOAT32 = Precision(np.float32, limit=10, most=80, depth=57, least=1e-25)
FLOAT64 = Precision(np.float64, limit=1e8, most=1e8, depth=1e6, least=0)


@dataclass(frozen=True)
class Loops:
    """What this engine knows of a kernel.

    ``tiled`` and ``direct`` compute sums by tiles and by differences, ``rounding`` tells how large the terms get that
    tiles round, and ``precisions`` are those in which tiles may be tried.
    """

    tiled: Callable[..., tuple[FloatArray, np.ndarray]]
    direct: Callable[[], Any]
    rounding: Callable[..., tuple[FloatArray, FloatArray]]
    precisions: tuple[Precision, ...]


@dataclass(frozen=True)
class Job:
    """What stays the same for all chunks of queries.

    The centre is that of the points alone: an answer must not depend on the batch it came in.
    """

    points: FloatArray
    kernel: Kernel
    loops: Loops
    log_weights: FloatArray | None
    centre: FloatArray
    reach: float  # largest squared distance of a point from the centre
    precisions: tuple[Precision, ...]  # to be tried in this order
    n_threads: int

    @property
    def log_top_weight(self) -> float:
        """Log of the largest weight: sums in tiles are relative to it."""
        return 0.0 if self.log_weights is None else float(self.log_weights.max())


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
    """Log kernel sums; see `unlabeled.engines.log_kernel_sums`."""
    loops = _loops_of(kernel)
    own = np.full(len(queries), -1) if own is None else own
    if len(queries) * points.size < SMALL_JOB:
        job = Job(points, kernel, loops, log_weights, centre=np.empty(0), reach=0.0, precisions=(), n_threads=1)
        return _direct(job, queries, own, gammas)
    centre = points.mean(axis=0, dtype=np.float64)
    reach = tiles.sq_norms(points, centre).max()
    exact = exact or len(queries) * len(points) < EXACT_PAIRS
    precisions = (FLOAT64,) if exact else loops.precisions
    job = Job(points, kernel, loops, log_weights, centre, reach, precisions, n_threads(n_jobs))
    compute = _best if _tiles_can(job, gammas) else _direct
    sums = np.empty((len(gammas), len(queries)))
    row_size = queries.shape[1] + ARRAYS_A_GAMMA * len(gammas)
    for rows in _chunks(len(queries), row_size, multiple=tiles.STRIP):
        sums[:, rows] = compute(job, queries[rows], own[rows], gammas)
    return sums


def _tiles_can(job: Job, gammas: FloatArray) -> bool:
    in_range = job.reach * job.kernel.sharpness(gammas).max() < -tiles.UNREAL and job.reach < -tiles.UNREAL
    return bool(in_range and (job.log_weights is None or np.ptp(job.log_weights) < 60))


def _best(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Give each query and gamma to the first precision that suffices, and what is left to `_direct`."""
    sums = np.empty((len(gammas), len(queries)))
    left = np.ones(sums.shape, dtype=bool)
    for precision in job.precisions:
        _try(job, queries, own, gammas, precision, sums, left)
    grid, rows = left.any(axis=1), left.any(axis=0)
    if rows.any():
        part = np.ix_(grid, rows)
        sums[part] = np.where(left[part], _direct(job, queries[rows], own[rows], gammas[grid]), sums[part])
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
    """Fill in the sums that one precision can do, and mark them as no longer left.

    Beyond its limit, whether float32 suffices depends on the sum itself, so a few queries go ahead: a gamma that fails
    most of them is not tried on the others.
    """
    amplitude, floor = job.loops.rounding(job, tiles.sq_norms(queries, job.centre), gammas, precision)
    possible = left & (amplitude <= precision.most)
    if len(queries) > 4 * SCOUTS and (possible & (amplitude > precision.limit)).any():
        scouts = np.linspace(0, len(queries) - 1, SCOUTS).astype(int)
        scouted = possible[:, scouts]
        _try(job, queries[scouts], own[scouts], gammas, precision, np.empty(scouted.shape), scouted)
        possible &= (scouted.mean(axis=1) < 0.5)[:, None]
    grid, rows = possible.any(axis=1), possible.any(axis=0)
    if not rows.any():
        return
    part = np.ix_(grid, rows)
    found, in_range = job.loops.tiled(job, queries[rows], own[rows], gammas[grid], precision)
    log_sum = found - job.log_top_weight
    with np.errstate(invalid="ignore"):  # where it is not in range
        exact = amplitude[part] <= precision.limit * np.exp(np.clip(log_sum, 0, 100) / 2)
        done = possible[part] & in_range & exact & (log_sum >= floor[part])
    sums[part] = np.where(done, found, sums[part])
    left[part] &= ~done


# --- tiles -----------------------------------------------------------------------------------------------------------
#
# For each kernel: log sums by tiles, and where they lost nothing to underflow; and how large the rounded terms get, and
# the log sum below which that is not known. All are (n_gammas, n_queries).


def _rbf_rounding(
    job: Job, norms: FloatArray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, FloatArray]:
    """A point with gamma |x|^2 > (sqrt(gamma |z|^2) + sqrt(depth))^2 is too far from z to matter."""
    near, far = gammas[:, None] * norms, gammas[:, None] * job.reach
    matters = (np.sqrt(near) + np.sqrt(precision.depth)) ** 2
    return near + np.minimum(far, matters), np.where(matters < far, 30 - precision.depth, -np.inf)


def _rbf_tiled(
    job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, np.ndarray]:
    found, in_range = np.empty((len(gammas), len(queries))), np.empty((len(gammas), len(queries)), dtype=bool)
    for powers, ladders in ladders_of(gammas).items():
        bases = np.array([base for base, _ in ladders])
        tiling = Tiling(job, queries, own, float(np.sqrt(bases[0] * _LOG2E)), precision)
        steps = np.outer(bases / bases[0], powers).ravel()  # each sum's gamma, in units of the first base
        sums, tops = tiling.run(_rbf_loop(job, powers, bases / bases[0], precision), steps)
        for s, (_, members) in enumerate(ladders):
            for power, index in members:
                slot = s * len(powers) + powers.index(power)
                in_range[index] = sums[slot] >= precision.least
                with np.errstate(divide="ignore", invalid="ignore"):  # where it is not in range
                    log_sum = np.log(sums[slot])
                found[index] = log_sum + (tops - tiling.norms) * (steps[slot] / _LOG2E) + job.log_top_weight
    found[np.isnan(found)] = -np.inf  # the top of an empty sum
    return found, in_range


def _rbf_loop(job: Job, powers: tuple[int, ...], scales: FloatArray, precision: Precision) -> Callable[..., None]:
    options = {"weighted": job.log_weights is not None, "rescaled": len(scales) > 1, "shifted": precision is FLOAT64}
    compiled = tiles.rbf_tiles(powers, **options)
    rounded: np.ndarray = scales.astype(precision.dtype)

    def loop(queries: Any, points: Any, weights: Any, own: Any, _norms: Any, tops: Any, sums: Any) -> None:
        tops[:] = -np.inf if precision is FLOAT64 else 0.0
        compiled(queries, points, weights, own, rounded, tops, sums)

    return loop


def _inverse_rounding(
    job: Job,
    norms: FloatArray,
    gammas: FloatArray,
    precision: Precision,  # noqa: ARG001
) -> tuple[FloatArray, FloatArray]:
    amplitude = (norms + job.reach) / gammas[:, None]
    return amplitude, np.full(amplitude.shape, -np.inf)


def _inverse_tiled(
    job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, np.ndarray]:
    compiled = tiles.inverse_tiles(weighted=job.log_weights is not None)

    def loop(queries: Any, points: Any, weights: Any, own: Any, norms: Any, _tops: Any, sums: Any) -> None:
        compiled(queries, points, weights, own, norms, gammas, sums)

    sums, _ = Tiling(job, queries, own, 1.0, precision).run(loop, np.ones(len(gammas)))
    with np.errstate(divide="ignore"):  # the log of an empty sum
        return np.log(sums) + job.log_top_weight, np.ones(sums.shape, dtype=bool)


def ladders_of(gammas: FloatArray) -> dict[tuple[int, ...], list[tuple[float, list[tuple[int, int]]]]]:
    """Sort a grid into ladders: a base, and (power, index) of the gammas that are small multiples of it.

    exp(-base d)^power is the kernel for base * power, so a ladder costs one exponential. Ladders with the same powers
    are listed together: they share the matrix product too.
    """
    left = [int(index) for index in np.argsort(gammas, kind="stable")]
    by_powers: dict[tuple[int, ...], list[tuple[float, list[tuple[int, int]]]]] = {}
    while left:
        base = gammas[left[0]]
        members: list[tuple[int, int]] = []
        for index in left:
            ratio = gammas[index] / base
            power = round(min(ratio, tiles.MAX_POWER + 1))
            is_new = power not in {known for known, _ in members}
            has_room = not is_new or len({known for known, _ in members}) < tiles.MAX_POWERS
            if power <= tiles.MAX_POWER and abs(ratio / power - 1) < 1e-12 and has_room:
                members.append((power, index))
        taken = {index for _, index in members}
        left = [index for index in left if index not in taken]
        by_powers.setdefault(tuple(sorted({power for power, _ in members})), []).append((float(base), members))
    return by_powers


class Tiling:
    """Queries packed in blocks, to be run against all points by a compiled loop."""

    def __init__(self, job: Job, queries: FloatArray, own: np.ndarray, scale: float, precision: Precision) -> None:
        self.job, self.scale, self.precision = job, scale, precision
        self.n_queries = len(queries)
        self.shape = tiles.tile_shape(queries.shape[1] + 1, self.n_queries, len(job.points))
        height = self.shape.height
        self.n_blocks = -(-self.n_queries // height)
        self.own = np.append(own, np.full(self.n_blocks * height - self.n_queries, -1))
        self.blocks: np.ndarray = np.empty((self.n_blocks, *self.shape.queries), precision.dtype)
        self.padded_norms = np.zeros(self.n_blocks * height)

        def pack(part: slice) -> None:
            rows = slice(part.start * height, part.stop * height)
            tiles.pack_queries(queries[rows], job.centre, scale, self.blocks[part], self.padded_norms[rows])

        for _ in on_threads(pack, _cut(self.n_blocks, job.n_threads), job.n_threads):
            pass

    @property
    def norms(self) -> FloatArray:
        """Squared norms of the queries as they were rounded."""
        return self.padded_norms[: self.n_queries]

    def run(self, loop: Callable[..., None], steps: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sums (n_sums, n_queries), relative to 2^(step * top) of each query's top (n_queries,)."""
        sums = np.zeros((len(steps), len(self.own)))
        tops = np.full(len(self.own), -np.inf)
        with one_blas_thread():
            for rows in _chunks(len(self.job.points), self.job.points.shape[1] + 1, multiple=self.shape.width):
                for some, more, top in self._run_chunk(loop, rows, len(steps)):
                    _merge(sums[:, some], tops[some], more, top, steps)
        return sums[:, : self.n_queries], tops[: self.n_queries]

    def _run_chunk(
        self, loop: Callable[..., None], rows: slice, n_sums: int
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        height, width = self.shape.height, self.shape.width
        points, weights = self._packed_points(rows)
        own_here = np.where(self.own >= rows.start, self.own - rows.start, -1)
        norms: np.ndarray = self.padded_norms.astype(self.precision.dtype)

        def run(part: tuple[slice, slice]) -> tuple[slice, FloatArray, FloatArray]:
            of_queries, of_points = part
            some = slice(of_queries.start * height, of_queries.stop * height)
            sums, tops = np.zeros((n_sums, some.stop - some.start)), np.zeros(some.stop - some.start)
            shifted = own_here[some] - of_points.start * width
            loop(self.blocks[of_queries], points[of_points], weights[of_points], shifted, norms[some], tops, sums)
            return some, sums, tops

        n_threads = self.job.n_threads
        yield from on_threads(run, _parts(self.n_blocks, len(points), n_threads), n_threads)

    def _packed_points(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        points, width = self.job.points[rows], self.shape.width
        n_blocks = -(-len(points) // width)
        packed: np.ndarray = np.empty((n_blocks, *self.shape.points), self.precision.dtype)

        def pack(part: slice) -> None:
            some = points[part.start * width : part.stop * width]
            tiles.pack_points(some, self.job.centre, self.scale, packed[part])

        for _ in on_threads(pack, _cut(n_blocks, self.job.n_threads), self.job.n_threads):
            pass
        weights: np.ndarray = np.zeros((n_blocks, width), self.precision.dtype)
        if self.job.log_weights is not None:
            weights.flat[: len(points)] = np.exp(self.job.log_weights[rows] - self.job.log_top_weight)
        return packed, weights


def _merge(sums: FloatArray, tops: FloatArray, more: FloatArray, top: FloatArray, steps: FloatArray) -> None:
    """Add sums that are relative to other tops, in place."""
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
    edges = np.linspace(0, n_blocks, max(1, min(n_blocks, n_parts)) + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


# --- differences -----------------------------------------------------------------------------------------------------


def _direct(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Log sums by differences in float64."""
    queries = queries.astype(np.float64)
    tops = np.full((len(gammas), len(queries)), -np.inf)
    sums = np.zeros(tops.shape)
    direct_sums = job.loops.direct()
    for rows in _chunks(len(job.points), job.points.shape[1]):
        points = np.ascontiguousarray(job.points[rows].T, dtype=np.float64)
        log_weights = np.zeros(points.shape[1]) if job.log_weights is None else job.log_weights[rows]
        own_here = np.where(own >= rows.start, own - rows.start, -1)

        def run(part: slice, points: Any = points, log_weights: Any = log_weights, own: Any = own_here) -> None:
            running = tops[:, part], sums[:, part]
            direct_sums(queries[part], points, log_weights, own[part], gammas, *running)

        work = len(queries) * points.size
        n_threads = job.n_threads if work > SMALL_JOB else 1
        # Short parts, so that an interrupt is answered soon.
        for _ in on_threads(run, _cut(len(queries), max(n_threads, work // 100_000_000)), n_threads):
            pass
    with np.errstate(divide="ignore"):
        return tops + np.log(sums)


# --- kernels ---------------------------------------------------------------------------------------------------------

#: By the names of `unlabeled.kernels`.
LOOPS: dict[str, Loops] = {
    "rbf": Loops(_rbf_tiled, partial(tiles.direct_sums, inverse=False), _rbf_rounding, (FLOAT32, FLOAT64)),
    # The rounding of |z|^2 does not average out here: no float32.
    "inverse": Loops(_inverse_tiled, partial(tiles.direct_sums, inverse=True), _inverse_rounding, (FLOAT64,)),
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
