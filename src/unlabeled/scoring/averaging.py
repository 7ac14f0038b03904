"""The mean of many least-squares ratios, each weighted by how far it sets positives apart from unlabeled rows.

Of many kernels and penalties the best by leave-one-out is, with few positives, the luckiest. The mean of all of them,
each in units of its own spread, leaves less to luck: it is better by up to three points of AUC where positives are few.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy.special import softmax

from unlabeled.arrays import FloatArray, beside, on_host
from unlabeled.deciding.scores import HonestScores
from unlabeled.engines import kernel_matrix
from unlabeled.engines.matrices import placing
from unlabeled.engines.threads import on_threads
from unlabeled.kernels import Kernel, Linear
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.landmarks import Features, chunks
from unlabeled.scoring.least_squares import LeastSquares, Moments, SampleMoments
from unlabeled.scoring.scaling import Scaling
from unlabeled.scoring.selection import some_places

#: Penalties in units of the features' total variance in the population: from hardly any to all that is left is the
#: difference of the two means.
RELATIVE_PENALTIES: FloatArray = np.geomspace(1e-3, 1e3, 7)
#: Gammas in units of one over the median squared distance: a factor of 4 apart, since their mean is taken.
RELATIVE_GAMMAS: FloatArray = np.exp2([-2, 0, 2, 4])
#: The one kernel in two steps: more of them would cost where density says nothing.
TWO_STEP_GAMMA = 4.0

#: A lead of half a standard error multiplies the odds of two weights by e.
SHARPNESS = 2.0
#: A kernel whose ratios have less weight together is left out, so that new rows need not be compared by it.
LEAST_WEIGHT = 0.05
#: The most rows of each sample that kernels and penalties are weighed by.
WEIGHING_ROWS = 2_000
#: The most that the mean ratio of the positives is stretched to: more than one over the prior it cannot be.
LARGEST_RATIO = 1e3
#: Ratios that tell nothing are shrunk to 1 nearly, not quite, so that their order stays.
_SMALLEST_SLOPE = 1e-6


def separations(ratios: HonestScores) -> FloatArray:
    """Difference of the mean over positives and over unlabeled rows, in standard errors (n_ratios,).

    The scale of a ratio does not matter. The variance is the mean of that of both samples.
    """
    (p_mean, p_variance), (u_mean, u_variance) = (
        _mean_and_variance(ratios.positive, ratios.positive_weights),
        _mean_and_variance(ratios.unlabeled, ratios.unlabeled_weights),
    )
    sizes = 1 / ratios.n_positive + 1 / ratios.n_unlabeled
    errors = np.sqrt((p_variance + u_variance) / 2 * sizes)
    return np.divide(p_mean - u_mean, errors, out=np.zeros_like(errors), where=errors > 0)


def weights_of(ratios: HonestScores) -> FloatArray:
    """The weight of each ratio in the mean; the sum is 1."""
    return np.asarray(softmax(SHARPNESS * separations(ratios)))


def multipliers(ratios: HonestScores, weights: FloatArray) -> FloatArray:
    """What to multiply each ratio, less 1, by: so that the sum is again a ratio less 1.

    In units of their spread the ratios have these weights, and the sum is stretched as least squares would have it. A
    single one stays as it is.
    """
    if len(weights) == 1:
        return np.ones(1)
    less_1 = ratios.mapped(1.0, -1.0)
    rises = np.abs(less_1.positive @ less_1.positive_mass)
    # A population that hardly varies beside that has no positives in it, and its spread is rounding.
    spreads = np.maximum([one.spread for one in ratios.each()], rises / LARGEST_RATIO)
    in_units = weights / spreads
    mean = less_1.weighted_sum(in_units)
    square, rise = mean.population**2 @ mean.population_mass, mean.positive @ mean.positive_mass
    slope = rise / max(square, rise**2 / LARGEST_RATIO) if rise > 0 else 0.0
    return np.asarray(max(slope, _SMALLEST_SLOPE) * in_units)


def _mean_and_variance(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = np.average(values, axis=-1, weights=weights)
    return mean, np.average((values - mean[:, None]) ** 2, axis=-1, weights=weights)


@dataclass(frozen=True)
class KernelChoice:
    """A kernel in some units, and the penalties to try with it; None: some in units of the features' variance."""

    scaling: Scaling
    features: Features
    penalties: FloatArray | None
    engine: str = "auto"

    def fit(
        self, scaled: PUSample, labelled_share: float, moments: Moments | None = None
    ) -> tuple[LeastSquares, HonestScores]:
        """The ratios of samples in these units, and those of the same rows by fits without them.

        ``moments`` are given where these rows are some of those that are fitted to.
        """
        features = scaled.mapped(self._features_of)
        fit = LeastSquares.of(moments or Moments.of(features, labelled_share))
        return fit, fit.honest_ratios(features, self.penalties_for(fit), labelled_share)

    def moments_of(self, scaled: Sample) -> SampleMoments:
        """Moments of a sample in these units, of which few rows are features at a time."""
        parts = (
            scaled.take(np.arange(len(scaled))[part]) for part in chunks(len(scaled), len(self.features.landmarks))
        )
        return reduce(SampleMoments.merged, (SampleMoments.of(part.mapped(self._features_of)) for part in parts))

    def _features_of(self, rows: FloatArray) -> FloatArray:
        place = placing(self.engine, len(rows), len(self.features.landmarks), rows.shape[1])
        found: FloatArray = on_host(self.features.of(place(rows)))
        return found

    def penalties_for(self, fit: LeastSquares) -> FloatArray:
        """The penalties that a fit is solved for."""
        return RELATIVE_PENALTIES * fit.total_variance if self.penalties is None else self.penalties


#: The moments that kernels are fitted by.
MomentsOf = Callable[[Sequence[KernelChoice]], list[Moments]]


def moments_of_all(kernels: Sequence[KernelChoice], pu: PUSample, labelled_share: float) -> list[Moments]:
    """The moments of all rows of two samples, wherever these are, at the landmarks of some kernels."""
    positive, unlabeled = (
        sample.reduced(partial(_moments_of_part, kernels=kernels), _merged_moments)
        for sample in (pu.positive, pu.unlabeled)
    )
    return [Moments.joined(*both, labelled_share) for both in zip(positive, unlabeled, strict=True)]


def _moments_of_part(part: Sample, start: int, kernels: Sequence[KernelChoice]) -> list[SampleMoments]:  # noqa: ARG001
    scaled = {each.scaling.name: part.mapped(each.scaling.apply) for each in kernels}
    return [each.moments_of(scaled[each.scaling.name]) for each in kernels]


def _merged_moments(one: list[SampleMoments], other: list[SampleMoments]) -> list[SampleMoments]:
    return [first.merged(second) for first, second in zip(one, other, strict=True)]


def fit_all(
    kernels: Sequence[KernelChoice],
    pu: PUSample,
    labelled_share: float,
    n_threads: int,
    moments: Sequence[Moments] | None = None,
) -> tuple[list[LeastSquares], HonestScores]:
    """Fit each kernel, so many at once; and honest ratios of the rows, of all kernels and penalties."""
    scaled = {each.scaling.name: each.scaling.apply_to_samples(pu) for each in kernels}
    given: Sequence[Moments | None] = moments or [None] * len(kernels)
    to_fit = list(zip(kernels, given, strict=True))
    found = on_threads(
        lambda each: each[0].fit(scaled[each[0].scaling.name], labelled_share, each[1]), to_fit, n_threads
    )
    fits, ratios = zip(*found, strict=True)
    positive, unlabeled = (np.concatenate([getattr(r, name) for r in ratios]) for name in ("positive", "unlabeled"))
    return list(fits), replace(ratios[0], positive=positive, unlabeled=unlabeled)


@dataclass(frozen=True)
class Weighed:
    """Kernels in use, their fits, honest ratios of the rows, one kernel after the other, and the weights of these.

    ``weights`` are (n_kernels, n_penalties).
    """

    kernels: list[KernelChoice]
    fits: list[LeastSquares]
    ratios: HonestScores
    weights: FloatArray

    @classmethod
    def of(
        cls,
        kernels: Sequence[KernelChoice],
        pu: PUSample,
        labelled_share: float,
        n_threads: int = 1,
        moments_of: MomentsOf | None = None,
    ) -> Weighed:
        """Weigh kernels and penalties on some of the rows, leave out kernels of little weight, and fit the others.

        ``labelled_share`` is that of the table: of rows that were thinned out it is another. ``moments_of`` are those
        of more rows than these.
        """
        places = some_places(pu, WEIGHING_ROWS, np.random.RandomState(0))
        fits, ratios = fit_all(kernels, pu.take(*places), labelled_share, n_threads)
        weights = weights_of(ratios).reshape(len(kernels), -1)
        of_kernels = weights.sum(axis=1)
        kept = np.flatnonzero((of_kernels >= LEAST_WEIGHT) | (of_kernels == of_kernels.max()))
        chosen, weights = [kernels[place] for place in kept.tolist()], weights[kept] / weights[kept].sum()
        if moments_of is not None:
            return cls(chosen, *fit_all(chosen, pu, labelled_share, n_threads, moments_of(chosen)), weights)
        if len(places[0]) < len(pu.positive) or len(places[1]) < len(pu.unlabeled):
            return cls(chosen, *fit_all(chosen, pu, labelled_share, n_threads), weights)
        of_kept = np.arange(ratios.n_scores).reshape(len(kernels), -1)[kept].ravel()
        return cls(chosen, [fits[place] for place in kept.tolist()], ratios.some(of_kept), weights)

    def table(self) -> list[dict[str, Any]]:
        """Units, gamma, penalty and weight of each ratio."""
        return [
            {
                "scale": each.scaling.name,
                "gamma": each.features.gamma,
                "penalty": float(penalty),
                "weight": float(weight),
            }
            for each, fit, row in zip(self.kernels, self.fits, self.weights, strict=True)
            for penalty, weight in zip(each.penalties_for(fit), row, strict=True)
        ]


@dataclass(frozen=True)
class KernelSum:
    """A function: kernels between a row, in some units, and the landmarks, multiplied by coefficients and summed."""

    scaling: Scaling
    landmarks: FloatArray
    kernel: Kernel | Linear
    gammas: FloatArray | None  # None for the linear kernel
    coefficients: FloatArray  # (n_gammas or 1, n_landmarks)

    @classmethod
    def of(cls, kernels: Sequence[KernelChoice], directions: Sequence[FloatArray]) -> KernelSum:
        """The sum of inner products of directions and features of kernels that have units and landmarks in common."""
        first = kernels[0].features
        gammas = None if first.gamma is None else np.array([each.features.gamma for each in kernels])
        coefficients = [each.features.coefficients(to) for each, to in zip(kernels, directions, strict=True)]
        return cls(kernels[0].scaling, first.landmarks, first.kernel, gammas, np.array(coefficients))

    def at(self, rows: FloatArray, engine: str = "auto") -> FloatArray:
        """The values at some rows, which come in the units of the table."""
        found, place = np.empty(len(rows)), placing(engine, len(rows), self.coefficients.size, rows.shape[1])
        for part in chunks(len(rows), self.coefficients.size):
            scaled = place(self.scaling.apply(rows[part]))
            values = kernel_matrix(scaled, self.landmarks, self.kernel, self.gammas)
            of_gammas = zip(values, beside(values, self.coefficients), strict=True)
            found[part] = on_host(sum(of_gamma @ multiplied_by for of_gamma, multiplied_by in of_gammas))
        return found


@dataclass(frozen=True)
class MeanRatio:
    """A ratio as a function of rows: 1 plus a constant plus kernel sums."""

    sums: tuple[KernelSum, ...]
    constant: float

    @classmethod
    def of(cls, weighed: Weighed, multiplied_by: FloatArray) -> MeanRatio:
        """1 plus the sum of ratios less 1, multiplied by numbers (n_kernels, n_penalties)."""
        kernels, fits = weighed.kernels, weighed.fits
        directions = [
            fit.direction(each.penalties_for(fit), row)
            for each, fit, row in zip(kernels, fits, multiplied_by, strict=True)
        ]
        constant = -sum(float(fit.center @ direction) for fit, direction in zip(fits, directions, strict=True))
        sums = []
        for scaling in dict.fromkeys(each.scaling.name for each in kernels):
            here = [place for place, each in enumerate(kernels) if each.scaling.name == scaling]
            sums.append(KernelSum.of([kernels[i] for i in here], [directions[i] for i in here]))
        return cls(tuple(sums), constant)

    def at(self, rows: FloatArray, engine: str = "auto") -> FloatArray:
        """The ratio at some rows."""
        return np.asarray(1 + self.constant + sum(each.at(rows, engine) for each in self.sums))
