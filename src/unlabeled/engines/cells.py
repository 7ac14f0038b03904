"""Kernel sums of a Gaussian by expansion: points and queries in cells of a grid, polynomials between the cells.

In a cell some bandwidths wide, ``exp(-gamma (z - x)^2)`` is nearly a polynomial in each coordinate of z and of x, and
over several coordinates it is a product. So the points of a cell are summed up by their Chebyshev moments, the moments
of all cells in reach are turned into the coefficients of a polynomial in z, one axis after the other, and each query is
a look at the polynomial of its cell: a cost for each point, each cell and each query, and none for pairs.

The error is bounded. With p nodes and half a side s, the error of interpolation is the largest p-th derivative over
``p! 2^(p - 1)``. That derivative is ``(gamma s^2)^(p/2) H_p(t) exp(-t^2)``, where ``H_p(t) exp(-t^2)`` is at most
``p! / (p/2)!``, its value at 0, and ``1.0865 sqrt(2^p p!) exp(-t^2 / 2)`` by Cramér's inequality. The error is made
twice: once for z and once, times Lebesgue's constant, for x. `expanded_sums` answers sums and a bound of their error:
who asks decides which are good enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.ndimage import convolve1d

from unlabeled.arrays import FloatArray
from unlabeled.engines.intermediate import lanes
from unlabeled.engines.threads import on_threads
from unlabeled.engines.tiles import compiled, inlined
from unlabeled.engines.vectors import add_product

#: Nodes along each axis of a cell that may be chosen, multiples of 4 for vector registers, and the error of an
#: expansion relative to the largest kernel of two cells: the larger they are, the smaller are most kernels beside it.
NODES = {8: 2e-9, 12: 2e-9, 16: 8e-10, 20: 3e-10, 24: 2e-10, 32: 1e-10}
#: Kernels that are out of reach.
OUT_OF_REACH = 2e-9
#: Rounding of an expansion in float64, and coefficients that are left out.
ROUNDING, NEGLECTED = 1e-15, 2e-14
#: Cells out of reach that are looked at one by one to bound what was left out.
BEYOND = 6
LANES = lanes(np.float64)
#: Most cells of a grid, and most numbers in all moments, or in what a thread works with.
MOST_CELLS, MOST_NUMBERS = 4_000_000, 8_000_000


def _error(size: float, n_nodes: int, distance: FloatArray) -> FloatArray:
    """Largest error of an expansion between two cells along one axis, by the distance of their edges in half sides."""
    log_largest = math.lgamma(n_nodes + 1) - math.lgamma(n_nodes / 2 + 1)
    log_cramer = math.log(1.0865) + (n_nodes * math.log(2) + math.lgamma(n_nodes + 1)) / 2
    log_derivative = np.minimum(log_largest, log_cramer - size * distance**2 / 2) + n_nodes / 2 * math.log(size)
    log_error = log_derivative - math.lgamma(n_nodes + 1) - (n_nodes - 1) * math.log(2)
    interpolation = (2 + 2 / math.pi * math.log(n_nodes)) * np.exp(log_error)
    return interpolation + n_nodes**2 * NEGLECTED * np.exp(-size * distance**2 / 2) + ROUNDING


def _edges(offsets: np.ndarray) -> FloatArray:
    """Distances, in half sides, of the edges of cells from their offsets."""
    return 2.0 * np.maximum(np.abs(offsets) - 1, 0)


def size_for(n_nodes: int, looser: float = 1.0) -> float:
    """How large cells may be, as gamma times the square of half a side; with errors so many times as large."""
    unit = _error(1.0, n_nodes, np.zeros(1))[0] - n_nodes**2 * NEGLECTED
    return float((looser * NODES[n_nodes] / unit) ** (2 / n_nodes))


@dataclass(frozen=True)
class Grid:
    """Cells over a box: three axes, of which the last may be but one cell with one node."""

    lower: FloatArray  # (n_features,)
    half: float
    size: float
    shape: tuple[int, int, int]
    n_nodes: tuple[int, int, int]
    reach: tuple[int, int, int]  # how many cells away points still count

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray, gamma: float, n_nodes: int, looser: float = 1.0) -> Grid:
        """A grid over a box; with errors so many times as large as `NODES` says."""
        size = size_for(n_nodes, looser)
        half = math.sqrt(size / gamma)
        n_cells = np.floor((upper - lower) / (2 * half)) + 1
        far = math.ceil(math.sqrt(-math.log(looser * OUT_OF_REACH) / (4 * size)))
        absent = (1,) * (3 - len(lower))
        return cls(
            lower,
            half,
            size,
            (*(int(min(n, 1e9)) for n in n_cells), *absent),  # type: ignore[arg-type]
            (*(n_nodes for _ in lower), *absent),  # type: ignore[arg-type]
            (*(int(min(n - 1, far)) for n in n_cells), *(0 for _ in absent)),  # type: ignore[arg-type]
        )

    @property
    def n_cells(self) -> int:
        """Cells, empty ones too."""
        return math.prod(self.shape)

    @property
    def n_coefficients(self) -> int:
        """Coefficients of a cell's polynomial."""
        return math.prod(self.n_nodes)

    def flops(self) -> float:
        """Multiplications that one cell costs."""
        return self.n_coefficients * sum(
            (2 * reach + 1) * n for reach, n in zip(self.reach, self.n_nodes, strict=True) if n > 1
        )

    def matrices(self, axis: int) -> FloatArray:
        """For each offset from a cell to one of points: what turns moments into coefficients (n_offsets, n, n)."""
        n, reach = self.n_nodes[axis], self.reach[axis]
        if n == 1:
            return np.ones((1, 1, 1))
        angles = np.pi * (np.arange(n) + 0.5) / n
        to_coefficients = 2 / n * np.cos(np.outer(np.arange(n), angles))
        to_coefficients[0] /= 2
        nodes = np.cos(angles)
        offsets = 2.0 * np.arange(-reach, reach + 1)
        kernels = np.exp(-self.size * (nodes[:, None] - nodes - offsets[:, None, None]) ** 2)
        return np.ascontiguousarray(to_coefficients @ kernels @ to_coefficients.T)

    def n_used(self, matrices: FloatArray) -> np.ndarray:
        """How many rows and columns of each matrix matter, a multiple of 4 (n_offsets,)."""
        reach, n = len(matrices) // 2, matrices.shape[1]
        least = NEGLECTED * np.exp(-self.size * _edges(np.arange(-reach, reach + 1)) ** 2 / 2)
        large = np.abs(matrices) > least[:, None, None]
        last = np.where(large.any(axis=1) | large.any(axis=2), np.arange(1, n + 1), 1).max(axis=1)
        return np.minimum(n, -(-last // 4) * 4)

    def errors(self, totals: FloatArray) -> FloatArray:
        """Bounds of the error in each cell, from the total weight of the points in each, of one weighting.

        Kernels and errors between cells are products over the axes, so sums of them are taken axis by axis. What is out
        of reach of an expansion is bounded by the kernel between the nearest corners.
        """
        expanded = bound = totals.reshape(self.shape)
        for axis, (reach, n) in enumerate(zip(self.reach, self.n_nodes, strict=True)):
            if n == 1:
                continue
            offsets = np.arange(-reach - BEYOND, reach + BEYOND + 1)
            in_reach = np.abs(offsets) <= reach
            kernel = np.exp(-self.size * _edges(offsets) ** 2)
            error = np.where(in_reach, _error(self.size, n, _edges(offsets)), 0.0)
            expanded = convolve1d(expanded, np.where(in_reach, kernel, 0.0), axis=axis, mode="constant")
            bound = convolve1d(bound, kernel + error, axis=axis, mode="constant")
        sight = [reach + BEYOND for reach, n in zip(self.reach, self.shape, strict=True) if reach + BEYOND < n - 1]
        out_of_sight = math.exp(-self.size * (2 * min(sight)) ** 2) if sight else 0.0
        return np.asarray(bound - expanded + 1e-14 * expanded + out_of_sight * totals.sum()).ravel()


@dataclass(frozen=True)
class InCells:
    """Rows sorted by cell: those outside of the grid are left out."""

    rows: np.ndarray  # their places
    cells: np.ndarray  # the cells that have any, ascending
    starts: np.ndarray  # (n_cells + 1,) of each among the rows
    places: FloatArray  # (n_rows, 3): coordinates in the cell, from -1 to 1

    @classmethod
    def of(cls, rows: FloatArray, grid: Grid) -> InCells:
        """Sort some rows."""
        ends = np.zeros(grid.n_cells + 2, np.int64)
        cell_of_row, order = np.empty((2, len(rows)), np.int64)
        shape, places = np.array(grid.shape[: rows.shape[1]]), np.zeros((len(rows), 3))
        sort_by_cell(rows, grid.lower, 2 * grid.half, shape, cell_of_row, ends, order, places)
        ends[0] = 0
        cells = np.flatnonzero(np.diff(ends[:-1]))
        n_inside = ends[-2]
        return cls(order[:n_inside], cells, np.append(ends[cells], n_inside), places[:n_inside])


def expanded_sums(
    grid: Grid, queries: InCells, points: InCells, weights: FloatArray, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    """Sums at the sorted queries (n_queries,) and a bound of their error, for points that are sorted with weights."""
    n_nodes = np.array(grid.n_nodes)
    n_room = sum(grid.n_nodes) + grid.n_nodes[1] * grid.n_nodes[2]
    moments = np.zeros((len(points.cells), grid.n_coefficients))

    def add_moments(part: slice) -> None:
        starts = points.starts[part.start : part.stop + 1]
        cell_moments(points.places, weights, starts, n_nodes, np.empty(n_room), moments[part])

    list(on_threads(add_moments, parts(len(points.cells), 4 * n_threads), n_threads))
    where = np.full(grid.n_cells, -1)
    where[points.cells] = np.arange(len(points.cells))
    matrices = tuple(map(grid.matrices, range(3)))
    lines = np.array([grid.shape[1] * grid.shape[2], grid.shape[2], 1])  # of cells, across each axis
    of_grid = np.array(grid.shape), lines, n_nodes, matrices, tuple(map(grid.n_used, matrices))
    sums = np.empty(len(queries.rows))
    slices = queries.cells // lines[0]
    edges = np.flatnonzero(np.diff(slices, prepend=-1, append=grid.shape[0]))

    def add_slices(part: slice) -> None:
        some = slice(edges[part.start], edges[part.stop])
        starts = queries.starts[some.start : some.stop + 1]
        in_reach = where, *(np.empty(n, np.int64) for n in lines)
        blocks = moments, *(np.empty((n, grid.n_coefficients)) for n in lines)
        room = np.empty(grid.n_coefficients), np.empty(n_room)
        slice_sums(queries.places, queries.cells[some], starts, *of_grid, in_reach, blocks, *room, sums)

    list(on_threads(add_slices, parts(len(edges) - 1, 8 * n_threads), n_threads))
    totals = np.zeros(grid.n_cells)
    totals[points.cells] = np.add.reduceat(weights, points.starts[:-1])
    return sums, np.repeat(grid.errors(totals)[queries.cells], np.diff(queries.starts))


def parts(n: int, n_parts: int) -> list[slice]:
    """Cut a range into at most so many slices."""
    edges = np.unique(np.linspace(0, n, min(n, n_parts) + 1).astype(int))
    return [slice(*pair) for pair in pairwise(edges)]


@compiled()
def sort_by_cell(
    rows: Any, lower: Any, side: float, shape: Any, cells: Any, ends: Any, order: Any, places: Any
) -> None:
    """Put rows in the order of their cells, leaving out those outside of the grid.

    Fills in the cell of each row, how many rows end with each cell (one place further on), the places of the rows in
    the new order, and there their coordinates in the cell.
    """
    for i in range(len(rows)):
        cells[i] = 0
        for k in range(len(lower)):
            step = math.floor((rows[i, k] - lower[k]) / side)
            inside = cells[i] >= 0 and 0 <= step < shape[k]
            cells[i] = cells[i] * shape[k] + int(step) if inside else -1
        ends[cells[i] + 2] += 1
    ends[1] = 0
    for cell in range(2, len(ends)):
        ends[cell] += ends[cell - 1]
    for i in range(len(rows)):
        if cells[i] >= 0:
            place = ends[cells[i] + 1]
            ends[cells[i] + 1] += 1
            order[place] = i
            for k in range(len(lower)):
                steps = (rows[i, k] - lower[k]) / side
                places[place, k] = 2 * (steps - math.floor(steps)) - 1


@inlined
def _factors(place: Any, n_nodes: Any, room: Any) -> None:
    """Fill room with Chebyshev polynomials along each axis, then the products of those along the second and third."""
    end = 0
    for axis in range(len(n_nodes)):
        before, value = place[axis], 1.0
        for k in range(end, end + n_nodes[axis]):
            room[k] = value
            before, value = value, 2 * place[axis] * value - before
        end += n_nodes[axis]
    for k in range(n_nodes[1]):
        for m in range(n_nodes[2]):
            room[end + k * n_nodes[2] + m] = room[n_nodes[0] + k] * room[n_nodes[0] + n_nodes[1] + m]


@compiled()
def cell_moments(places: Any, weights: Any, starts: Any, n_nodes: Any, room: Any, moments: Any) -> None:
    """Add the Chebyshev moments of the points of each cell (n_cells, n_coefficients)."""
    first, products = room[: n_nodes[0]], room[n_nodes[0] + n_nodes[1] + n_nodes[2] :]
    for c in range(len(starts) - 1):
        of_cell = moments[c]
        for j in range(starts[c], starts[c + 1]):
            _factors(places[j], n_nodes, room)
            for k in range(len(first)):
                factor = weights[j] * first[k]
                for m in range(len(products)):
                    of_cell[k * len(products) + m] += factor * products[m]


@compiled(fastmath={"reassoc", "contract"})
def slice_sums(
    places: Any, cells: Any, starts: Any, shape: Any, lines: Any, n_nodes: Any, matrices: Any, n_used: Any,
    in_reach: Any, blocks: Any, buffer: Any, room: Any, sums: Any,
) -> None:  # fmt: skip
    """Sums at the queries of some slices of the grid, of which ``cells`` has all cells with queries, ascending.

    Along the first axis moments are joined for all ``lines`` of cells through a slice, along the second for those
    through a row of it, along the third for a cell: each time the axis that was joined goes to the end. For each axis,
    ``blocks`` has what is to be joined, and ``in_reach`` the place there of each cell of the grid, the slice or the
    row, -1 for none. The moments come first, then there is room for what is joined.
    """
    first, products = room[: n_nodes[0]], room[n_nodes[0] + n_nodes[1] + n_nodes[2] :]
    before = -1
    for c in range(len(cells)):
        for axis in range(len(shape)):
            at = cells[c] // lines[axis]
            if at == before // lines[axis]:
                continue  # joined for the cell before
            for line in range(lines[axis]):
                some = _joined(
                    in_reach[axis], line, lines[axis], at % shape[axis], shape[axis], matrices[axis], n_used[axis],
                    blocks[axis], buffer, blocks[axis + 1][line],
                )  # fmt: skip
                in_reach[axis + 1][line] = line if some else -1
        before = cells[c]
        of_cell, nothing = blocks[3][0], in_reach[3][0] < 0
        for q in range(starts[c], starts[c + 1]):
            _factors(places[q], n_nodes, room)
            total = 0.0
            for k in range(0 if nothing else len(first)):
                part = 0.0
                for m in range(len(products)):
                    part += of_cell[k * len(products) + m] * products[m]
                total += first[k] * part
            sums[q] = total


@inlined
def _joined(
    in_reach: Any, line: int, stride: int, at: int, n: int, matrices: Any, n_used: Any, blocks: Any, buffer: Any,
    joined: Any,
) -> bool:  # fmt: skip
    """Join the blocks of a line of cells that are in reach of one: whether there are any."""
    some = False
    n_nodes = matrices.shape[1]
    width = len(buffer) // n_nodes
    for offset in range(len(matrices)):
        other = at + offset - len(matrices) // 2
        block = in_reach[line + other * stride] if 0 <= other < n else -1
        if block < 0:
            continue
        if not some:
            for m in range(len(buffer)):
                buffer[m] = 0.0
        some = True
        if width % LANES or n_nodes % 4:
            _add_narrow(matrices[offset], blocks[block], width, buffer)
        else:
            add_product(matrices[offset], blocks[block], n_used[offset], buffer)
    if some:
        for k in range(n_nodes):
            for m in range(width):
                joined[m * n_nodes + k] = buffer[k * width + m]
    return some


@inlined
def _add_narrow(matrix: Any, block: Any, width: int, sums: Any) -> None:
    """`add_product` for blocks that are too narrow for it."""
    for k in range(len(matrix)):
        for column in range(len(matrix)):
            for m in range(width):
                sums[k * width + m] += matrix[k, column] * block[column * width + m]
