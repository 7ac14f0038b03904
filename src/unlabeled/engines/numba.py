"""The CPU engine: compiled tiles, float32 where that is exact enough, float64 elsewhere, all cores.

Each sum is computed by the first of three ways that can do it well:

1. float32 tiles, while the exponents are small enough that their rounding stays near 1e-6;
2. float64 tiles, while the sums stay inside the range of a float64;
3. differences in float64, summed in the log domain: any input.

The choice is made for each query and gamma, so that one far query does not slow the others. Jobs of less than
`EXACT_PAIRS` pairs go the third way at once: their answers then agree to rounding however they are cut into batches.
Work is cut into chunks of bounded memory and handed to threads by blocks of queries.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import joblib
import numba
import numpy as np
import scipy.linalg  # noqa: F401  loads the BLAS that numba's dot calls
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from unlabeled.engines import tiles
from unlabeled.kernels import FloatArray, Kernel

#: Jobs of fewer pairs, or against fewer points, are computed by differences in float64.
EXACT_PAIRS, EXACT_POINTS = 1_000_000, 512
#: Numbers held at once for a chunk of points or of queries (8 bytes each).
_CHUNK = 8_000_000
#: Arrays (n_gammas, n_queries) alive at once for a chunk of queries.
ARRAYS_A_GAMMA = 8
_LOG2E = 1 / np.log(2)


@dataclass(frozen=True)
class Precision:
    """A floating-point type and what can be asked of it.

    ``limit``: largest sharpness * (|z|^2 + |x|^2) that may be rounded, over the points that matter to a query.
    ``depth``: a point whose log kernel is below -depth does not matter, if the log sum is above ``30 - depth``.
    ``least``: smallest sum that has not lost terms to underflow.
    """

    dtype: type
    limit: float
    depth: float
    least: float


FLOAT32 = Precision(np.float32, limit=100, depth=57, least=1e-25)
FLOAT64 = Precision(np.float64, limit=600, depth=300, least=1e-280)
#: To be tried in this order. In the inverse kernel the rounding of |z|^2 does not average out: no float32 for it.
PRECISIONS = {"rbf": (FLOAT32, FLOAT64), "inverse": (FLOAT64,)}


@dataclass(frozen=True)
class Job:
    """What stays the same for all chunks of queries.

    The centre is that of the points alone: an answer must not depend on the batch it came in.
    """

    points: FloatArray
    kernel: Kernel
    log_weights: FloatArray | None
    centre: FloatArray
    reach: float  # largest squared distance of a point from the centre
    n_threads: int


def log_sums(
    queries: FloatArray,
    points: FloatArray,
    kernel: Kernel,
    gammas: FloatArray,
    own: np.ndarray | None,
    log_weights: FloatArray | None,
    n_jobs: int | None,
) -> FloatArray:
    """Log kernel sums; see `unlabeled.engines.log_kernel_sums`."""
    centre = points.mean(axis=0, dtype=np.float64)
    reach = tiles.sq_norms(points, centre).max()
    job = Job(points, kernel, log_weights, centre, reach, n_threads(n_jobs))
    if own is None:
        own = np.full(len(queries), -1)
    exact = len(queries) * len(points) < EXACT_PAIRS or len(points) < EXACT_POINTS
    sums = np.empty((len(gammas), len(queries)))
    row_size = queries.shape[1] + ARRAYS_A_GAMMA * len(gammas)
    for rows in _chunks(len(queries), row_size, multiple=tiles.MAX_HEIGHT):
        compute = _direct if exact or not _tiles_can(job, gammas) else _best
        sums[:, rows] = compute(job, queries[rows], own[rows], gammas)
    return sums


def _tiles_can(job: Job, gammas: FloatArray) -> bool:
    in_range = job.reach * job.kernel.sharpness(gammas).max() < -tiles.NEVER and job.reach < -tiles.NEVER
    return bool(in_range and (job.log_weights is None or np.ptp(job.log_weights) < 60))


def _best(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Give each query and gamma to the first precision that suffices, and what is left to `_direct`."""
    sums = np.empty((len(gammas), len(queries)))
    left = np.ones(sums.shape, dtype=bool)
    norms = tiles.sq_norms(queries, job.centre)
    for precision in PRECISIONS[job.kernel.name]:
        amplitude, floor = _rounding(job, norms, gammas, precision)
        suits = left & (amplitude <= precision.limit)
        grid, rows = suits.any(axis=1), suits.any(axis=0)
        if not rows.any():
            continue
        found, sound = _tiled(job, queries[rows], own[rows], gammas[grid], precision)
        part = np.ix_(grid, rows)
        done = suits[part] & sound & (found >= floor[part])
        sums[part] = np.where(done, found, sums[part])
        left[part] &= ~done
    grid, rows = left.any(axis=1), left.any(axis=0)
    if rows.any():
        part = np.ix_(grid, rows)
        sums[part] = np.where(left[part], _direct(job, queries[rows], own[rows], gammas[grid]), sums[part])
    return sums


def _rounding(job: Job, norms: FloatArray, gammas: FloatArray, precision: Precision) -> tuple[FloatArray, FloatArray]:
    """How large the rounded terms get, and the log sum below which that is not known (both (n_gammas, n_queries)).

    For the RBF kernel a point with gamma |x|^2 > (sqrt(gamma |z|^2) + sqrt(depth))^2 is too far from z to matter.
    """
    sharpness = job.kernel.sharpness(gammas)[:, None]
    if job.kernel.name == "inverse":  # no exponent to keep in range: in float64 only the digits of the distance count
        return sharpness * (norms + job.reach) * 1e-6, np.full((len(gammas), len(norms)), -np.inf)
    near = sharpness * norms
    matters = (np.sqrt(near) + np.sqrt(precision.depth)) ** 2
    floor = np.where(matters < sharpness * job.reach, 30 - precision.depth, -np.inf)
    return near + np.minimum(sharpness * job.reach, matters), floor + _log_top_weight(job)


def _log_top_weight(job: Job) -> float:
    return 0.0 if job.log_weights is None else float(job.log_weights.max())


# --- tiles -----------------------------------------------------------------------------------------------------------


def _tiled(
    job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray, precision: Precision
) -> tuple[FloatArray, np.ndarray]:
    """Log sums by tiles, and where they can be trusted (both (n_gammas, n_queries))."""
    if job.kernel.name == "inverse":
        sums, _ = _tile_sums(job, queries, own, 1.0, precision, _inverse_loop(job, gammas, precision), len(gammas))
        return np.log(sums) + _log_top_weight(job), np.ones(sums.shape, dtype=bool)
    found, sound = np.empty((len(gammas), len(queries))), np.empty((len(gammas), len(queries)), dtype=bool)
    for powers, ladders in ladders_of(gammas).items():
        bases = np.array([base for base, _ in ladders])
        scales = (bases / bases[0]).astype(precision.dtype)
        loop = _rbf_loop(job, powers, scales)
        sums, norms = _tile_sums(
            job, queries, own, float(np.sqrt(bases[0] * _LOG2E)), precision, loop, len(powers) * len(bases)
        )
        for s, (base, members) in enumerate(ladders):
            for power, index in members:
                total = sums[s * len(powers) + powers.index(power)]
                sound[index] = total > precision.least
                with np.errstate(divide="ignore", invalid="ignore"):  # where it is not sound
                    log_total = np.log(total)
                found[index] = log_total - norms * (base * power / bases[0] / _LOG2E) + _log_top_weight(job)
    return found, sound


def _rbf_loop(job: Job, powers: tuple[int, ...], scales: np.ndarray) -> Callable[..., None]:
    compiled = tiles.rbf_tiles(powers, weighted=job.log_weights is not None, rescaled=len(scales) > 1)

    def loop(queries: Any, points: Any, weights: Any, own: Any, _norms: Any, sums: Any) -> None:
        compiled(queries, points, weights, own, scales, sums)

    return loop


def _inverse_loop(job: Job, gammas: FloatArray, precision: Precision) -> Callable[..., None]:
    compiled = tiles.inverse_tiles(weighted=job.log_weights is not None)
    grid: np.ndarray = gammas.astype(precision.dtype)

    def loop(queries: Any, points: Any, weights: Any, own: Any, norms: Any, sums: Any) -> None:
        compiled(queries, points, weights, own, norms, grid, sums)

    return loop


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


def _tile_sums(
    job: Job,
    queries: FloatArray,
    own: np.ndarray,
    scale: float,
    precision: Precision,
    loop: Callable[..., None],
    n_sums: int,
) -> tuple[FloatArray, FloatArray]:
    """Run a compiled loop over all tiles: sums (n_sums, n_queries) and the squared norms of the packed queries."""
    n_queries = len(queries)
    shape = tiles.tile_shape(queries.shape[1] + 1, n_queries)
    height, width = shape.height, shape.width
    n_query_blocks = -(-n_queries // height)
    n_padded = n_query_blocks * height
    blocks: np.ndarray = np.empty((n_query_blocks, *shape.queries), precision.dtype)
    norms = np.zeros(n_padded)

    def pack(part: slice) -> None:
        rows = slice(part.start * height, part.stop * height)
        tiles.pack_queries(queries[rows], job.centre, scale, blocks[part], norms[rows])

    for _ in _on_threads(pack, _cut(n_query_blocks, job.n_threads), job.n_threads):
        pass
    rounded_norms: np.ndarray = norms.astype(precision.dtype)
    own = np.append(own, np.full(n_padded - n_queries, -1))
    sums = np.zeros((n_sums, n_padded))
    with _one_blas_thread():
        for rows in _chunks(len(job.points), job.points.shape[1] + 1, multiple=width):
            points, weights = _packed_points(job, rows, scale, shape, precision)
            own_here = np.where(own >= rows.start, own - rows.start, -1)

            def run(
                part: tuple[slice, slice], points: Any = points, weights: Any = weights, own: Any = own_here
            ) -> tuple[slice, FloatArray]:
                of_queries, of_points = part
                some = slice(of_queries.start * height, of_queries.stop * height)
                partial = np.zeros((n_sums, some.stop - some.start))
                shifted = own[some] - of_points.start * width
                loop(blocks[of_queries], points[of_points], weights[of_points], shifted, rounded_norms[some], partial)
                return some, partial

            for some, partial in _on_threads(run, _parts(n_query_blocks, len(points), job.n_threads), job.n_threads):
                sums[:, some] += partial
    return sums[:, :n_queries], norms[:n_queries]


def _packed_points(
    job: Job, rows: slice, scale: float, shape: tiles.TileShape, precision: Precision
) -> tuple[np.ndarray, np.ndarray]:
    points, width = job.points[rows], shape.width
    n_blocks = -(-len(points) // width)
    packed: np.ndarray = np.empty((n_blocks, *shape.points), precision.dtype)

    def pack(part: slice) -> None:
        tiles.pack_points(points[part.start * width : part.stop * width], job.centre, scale, packed[part])

    for _ in _on_threads(pack, _cut(n_blocks, job.n_threads), job.n_threads):
        pass
    weights: np.ndarray = np.zeros((n_blocks, width), precision.dtype)
    if job.log_weights is not None:
        weights.flat[: len(points)] = np.exp(job.log_weights[rows] - _log_top_weight(job))
    return packed, weights


def _parts(n_query_blocks: int, n_point_blocks: int, n_threads: int) -> list[tuple[slice, slice]]:
    """Cut the blocks into some tasks a thread: by queries, and by points too where there are few queries."""
    by_query = _cut(n_query_blocks, 8 * n_threads)
    by_point = _cut(n_point_blocks, -(-8 * n_threads // len(by_query)) if n_threads > 1 else 1)
    return [(some_queries, some_points) for some_queries in by_query for some_points in by_point]


def _cut(n_blocks: int, n_parts: int) -> list[slice]:
    edges = np.linspace(0, n_blocks, min(n_blocks, n_parts) + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


# --- differences -----------------------------------------------------------------------------------------------------


def _direct(job: Job, queries: FloatArray, own: np.ndarray, gammas: FloatArray) -> FloatArray:
    """Log sums by differences in float64."""
    queries = queries.astype(np.float64)
    tops = np.full((len(gammas), len(queries)), -np.inf)
    sums = np.zeros(tops.shape)
    is_rbf = job.kernel.name == "rbf"
    for rows in _chunks(len(job.points), job.points.shape[1]):
        points = np.ascontiguousarray(job.points[rows].T, dtype=np.float64)
        log_weights = np.zeros(points.shape[1]) if job.log_weights is None else job.log_weights[rows]
        own_here = np.where(own >= rows.start, own - rows.start, -1)

        def run(part: slice, points: Any = points, log_weights: Any = log_weights, own: Any = own_here) -> None:
            partial = tops[:, part], sums[:, part]
            tiles.direct_sums(queries[part], points, log_weights, own[part], is_rbf, gammas, *partial)

        n_threads = job.n_threads if len(queries) * points.size > _CHUNK else 1
        for _ in _on_threads(run, _cut(len(queries), 8 * n_threads if n_threads > 1 else 1), n_threads):
            pass
    with np.errstate(divide="ignore"):
        return tops + np.log(sums)


# --- memory and threads ----------------------------------------------------------------------------------------------


def _chunks(n_rows: int, row_size: int, multiple: int = 1) -> Iterator[slice]:
    """Slices of rows that hold about `_CHUNK` numbers, alike in size, each but the last a multiple of ``multiple``."""
    n_chunks = -(-n_rows * row_size // _CHUNK)
    size = -(-n_rows // n_chunks // multiple) * multiple
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def n_threads(n_jobs: int | None) -> int:
    """Threads to use: what was asked for, else all cores, or one inside a joblib worker thread.

    joblib tells its worker processes by NUMBA_NUM_THREADS how many threads each may use.
    """
    available = min(joblib.cpu_count(), numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if n_jobs is None:
        backend, _ = get_active_backend()
        nested = backend.nesting_level and threading.current_thread() is not threading.main_thread()
        return 1 if nested else available
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use a positive number of threads, -1 for all cores, or None.")
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def _on_threads(function: Callable[[Any], Any], parts: Any, n_threads: int) -> Iterator[Any]:
    if n_threads == 1 or len(parts) == 1:
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, part) for part in parts]
        try:
            for future in futures:
                yield future.result()
        finally:  # an interrupt must not wait for the parts that have not begun
            pool.shutdown(wait=True, cancel_futures=True)


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


@functools.cache
def _threadpools() -> ThreadpoolController:
    return ThreadpoolController()


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Hold BLAS to the calling thread: each of our threads multiplies its own tiles. Counts callers side by side."""
    global _blas_users, _blas_limit  # noqa: PLW0603
    with _blas_lock:
        _blas_users += 1
        if _blas_users == 1:
            _blas_limit = _threadpools().limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
