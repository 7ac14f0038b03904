"""The score of the WMMD classifier, the ratio of two kernel means: at any point, and at rows that are left out of it.

Notation of the paper (labels in brackets are those of its source): the population has distribution P_X with empirical
sample ``unlabeled``, the positives P_{X|Y=1} with sample ``positive``. All sums are taken in the log domain, so a point
far from all data gets a finite score, decided by its nearest neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.engines import Choice, checked_log_kernel_sums, choose_engine
from unlabeled.kernels import Kernel, as_kernel
from unlabeled.samples import PUSample, Sample


@dataclass(frozen=True)
class Kernels:
    """How kernel sums are taken: the kernel, its gammas, and the engine."""

    kernel: str | Kernel
    gammas: FloatArray
    engine: str = "auto"
    n_jobs: int | None = None
    exact: bool = False
    floor: float = 0.0

    def only(self, index: int) -> Kernels:
        """One of the gammas."""
        return replace(self, gammas=self.gammas[index : index + 1])

    def log_sums(
        self, queries: FloatArray, sample: Sample, own: np.ndarray | None = None, among: np.ndarray | None = None
    ) -> FloatArray:
        """Log of the weighted kernel sums over a sample (n_gammas, n_queries), or over the rows at some places of it.

        ``own`` then counts these.
        """
        if among is None:
            return sample.reduced(partial(_log_sums_of_part, kernels=self, queries=queries, own=own), np.logaddexp)
        log_weights = None if sample.log_weights is None else sample.log_weights[among]
        return self.log_sums_over(queries, sample.rows, log_weights, own, among)

    def log_sums_over(
        self,
        queries: FloatArray,
        points: FloatArray,
        log_weights: FloatArray | None,
        own: np.ndarray | None = None,
        among: np.ndarray | None = None,
    ) -> FloatArray:
        """The same over points with weights; with several weightings (n_weightings, n_gammas, n_queries)."""
        return checked_log_kernel_sums(
            queries,
            points,
            as_kernel(self.kernel),
            self.gammas,
            log_weights,
            own,
            self.engine,
            exact=self.exact,
            n_jobs=self.n_jobs,
            among=among,
        )


def _log_sums_of_part(
    part: Sample, start: int, kernels: Kernels, queries: FloatArray, own: np.ndarray | None
) -> FloatArray:
    here = None if own is None else own_in_part(own, start, len(part))
    return kernels.log_sums_over(queries, part.rows, part.log_weights, here)


def own_in_part(own: np.ndarray, start: int, n_rows: int) -> np.ndarray:
    """Where in a part of a sample the own rows of queries are; -1 for a query whose own row is elsewhere."""
    return np.where((own >= start) & (own < start + n_rows), own - start, -1)


def engine_of_fit(engine: str, kernel: str | Kernel, pu: PUSample, n_features: int) -> Choice:
    """The engine that the largest sums of a fit would go to, those of all rows to all rows, and why."""
    n_rows = len(pu.positive) + len(pu.unlabeled)
    return choose_engine(engine, kernel=kernel, n_queries=n_rows, n_points=n_rows, n_features=n_features)


def log_scores(queries: FloatArray, pu: PUSample, kernels: Kernels) -> FloatArray:
    """Log of the WMMD score lambda(z), the ratio of two kernel means [prop:MMD_emp]; (n_gammas, n_queries).

    lambda(z) = mean over positives of k(z, x) / mean over the population of k(z, x). A floor of the kernels is added
    to the mean over positives.
    """
    positive = kernels.log_sums(queries, pu.positive)
    unlabeled = kernels.log_sums(queries, pu.unlabeled)
    if kernels.floor:  # of the mean, and these are sums
        positive = np.logaddexp(positive, np.log(kernels.floor * pu.positive.total))
    return log_ratio(pu, positive, unlabeled, pu.positive.total, pu.unlabeled.total)


def loo_log_scores(
    pu: PUSample,
    kernels: Kernels,
    positive_places: np.ndarray | None = None,
    unlabeled_places: np.ndarray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Leave-one-out log scores of both samples: each row is scored without (one unit of) itself.

    An unlabeled row leaves the population's mean. A positive leaves the positives' mean, and in the single-sample
    scenario, where it is a member of the population too, the population's mean as well.
    Some rows may be chosen to be scored; all stay in the sums. Both arrays are (n_gammas, n_rows).
    """
    positive_places = np.arange(len(pu.positive)) if positive_places is None else positive_places
    unlabeled_places = np.arange(len(pu.unlabeled)) if unlabeled_places is None else unlabeled_places
    queries = pu.positive.rows_of(positive_places)
    of_positives = log_ratio(
        pu,
        kernels.log_sums(queries, pu.positive, own=positive_places),
        kernels.log_sums(queries, pu.unlabeled),
        pu.positive.total - np.minimum(1, pu.positive.weights_of(positive_places)),
        pu.unlabeled.total,
    )
    queries = pu.unlabeled.rows_of(unlabeled_places)
    of_unlabeled = log_ratio(
        pu,
        kernels.log_sums(queries, pu.positive),
        kernels.log_sums(queries, pu.unlabeled, own=unlabeled_places),
        pu.positive.total,
        pu.unlabeled.total - np.minimum(1, pu.unlabeled.weights_of(unlabeled_places)),
    )
    return of_positives, of_unlabeled


def log_ratio(
    pu: PUSample,
    positive: FloatArray,
    unlabeled: FloatArray,
    n_positive: float | FloatArray,
    n_unlabeled: float | FloatArray,
) -> FloatArray:
    """Log of the ratio of means, from log sums over both samples and the weights they were taken over."""
    if pu.positives_in_population:
        unlabeled, n_unlabeled = np.logaddexp(unlabeled, positive), n_unlabeled + n_positive
    return (positive - np.log(n_positive)) - (unlabeled - np.log(n_unlabeled))


def against_population(log_ratios: FloatArray, labelled_share: float) -> FloatArray:
    """Log ratios of positives and unlabeled rows, as those of positives and the population that has a labelled share.

    In the case-control scenario that share is 0, and they are the same.
    """
    if labelled_share == 0:
        return log_ratios
    return log_ratios - np.logaddexp(log_ratios + np.log(labelled_share), np.log1p(-labelled_share))


@dataclass(frozen=True)
class Ratio:
    """A log ratio of two kernel means, and its weight in the score."""

    weight: float
    gamma: float
    numerator: Sample
    denominator: Sample

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # and not what is made of them

    def log(self, queries: FloatArray, kernels: Kernels) -> FloatArray:
        """The log ratio at some points."""
        kernels = replace(kernels, gammas=np.array([self.gamma]))
        above, below = self.numerator, self.denominator
        if above.rows is below.rows:  # weighted in two ways
            of_above, of_below = kernels.log_sums_over(queries, above.rows, self._log_weights)[:, 0]
        else:
            of_above, of_below = (kernels.log_sums(queries, sample)[0] for sample in (above, below))
        return of_above - of_below - self._log_totals

    @cached_property
    def _log_weights(self) -> FloatArray:
        return np.array(
            [
                np.zeros(len(sample)) if sample.log_weights is None else sample.log_weights
                for sample in (self.numerator, self.denominator)
            ]
        )

    @cached_property
    def _log_totals(self) -> float:
        return float(np.log(self.numerator.total) - np.log(self.denominator.total))

    @property
    def n_rows(self) -> int:
        """How many kernels the ratio takes."""
        return len(self.numerator) + (0 if self.numerator.rows is self.denominator.rows else len(self.denominator))


def log_score(ratios: Sequence[Ratio], queries: FloatArray, kernels: Kernels) -> FloatArray:
    """The weighted sum of log ratios."""
    return np.asarray(sum(ratio.weight * ratio.log(queries, kernels) for ratio in ratios))
