"""The inner loops of the numba engine, written for vector registers.

`product` is a matrix product of a few queries and many points, `largest` the maximum of a row, `exp2_sum` the sum of an
exponential and `exp2_sums` those of its squares too. They are written in intermediate code
(`unlabeled.engines.intermediate`). Lengths of rows are multiples of `lanes`, and arrays are contiguous: nothing is
checked.

numba keeps compiled loops by the date of the file they are in (`tiles`, `leaves`, `cells`): touch these after a change
here or there.

Shapes are chosen so that sums stay in registers: `ROWS` queries by two registers of points are twelve of the sixteen
registers of a processor with AVX2, and 24 of the 32 of one with AVX-512.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial, reduce
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from unlabeled.engines.intermediate import VECTOR_BYTES, Code, Float, Wide

#: Queries that are multiplied at once.
ROWS = 12 if VECTOR_BYTES == 128 else 6

#: Features of a panel that are multiplied before the next ones.
SLICE = 256

#: Numbers that are summed of an exponential: k, k^2, k^4 and k^8, where an error of 8e-8 has become 7e-7.
LADDER = 4

#: A square that is only added to a sum may be so at once.
_FUSED = ("contract",)


@intrinsic
def product(typing_context: Any, queries: Any, points: Any, offsets: Any, tile: Any) -> Any:  # noqa: ARG001
    """Fill a tile (n_groups * ROWS, width) with the products of queries and points, plus offsets.

    Queries (n_groups, n_features, ROWS); points (width / lanes, n_features, lanes), in panels of one vector; offsets
    (width,). Features go by slices, so that a slice of a panel stays in the cache while all groups pass.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, queries.dtype)
        arrays = [code.array(kind, value) for kind, value in zip(signature.args, arguments, strict=True)]
        of_queries, of_points, of_offsets, of_tile = (code.pointer(array) for array in arrays)
        n_groups, n_features, width = code.size(arrays[0]), code.size(arrays[0], axis=1), code.size(arrays[3], axis=1)
        n_lanes = code.float.vector.count

        def sums_of(slice_of_queries: Any, slice_of_panel: Any, depth: Any) -> Sequence[Any]:
            def add_feature(k: Any, sums: Sequence[Any]) -> Sequence[Any]:
                vector = code.load(slice_of_panel, builder.mul(k, code.index(n_lanes)))
                column = builder.gep(slice_of_queries, [builder.mul(k, code.index(ROWS))])
                values = [builder.load(builder.gep(column, [code.index(row)])) for row in range(ROWS)]
                return [code.multiply_add(code.splat(value), vector, s) for value, s in zip(values, sums, strict=True)]

            return code.loop(depth, 1, [code.float.all(0.0)] * ROWS, add_feature)

        def fill_slice(first: Any, _: Any) -> Sequence[Any]:
            left = builder.sub(n_features, first)
            whole = builder.icmp_signed("<", code.index(SLICE), left)
            depth, is_first = (
                builder.select(whole, code.index(SLICE), left),
                builder.icmp_signed("==", first, code.index(0)),
            )

            def fill_panel(column: Any, _: Any) -> Sequence[Any]:
                start = builder.add(builder.mul(column, n_features), builder.mul(first, code.index(n_lanes)))
                panel = builder.gep(of_points, [start])

                def fill_group(group: Any, _: Any) -> Sequence[Any]:
                    place = builder.mul(builder.add(builder.mul(group, n_features), first), code.index(ROWS))
                    sums = sums_of(builder.gep(of_queries, [place]), panel, depth)
                    rows = builder.mul(group, code.index(ROWS))
                    places = [
                        builder.add(column, builder.mul(width, builder.add(rows, code.index(row))))
                        for row in range(ROWS)
                    ]
                    with builder.if_else(is_first) as (then, otherwise):
                        with then:
                            offset = code.load(of_offsets, column)
                            for s, place in zip(sums, places, strict=True):
                                code.store(builder.fadd(s, offset), of_tile, place)
                        with otherwise:
                            for s, place in zip(sums, places, strict=True):
                                code.store(builder.fadd(s, code.load(of_tile, place)), of_tile, place)
                    return []

                code.loop(n_groups, 1, [], fill_group)
                return []

            code.loop(width, n_lanes, [], fill_panel)
            return []

        code.loop(n_features, SLICE, [], fill_slice)
        return context.get_dummy_value()

    return types.void(queries, points, offsets, tile), generate


@intrinsic
def largest(typing_context: Any, row: Any) -> Any:  # noqa: ARG001
    """The largest number of a row."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, row.dtype)
        array = code.array(signature.args[0], arguments[0])
        pointer = code.pointer(array)
        (found,) = code.loop(
            code.size(array),
            code.float.vector.count,
            [code.float.all(-np.inf)],
            lambda i, so_far: [code.larger(code.load(pointer, i), so_far[0])],
        )
        return code.over_lanes(code.larger, found)

    return row.dtype(row), generate


def _over_powers(
    code: Code, arguments: Any, n_squares: int, start: Sequence[Any], use: Callable[..., Sequence[Any]]
) -> Sequence[Any]:
    """Go through k = 2^(scale * exponent) and some squares of it, k^2, k^4, ...: ``values = use(i, values, powers)``.

    What is below `_least` counts as that.
    """
    exponents, scale = arguments
    builder, pointer, scales = code.builder, code.pointer(exponents), code.splat(scale)
    smallest = builder.fdiv(code.float.all(_least(code, n_squares)), scales)

    def powers_at(i: Any, values: Sequence[Any]) -> Sequence[Any]:
        return use(i, values, _powers(code, code.larger(code.load(pointer, i), smallest), scales, n_squares))

    return code.loop(code.size(exponents), code.float.vector.count, start, powers_at)


def _least(code: Code, n_squares: int) -> int:
    """Exponent of the smallest number, with its square where that is asked for, that has all its digits."""
    return code.float.least // 2 if n_squares else code.float.least


def _powers(code: Code, exponent: Any, scale: Any, n_squares: int) -> list[Any]:
    """2^(scale * exponent) and its squares, of products of at least `_least`.

    Squares that lose their digits would be slow to compute, so of what is smaller than that the square of the smallest
    is taken.
    """
    powers = [code.exp2(exponent, scale, finer=n_squares > 0)]
    for n_before in range(n_squares):
        root = code.larger(powers[-1], code.float.all(2.0 ** _least(code, 1))) if n_before else powers[-1]
        powers.append(code.builder.fmul(root, root, flags=_FUSED))
    return powers


def _sums(n_squares: int) -> Any:
    @intrinsic
    def sums(typing_context: Any, exponents: Any, scale: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code = Code(context, builder, exponents.dtype)
            given = code.array(signature.args[0], arguments[0]), arguments[1]
            zeros = [code.float.all(0.0)] * (n_squares + 1)
            add = partial(builder.fadd, flags=_FUSED)
            found = _over_powers(code, given, n_squares, zeros, lambda _, sums, powers: list(map(add, sums, powers)))
            return context.make_tuple(
                builder, signature.return_type, [code.over_lanes(builder.fadd, vector) for vector in found]
            )

        several: Any = types.UniTuple(exponents.dtype, n_squares + 1)  # type: ignore[no-untyped-call]
        return several(exponents, scale), generate

    return sums


def _terms(n_squares: int) -> Any:
    @intrinsic
    def terms(typing_context: Any, exponents: Any, scale: Any, rows: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code = Code(context, builder, exponents.dtype)
            array = code.array(signature.args[0], arguments[0])
            target, width = code.pointer(code.array(signature.args[2], arguments[2])), code.size(array)

            def store(i: Any, _: Any, powers: Sequence[Any]) -> Sequence[Any]:
                for row, power in enumerate(powers):
                    code.store(power, target, builder.add(i, builder.mul(width, code.index(row))))
                return []

            _over_powers(code, (array, arguments[1]), n_squares, [], store)
            return context.get_dummy_value()

        return types.void(exponents, scale, rows), generate

    return terms


#: Sums of k = 2^(scale * exponent) over a row of exponents: of k alone, and of a `LADDER` of its powers.
exp2_sum, exp2_sums = _sums(0), _sums(LADDER - 1)
#: The same without the sums: fill as many rows with the powers.
exp2_term, exp2_terms = _terms(0), _terms(LADDER - 1)


@intrinsic
def dot(typing_context: Any, row: Any, other: Any) -> Any:  # noqa: ARG001
    """The sum of the products of two rows."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, row.dtype)
        arrays = [code.array(kind, value) for kind, value in zip(signature.args, arguments, strict=True)]
        one, another = (code.pointer(array) for array in arrays)
        (found,) = code.loop(
            code.size(arrays[0]),
            code.float.vector.count,
            [code.float.all(0.0)],
            lambda i, so_far: [code.multiply_add(code.load(one, i), code.load(another, i), so_far[0])],
        )
        return code.over_lanes(builder.fadd, found)

    return row.dtype(row, other), generate


@intrinsic
def weighted_sums(typing_context: Any, row: Any, weights: Any, sums: Any) -> Any:  # noqa: ARG001
    """Fill sums (n_weightings,) with those of a row (width,) by the columns of weights (width, n_weightings).

    Both lengths are multiples of `lanes`: where there are many weightings, this saves adding up a vector for each.
    """
    n_chains = 4  # additions that need not wait for each other

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, row.dtype)
        arrays = [code.array(kind, value) for kind, value in zip(signature.args, arguments, strict=True)]
        factors, columns, target = (code.pointer(array) for array in arrays)
        width, n_weightings = code.size(arrays[0]), code.size(arrays[2])

        def fill(column: Any, _: Any) -> Sequence[Any]:
            def add_rows(first: Any, so_far: Sequence[Any]) -> Sequence[Any]:
                rows = [builder.add(first, code.index(i)) for i in range(n_chains)]
                values = [code.splat(builder.load(builder.gep(factors, [j]))) for j in rows]
                vectors = [code.load(columns, builder.add(builder.mul(j, n_weightings), column)) for j in rows]
                return list(map(code.multiply_add, values, vectors, so_far))

            found = code.loop(width, n_chains, [code.float.all(0.0)] * n_chains, add_rows)
            code.store(reduce(builder.fadd, found), target, column)
            return []

        code.loop(n_weightings, code.float.vector.count, [], fill)
        return context.get_dummy_value()

    return types.void(row, weights, sums), generate


def _near(n_squares: int) -> Any:
    @intrinsic
    def near(typing_context: Any, query: Any, block: Any, scale: Any, top: Any, rows: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code, wide = Code(context, builder, types.float32), Code(context, builder, types.float64)
            wide.float = Wide(*(getattr(wide.float, field.name) for field in fields(Float)))
            of_query, of_block, of_rows = (code.array(signature.args[i], arguments[i]) for i in (0, 1, 4))
            z, x, target = wide.pointer(of_query), wide.pointer(of_block), code.pointer(of_rows)
            n_features, width = code.size(of_query), code.size(of_block, axis=1)
            scales, tops = wide.splat(builder.fneg(arguments[2])), wide.splat(arguments[3])

            def add_feature(j: Any, k: Any, sq_dist: Any) -> Sequence[Any]:
                points = wide.load(x, builder.add(builder.mul(k, width), j))
                difference = builder.fsub(points, wide.splat(builder.load(builder.gep(z, [k]))))
                return [wide.multiply_add(difference, difference, sq_dist)]

            def sums_at(j: Any, so_far: Sequence[Any]) -> Sequence[Any]:
                zeros = [wide.float.all(0.0)]
                (sq_dist,) = wide.loop(n_features, 1, zeros, lambda k, sums: add_feature(j, k, sums[0]))
                exponents = builder.fptrunc(wide.multiply_add(sq_dist, scales, tops), code.float.vector)
                least = code.float.all(_least(code, n_squares))
                powers = _powers(code, code.larger(exponents, least), code.float.all(1.0), n_squares)
                for row, power in enumerate(powers):
                    code.store(power, target, builder.add(j, builder.mul(width, code.index(row))))
                return list(map(builder.fadd, so_far, powers))

            start = [code.float.all(0.0)] * (n_squares + 1)
            found = code.loop(width, code.float.vector.count, start, sums_at)
            sums = [code.over_lanes(builder.fadd, vector) for vector in found]
            return context.make_tuple(builder, signature.return_type, sums)

        several: Any = types.UniTuple(types.float32, n_squares + 1)  # type: ignore[no-untyped-call]
        return several(query, block, scale, top, rows), generate

    return near


#: For a query z (n_features,) and a block of points x (n_features, width) in float64: fill rows (LADDER, width) of
#: float32 with k = 2^(top - scale |z - x|^2), or with it and its powers k^2, k^4 and k^8, and answer the sum of each
#: row. What is below `_least` counts as that.
near_terms, near_powers = _near(0), _near(LADDER - 1)


@intrinsic
def add_product(typing_context: Any, matrix: Any, block: Any, n_used: Any, sums: Any) -> Any:  # noqa: ARG001
    """Add the product of a square matrix, of which only the first rows and columns are used, with a block of rows.

    Matrix (n, n), block (n * width,) and sums (n * width,): the width is a multiple of `lanes`, n_used one of 4.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = Code(context, builder, matrix.dtype)
        arrays = [code.array(signature.args[place], arguments[place]) for place in (0, 1, 3)]
        factors, rows, target = (code.pointer(array) for array in arrays)
        n, n_used_of_n = code.size(arrays[0]), arguments[2]
        width = builder.sdiv(code.size(arrays[2]), n)

        def fill_panel(j: Any, _: Any) -> Sequence[Any]:
            def fill_rows(first: Any, _: Any) -> Sequence[Any]:
                four = [builder.add(first, code.index(i)) for i in range(4)]
                places = [builder.add(builder.mul(row, width), j) for row in four]

                def add_row(k: Any, so_far: Sequence[Any]) -> Sequence[Any]:
                    vector = code.load(rows, builder.add(builder.mul(k, width), j))
                    values = [builder.load(builder.gep(factors, [builder.add(builder.mul(r, n), k)])) for r in four]
                    pairs = zip(values, so_far, strict=True)
                    return [code.multiply_add(code.splat(value), vector, s) for value, s in pairs]

                found = code.loop(n_used_of_n, 1, [code.load(target, place) for place in places], add_row)
                for vector, place in zip(found, places, strict=True):
                    code.store(vector, target, place)
                return []

            code.loop(n_used_of_n, 4, [], fill_rows)
            return []

        code.loop(width, code.float.vector.count, [], fill_panel)
        return context.get_dummy_value()

    return types.void(matrix, block, n_used, sums), generate
