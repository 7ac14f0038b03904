"""Fewer rows to score by, of rows in partitions: each is thinned where it is, and what is left is merged and thinned.

Some rows are put aside, as on one machine. At these the log ratio by the thinned rows is compared with the one by all
others, which takes one pass of kernel sums over the partitions; what is thinned further, here, is measured here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.distributed.samples import DistributedSample
from unlabeled.samples import PUSample, Sample, some_rows
from unlabeled.scoring.compression import COPIES, N_CHECKED, Compression, Points, Target, check_target, thinned
from unlabeled.scoring.ratio import Kernels, Ratio, own_in_part

#: Partitions are thinned to this many rows, or to this many times as many as are asked for.
FIRST_SIZE, FIRST_TIMES = 20_000, 4


def check_compress(target: Target | None) -> None:
    """Refuse, before any work, what a table in partitions cannot be compressed to."""
    check_target(target)
    if isinstance(target, str):
        raise ValueError(  # noqa: TRY004  # a string that is one of several values
            f"compress={COPIES!r} looks for copies in one place. Use a whole number of rows, as in compress=10_000."
        )


def compress_partitions(
    pu: PUSample, ratio: Ratio, of_rounds: Sequence[Ratio], target: Target, kernels: Kernels
) -> Compression:
    """Compress a ratio whose denominator is in partitions, with the ratios of rounds, which are here."""
    check_compress(target)
    unlabeled = pu.unlabeled
    if not isinstance(unlabeled, DistributedSample):
        raise TypeError("The unlabeled rows are not in partitions.")
    n_before = len(ratio.numerator) + len(pu.population) + sum(one.n_rows for one in of_rounds)
    aside = some_rows(len(unlabeled), min(N_CHECKED, len(unlabeled) // 2), np.random.RandomState(0))
    most = max(FIRST_SIZE, FIRST_TIMES * int(target)) if isinstance(target, Integral) else FIRST_SIZE
    thin = partial(_thinned, aside=aside, most=most, gamma=ratio.gamma, kernels=kernels)
    rest = unlabeled.reduced(thin, partial(_thinned_both, most=most, gamma=ratio.gamma, kernels=kernels))
    change = _changes(pu, unlabeled, aside, rest.samples[0], ratio, kernels)
    kept = Points.of(unlabeled.take(aside)).joined(rest).samples[0]
    here = replace(ratio, denominator=replace(pu, unlabeled=kept).population)
    largest, mean = float(change.max(initial=0)), float(change.mean()) if len(change) else 0.0
    if not isinstance(target, Integral):
        target = _what_is_left(float(target), largest)
    found = Compression.of([here, *of_rounds], target, kernels)
    return replace(
        found,
        n_rows_before=n_before,
        largest_change=found.largest_change + largest,
        mean_change=found.mean_change + mean,
    )


def _what_is_left(target: float, largest: float) -> float:
    if largest >= target:
        raise ValueError(
            f"compress={target:g} cannot be met: where partitions are thinned the log ratio changes by up to "
            f"{largest:.3g} already. Ask for more than that, or for a number of rows, as in compress=50_000."
        )
    return target - largest


def _thinned(part: Sample, start: int, aside: np.ndarray, most: int, gamma: float, kernels: Kernels) -> Points:
    """The rows of a part but those put aside, thinned."""
    here = own_in_part(aside, start, len(part))
    others = np.setdiff1d(np.arange(len(part)), here[here >= 0])
    return thinned(Points.of(part.take(others)), most, gamma, kernels)


def _thinned_both(one: Points, other: Points, most: int, gamma: float, kernels: Kernels) -> Points:
    return thinned(one.joined(other), most, gamma, kernels)


def _changes(
    pu: PUSample, unlabeled: DistributedSample, aside: np.ndarray, rest: Sample, ratio: Ratio, kernels: Kernels
) -> FloatArray:
    """By how much the log ratio changes at the rows put aside: all but these, against what is left of them."""
    queries = unlabeled.rows_of(aside)
    kernels = replace(kernels, gammas=np.array([ratio.gamma]))
    without = partial(_sums_without, aside=aside, queries=queries, kernels=kernels)
    exact = unlabeled.reduced(without, np.logaddexp)
    few = kernels.log_sums(queries, rest)
    if pu.positives_in_population:
        of_positives = kernels.log_sums(queries, pu.positive)
        exact, few = np.logaddexp(exact, of_positives), np.logaddexp(few, of_positives)
    return ratio.weight * np.abs(exact - few)[0]


def _sums_without(part: Sample, start: int, aside: np.ndarray, queries: FloatArray, kernels: Kernels) -> FloatArray:
    here = own_in_part(aside, start, len(part))
    others = part.take(np.setdiff1d(np.arange(len(part)), here[here >= 0]))
    return kernels.log_sums_over(queries, others.rows, others.log_weights)
