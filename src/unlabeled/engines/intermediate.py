"""Intermediate code in vectors: what the loops of `unlabeled.engines.vectors` are written with.

LLVM's vectoriser leaves much of a processor idle in these loops, so they are given to it as intermediate code, in
vectors of two registers each; which instructions these become is LLVM's choice, so they run on any processor.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
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


#: A vector is two registers.
VECTOR_BYTES = 2 * _register_bytes()
_I32, _I64 = ir.IntType(32), ir.IntType(64)


def lanes(dtype: Any) -> int:
    """Numbers in a vector."""
    return VECTOR_BYTES // np.dtype(dtype).itemsize


def _exp2_coefficients(degree: int) -> tuple[float, ...]:
    """Coefficients of 1 + r q(r), near to 2^r on [-1/2, 1/2] and exact at 0 (the degree must be even: no node at 0)."""
    fit = Chebyshev.interpolate(lambda r: np.expm1(r * np.log(2)) / r, degree - 1, domain=[-0.5, 0.5])
    return 1.0, *fit.convert(kind=Polynomial, domain=[-1, 1]).coef


@dataclass(frozen=True)
class Float:
    """A floating-point type as LLVM knows it, and what an exponential in it needs."""

    element: Any
    bits: Any  # integers of the same size
    mantissa: int
    least: int  # exponent of the smallest number with all its digits
    coefficients: tuple[float, ...]  # of 1 + r q(r), near to 2^r on [-1/2, 1/2]
    finer: tuple[float, ...]  # the same where rounding alone is left of the error, for what will be squared

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return int(self.bits.width // 8)

    @property
    def vector(self) -> Any:
        """The type of a vector of such numbers."""
        return ir.VectorType(self.element, VECTOR_BYTES // self.size)

    @property
    def bits_vector(self) -> Any:
        """The type of a vector of such integers."""
        return ir.VectorType(self.bits, VECTOR_BYTES // self.size)

    def all(self, value: float) -> Any:
        """A vector of one constant."""
        value = float(np.float32(value)) if self.size == 4 else value
        return ir.Constant(self.vector, [value] * self.vector.count)


FLOATS = {
    # The polynomial of degree 5 with the smallest largest error, 1.1e-7.
    types.float32: Float(
        ir.FloatType(),
        _I32,
        23,
        -126,
        (1.0, 0.693147, 0.24022242, 0.055507336, 0.009671513, 0.0013264727),
        _exp2_coefficients(6),
    ),
    types.float64: Float(ir.DoubleType(), _I64, 52, -1022, _exp2_coefficients(12), _exp2_coefficients(12)),
}


class Wide(Float):
    """A type in vectors of as many numbers as there are float32 in one: to be rounded to these."""

    @property
    def vector(self) -> Any:
        """The type of a vector of such numbers."""
        return ir.VectorType(self.element, VECTOR_BYTES // 4)


class Code:
    """Writes vector operations for arguments of an intrinsic."""

    def __init__(self, context: Any, builder: Any, number: Any) -> None:
        self.context, self.builder = context, builder
        self.float: Float = FLOATS[number]

    def array(self, kind: Any, value: Any) -> Any:
        """An argument that is an array."""
        return self.context.make_array(kind)(self.context, self.builder, value)

    def pointer(self, array: Any) -> Any:
        """Where the numbers of an array begin."""
        return self.builder.bitcast(array.data, self.float.element.as_pointer())

    def size(self, array: Any, axis: int = 0) -> Any:
        """Length of an array."""
        return self.builder.extract_value(array.shape, axis)

    def index(self, value: int) -> Any:
        """A constant to count with."""
        return ir.Constant(_I64, value)

    def _vector_at(self, pointer: Any, index: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(pointer, [index]), self.float.vector.as_pointer())

    def load(self, pointer: Any, index: Any) -> Any:
        """The vector that begins at an index."""
        vector = self.builder.load(self._vector_at(pointer, index))
        vector.align = self.float.size
        return vector

    def store(self, vector: Any, pointer: Any, index: Any) -> None:
        """Write a vector."""
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
        """The larger of two vectors, number by number."""
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

    def exp2(self, exponent: Any, scale: Any, *, finer: bool = False) -> Any:
        """2^(exponent * scale), for products that are in range, to about 1e-7 or ``finer``.

        Adding 1.5 * 2^(bits of the mantissa) leaves the nearest integer in the low bits of the sum.
        """
        builder, number = self.builder, self.float
        large = number.all(1.5 * 2.0**number.mantissa)
        rounded = self.multiply_add(exponent, scale, large)
        rest = self.multiply_add(exponent, scale, builder.fsub(large, rounded))
        *others, power = (number.all(c) for c in (number.finer if finer else number.coefficients))
        for coefficient in reversed(others):
            power = self.multiply_add(power, rest, coefficient)
        shift = ir.Constant(number.bits_vector, [number.mantissa] * number.vector.count)
        exponent_bits = builder.shl(builder.bitcast(rounded, number.bits_vector), shift)
        return builder.bitcast(builder.add(builder.bitcast(power, number.bits_vector), exponent_bits), number.vector)
