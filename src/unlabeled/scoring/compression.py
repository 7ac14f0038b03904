"""Fewer rows to score by: copies merged, which is exact, and kernel thinning, whose error is measured.

A score is a weighted sum of logs of ratios of kernel means (`Ratio`). Each mean is over a sample, and a sample can be
replaced by fewer rows with more weight whose kernel mean is nearly the same. Halving does that: neighbouring rows are
paired, one of each pair goes on with the weight of both, and which one is chosen so that the errors of the pairs cancel
in the kernel's own norm (kernel thinning; Dwivedi and Mackey, 2021, here greedy and without randomness, in blocks of
neighbours). The error then falls nearly as one over the number of rows, where that of a random choice falls as one over
its root. Halving goes on until few enough rows are left. Rows that have few others near them are left alone: at their
place the log of a sum hangs on each of its terms.

The error is measured, not assumed. Some rows are put aside and stay in the sample as they are; at these, as at new
rows like them, the log ratio with the others thinned is compared with the one with all of them. Far from all rows it
may change by more: there the log of a sum hangs on a few terms, of rows that may be gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.kernels import Kernel, as_kernel
from unlabeled.samples import Sample, distinct_rows, some_rows
from unlabeled.scoring.ratio import Kernels, Ratio, log_score

#: Merge copies and nothing else.
COPIES = "copies"
#: A change of the log ratio beyond which a float must have been meant for a number of rows.
LARGEST_CHANGE = 20.0
#: Rows of each sample that are put aside to measure the error at.
N_CHECKED = 1000
#: Halving stops before it leaves fewer rows.
FEWEST = 250
#: A row may go if so many rows, counted by their kernel, are around it; where no more can, with fewer.
CROWDS = (16.0, 4.0, 1.0, 0.0)
#: Rows that this is estimated from.
_N_AROUND = 2000
#: Rows whose errors are made to cancel each other.
_BLOCK = 256
#: Numbers of the pairs' kernels held at once (8 bytes each).
_CHUNK = 8_000_000

#: What a user may ask for: copies merged, a number of rows, or the largest change of the log ratio.
Target = str | int | float


@dataclass(frozen=True)
class Compression:
    """What a compressed classifier scores by, and what that changed.

    Parameters
    ----------
    ratios : tuple of Ratio
    n_rows_before, n_rows : int
        Kernels that a score takes, before and now.
    largest_change, mean_change : float
        Of the log ratio, before known negatives come in, at rows that were put aside; 0 where only copies were merged.
        Of k such rows, one in k + 1 new rows changes by more than the largest: where k is 1,000, one in a thousand, by
        an amount that is not known. That is of rows like the training rows: of rows that are more spread, more do.
    """

    ratios: tuple[Ratio, ...] = field(repr=False)  # all their rows
    n_rows_before: int
    n_rows: int
    largest_change: float = 0.0
    mean_change: float = 0.0

    @classmethod
    def of(cls, ratios: Sequence[Ratio], target: Target, kernels: Kernels) -> Compression:
        """Compress to a target, or say what can be had."""
        n_before = sum(ratio.n_rows for ratio in ratios)
        merged = tuple(_over(ratio, [points.without_copies() for points in _points_of(ratio)]) for ratio in ratios)
        exact = cls(merged, n_before, sum(ratio.n_rows for ratio in merged))
        if isinstance(target, str):
            return exact
        levels = _Levels.of(exact, kernels)
        return levels.of_size(int(target)) if isinstance(target, Integral) else levels.within(float(target))


def check_target(target: object) -> None:
    """Refuse what no compression can aim at."""
    if target is None or (isinstance(target, str) and target == COPIES):
        return
    if isinstance(target, Integral) and not isinstance(target, bool) and int(target) >= 1:
        return
    if isinstance(target, Real) and not isinstance(target, Integral) and 0 < float(target) <= LARGEST_CHANGE:
        return
    if isinstance(target, float) and LARGEST_CHANGE < target < np.inf:
        raise ValueError(
            f"compress={target!r} would let the log ratio change by that much, at most {LARGEST_CHANGE:g} makes sense; "
            f"for a number of rows give a whole number, as in compress={round(target)}."
        )
    raise ValueError(
        f"compress={target!r} is not known; use None, 'copies', a whole number of rows for each sample, or a float: "
        "the largest change of the log ratio that may be."
    )


# --- rows that means are taken over ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Points:
    """Rows of a kernel mean, or of two that differ in their weights only (n_weightings, n_rows)."""

    rows: FloatArray
    weights: FloatArray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, *samples: Sample) -> Points:
        """The rows of one sample, or of two over the same rows."""
        return cls(samples[0].rows, np.array([sample.weights for sample in samples]), samples[0].row_numbers)

    @property
    def samples(self) -> list[Sample]:
        """The samples again, still over the same rows."""
        return [Sample(self.rows, np.log(weights), self.numbers) for weights in self.weights]

    def take(self, places: np.ndarray, weights: FloatArray | None = None) -> Points:
        """Some of the rows, with other weights if these are given."""
        weights = self.weights[:, places] if weights is None else weights
        return Points(self.rows[places], weights, self.numbers[places])

    def joined(self, other: Points) -> Points:
        """These rows and others."""
        return Points(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.weights, other.weights], axis=1),
            np.concatenate([self.numbers, other.numbers]),
        )

    def without_copies(self) -> Points:
        """Equal rows as one with their weight; of their numbers the first stays."""
        first, place = distinct_rows(self.rows)
        if len(first) == len(self):
            return self
        weights = np.array([np.bincount(place, weights=of_rows) for of_rows in self.weights])
        return Points(self.rows[first], weights, self.numbers[first])


def _points_of(ratio: Ratio) -> list[Points]:
    if ratio.numerator.rows is ratio.denominator.rows:
        return [Points.of(ratio.numerator, ratio.denominator)]
    return [Points.of(ratio.numerator), Points.of(ratio.denominator)]


def _over(ratio: Ratio, points: Sequence[Points]) -> Ratio:
    """The ratio over other points."""
    numerator, denominator = (sample for some in points for sample in some.samples)
    return replace(ratio, numerator=numerator, denominator=denominator)


# --- from all rows to few --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Levels:
    """The points of the ratios, halved again and again, beside rows that were put aside."""

    ratios: tuple[Ratio, ...]
    aside: list[list[Points]]  # of each ratio
    halved: list[list[list[Points]]]  # of each ratio, from all but the rows put aside to the fewest
    kernels: Kernels
    exact: Compression

    @classmethod
    def of(cls, exact: Compression, kernels: Kernels) -> _Levels:
        aside, halved = [], []
        for ratio in exact.ratios:
            parts = [_put_aside(points) for points in _points_of(ratio)]
            aside.append([checked for checked, _ in parts])
            halved.append(
                [_halvings(rest, ratio.gamma, kernels) if len(checked) else [rest] for checked, rest in parts]
            )
        return cls(exact.ratios, aside, halved, kernels, exact)

    @property
    def n(self) -> int:
        """How many levels there are, that of all rows among them."""
        return max(len(levels) for of_ratio in self.halved for levels in of_ratio)

    @cached_property
    def queries(self) -> FloatArray:
        """Rows that were put aside, each once."""
        return np.unique(np.concatenate([points.rows for of_ratio in self.aside for points in of_ratio]), axis=0)

    @cached_property
    def expected(self) -> FloatArray:
        """The score at the rows put aside, by all others."""
        return log_score(self._ratios(self._at(0)), self.queries, self.kernels)

    def _at(self, level: int) -> list[list[Points]]:
        return [[points[min(level, len(points) - 1)] for points in of_ratio] for of_ratio in self.halved]

    def _with_aside(self, level: int) -> list[list[Points]]:
        pairs = zip(self.aside, self._at(level), strict=True)
        return [[checked.joined(rest) for checked, rest in zip(*pair, strict=True)] for pair in pairs]

    def _ratios(self, points: list[list[Points]]) -> tuple[Ratio, ...]:
        return tuple(_over(ratio, some) for ratio, some in zip(self.ratios, points, strict=True))

    def compression(self, level: int) -> Compression:
        """What is left after so many halvings, the rows put aside with it."""
        change = np.abs(log_score(self._ratios(self._at(level)), self.queries, self.kernels) - self.expected)
        ratios = self._ratios(self._with_aside(level))
        n_rows = sum(ratio.n_rows for ratio in ratios)
        return Compression(ratios, self.exact.n_rows_before, n_rows, float(change.max()), float(change.mean()))

    def of_size(self, most: int) -> Compression:
        """At most so many rows of each sample."""
        sizes = [
            max(len(points) for of_ratio in self._with_aside(level) for points in of_ratio) for level in range(self.n)
        ]
        for level, size in enumerate(sizes):
            if size <= most:
                return self.compression(level) if level else self.exact
        why = (
            ", of which some measure the error" if len(self.queries) else ": samples as small as these are not thinned"
        )
        raise ValueError(
            f"compress={most} cannot be met: the fewest rows of a sample that are kept here are {sizes[-1]:,}{why}; "
            f"ask for {sizes[-1]:,} or more, or for None."
        )

    def within(self, largest_change: float) -> Compression:
        """The fewest rows with which no log ratio that is checked changes by more."""
        tried = []
        for level in reversed(range(1, self.n)):
            tried.append(self.compression(level))
            if tried[-1].largest_change <= largest_change:
                return tried[-1]
        if not tried:
            raise ValueError(
                f"compress={largest_change:g} cannot be met: there are too few rows to leave any out; use None."
            )
        best = min(tried, key=lambda found: found.largest_change)
        raise ValueError(
            f"compress={largest_change:g} cannot be met: with {best.n_rows:,} of {self.exact.n_rows:,} rows the log "
            f"ratio still changes by up to {1.01 * best.largest_change:.3g} (on average {best.mean_change:.3g}); ask "
            "for that, or use compress='copies' or None."
        )


def _put_aside(points: Points) -> tuple[Points, Points]:
    """Rows to measure the error at, and the others; none where there are too few to be halved."""
    aside = some_rows(len(points), min(N_CHECKED, len(points) // 2), np.random.RandomState(0))
    if len(points) - len(aside) < 2 * FEWEST:
        return points.take(np.arange(0)), points
    return points.take(aside), points.take(np.setdiff1d(np.arange(len(points)), aside))


# --- halving ---------------------------------------------------------------------------------------------------------


def _halvings(points: Points, gamma: float, kernels: Kernels) -> list[Points]:
    """Points, about half of them, half of these, and so on.

    Rows with few others around them stay as long as there is any other way.
    """
    around, levels = _mean_kernels(points, gamma, kernels), [points]
    places, weights = np.arange(len(points)), points.weights
    for crowd in CROWDS:
        while len(places) >= 2 * FEWEST:
            may_go = len(places) * around[places] >= crowd
            if may_go.sum() < max(2 * FEWEST, len(places) / 10):
                break
            inside, outside = places[may_go], places[~may_go]
            chosen, of_chosen = halve(points.rows[inside], weights[:, may_go], as_kernel(kernels.kernel), gamma)
            places = np.concatenate([inside[chosen], outside])
            weights = np.concatenate([of_chosen, weights[:, ~may_go]], axis=1)
            levels.append(points.take(places, weights))
    return levels


def thinned(points: Points, most: int, gamma: float, kernels: Kernels) -> Points:
    """Points halved until there are no more than these, or until none may go."""
    if len(points) <= most:
        return points
    levels = _halvings(points, gamma, kernels)
    return next((level for level in levels if len(level) <= most), levels[-1])


def _mean_kernels(points: Points, gamma: float, kernels: Kernels) -> FloatArray:
    """The mean kernel between each row and others."""
    around = some_rows(len(points), _N_AROUND, np.random.RandomState(1))
    own = np.full(len(points), -1)
    own[around] = np.arange(len(around))
    kernels = replace(kernels, gammas=np.array([gamma]))
    return np.exp(kernels.log_sums(points.rows, Sample(points.rows[around]), own)[0]) / max(1, len(around) - 1)


def halve(rows: FloatArray, weights: FloatArray, kernel: Kernel, gamma: float) -> tuple[np.ndarray, FloatArray]:
    """Places of half of the rows, and weights (n_weightings, n_places) that sum up to those of all.

    The kernel means change as little as can be had by such a choice. Rows that do not fill a block stay as they are.
    """
    block = min(_BLOCK, len(rows) // 2 * 2)
    order = _by_neighbours(rows, block)
    blocked, rest = np.split(order, [len(order) // block * block])
    blocks = blocked.reshape(-1, block)
    shares = weights / weights.sum(axis=1, keepdims=True)  # so that all weightings count alike
    parts = np.array_split(blocks, -(-blocks.size * (block + rows.shape[1]) // _CHUNK))
    kept = np.concatenate([_survivors(rows[some], shares[:, some], kernel, gamma) for some in parts])
    chosen = np.take_along_axis(blocks.reshape(len(blocks), -1, 2), kept[..., None], axis=2).ravel()
    of_pairs = weights[:, blocked].reshape(len(weights), -1, 2).sum(axis=2)
    return np.concatenate([chosen, rest]), np.concatenate([of_pairs, weights[:, rest]], axis=1)


def _by_neighbours(rows: FloatArray, block: int) -> np.ndarray:
    """An order in which neighbours follow each other: cut at the median of the widest feature, again and again."""
    n_blocks = len(rows) // block
    order = np.arange(len(rows))
    ends = np.array([0, n_blocks * block])
    while len(ends) - 1 < n_blocks:  # down to blocks, each half a whole number of them
        middles = [start + (stop - start) // block // 2 * block for start, stop in pairwise(ends)]
        for (start, stop), middle in zip(pairwise(ends), middles, strict=True):
            if start < middle:
                part = order[start:stop]
                feature = rows[part, np.argmax(np.ptp(rows[part], axis=0))]
                order[start:stop] = part[np.argpartition(feature, middle - start)]
        ends = np.unique(np.concatenate([ends, middles]))
    segments = order[: n_blocks * block].reshape(n_blocks, block)
    while segments.shape[1] > 2 and segments.shape[1] % 2 == 0:  # down to pairs, all blocks at once
        inside = rows[segments]
        widest = np.argmax(np.ptp(inside, axis=1), axis=1)
        features = np.take_along_axis(inside, widest[:, None, None], axis=2)[..., 0]
        ranks = np.argsort(features, axis=1, kind="stable")
        segments = np.take_along_axis(segments, ranks, axis=1).reshape(-1, segments.shape[1] // 2)
    order[: n_blocks * block] = segments.ravel()
    return order


def _survivors(rows: FloatArray, weights: FloatArray, kernel: Kernel, gamma: float) -> np.ndarray:
    """Which of each pair goes on, 0 or 1, in each of several blocks; rows (n_blocks, block, n_features).

    To keep the first of a pair changes the sum of kernels by ``w2 (k1 - k2)``, to keep the second by ``-w1 (k1 - k2)``.
    Of the two the one is taken that leaves the smaller norm of all changes so far, over all weightings.
    """
    rows = rows - rows.mean(axis=1, dtype=np.float64, keepdims=True)  # so that no digits are lost
    sq_norms = (rows**2).sum(axis=2)
    sq_dist = sq_norms[:, :, None] + sq_norms[:, None, :] - 2 * rows @ rows.transpose(0, 2, 1)
    kernels = np.exp(kernel.log(np.maximum(sq_dist, 0), gamma))
    across = kernels[:, 0::2] - kernels[:, 1::2]
    products = across[:, :, 0::2] - across[:, :, 1::2]  # of k1 - k2 of all pairs
    of_first, of_second = weights[..., 1::2], -weights[..., 0::2]  # (n_weightings, n_blocks, n_pairs)
    kept = np.zeros(of_first.shape[1:], dtype=np.int64)
    with_changes = np.zeros(of_first.shape)  # products of all changes so far with each pair's difference
    for pair in range(products.shape[1]):
        one, other = of_first[..., pair], of_second[..., pair]
        so_far, own = with_changes[..., pair], products[:, pair, pair]
        gain = 2 * (other - one) * so_far + (other**2 - one**2) * own
        kept[:, pair] = gain.sum(axis=0) < 0
        with_changes += np.where(kept[:, pair], other, one)[..., None] * products[:, pair]
    return kept
