"""Compiled loops of the numba engine, each for one thread and without the GIL.

`pack_points` and `pack_queries` lay both sides out in blocks so that one matrix product gives, for a block of queries
and a block of points, ``2 z.x - |x|^2`` = ``|z|^2 - |z - x|^2``. `rbf_tiles` and `inverse_tiles` turn such a tile
into kernel sums while it is still in the cache, in the precision of the packed arrays. `direct_sums` takes differences
in float64: slower where there are many features, and right for any input.

A tile is a product of strips of queries by slices of features, each of at most `SMALL_PRODUCT` multiply-adds: up to
there OpenBLAS does not copy its operands first, which is three times faster at 26 features.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload
from numpy.polynomial import Chebyshev, Polynomial

SMALL_PRODUCT = 1_000_000
#: Queries in a strip.
STRIP = 32
#: Stands for minus infinity in a tile: padding and own pairs. Whatever is below `UNREAL` is one of them.
NEVER, UNREAL = -1e30, -1e29
#: How many gammas may share one exponential, and the largest power of it that is taken.
MAX_POWERS, MAX_POWER = 6, 63

# Sums may be reordered (that is what lets them use vector registers). The exponential may not: it rounds by adding
# and subtracting a large number, which reordering would remove. So it is a function of its own with fewer flags.
_SUMS = {"reassoc", "contract", "nsz"}
_EXP2 = {"contract", "nsz"}


@dataclass(frozen=True)
class TileShape:
    """How queries and points are cut: a tile is ``n_strips`` strips of queries by ``width`` points."""

    n_strips: int
    width: int
    n_slices: int  # of the features
    depth: int  # of a slice

    @property
    def height(self) -> int:
        """Queries in a tile."""
        return STRIP * self.n_strips

    @property
    def queries(self) -> tuple[int, int, int, int]:
        """Shape of a packed block of queries."""
        return self.n_slices, self.n_strips, STRIP, self.depth

    @property
    def points(self) -> tuple[int, int, int]:
        """Shape of a packed block of points."""
        return self.n_slices, self.depth, self.width


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Compile without the GIL, and keep the result on disk wherever a folder can be written for it."""

    def decorate(function: Any) -> Any:
        try:
            return njit(nogil=True, cache=True, **options)(function)
        except RuntimeError:  # numba found no such folder: compile anew in each process
            return njit(nogil=True, **options)(function)

    return decorate


def tile_shape(n_columns: int, n_queries: int, n_points: int) -> TileShape:
    """The widest tile whose products are small, for rows of ``n_columns`` numbers; from about 500 on in slices."""
    for width in (1024, 512, 256, 128, 64):
        if STRIP * width * n_columns <= SMALL_PRODUCT:
            return TileShape(1, min(width, -(-n_points // 16) * 16), 1, n_columns)
    n_slices = -(-n_columns // (SMALL_PRODUCT // (STRIP * width)))
    # Several strips use a slice of the points while it is in the cache; fewer where rows are long, to bound memory.
    n_strips = max(1, min(8, -(-n_queries // STRIP), 32_768 // n_columns))
    return TileShape(n_strips, width, n_slices, -(-n_columns // n_slices))


# --- the exponential -------------------------------------------------------------------------------------------------


@intrinsic
def _bits(typing_context: Any, value: Any) -> Any:  # noqa: ARG001
    """The bits of a float as an integer of its size."""
    return {types.float32: types.int32, types.float64: types.int64}[value](value), _bitcast


@intrinsic
def _float_of(typing_context: Any, value: Any) -> Any:  # noqa: ARG001
    """The float that has the bits of an integer."""
    return {types.int32: types.float32, types.int64: types.float64}[value](value), _bitcast


def _bitcast(_context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> Any:
    llvm_types = {
        types.int32: ir.IntType(32),
        types.int64: ir.IntType(64),
        types.float32: ir.FloatType(),
        types.float64: ir.DoubleType(),
    }
    return builder.bitcast(args[0], llvm_types[signature.return_type])


def _exp2_coefficients(degree: int) -> tuple[float, ...]:
    """Coefficients of 1 + r q(r), near to 2^r on [-1/2, 1/2] and exact at 0 (the degree must be even: no node at 0)."""
    fit = Chebyshev.interpolate(lambda r: np.expm1(r * np.log(2)) / r, degree - 1, domain=[-0.5, 0.5])
    return 1.0, *fit.convert(kind=Polynomial, domain=[-1, 1]).coef


_C32 = tuple(np.float32(c) for c in _exp2_coefficients(6))
_C64 = _exp2_coefficients(12)
# Adding 1.5 * 2^(bits of the mantissa) leaves the integer nearest to x in the low bits of the sum.
_ROUND32, _LEAST32, _SHIFT32 = np.float32(1.5 * 2**23), np.float32(-126), np.int32(23)
_ROUND64, _LEAST64, _SHIFT64 = 1.5 * 2**52, -1022.0, 52


def exp2(x: float) -> float:
    """2^x for x below the overflow; 2^(least exponent) for anything smaller."""
    return math.exp2(x)


@overload(exp2, jit_options={"fastmath": _EXP2})
def _exp2(x: Any) -> Callable[[Any], Any]:
    if x == types.float32:

        def exp2_float32(x: Any) -> Any:
            x = max(x, _LEAST32)
            rounded = x + _ROUND32
            r = x - (rounded - _ROUND32)
            p = _C32[6]
            p = p * r + _C32[5]
            p = p * r + _C32[4]
            p = p * r + _C32[3]
            p = p * r + _C32[2]
            p = p * r + _C32[1]
            p = p * r + _C32[0]
            return _float_of(np.int32(_bits(p) + np.int32(_bits(rounded) << _SHIFT32)))

        return exp2_float32

    def exp2_float64(x: Any) -> Any:
        x = max(x, _LEAST64)
        rounded = x + _ROUND64
        r = x - (rounded - _ROUND64)
        p = _C64[12]
        for degree in range(11, -1, -1):
            p = p * r + _C64[degree]
        return _float_of(_bits(p) + (_bits(rounded) << _SHIFT64))

    return exp2_float64


@njit(fastmath=_SUMS)
def _power(power: int, k: Any, k2: Any, k4: Any, k8: Any, k16: Any, k32: Any) -> Any:
    """K to a power known when this is compiled, from its repeated squares."""
    value = k if power & 1 else type(k)(1)
    if power & 2:
        value *= k2
    if power & 4:
        value *= k4
    if power & 8:
        value *= k8
    if power & 16:
        value *= k16
    if power & 32:
        value *= k32
    return value


# --- layout ----------------------------------------------------------------------------------------------------------


@compiled(fastmath=_SUMS)
def sq_norms(rows: Any, centre: Any) -> Any:
    """Squared distances of rows from a centre, in float64."""
    norms = np.zeros(len(rows))
    for i in range(len(rows)):
        for k in range(rows.shape[1]):
            norms[i] += (np.float64(rows[i, k]) - centre[k]) ** 2
    return norms


@compiled()
def pack_points(points: Any, centre: Any, scale: float, packed: Any) -> None:
    """Fill blocks (n_blocks, *shape.points) with scale * (x - centre) and minus its squared norm, then zeros."""
    n_points, n_features = points.shape
    n_blocks, n_slices, depth, width = packed.shape
    packed[:] = 0
    norms = np.empty(width)
    for block in range(n_blocks):
        first = block * width
        norms[:] = 0
        for s in range(n_slices):
            for k in range(s * depth, min((s + 1) * depth, n_features)):
                column = packed[block, s, k - s * depth]
                for j in range(min(width, n_points - first)):
                    column[j] = (points[first + j, k] - centre[k]) * scale
                    norms[j] += np.float64(column[j]) ** 2
        last = packed[block, n_features // depth, n_features % depth]
        for j in range(width):
            last[j] = -norms[j] if first + j < n_points else NEVER


@compiled()
def pack_queries(queries: Any, centre: Any, scale: float, packed: Any, sq_norms: Any) -> None:
    """Fill blocks (n_blocks, *shape.queries) with 2 scale * (z - centre) and 1; squared norms of what was stored."""
    n_queries, n_features = queries.shape
    _, n_slices, n_strips, strip, depth = packed.shape
    packed[:] = 0
    for row in range(n_queries):
        block, i = row // (n_strips * strip), row % (n_strips * strip)
        sq_norm = 0.0
        for s in range(n_slices):
            stored = packed[block, s, i // strip, i % strip]
            for k in range(s * depth, min((s + 1) * depth, n_features)):
                stored[k - s * depth] = 2 * scale * (queries[row, k] - centre[k])
                sq_norm += np.float64(stored[k - s * depth]) ** 2
        packed[block, n_features // depth, i // strip, i % strip, n_features % depth] = 1
        sq_norms[row] = sq_norm / 4


@compiled()
def _multiply(queries: Any, points: Any, part: Any, tile: Any) -> None:
    """The product of a block of queries and a block of points, by strips (height, width) and slices."""
    n_slices, n_strips, strip, _ = queries.shape
    for s in range(n_slices):
        for i in range(n_strips):
            rows = tile[i * strip : (i + 1) * strip]
            np.dot(queries[s, i], points[s], part if s else rows)
            if s:
                rows += part


# --- sums over tiles -------------------------------------------------------------------------------------------------


@functools.cache
def rbf_tiles(powers: tuple[int, ...], *, weighted: bool, rescaled: bool, shifted: bool) -> Any:
    """Compile the sum of ``2^(scale * power * (tile - top))`` over the points, for each scale and each of the powers.

    ``shifted``: ``tops`` holds each query's largest exponent so far and the sums are relative to it, so that nothing
    underflows. Otherwise ``tops`` stays 0: the |z|^2 left in the exponent is shift enough for moderate exponents.
    """
    n_powers = len(powers)
    power1, power2, power3, power4, power5 = (powers[1:] + (1,) * MAX_POWERS)[: MAX_POWERS - 1]

    @compiled(fastmath=_SUMS)
    def tiles(queries: Any, points: Any, weights: Any, own: Any, scales: Any, tops: Any, sums: Any) -> None:
        # Shapes: queries (n_blocks, *shape.queries), points (n_blocks, *shape.points), weights (n_blocks, width),
        # own (n_padded,), scales (n_scales,), and in float64 tops (n_padded,), sums (n_scales * n_powers, n_padded).
        strip, width = queries.shape[3], points.shape[3]
        height = queries.shape[2] * strip
        tile = np.empty((height, width), queries.dtype)
        part = np.empty((strip if queries.shape[1] > 1 else 0, width), queries.dtype)
        zero = queries.dtype.type(0)
        for q in range(len(queries)):
            for p in range(len(points)):
                _multiply(queries[q], points[p], part, tile)
                _drop_own(tile, own, q * height, p * width)
                for i in range(height):
                    row = q * height + i
                    if shifted:
                        top = _largest(tile[i])
                        if top < UNREAL:
                            continue
                        if top > tops[row]:
                            _lower(sums, row, tops[row] - top, scales, powers)
                            tops[row] = top
                    top = queries.dtype.type(tops[row])
                    for s in range(len(scales)):
                        s0, s1, s2, s3, s4, s5 = zero, zero, zero, zero, zero, zero
                        for j in range(width):
                            exponent = tile[i, j] - top if shifted else tile[i, j]
                            k = exp2(exponent * scales[s] if rescaled else exponent)
                            k2 = k * k
                            k4 = k2 * k2
                            k8 = k4 * k4
                            k16 = k8 * k8
                            k32 = k16 * k16
                            w = weights[p, j] if weighted else queries.dtype.type(1)
                            s0 += w * k
                            if n_powers > 1:
                                s1 += w * _power(power1, k, k2, k4, k8, k16, k32)
                            if n_powers > 2:
                                s2 += w * _power(power2, k, k2, k4, k8, k16, k32)
                            if n_powers > 3:
                                s3 += w * _power(power3, k, k2, k4, k8, k16, k32)
                            if n_powers > 4:
                                s4 += w * _power(power4, k, k2, k4, k8, k16, k32)
                            if n_powers > 5:
                                s5 += w * _power(power5, k, k2, k4, k8, k16, k32)
                        first = s * n_powers
                        for slot, value in enumerate((s0, s1, s2, s3, s4, s5)):
                            if slot < n_powers:
                                sums[first + slot, row] += value

    return tiles


@compiled(fastmath=_SUMS)
def _largest(row: Any) -> Any:
    largest = row[0]
    for value in row:
        largest = max(largest, value)
    return largest


@compiled()
def _lower(sums: Any, row: int, change: float, scales: Any, powers: Any) -> None:
    """Make the sums of a query relative to a top that is larger by ``-change``."""
    for s in range(len(scales)):
        for slot in range(len(powers)):
            sums[s * len(powers) + slot, row] *= exp2(np.float64(change * scales[s] * powers[slot]))


@functools.cache
def inverse_tiles(*, weighted: bool) -> Any:
    """Compile the sum of ``gamma / (gamma + |z - x|^2)``, for each gamma, over the points."""

    @compiled(fastmath=_SUMS)
    def tiles(queries: Any, points: Any, weights: Any, own: Any, sq_norms: Any, gammas: Any, sums: Any) -> None:
        # Shapes as in rbf_tiles; sq_norms (n_padded,), gammas (n_gammas,), sums (n_gammas, n_padded) in float64.
        strip, width = queries.shape[3], points.shape[3]
        height = queries.shape[2] * strip
        tile = np.empty((height, width), queries.dtype)
        part = np.empty((strip if queries.shape[1] > 1 else 0, width), queries.dtype)
        zero = queries.dtype.type(0)
        for q in range(len(queries)):
            for p in range(len(points)):
                _multiply(queries[q], points[p], part, tile)
                _drop_own(tile, own, q * height, p * width)
                for i in range(height):
                    row = q * height + i
                    for g in range(len(gammas)):
                        total = zero
                        for j in range(width):
                            k = gammas[g] / (gammas[g] + max(sq_norms[row] - tile[i, j], zero))
                            w = weights[p, j] if weighted else queries.dtype.type(1)
                            total += w * k if tile[i, j] > UNREAL else zero
                        sums[g, row] += total

    return tiles


@compiled()
def _drop_own(tile: Any, own: Any, first_query: int, first_point: int) -> None:
    for i in range(tile.shape[0]):
        j = own[first_query + i] - first_point
        if 0 <= j < tile.shape[1]:
            tile[i, j] = NEVER


# --- the exact way ---------------------------------------------------------------------------------------------------

_LOG2E = 1 / math.log(2)


@njit(fastmath={"contract"})
def _log_kernel(inverse: bool, sq_dist: float, gamma: float) -> float:
    return -math.log1p(sq_dist / gamma) if inverse else -gamma * sq_dist


@functools.cache
def direct_sums(*, inverse: bool) -> Any:
    """Compile what adds to running log sums ``tops + log(sums)``, by differences in float64, for a kernel."""

    @compiled(fastmath=_SUMS)
    def sums_by_differences(
        queries: Any, points: Any, log_weights: Any, own: Any, gammas: Any, tops: Any, sums: Any
    ) -> None:
        # Shapes: queries (n_queries, d), points (n_features, n_points) with the points along rows, log_weights
        # (n_points,); tops and sums (n_gammas, n_queries): the largest log term so far, and the sum relative to it.
        n_features, n_points = points.shape
        width = min(512, n_points)
        sq_dist, log_terms = np.empty(width), np.empty(width)
        for i in range(len(queries)):
            for first in range(0, n_points, width):
                size = min(width, n_points - first)
                sq_dist[:size] = 0
                for k in range(n_features):
                    z = queries[i, k]
                    for j in range(size):
                        difference = z - points[k, first + j]
                        sq_dist[j] += difference * difference
                for g in range(len(gammas)):
                    top = -np.inf
                    for j in range(size):
                        log_terms[j] = _log_kernel(inverse, sq_dist[j], gammas[g]) + log_weights[first + j]
                        if first + j == own[i]:
                            log_terms[j] = -np.inf
                        top = max(top, log_terms[j])
                    if top == -np.inf:
                        continue
                    if top > tops[g, i]:
                        sums[g, i] *= math.exp(tops[g, i] - top)
                        tops[g, i] = top
                    total = 0.0
                    for j in range(size):
                        total += exp2((log_terms[j] - tops[g, i]) * _LOG2E)
                    sums[g, i] += total

    return sums_by_differences
