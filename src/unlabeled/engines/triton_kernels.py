"""The loops of the GPU engine, for Triton's compiler and, on machines without a card, its interpreter.

A squared distance is made of matrix products of half-precision numbers that lose nothing. Coordinates are in units in
which a row is about 2,000 long, and each is a whole number, which half precision holds, and a rest below a half, of
which it holds 11 bits more; for narrow kernels a third number holds what is left. Products of whole numbers are whole,
and their sums are exact in float32 up to 2^24; what cancels between the two squared norms and the product cancels
there. The rests add three small products, the third numbers two. The matrix units cut off what does not fit beside a
large sum, so for narrow kernels the small products are summed up apart.

Each row has four more columns, which bring the squared norm of a point, and that of a query less its shift, into the
same product: the norm as a unit of 2^15 times a half-precision number, plus another, plus (among the rests) a third.
`unlabeled.engines.triton_ends` writes rows so, and reads log sums off the sums.
"""

from __future__ import annotations

import triton
import triton.language as tl

#: Sums of a row are kept apart by column modulo this, as the matrix units hand columns to threads.
LANES = 8

_LANES = tl.constexpr(LANES)

# Numbers of rows are not specialised on: a fit has jobs of many sizes, and each kind would be compiled for itself.


@triton.jit
def _loaded(array, rows, columns, width: tl.constexpr):
    return tl.load(array + rows.to(tl.int64)[:, None] * width + columns[None, :])


@triton.jit
def _with_products(tile, rests, z_high, z_low, z_finest, x_high, x_low, x_finest, is_fine: tl.constexpr):
    """The tile with the products of whole numbers, and with those of the rests, or these apart."""
    tile = tl.dot(z_high, x_high, tile)
    if is_fine:
        rests = tl.dot(z_high, x_low, rests)
        rests = tl.dot(z_low, x_high, rests)
        rests = tl.dot(z_low, x_low, rests)
        rests = tl.dot(z_high, x_finest, rests)
        rests = tl.dot(z_finest, x_high, rests)
    else:
        tile = tl.dot(z_high, x_low, tile)
        tile = tl.dot(z_low, x_high, tile)
        tile = tl.dot(z_low, x_low, tile)
    return tile, rests


@triton.jit
def _negative_distances(
    query_high, query_low, query_finest, point_high, point_low, point_finest, queries, points,
    n_columns: tl.constexpr, step: tl.constexpr, is_fine: tl.constexpr,
):  # fmt: skip
    """Shift less squared distance of each pair of a tile, features in blocks: for rows too long to be held."""
    tile = tl.zeros((queries.shape[0], points.shape[0]), tl.float32)
    rests = tl.zeros((queries.shape[0], points.shape[0]), tl.float32)
    for start in range(0, n_columns, step):
        columns = start + tl.arange(0, step)
        z_high = _loaded(query_high, queries, columns, n_columns)
        z_low = _loaded(query_low, queries, columns, n_columns)
        z_finest = _loaded(query_finest, queries, columns, n_columns) if is_fine else z_low
        x_high = tl.trans(_loaded(point_high, points, columns, n_columns))
        x_low = tl.trans(_loaded(point_low, points, columns, n_columns))
        x_finest = tl.trans(_loaded(point_finest, points, columns, n_columns)) if is_fine else x_low
        tile, rests = _with_products(tile, rests, z_high, z_low, z_finest, x_high, x_low, x_finest, is_fine)
    return tile + rests if is_fine else tile


@triton.jit
def _sums_of_lanes(terms):
    """Row sums as far as one thread can add: (rows, columns) to (rows, lanes)."""
    parts: tl.constexpr = terms.shape[1] // _LANES
    return tl.sum(tl.reshape(terms, (terms.shape[0], parts, _LANES)), axis=1)


@triton.jit
def _kernel_value(exponent, is_rbf: tl.constexpr):
    if is_rbf:
        return tl.exp2(exponent)
    return tl.fdiv(1.0, 1.0 - exponent)


@triton.jit
def _with_sums(more, sums, terms, weights, points, weight_stride, n_weightings: tl.constexpr):
    """The sums so far with those of one gamma: as they come, or for each weighting."""
    if n_weightings == 0:
        more = more + (sums[len(more)] + _sums_of_lanes(terms),)
    for weighting in tl.static_range(n_weightings):
        of_points = tl.load(weights + weighting * weight_stride + points)
        more = more + (sums[len(more)] + _sums_of_lanes(terms * of_points[None, :]),)
    return more


@triton.jit
def _with_terms(
    sums, tile, steps, nothing, weights, points, weight_stride, is_rbf: tl.constexpr, n_ladders: tl.constexpr,
    n_rungs: tl.constexpr, n_alone: tl.constexpr, n_weightings: tl.constexpr,
):  # fmt: skip
    """The sums with those of one more tile: each exponential serves the rungs of a ladder, each twice the last."""
    more = ()
    for ladder in tl.static_range(n_ladders):
        terms = _kernel_value(tile * tl.load(steps + ladder * n_rungs) + nothing[None, :], is_rbf)
        for rung in tl.static_range(n_rungs):
            if rung > 0:
                terms = terms * terms
            more = _with_sums(more, sums, terms, weights, points, weight_stride, n_weightings)
    for alone in tl.static_range(n_alone):
        terms = _kernel_value(tile * tl.load(steps + n_ladders * n_rungs + alone) + nothing[None, :], is_rbf)
        more = _with_sums(more, sums, terms, weights, points, weight_stride, n_weightings)
    return more


@triton.jit(do_not_specialize=["n_queries", "n_points"])
def kernel_sums(
    query_high, query_low, query_finest, point_high, point_low, point_finest, own, steps, weights, answers,
    n_queries, n_points, points_a_part, weight_stride,
    n_columns: tl.constexpr, step: tl.constexpr, is_rbf: tl.constexpr, n_ladders: tl.constexpr, n_rungs: tl.constexpr,
    n_alone: tl.constexpr, n_weightings: tl.constexpr, has_own: tl.constexpr, is_fine: tl.constexpr,
    height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Sums over one part of the points: answers (n_parts, n_steps * n_weightings, n_queries).

    The tile of pairs lives in registers; queries and points are padded to whole tiles.
    """
    n_blocks = tl.cdiv(n_queries, height)
    block, part = tl.program_id(0) % n_blocks, tl.program_id(0) // n_blocks
    queries = block * height + tl.arange(0, height)
    n_steps: tl.constexpr = n_ladders * n_rungs + n_alone
    n_sums: tl.constexpr = n_steps * (n_weightings if n_weightings > 0 else 1)
    sums = (tl.zeros((height, _LANES), tl.float32),) * n_sums
    if has_own:
        own_points = tl.load(own + queries)
    if n_columns == step:  # short rows stay where they are for all points
        columns = tl.arange(0, step)
        z_high, z_low = _loaded(query_high, queries, columns, step), _loaded(query_low, queries, columns, step)
        z_finest = _loaded(query_finest, queries, columns, step) if is_fine else z_low
    start = part * points_a_part
    for first in range(start, min(start + points_a_part, n_points), width):
        points = first + tl.arange(0, width)
        if n_columns == step:
            x_high = tl.trans(_loaded(point_high, points, columns, step))
            x_low = tl.trans(_loaded(point_low, points, columns, step))
            x_finest = tl.trans(_loaded(point_finest, points, columns, step)) if is_fine else x_low
            nothing_yet = tl.zeros((height, width), tl.float32)
            tile, rests = _with_products(
                nothing_yet, nothing_yet, z_high, z_low, z_finest, x_high, x_low, x_finest, is_fine
            )
            tile = tile + rests if is_fine else tile
        else:
            tile = _negative_distances(
                query_high, query_low, query_finest, point_high, point_low, point_finest, queries, points, n_columns,
                step, is_fine,
            )  # fmt: skip
        if has_own:
            tile = tl.where(points[None, :] == own_points[:, None], float("-inf"), tile)
        nothing = tl.where(points < n_points, 0.0, float("-inf"))
        sums = _with_terms(
            sums, tile, steps, nothing, weights, points, weight_stride, is_rbf, n_ladders, n_rungs, n_alone,
            n_weightings,
        )  # fmt: skip
    for place in tl.static_range(n_sums):
        target = answers + (part * n_sums + place).to(tl.int64) * n_queries + queries
        tl.store(target, tl.sum(sums[place], axis=1), mask=queries < n_queries)


@triton.jit(do_not_specialize=["n_queries", "n_points", "points_a_part", "stride"])
def nearest(
    query_high, point_high, own, answers, n_queries, n_points, points_a_part, stride,
    n_columns: tl.constexpr, step: tl.constexpr, has_own: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Minus the squared distance, by the whole numbers alone, of the nearest of every so many points to each query.

    In parts: answers (n_parts, n_queries). The queries' shift is zero, so that the query's own norm comes in here.
    """
    n_blocks = tl.cdiv(n_queries, height)
    block, part = tl.program_id(0) % n_blocks, tl.program_id(0) // n_blocks
    queries = block * height + tl.arange(0, height)
    tops = tl.full((height,), float("-inf"), tl.float32)
    if has_own:
        own_points = tl.load(own + queries)
    begin = part * points_a_part
    for first in range(begin, min(begin + points_a_part, n_points), width):
        points = first + tl.arange(0, width)
        rows = tl.minimum(points, n_points - 1) * stride
        tile = tl.zeros((height, width), tl.float32)
        for start in range(0, n_columns, step):
            columns = start + tl.arange(0, step)
            x_high = tl.trans(_loaded(point_high, rows, columns, n_columns))
            tile = tl.dot(_loaded(query_high, queries, columns, n_columns), x_high, tile)
        tile = tl.where((points < n_points)[None, :], tile, float("-inf"))
        if has_own:
            tile = tl.where(points[None, :] == own_points[:, None], float("-inf"), tile)
        tops = tl.maximum(tops, tl.max(tile, axis=1))
    tl.store(answers + part.to(tl.int64) * n_queries + queries, tops, mask=queries < n_queries)


@triton.jit(do_not_specialize=["n_queries", "n_points", "n_gammas", "n_features", "weight_stride", "points_a_part"])
def exact_sums(
    queries, points, own, gammas, log_weights, answers, n_queries, n_points, n_gammas, n_features, weight_stride,
    points_a_part,
    is_rbf: tl.constexpr, weighted: tl.constexpr, has_own: tl.constexpr, height: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Log sums by differences in float64: answers (n_parts, n_weightings, n_gammas, n_queries).

    Sums are relative to the largest term so far. Features come first in ``queries`` and ``points``. A program has one
    block of queries, one gamma and one weighting, and one part of the points.
    """
    rows = tl.program_id(0) * height + tl.arange(0, height)
    place, part = tl.program_id(1), tl.program_id(2)
    gamma = tl.load(gammas + place % n_gammas)
    tops = tl.full((height,), float("-inf"), tl.float64)
    sums = tl.zeros((height,), tl.float64)
    if has_own:
        own_points = tl.load(own + rows, mask=rows < n_queries, other=-1)
    start = part * points_a_part
    for first in range(start, min(start + points_a_part, n_points), width):
        columns = first + tl.arange(0, width)
        sq_dist = tl.zeros((height, width), tl.float64)
        of_queries, of_points = queries + rows, points + columns
        for _ in range(n_features):
            z = tl.load(of_queries, mask=rows < n_queries, other=0.0).to(tl.float64)
            x = tl.load(of_points, mask=columns < n_points, other=0.0).to(tl.float64)
            difference = z[:, None] - x[None, :]
            sq_dist += difference * difference
            of_queries += n_queries
            of_points += n_points
        log_terms = -gamma * sq_dist if is_rbf else -tl.log(1.0 + sq_dist / gamma)
        offsets = tl.where(columns < n_points, 0.0, float("-inf")).to(tl.float64)
        if weighted:
            of_weighting = log_weights + (place // n_gammas).to(tl.int64) * weight_stride
            offsets += tl.load(of_weighting + columns, mask=columns < n_points, other=0.0)
        log_terms += offsets[None, :]
        if has_own:
            log_terms = tl.where(columns[None, :] == own_points[:, None], float("-inf"), log_terms)
        higher = tl.maximum(tops, tl.max(log_terms, axis=1))
        base = tl.where(higher == float("-inf"), 0.0, higher)
        sums = sums * tl.exp(tops - base) + tl.sum(tl.exp(log_terms - base[:, None]), axis=1)
        tops = higher
    target = answers + (part * tl.num_programs(1) + place).to(tl.int64) * n_queries + rows
    tl.store(target, tops + tl.log(sums), mask=rows < n_queries)
