"""The inner loops of the numba engine, written for vector registers.

`product` is a matrix product of a few queries and many points, `largest` the maximum of a row, `exp2_sum` the sum of an
exponential and `exp2_sums` those of its squares too. LLVM's vectoriser leaves much of a processor idle here,
so the loops are given to it as intermediate code, in vectors of two registers each; which instructions these become is
LLVM's choice, so they run on any processor. Lengths of rows are multiples of `lanes`, and arrays are contiguous:
nothing is checked.

numba keeps compiled loops by the date of the file they are in (`tiles`, `leaves`, `cells`): touch these after a change
here.

Shapes are chosen so that sums stay in registers: `ROWS` queries by two registers of points are twelve of the sixteen
registers of a processor with AVX2, and 24 of the 32 of one with AVX-512.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.extending import intrinsic
from numpy.polynomial import Chebyshev, Polynomial


def _register_bytes() -> int:
    """Size of a vector register of the processor that numba compiles for."""
    if platform.machine().lower() in {"arm64", "aarch64"}:
        return 16
    name, features = (getattr(config, setting, None) for setting in ("CPU_NAME", "CPU_FEATURES"))
    if features is not None:
        return 64 if "+avx512f" in features else 32
    if name not in {None, "", "host", binding.get_host_cpu_name()}:
        return 32
    return 64 if binding.get_host_cpu_features().get("avx512f") else 32


_BYTES = 2 * _register_bytes()
#: Queries that are multiplied at once.
ROWS = 12 if _BYTES == 128 else 6

#: Features of a panel that are multiplied before the next ones.
SLICE = 256

#: Powers of an exponential that are summed with it: k, k^2 and k^4, where an error of 2e-7 has become 7e-7.
LADDER = 3


def lanes(dtype: Any) -> int:
    """Numbers in a vector."""
    return _BYTES // np.dtype(dtype).itemsize


# --- writing intermediate code ---------------------------------------------------------------------------------------

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def _exp2_coefficients(degree: int) -> tuple[float, ...]:
    """Coefficients of 1 + r q(r), near to 2^r on [-1/2, 1/2] and exact at 0 (the degree must be even: no node at 0)."""
    fit = Chebyshev.interpolate(lambda r: np.expm1(r * np.log(2)) / r, degree - 1, domain=[-0.5, 0.5])
    return 1.0, *fit.convert(kind=Polynomial, domain=[-1, 1]).coef


@dataclass(frozen=True)
class _Float:
    """A floating-point type as LLVM knows it, and what an exponential in it needs."""

    element: Any
    bits: Any  # integers of the same size
    mantissa: int
    least: int  # exponent of the smallest number with all its digits
    coefficients: tuple[float, ...]  # of 1 + r q(r), near to 2^r on [-1/2, 1/2]

    @property
    def size(self) -> int:
        return int(self.bits.width // 8)

    @property
    def vector(self) -> Any:
        return ir.VectorType(self.element, _BYTES // self.size)

    @property
    def bits_vector(self) -> Any:
        return ir.VectorType(self.bits, _BYTES // self.size)

    def all(self, value: float) -> Any:
        """A vector of one constant."""
        value = float(np.float32(value)) if self.size == 4 else value
        return ir.Constant(self.vector, [value] * self.vector.count)


_FLOATS = {
    # The polynomial of degree 5 with the smallest largest error, 1.1e-7.
    types.float32: _Float(
        ir.FloatType(), _I32, 23, -126, (1.0, 0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727)
    ),
    types.float64: _Float(ir.DoubleType(), _I64, 52, -1022, _exp2_coefficients(12)),
}


class _Wide(_Float):
    """A type in vectors of as many numbers as there are float32 in one: to be rounded to these."""

    @property
    def vector(self) -> Any:
        return ir.VectorType(self.element, _BYTES // 4)


class _Code:
    """Writes vector operations for arguments of an intrinsic."""

    def __init__(self, context: Any, builder: Any, number: Any) -> None:
        self.context, self.builder = context, builder
        self.float: _Float = _FLOATS[number]

    def array(self, kind: Any, value: Any) -> Any:
        return self.context.make_array(kind)(self.context, self.builder, value)

    def pointer(self, array: Any) -> Any:
        return self.builder.bitcast(array.data, self.float.element.as_pointer())

    def size(self, array: Any, axis: int = 0) -> Any:
        return self.builder.extract_value(array.shape, axis)

    def index(self, value: int) -> Any:
        return ir.Constant(_I64, value)

    def _vector_at(self, pointer: Any, index: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(pointer, [index]), self.float.vector.as_pointer())

    def load(self, pointer: Any, index: Any) -> Any:
        vector = self.builder.load(self._vector_at(pointer, index))
        vector.align = self.float.size
        return vector

    def store(self, vector: Any, pointer: Any, index: Any) -> None:
        self.builder.store(vector, self._vector_at(pointer, index)).align = self.float.size

    def splat(self, value: Any) -> Any:
        """A vector of one value."""
        nothing = ir.Constant(self.float.vector, ir.Undefined)
        first = self.builder.insert_element(nothing, value, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, self.float.vector.count), [0] * self.float.vector.count)
        return self.builder.shuffle_vector(first, nothing, zeros)

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """X y + z, rounded once where the processor can."""
        vector = self.float.vector
        name = f"llvm.fmuladd.v{vector.count}f{8 * self.float.size}"
        function = self.builder.module.globals.get(name)
        if function is None:
            function = ir.Function(self.builder.module, ir.FunctionType(vector, [vector] * 3), name)
        return self.builder.call(function, [x, y, z])

    def larger(self, x: Any, y: Any) -> Any:
        return self.builder.select(self.builder.fcmp_ordered(">", x, y), x, y)

    def over_lanes(self, operation: Callable[[Any, Any], Any], vector: Any) -> Any:
        """Reduce a vector to one number, by halves."""
        while vector.type.count > 1:
            half = vector.type.count // 2
            nothing = ir.Constant(vector.type, ir.Undefined)
            low, high = (
                self.builder.shuffle_vector(
                    vector, nothing, ir.Constant(ir.VectorType(_I32, half), list(range(start, start + half)))
                )
                for start in (0, half)
            )
            vector = operation(low, high)
        return self.builder.extract_element(vector, ir.Constant(_I32, 0))

    def loop(
        self, stop: Any, step: int, start: Sequence[Any], body: Callable[[Any, Sequence[Any]], Sequence[Any]]
    ) -> Sequence[Any]:
        """``for i in range(0, stop, step): values = body(i, values)``, at least once; the last values."""
        builder, before = self.builder, self.builder.block
        inside, after = builder.append_basic_block("loop"), builder.append_basic_block("after")
        builder.branch(inside)
        builder.position_at_end(inside)
        i = builder.phi(_I64)
        i.add_incoming(self.index(0), before)
        values = [builder.phi(value.type) for value in start]
        for phi, value in zip(values, start, strict=True):
            phi.add_incoming(value, before)
        new = body(i, values)
        following = builder.add(i, self.index(step))
        i.add_incoming(following, builder.block)
        for phi, value in zip(values, new, strict=True):
            phi.add_incoming(value, builder.block)
        builder.cbranch(builder.icmp_signed("<", following, stop), inside, after)
        builder.position_at_end(after)
        return new

    def exp2(self, exponent: Any, scale: Any) -> Any:
        """2^(exponent * scale), for products that are in range.

        Adding 1.5 * 2^(bits of the mantissa) leaves the nearest integer in the low bits of the sum.
        """
        builder, number = self.builder, self.float
        large = number.all(1.5 * 2.0**number.mantissa)
        rounded = self.multiply_add(exponent, scale, large)
        rest = self.multiply_add(exponent, scale, builder.fsub(large, rounded))
        *others, power = (number.all(c) for c in number.coefficients)
        for coefficient in reversed(others):
            power = self.multiply_add(power, rest, coefficient)
        shift = ir.Constant(number.bits_vector, [number.mantissa] * number.vector.count)
        exponent_bits = builder.shl(builder.bitcast(rounded, number.bits_vector), shift)
        return builder.bitcast(builder.add(builder.bitcast(power, number.bits_vector), exponent_bits), number.vector)


# --- the loops -------------------------------------------------------------------------------------------------------


@intrinsic
def product(typing_context: Any, queries: Any, points: Any, offsets: Any, tile: Any) -> Any:  # noqa: ARG001
    """Fill a tile (n_groups * ROWS, width) with the products of queries and points, plus offsets.

    Queries (n_groups, n_features, ROWS); points (width / lanes, n_features, lanes), in panels of one vector; offsets
    (width,). Features go by slices, so that a slice of a panel stays in the cache while all groups pass.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, queries.dtype)
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
        code = _Code(context, builder, row.dtype)
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
    code: _Code, arguments: Any, n_squares: int, start: Sequence[Any], use: Callable[..., Sequence[Any]]
) -> Sequence[Any]:
    """Go through k = 2^(scale * exponent) and some squares of it, k^2, k^4, ...: ``values = use(i, values, powers)``.

    What is below 2^least counts as 2^least. Squares of numbers below half of that exponent would be slow to compute as
    they lose their digits, so these are not let in.
    """
    exponents, scale = arguments
    half, builder, pointer = code.float.least // 2, code.builder, code.pointer(exponents)
    scales = code.splat(scale)
    smallest = builder.fdiv(code.float.all(half if n_squares else code.float.least), scales)

    def powers_at(i: Any, values: Sequence[Any]) -> Sequence[Any]:
        powers = [code.exp2(code.larger(code.load(pointer, i), smallest), scales)]
        for n_before in range(n_squares):
            root = code.larger(powers[-1], code.float.all(2.0**half)) if n_before else powers[-1]
            powers.append(builder.fmul(root, root))
        return use(i, values, powers)

    return code.loop(code.size(exponents), code.float.vector.count, start, powers_at)


def _sums(n_squares: int) -> Any:
    @intrinsic
    def sums(typing_context: Any, exponents: Any, scale: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            code = _Code(context, builder, exponents.dtype)
            given = code.array(signature.args[0], arguments[0]), arguments[1]
            zeros = [code.float.all(0.0)] * (n_squares + 1)
            found = _over_powers(
                code, given, n_squares, zeros, lambda _, so_far, powers: list(map(builder.fadd, so_far, powers))
            )
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
            code = _Code(context, builder, exponents.dtype)
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
        code = _Code(context, builder, row.dtype)
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
        code = _Code(context, builder, row.dtype)
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
            code, wide = _Code(context, builder, types.float32), _Code(context, builder, types.float64)
            wide.float = _Wide(*(getattr(wide.float, field.name) for field in fields(_Float)))
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
                least = code.float.all(code.float.least)
                powers = [code.exp2(code.larger(exponents, least), code.float.all(1.0))]
                root = code.larger(powers[0], code.float.all(2.0 ** int(code.float.least / 2**n_squares)))
                for _ in range(n_squares):
                    root = builder.fmul(root, root)
                    powers.append(root)
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
#: float32 with k = 2^(top - scale |z - x|^2), or with it and its powers k^2 and k^4, and answer the sum of each row.
#: What is too small for a float32, or has such a power, counts there as the smallest that is not.
near_terms, near_powers = _near(0), _near(LADDER - 1)


@intrinsic
def add_product(typing_context: Any, matrix: Any, block: Any, n_used: Any, sums: Any) -> Any:  # noqa: ARG001
    """Add the product of a square matrix, of which only the first rows and columns are used, with a block of rows.

    Matrix (n, n), block (n * width,) and sums (n * width,): the width is a multiple of `lanes`, n_used one of 4.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _Code(context, builder, matrix.dtype)
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
