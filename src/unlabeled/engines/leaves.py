"""Kernel sums over near points only: both sides in a k-d tree, and what is too far to matter left out.

A tree is balanced, with leaves of equal size, so that it is a few arrays and no pointers: node ``i`` has the children
``2 i + 1`` and ``2 i + 2``, and the leaves are the last nodes. Queries go down it in groups that lie close together,
nearest nodes first. A node is left out once its nearest corner is so far that all points, were they there, would not
move any sum of the group by more than it may be off by; what a sum is at least is known from the points already added.

Squared distances are differences in float64. Exponents, less that of (nearly) the nearest point, are float32: as exact
for a lonely query, whose nearest point is far, as for one in a crowd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.engines.intermediate import lanes
from unlabeled.engines.kept import Kept
from unlabeled.engines.tiles import compiled, inlined
from unlabeled.engines.vectors import LADDER, dot, near_powers, near_terms, weighted_sums

#: What may be left out of a sum, as a share of the error that it may have.
DROPPED = 0.2
#: Most points in a leaf, and queries in a group.
POINTS, QUERIES = 64, 32
#: Exponents (of two) by which a term may exceed that of the point which sums are relative to.
SLACK = 2.0
#: A sum below 2^-this, relative to its nearest point, is of points whose exponents float32 rounds too far.
FAINT = 12
#: Up to so many weightings are summed one by one, more of them side by side.
FEW_WEIGHTINGS = 2
_LOG2E = 1 / math.log(2)


def kd_order(rows: FloatArray, width: int, multiple: int = 1) -> np.ndarray:
    """Places of rows (n_leaves, n_places) in a balanced k-d tree, -1 after the last row; a leaf has at most ``width``.

    Each node is cut in half at the median of its longest side.
    """
    n_levels = max(0, math.ceil(math.log2(max(1, len(rows)) / width)))
    n_places = -(-len(rows) // 2**n_levels // multiple) * multiple
    order = np.full(2**n_levels * n_places, -1)
    if rows.shape[1] == 1:
        order[: len(rows)] = np.argsort(rows[:, 0])
        return order.reshape(-1, n_places)
    order[: len(rows)] = np.arange(len(rows))
    padded = np.vstack([rows, np.full(rows.shape[1], np.inf)]).T.copy()  # place -1 is beyond all rows
    for level in range(n_levels):
        nodes = order.reshape(2**level, -1)
        sides = np.array([_extent(values[nodes]) for values in padded])
        values = padded[sides.argmax(axis=0)[:, None], nodes]
        order = np.take_along_axis(nodes, np.argpartition(values, nodes.shape[1] // 2, axis=1), axis=1)
    return order.reshape(-1, n_places)


def _extent(values: FloatArray) -> FloatArray:
    """From the smallest to the largest of each row; of the finite ones."""
    finite = np.where(np.isinf(values), -np.inf, values).max(axis=-1)
    with np.errstate(invalid="ignore"):  # of none
        return np.nan_to_num(finite - values.min(axis=-1), nan=-1.0, posinf=-1.0, neginf=-1.0)


#: The order of points in leaves, which takes longest to make: a model scores by the same points again and again.
_ORDERS: Kept[np.ndarray] = Kept(lambda points: kd_order(points, POINTS, multiple=lanes(np.float32)), most=8)


@dataclass(frozen=True)
class Leaves:
    """Points and their weights, leaf by leaf, and the boxes around all nodes."""

    blocks: FloatArray  # (n_leaves, n_features, n_places), infinite after the last point
    weights: np.ndarray  # (n_leaves, n_weightings or 0, n_places) or, if many, (n_leaves, n_places, padded), float32
    lower: FloatArray  # (2 n_leaves - 1, n_features)
    upper: FloatArray
    places: np.ndarray  # where in the leaves, one after the other, each point is
    total: float  # the largest total weight of a weighting

    @classmethod
    def of(cls, points: FloatArray, weights: FloatArray | None) -> Leaves:
        """Leaves of points with weights (n_weightings, n_points) of at most 1."""
        order = _ORDERS.of(points)
        places = np.empty(len(points), np.int64)
        places[order[order >= 0]] = np.flatnonzero(order.ravel() >= 0)
        padded = np.vstack([points, np.full(points.shape[1], np.inf)])
        blocks = np.ascontiguousarray(padded[order].transpose(0, 2, 1))
        lower, upper = blocks.min(axis=2), np.where(np.isinf(blocks), -np.inf, blocks).max(axis=2)
        of_leaves = np.zeros((len(blocks), 0, order.shape[1]), np.float32)
        if weights is not None:
            padded = np.hstack([weights, np.zeros((len(weights), 1))]).astype(np.float32)
            of_leaves = _by_leaf(padded[:, order])
        total = float(len(points) if weights is None else weights.sum(axis=1).max())
        return cls(blocks, of_leaves, _up(lower, np.minimum), _up(upper, np.maximum), places, total)


def _by_leaf(weights: np.ndarray) -> np.ndarray:
    """Weights (n_weightings, n_leaves, n_places) as `_add_weighted` wants them."""
    if len(weights) <= FEW_WEIGHTINGS:
        return np.ascontiguousarray(weights.transpose(1, 0, 2))
    padded: np.ndarray = np.zeros((*weights.shape[1:], _padded(len(weights))), weights.dtype)
    padded[..., : len(weights)] = weights.transpose(1, 2, 0)
    return padded


def _padded(n_weightings: int) -> int:
    return -(-n_weightings // lanes(np.float32)) * lanes(np.float32)


def _up(of_leaves: FloatArray, join: Any) -> FloatArray:
    """Corners of all nodes from those of the leaves."""
    levels = [of_leaves]
    while len(levels[-1]) > 1:
        levels.append(join(levels[-1][::2], levels[-1][1::2]))
    return np.concatenate(levels[::-1])


def room_for(points: Leaves) -> tuple[np.ndarray, ...]:
    """What `add_near` works in."""
    _, n_features, n_places = points.blocks.shape
    terms: np.ndarray = np.empty((LADDER, n_places), np.float32)
    totals: np.ndarray = np.empty(points.weights.shape[2], np.float32)
    return np.empty((3, n_features)), np.empty(QUERIES), np.empty(128, np.int64), terms, totals


@compiled()
def add_near(
    queries: Any,
    own: Any,
    scale: float,
    depth: float,
    most: int,
    blocks: Any,
    weights: Any,
    lower: Any,
    upper: Any,
    tops: Any,
    sums: Any,
    box: Any,
    limits: Any,
    stack: Any,
    terms: Any,
    totals: Any,
) -> int:
    """Add sums of ``2^(-scale d^2)`` over the points; the number of pairs that were computed.

    Shapes: queries (n_queries, n_features), own (n_queries,): places in the leaves; tops (n_queries,) and sums
    (n_weightings or 1, n_steps, n_queries): each step, there are one or `LADDER`, doubles the scale, and a sum is
    ``2^-top`` (doubled as often) times what is stored. What is below ``2^-depth`` of a sum may be left out. Stops once
    more than ``most`` pairs were computed. To work in: box (3, n_features), limits (QUERIES,), stack (128,), terms
    (LADDER, n_places), totals (padded,).
    """
    n_leaves, n_features, _ = blocks.shape
    low, middle, high = box[0], box[1], box[2]  # so, numba knows that they are contiguous
    n_pairs = 0
    for first in range(0, len(queries), QUERIES):
        last = min(first + QUERIES, len(queries))
        for k in range(n_features):
            low[k] = high[k] = queries[first, k]
            for i in range(first, last):
                low[k], high[k] = min(low[k], queries[i, k]), max(high[k], queries[i, k])
            middle[k] = low[k] + (high[k] - low[k]) / 2
        stack[0], height, n_visits, due, limit = 0, 1, 0, 0, np.inf
        while height:
            if n_visits == due:  # sums only grow, so limits of before are good, only wider
                limit = _limits(tops, sums, first, last, depth, limits)
                due += max(1, n_visits // 2)
            height -= 1
            node = stack[height]
            if scale * _gap(low, high, lower, upper, node) > limit:
                continue
            if node < n_leaves - 1:
                near = 2 * node + 1
                if _gap(middle, middle, lower, upper, near) > _gap(middle, middle, lower, upper, near + 1):
                    near += 1
                stack[height], stack[height + 1] = 4 * node + 3 - near, near
                height += 2
                continue
            n_pairs += _add_leaf(
                queries, own, first, last, scale, blocks, weights, lower, upper, node, limits, terms, totals, tops, sums
            )
            n_visits += 1
        if n_pairs > most:
            break
    return n_pairs


@inlined
def _add_leaf(
    queries: Any, own: Any, first: int, last: int, scale: float, blocks: Any, weights: Any, lower: Any, upper: Any,
    node: int, limits: Any, terms: Any, of_weightings: Any, tops: Any, sums: Any,
) -> int:  # fmt: skip
    """Add the points of a leaf to the sums of a group of queries; the number of pairs."""
    n_leaves, n_features, width = blocks.shape
    leaf = node - (n_leaves - 1)
    low_corner, high_corner, block = lower[node], upper[node], blocks[leaf]
    n_pairs = 0
    for i in range(first, last):
        gap = 0.0
        for k in range(n_features):
            side = max(low_corner[k] - queries[i, k], queries[i, k] - high_corner[k], 0.0)
            gap += side * side
        if scale * gap > limits[i - first]:
            continue
        itself = own[i] - leaf * width
        if scale * gap < tops[i] - SLACK:
            _lower_top(queries[i], block, itself, scale, tops, sums, i)
        if tops[i] == np.inf:
            continue
        n_pairs += width
        if sums.shape[1] > 1:
            totals = near_powers(queries[i], block, scale, tops[i], terms)
        else:
            (total,) = near_terms(queries[i], block, scale, tops[i], terms)
            totals = total, total, total, total  # as many as a ladder has
        for step in range(sums.shape[1]):
            if 0 <= itself < width:
                terms[step, itself] = 0
            if len(sums) > FEW_WEIGHTINGS:
                weighted_sums(terms[step], weights[leaf], of_weightings)
                for w in range(len(sums)):
                    sums[w, step, i] += of_weightings[w]
            elif weights.shape[1]:
                for w in range(len(sums)):
                    sums[w, step, i] += dot(terms[step], weights[leaf, w])
            elif 0 <= itself < width:
                for j in range(width):
                    sums[0, step, i] += terms[step, j]
            else:
                sums[0, step, i] += totals[step]
    return n_pairs


@inlined
def _limits(tops: Any, sums: Any, first: int, last: int, depth: float, limits: Any) -> float:
    """From which exponent on points are too far, for each query; the largest."""
    furthest = -np.inf
    for i in range(first, last):
        limits[i - first] = -np.inf
        factor = 1.0
        for step in range(sums.shape[1]):
            least = sums[0, step, i]
            for w in range(1, len(sums)):
                least = min(least, sums[w, step, i])
            limit = tops[i] + factor * (depth - math.log2(least)) if least > 0 else np.inf
            limits[i - first] = max(limits[i - first], limit)
            factor /= 2
        furthest = max(furthest, limits[i - first])
    return furthest


@compiled()
def _gap(low: Any, high: Any, lower: Any, upper: Any, node: int) -> float:
    """Squared distance of a box from that of a node."""
    gap = 0.0
    for k in range(len(low)):
        side = max(lower[node, k] - high[k], low[k] - upper[node, k], 0.0)
        gap += side * side
    return gap


@inlined
def _lower_top(query: Any, block: Any, itself: int, scale: float, tops: Any, sums: Any, i: int) -> None:
    """Make a query's sums relative to the nearest point of a leaf, if that is nearer than what they are relative to."""
    top = tops[i]
    for j in range(block.shape[1]):
        sq_dist = 0.0
        for k in range(len(query)):
            difference = query[k] - block[k, j]
            sq_dist += difference * difference
        if j != itself and scale * sq_dist < top:
            top = scale * sq_dist
    if top < tops[i]:
        change = top - tops[i]
        for step in range(sums.shape[1]):
            for w in range(len(sums)):
                sums[w, step, i] *= math.exp(change / _LOG2E)
            change *= 2
        tops[i] = top
