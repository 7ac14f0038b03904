"""Compiled loops of the numba engine, each for one thread and without the GIL.

`pack_points` and `pack_queries` lay both sides out so that one matrix product gives, for a few queries and a block of
points, a tile ``2 z.x - |x|^2`` = ``|z|^2 - |z - x|^2``. `rbf_tiles` and `inverse_tiles` turn it into kernel sums while
it is still in the cache. `direct_sums` takes differences in float64: slower where there are many features, and right
for any input. The innermost loops are in `unlabeled.engines.vectors`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from unlabeled.arrays import FloatArray
from unlabeled.engines.intermediate import lanes
from unlabeled.engines.threads import on_threads
from unlabeled.engines.vectors import (
    LADDER,
    ROWS,
    SLICE,
    dot,
    exp2_sum,
    exp2_sums,
    exp2_term,
    exp2_terms,
    largest,
    product,
)

#: A block of points has at most this many bytes, to stay in the cache while all queries pass, and this many points.
BLOCK_BYTES, BLOCK_WIDTH = 2**18, 512
#: From so many features on a tile has several groups of queries, so that panels stay near while these pass; where rows
#: are longer than a slice, more of them, and its block twice the bytes.
MANY_FEATURES, MANY_FEATURES_GROUPS, LONG_ROWS_GROUPS = 100, 4, 8
#: Stands for minus infinity in a tile: padding and own pairs. Whatever is below `UNREAL` is one of them.
NEVER, UNREAL = -1e30, -1e29
#: Bytes of a line of the cache.
CACHE_LINE = 64
#: Digits of two that tell rows apart: float32 has 24, and rows that differ in the last few may still be rounded alike.
COARSE = 16
#: Numbers that several steps are taken with while they are in the cache.
_IN_CACHE = 65_536
#: Numbers from which on starting threads to pack them pays.
_WORTH_THREADS = 4_000_000

# Sums may be reordered: that is what lets them use vector registers.
_SUMS = {"reassoc", "contract", "nsz"}
_LOG2E = 1 / math.log(2)


@dataclass(frozen=True)
class TileShape:
    """How rows of some features are cut: a tile is some groups of `ROWS` queries by points, in panels of one vector."""

    n_features: int
    n_groups: int
    width: int
    lanes: int

    @classmethod
    def of(cls, n_features: int, n_points: int, dtype: Any) -> TileShape:
        """As wide as fits the cache, no wider than there are points, and a multiple of the longest vectors."""
        n_groups = 1 if n_features < MANY_FEATURES else MANY_FEATURES_GROUPS
        n_groups, n_bytes = (LONG_ROWS_GROUPS, 2 * BLOCK_BYTES) if n_features > SLICE else (n_groups, BLOCK_BYTES)
        widest = min(BLOCK_WIDTH, n_bytes // (n_features * np.dtype(dtype).itemsize), n_points)
        longest = lanes(np.float32)
        return cls(n_features, n_groups, max(1, -(-widest // longest)) * longest, lanes(dtype))

    @property
    def height(self) -> int:
        """Queries in a tile."""
        return self.n_groups * ROWS

    @property
    def tile(self) -> tuple[int, int]:
        """Shape of a tile."""
        return self.height, self.width

    @property
    def queries(self) -> tuple[int, int, int]:
        """Shape of a packed block of queries."""
        return self.n_groups, self.n_features, ROWS

    @property
    def points(self) -> tuple[int, int, int]:
        """Shape of a packed block of points."""
        return self.width // self.lanes, self.n_features, self.lanes


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Compile without the GIL, and keep the result on disk wherever a folder can be written for it."""
    options |= {"nogil": True, "no_cfunc_wrapper": True}  # that wrapper is for callbacks from C, and takes time

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no such folder: compile anew in each process
            return njit(**options)(function)

    return decorate


#: Compiled as part of the function that calls it: one that is compiled by itself is so twice, there and here.
inlined = njit(inline="always")


# --- layout ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """Rows less a centre, scaled, rounded and turned: panels of some rows, number by number."""

    panels: np.ndarray  # (n_panels, n_features, rows a panel), zeros after the last row
    sq_norms: FloatArray  # of the rounded rows (n_panels * rows a panel,)
    moved: FloatArray  # squared distances of the rows from what they were rounded to, if that was asked for


def pack_queries(
    queries: FloatArray, centre: FloatArray, scale: float, shape: TileShape, dtype: Any, n_threads: int = 1
) -> Packed:
    """2 scale * (z - centre), in blocks (n_blocks, *shape.queries); norms are those of half of it."""
    moved = np.empty(len(queries))
    packed = _packed(queries, centre, 2 * scale, (ROWS, shape.height), dtype, n_threads, moved)
    return Packed(packed.panels.reshape(-1, *shape.queries), packed.sq_norms / 4, moved / 4)


def pack_points(
    points: FloatArray, centre: FloatArray, scale: float, shape: TileShape, dtype: Any, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Blocks (n_blocks, *shape.points) of scale * (x - centre), and offsets (n_blocks, width) of -|x|^2 of that."""
    packed = _packed(points, centre, scale, (shape.lanes, shape.width), dtype, n_threads)
    offsets: np.ndarray = (-packed.sq_norms).astype(dtype)
    offsets[len(points) :] = NEVER
    return packed.panels.reshape(-1, *shape.points), offsets.reshape(-1, shape.width)


def _packed(
    rows: FloatArray,
    centre: FloatArray,
    scale: float,
    sizes: tuple[int, int],
    dtype: Any,
    n_threads: int,
    moved: FloatArray | None = None,
) -> Packed:
    """Rows in panels of one size, padded to a multiple of another; ``moved`` is filled where it is given."""
    size, multiple = sizes
    n_rows, n_features = -(-len(rows) // multiple) * multiple, rows.shape[1]
    panels = _aligned_zeros((n_rows // size, n_features, size), dtype)
    sq_norms = np.zeros(n_rows)

    def pack(some: slice) -> None:
        exact = before_rounding(rows[some], centre, scale, dtype)
        stored = exact.astype(dtype, copy=False)
        sq_norms[some] = _sq_norms(stored)
        if moved is not None:
            moved[some] = _sq_norms(exact - stored)
        first, whole = some.start // size, len(stored) // size
        panels[first : first + whole] = stored[: whole * size].reshape(-1, size, n_features).transpose(0, 2, 1)
        if whole * size < len(stored):  # the last rows of all
            panels[first + whole, :, : len(stored) - whole * size] = stored[whole * size :].T

    on_parts(pack, rows, n_threads, multiple=size)
    return Packed(panels, sq_norms, np.empty(0) if moved is None else moved)


def _aligned_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array that begins where a line of the cache does: vectors that cross lines are slow to load."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + n_bytes].view(dtype).reshape(shape)


def sq_norms(rows: FloatArray, centre: FloatArray, n_threads: int = 1) -> FloatArray:
    """Squared distances of rows from a centre, in float64."""
    norms = np.empty(len(rows))

    def fill(some: slice) -> None:
        norms[some] = _sq_norms(rows[some] - centre)

    on_parts(fill, rows, n_threads)
    return norms


def coarse_keys(rows: FloatArray, centre: FloatArray) -> np.ndarray:
    """Whole numbers that are the same for rows whose coordinates agree to 2^-`COARSE` of their length.

    Float32 rounds such rows alike. Products of whole numbers, unlike those of floats, do not depend on their order.
    """
    factors = np.random.default_rng(0).integers(1, 2**63, rows.shape[1] + 1)
    keys = np.empty(len(rows), np.int64)

    def fill(some: slice) -> None:
        part = before_rounding(rows[some], centre, 1.0, np.float32)
        _, exponents = np.frexp(np.sqrt(_sq_norms(part)))
        whole = np.rint(part * np.exp2(COARSE - exponents)[:, None]).astype(np.int64)
        keys[some] = whole @ factors[1:] + exponents * factors[0]

    on_parts(fill, rows, n_threads=1)
    return keys


def before_rounding(rows: FloatArray, centre: FloatArray, scale: float, dtype: Any) -> FloatArray:
    """Rows less a centre, scaled, and mirrored if they are to be rounded far."""
    moved = np.subtract(rows, centre, dtype=np.float64)
    moved *= scale
    if dtype is np.float32 and rows.shape[1] > 1:
        mirror = _mirror(rows.shape[1])
        moved -= np.multiply.outer(moved @ mirror, 2 * mirror)
    return moved


@cache
def _mirror(n_features: int) -> FloatArray:
    """The normal of a plane that is oblique to all axes, of length one.

    Rows that have a coordinate in common, as those of a lattice and of categories do, share its rounding. Mirrored at
    that plane they have no number in common, and distances stay.
    """
    normal = np.random.default_rng(0).uniform(1, 2, n_features)
    return np.asarray(normal / np.linalg.norm(normal))


def on_parts(function: Callable[[slice], None], rows: np.ndarray, n_threads: int, multiple: int = 1) -> None:
    """Call a function for slices of rows that fit the cache, each a multiple but the last, on threads if it pays."""
    size = max(1, _IN_CACHE // rows.shape[1] // multiple) * multiple
    parts = [slice(start, min(start + size, len(rows))) for start in range(0, len(rows), size)]
    for _ in on_threads(function, parts, n_threads if rows.size > _WORTH_THREADS else 1):
        pass


def _sq_norms(rows: np.ndarray) -> FloatArray:
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


# --- sums over tiles -------------------------------------------------------------------------------------------------
#
# The three loops begin alike. A function for that would be compiled for each of them, a fifth of a second every time.


@compiled()
def rbf_tiles(
    queries: Any,
    points: Any,
    offsets: Any,
    weights: Any,
    own: Any,
    ladders: Any,
    steps: Any,
    tile: Any,
    terms: Any,
    sums: Any,
) -> None:
    """Add sums of ``2^(step * tile)`` over the points, for each step.

    Shapes: queries (n_blocks, *shape.queries), points (n_blocks, *shape.points), offsets (n_blocks, width), weights
    (n_blocks, n_weightings, width), with no weighting for plain sums, own (n_padded,), ladders (n_ladders,): whether
    one step has an exponential or `LADDER` share one, each twice the one before; steps (n_steps,), sums (n_weightings
    or 1, n_steps, n_padded). To work in: tile (height, width) and terms (LADDER, width).
    """
    height, width = tile.shape
    for p in range(len(points)):
        for q in range(len(queries)):
            product(queries[q], points[p], offsets[p], tile)
            for i in range(height):
                query = q * height + i
                itself = own[query] - p * width
                if 0 <= itself < width:
                    tile[i, itself] = NEVER
                _add_powers(tile[i], weights[p], ladders, steps, np.inf, terms, sums[:, :, query])


@compiled()
def shifted_rbf_tiles(
    queries: Any,
    points: Any,
    offsets: Any,
    weights: Any,
    own: Any,
    ladders: Any,
    steps: Any,
    tile: Any,
    terms: Any,
    sums: Any,
    depth: float,
    row: Any,
    tops: Any,
) -> None:
    """Add sums of ``2^(step * (tile - top))`` over the points, for each step, so that nothing underflows.

    As `rbf_tiles`; ``tops`` (n_padded,) holds each query's largest exponent so far, to which the sums are relative. The
    differences to it have the type of ``row`` (width,). Where all terms of a row are below 2^-depth they are left out.
    """
    height, width = tile.shape
    for p in range(len(points)):
        for q in range(len(queries)):
            product(queries[q], points[p], offsets[p], tile)
            for i in range(height):
                query = q * height + i
                itself = own[query] - p * width
                if 0 <= itself < width:
                    tile[i, itself] = NEVER
                top = largest(tile[i])
                if top < UNREAL:
                    continue
                if top > tops[query]:
                    for s in range(len(steps)):
                        for w in range(len(sums)):
                            sums[w, s, query] *= math.exp((tops[query] - top) * steps[s] / _LOG2E)
                    tops[query] = top
                for j in range(width):
                    row[j] = row.dtype.type(tile[i, j] - tops[query])
                below = tops[query] - top
                last = depth / below if below else np.inf
                _add_powers(row, weights[p], ladders, steps, last, terms, sums[:, :, query])


@compiled(forceinline=True)  # a call with as many arrays takes as long as 200 pairs
def _add_powers(exponents: Any, weights: Any, ladders: Any, steps: Any, last: float, terms: Any, sums: Any) -> None:
    """Add the sums of a row of exponents, ladder by ladder up to the last step that matters."""
    first = 0
    for length in ladders:
        if steps[first] > last:
            return
        scale = exponents.dtype.type(steps[first])
        if len(weights):
            if length == 1:
                exp2_term(exponents, scale, terms)
            else:
                exp2_terms(exponents, scale, terms)
            for step in range(length):
                for w in range(len(weights)):
                    sums[w, first + step] += dot(terms[step], weights[w])
        elif length == 1:
            sums[0, first] += exp2_sum(exponents, scale)[0]
        else:
            of_ladder = exp2_sums(exponents, scale)
            for step in range(LADDER):
                sums[0, first + step] += of_ladder[step]
        first += length


@compiled(fastmath=_SUMS)
def inverse_tiles(
    queries: Any,
    points: Any,
    offsets: Any,
    weights: Any,
    own: Any,
    sq_norms: Any,
    gammas: Any,
    tile: Any,
    row: Any,
    sums: Any,
) -> None:
    """Add sums of ``gamma / (gamma + |z - x|^2)`` over the points, for each gamma.

    Shapes as in `rbf_tiles`; sq_norms (n_padded,), gammas (n_gammas,), sums (n_weightings or 1, n_gammas, n_padded).
    """
    height, width = tile.shape
    for p in range(len(points)):
        for q in range(len(queries)):
            product(queries[q], points[p], offsets[p], tile)
            for i in range(height):
                query = q * height + i
                itself = own[query] - p * width
                if 0 <= itself < width:
                    tile[i, itself] = NEVER
                for g in range(len(gammas)):
                    total = 0.0
                    for j in range(width):
                        k = gammas[g] / (gammas[g] + max(sq_norms[query] - tile[i, j], 0.0))
                        row[j] = k if tile[i, j] > UNREAL else 0.0
                        total += row[j]
                    if weights.shape[1] == 0:
                        sums[0, g, query] += total
                    for w in range(weights.shape[1]):
                        sums[w, g, query] += dot(row, weights[p, w])


# --- the exact way ---------------------------------------------------------------------------------------------------

_DIRECT_WIDTH, _DIRECT_LANES = 512, lanes(np.float64)


#: Numbers of the log kernels. Functions as arguments, or around the loop, would have it compiled anew in every process.
LOG_RBF, LOG_INVERSE = range(2)


@compiled(fastmath=_SUMS)
def direct_sums(
    log_kernel: int, queries: Any, points: Any, log_weights: Any, own: Any, gammas: Any, tops: Any, sums: Any
) -> None:
    """Add to running log sums ``tops + log(sums)``, by differences in float64.

    Shapes: queries (n_queries, n_features), points (n_features, n_points) with the points along rows, log_weights
    (n_weightings, n_points); tops and sums (n_weightings, n_gammas, n_queries): the largest log term so far, and the
    sum relative to it.
    """
    n_features, n_points = points.shape
    sq_dist, log_terms = np.empty(_DIRECT_WIDTH), np.empty(_DIRECT_WIDTH)
    for i in range(len(queries)):
        for first in range(0, n_points, _DIRECT_WIDTH):
            size = min(_DIRECT_WIDTH, n_points - first)
            sq_dist[:size] = 0
            for k in range(n_features):
                z = queries[i, k]
                for j in range(size):
                    difference = z - points[k, first + j]
                    sq_dist[j] += difference * difference
            padded = -(-size // _DIRECT_LANES) * _DIRECT_LANES
            log_terms[size:padded] = -np.inf
            for g in range(len(gammas)):
                for w in range(len(log_weights)):
                    if log_kernel == LOG_RBF:
                        for j in range(size):
                            log_terms[j] = log_weights[w, first + j] - gammas[g] * sq_dist[j]
                    else:
                        for j in range(size):
                            log_terms[j] = log_weights[w, first + j] - math.log1p(sq_dist[j] / gammas[g])
                    if first <= own[i] < first + size:
                        log_terms[own[i] - first] = -np.inf
                    top = largest(log_terms[:padded])
                    if top == -np.inf:
                        continue
                    if top > tops[w, g, i]:
                        sums[w, g, i] *= math.exp(tops[w, g, i] - top)
                        tops[w, g, i] = top
                    for j in range(size):
                        log_terms[j] -= tops[w, g, i]
                    sums[w, g, i] += exp2_sum(log_terms[:padded], _LOG2E)[0]
