"""Before and after the sums on a card: rows written for the matrix units, and log sums read off what they added up.

Each of these is one pass over its data. By operations on whole tensors the same takes some 200 launches, longer than
the sums of a small job.
"""

from __future__ import annotations

import triton
import triton.language as tl

#: What the first column of a squared norm is multiplied by.
NORM_UNIT = 32768.0
#: The longest row that half precision can write.
LARGEST_LENGTH = 30_000.0
#: Columns beside the features.
EXTRA = 4
#: The largest number of half precision.
LARGEST_HALF = 65504.0

_NORM_UNIT, _LARGEST_LENGTH = tl.constexpr(NORM_UNIT), tl.constexpr(LARGEST_LENGTH)
_EXTRA, _LARGEST_HALF = tl.constexpr(EXTRA), tl.constexpr(LARGEST_HALF)


@triton.jit
def _cut(values, largest):
    return tl.minimum(tl.maximum(values, -largest), largest)


@triton.jit
def _half(values):
    """Half precision; by way of float32, for not every compiler goes there at once."""
    return values.to(tl.float32).to(tl.float16)


@triton.jit
def _whole(values):
    return _half(tl.floor(values + 0.5))


@triton.jit
def _three_numbers(norms):
    """A number as three: of `NORM_UNIT`, of one, and the rest; one that is too large becomes infinite, and is seen."""
    coarse = _whole(norms / _NORM_UNIT)
    left = norms - coarse.to(tl.float64) * _NORM_UNIT
    fine = _whole(_cut(left, _LARGEST_HALF))
    return coarse, fine, _half(left - fine.to(tl.float64))


@triton.jit
def _store_norms(high, low, places, norms):
    """A number at two columns; there is room for the rest of the second among the rests."""
    coarse, fine, rest = _three_numbers(norms)
    tl.store(high + places, coarse)
    tl.store(high + places + 1, fine)
    tl.store(low + places + 1, rest)


@triton.jit(do_not_specialize=["n_rows", "n_features", "row_stride", "column_stride"])
def write_rows(
    rows, frame, high, low, finest, norms, n_rows, n_features, row_stride, column_stride,
    n_columns: tl.constexpr, step: tl.constexpr, are_queries: tl.constexpr, is_fine: tl.constexpr,
    height: tl.constexpr,
):  # fmt: skip
    """Centred rows in units, as whole numbers and rests, and their squared lengths; see `triton_kernels`.

    Written finely, a third number is what half precision leaves of the rest.

    ``frame`` has the centre and, last, the unit. Queries are twice as long, and their shift is 0.
    """
    places = (tl.program_id(0) * height + tl.arange(0, height)).to(tl.int64)
    there = places < n_rows
    unit, factor = tl.load(frame + n_features), 2.0 if are_queries else 1.0
    lengths = tl.zeros((height,), tl.float64)
    for start in range(0, n_columns, step):
        columns = start + tl.arange(0, step)
        is_feature = columns < n_features
        known = there[:, None] & is_feature[None, :]
        source = rows + places[:, None] * row_stride + columns.to(tl.int64)[None, :] * column_stride
        centre = tl.load(frame + columns, mask=is_feature, other=0.0)
        scaled = (tl.load(source, mask=known, other=0.0).to(tl.float64) - centre[None, :]) / unit
        scaled = _cut(tl.where(known, scaled, 0.0), _LARGEST_LENGTH)
        whole = _whole(scaled)
        rest = _half(scaled - whole.to(tl.float64))
        written = whole.to(tl.float64) + rest.to(tl.float64)
        target = places[:, None] * n_columns + columns[None, :]
        beside = (is_feature | (columns >= n_features + _EXTRA))[None, :] & (places >= 0)[:, None]
        tl.store(high + target, (whole.to(tl.float32) * factor).to(tl.float16), mask=beside)
        tl.store(low + target, (rest.to(tl.float32) * factor).to(tl.float16), mask=beside)
        if is_fine:
            left = _half(scaled - written)
            tl.store(finest + target, (left.to(tl.float32) * factor).to(tl.float16))
            written += left.to(tl.float64)
        lengths += tl.sum(written * written, axis=1)
    tl.store(norms + places, lengths, mask=there)
    of_norm, of_units = n_features, n_features + 2
    if are_queries:
        of_norm, of_units = n_features + 2, n_features
    extra = places * n_columns
    _store_norms(high, low, extra + of_norm, -lengths)
    one, nothing = tl.where(there, 1.0, 0.0), tl.zeros((height,), tl.float16)
    tl.store(high + extra + of_units, (one * _NORM_UNIT).to(tl.float16))
    tl.store(high + extra + of_units + 1, one.to(tl.float16))
    tl.store(low + extra + of_norm, nothing)
    tl.store(low + extra + of_units, nothing)
    tl.store(low + extra + of_units + 1, nothing)


@triton.jit(do_not_specialize=["n_queries", "n_parts", "room", "n_features"])
def write_shifts(
    nearest, norms, high, low, tops, n_queries, n_parts, room, n_features,
    n_columns: tl.constexpr, height: tl.constexpr,
):  # fmt: skip
    """What exponents are relative to (``tops``, in squared units), and the columns of queries that make them so.

    That is so much above the nearest of some points, found in parts, but not above a distance of 0: then no exponent is
    above 0, whatever point comes.
    """
    queries = (tl.program_id(0) * height + tl.arange(0, height)).to(tl.int64)
    there = queries < n_queries
    top = tl.full((height,), float("-inf"), tl.float32)
    source = nearest + queries
    for _ in range(n_parts):
        top = tl.maximum(top, tl.load(source, mask=there, other=0.0))
        source += n_queries
    top = tl.minimum(tl.where(top == float("-inf"), 0.0, top + room), 0.0)
    tl.store(tops + queries, top, mask=there)
    norms_less_tops = -tl.load(norms + queries, mask=there, other=0.0) - top.to(tl.float64)
    _store_norms(high, low, queries * n_columns + n_features + 2, norms_less_tops)


@triton.jit
def _error(gamma, log_sums, norms, sq_unit, is_rbf: tl.constexpr, is_fine: tl.constexpr):
    """How far off the log of a kernel may be, where it matters to the sum.

    A row is written to within 2^-13 units, which moves a squared distance of r^2 units by some 4e-4 r, or finely to
    within 2^-25, where products of rests and third numbers are left out; and where lengths exceed
    `triton_rows.USUAL_LENGTH` their product is rounded to 2^-24 of itself.
    """
    if is_rbf:
        slope = gamma * sq_unit
        reach = tl.sqrt(tl.maximum(3.0 - log_sums, 3.0) / slope)
    else:
        slope = sq_unit / gamma
        reach = 1.0 / tl.sqrt(slope)
    lengths = tl.sqrt(norms)
    product = 2.0 * lengths * (lengths + reach)
    rounding = tl.where(product > 16777216.0, product * 1.1920929e-07, 0.0)
    return slope * (((1e-7 * reach + 1e-3) if is_fine else 4e-4 * reach) + rounding)


@triton.jit(do_not_specialize=["n_queries", "n_gammas", "n_slots", "n_weightings"])
def finish(
    sums, numbers, slots, log_top_weights, norms, tops, log_sums, done, n_queries, n_gammas, n_slots, n_weightings,
    is_rbf: tl.constexpr, is_fine: tl.constexpr, height: tl.constexpr,
):  # fmt: skip
    """Log sums (n_weightings, n_gammas, n_queries) of sums (n_weightings, n_slots, n_queries), and whom to trust.

    ``numbers`` are the squared unit, the least sum, what a log sum may be off, the log of how many points may be
    copies of one, and the gammas, whose sums are found at ``slots``. Errors of many terms average out, so a sum S of
    kernels may have terms that are off sqrt(S) times as much; but c copies have one error, so sqrt(S / c) times.
    """
    queries = (tl.program_id(0) * height + tl.arange(0, height)).to(tl.int64)
    there = queries < n_queries
    norm = tl.load(norms + queries, mask=there, other=0.0)
    top = tl.load(tops + queries, mask=there, other=0.0).to(tl.float64)
    sq_unit, least, tolerance = tl.load(numbers), tl.load(numbers + 1), tl.load(numbers + 2)
    log_copies = tl.load(numbers + 3)
    good, target = there, log_sums + queries
    for place in range(n_weightings * n_gammas):
        weighting, number = place // n_gammas, place % n_gammas
        gamma = tl.load(numbers + 4 + number)
        slot = weighting * n_slots + tl.load(slots + number).to(tl.int64)
        found = tl.load(sums + slot * n_queries + queries, mask=there, other=1.0)
        in_range = (found > least) & (found < float("inf"))
        value = tl.log(tl.where(in_range, found, 1.0))
        if is_rbf:
            value += gamma * sq_unit * top
        kept = tl.minimum(tl.maximum(value - log_copies, 0.0), 100.0)
        allowed = tolerance * tl.maximum(tl.exp(kept / 2.0), -value / 10.0)
        good = good & in_range & (_error(gamma, value, norm, sq_unit, is_rbf, is_fine) <= allowed)
        tl.store(target, value + tl.load(log_top_weights + weighting), mask=there)
        target += n_queries
    tl.store(done + queries, good.to(tl.int8), mask=there)
