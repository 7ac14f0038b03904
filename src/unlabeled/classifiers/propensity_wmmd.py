"""The ratio of kernel means for labels that were not given at random, once it is known how they were given.

Labelled positives are a sample of e(x) p(x | y = 1), e(x) = P(labelled | x, y = 1). Weighted by 1 / e they are one of
p(x | y = 1), and the ratio of their weighted kernel mean to that of the population is what it is with labels at random.
Only the proportions of e matter.

These weights are no frequencies. They are scaled to a maximum of 1, so that leave-one-out drops all of a row, and where
the number of positives counts, the effective one stands for it: (sum of weights)^2 / (sum of squared weights). In the
single-sample scenario a labelled row has its weight among the positives and counts once in the population, whose prior
is at least the share of labelled rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.propensity_em import PropensityEMClassifier, places_of_columns
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.kernels import as_gammas, as_kernel
from unlabeled.priors import PriorEstimator, ResolvedPrior, check_prior, resolve_prior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.samples import PUSample, Sample, are_counts, some_rows
from unlabeled.scoring.ratio import Kernels, Ratio
from unlabeled.scoring.scaling import gamma_grid, standardised
from unlabeled.scoring.selection import JUDGING_ROWS, averaged_with_neighbours, first_of_best, log_likelihoods
from unlabeled.stages import stage

#: Smaller propensities count as this much of the largest one: a single row could outweigh all others.
SMALLEST_SHARE = 0.02

Propensity = float | Callable[[FloatArray], ArrayLike] | PropensityEMClassifier


class PropensityWMMDClassifier(ScoreDecisions, BaseEstimator):
    """Closed-form classifier for labels given with known or estimated propensities.

    Parameters
    ----------
    propensity : float, callable or `PropensityEMClassifier`, optional
        P(labelled | x, y = 1). A callable is given the rows of the labelled positives, of a data frame with words the
        features that are made of it, and answers with one number in (0, 1] each; only the proportions matter. A
        `PropensityEMClassifier` is fitted to the table, and so is one with all columns where nothing is given. A number
        means labels at random.
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population, as for `WMMDClassifier`. Estimates see the weighted positives.
    gamma : "auto", float or sequence of floats, default="auto"
        As for `WMMDClassifier`, for standardised features.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    max_evaluations : int or None, default=10000
        The most rows of each sample that are given honest scores.
    random_state : int, RandomState or None, default=None
        For the choice of rows beyond ``max_evaluations``.
    n_jobs : int or None, default=None
        Threads for the kernel sums.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    propensities_ : array of shape (n_labelled,)
        Those of the labelled positives, in their order, after clipping.
    propensity_estimator_ : PropensityEMClassifier or None
        The one that they are from, where they were estimated.
    n_effective_ : float
        How many positives labelled at random would be worth as much.
    gamma_ : float
        The chosen gamma.
    ratio_ : Ratio
        The weighted positives and the population, in standardised units.
    scaling_ : Scaling
        These units.
    prior_, threshold_ : float
    prior_estimator_ : prior estimator or None
        Where one was asked for, fitted.
    calibration_ : Calibration
        P(y = 1 | score).
    honest_scores_ : HonestScores
        Scores of the labelled positives, weighted, and of the population, which has the labelled rows too in the
        single-sample scenario; each row without itself.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import PropensityWMMDClassifier
    >>> from unlabeled.datasets import ByColumn, draw_pu
    >>> rng = np.random.RandomState(0)
    >>> truth = rng.uniform(size=2000) < 0.5
    >>> X = rng.normal(size=(2000, 2)) + 4 * truth[:, None] * np.array([1, 0])
    >>> how = {"scenario": "single-sample", "propensity": ByColumn(1, 0.3), "random_state": 0}
    >>> data = draw_pu(X, truth, 0, 600, 400, 0.5, **how)
    >>> model = PropensityWMMDClassifier(lambda rows: 1 / (1 + np.exp(-2 * rows[:, 1])), scenario="single-sample")
    >>> bool(np.mean((model.fit(data.X, data.y).predict(data.test) == 1) == data.test_truth) > 0.9)
    True
    """

    _takes_missing = True
    verbose: bool = False
    calibration = "monotone"

    def __init__(
        self,
        propensity: Propensity | None = None,
        *,
        prior: float | str | PriorEstimator = "auto",
        gamma: str | float | tuple[float, ...] = "auto",
        threshold: Policy = "calibrated",
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.propensity = propensity
        self.prior = prior
        self.gamma = gamma
        self.threshold = threshold
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.pos_label = pos_label
        self.verbose = verbose

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        check_threshold(self.threshold)
        check_max_evaluations(self.max_evaluations)
        check_prior(self.prior, pu)
        with stage("propensities"):
            self.propensities_ = _clipped(self._propensities_of(pu))
        shares = self.propensities_.min() / self.propensities_
        self.n_effective_ = effective_number(shares, pu.positive.weights)
        self.scaling_ = standardised(pu)
        two = WeightedSamples.of(self.scaling_.apply_to_samples(pu), shares)
        rng = check_random_state(self.random_state)
        places = tuple(some_rows(n, self.max_evaluations, rng) for n in (len(shares), len(two.population)))
        with stage("gamma"):
            self.gamma_ = self._best_gamma(two, places)
        scores = self._honest_scores(two, places, as_gammas(self.gamma_)).at(0)
        with stage("prior"):
            # The scores are of positives and the whole population, and cannot tell that labelled rows are part of it.
            how: dict[str, Any] = {"least": pu.labelled_share, "engine": self.engine, "n_jobs": self.n_jobs}
            self.prior_, self.prior_estimator_ = prior or resolve_prior(self.prior, two.pu, scores, **how)
        self._decide(scores)
        self.ratio_ = Ratio(1.0, self.gamma_, two.positive, two.population)
        return self

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log of the ratio of the two kernel means at validated rows."""
        return self.ratio_.log(self.scaling_.apply(rows), self._kernels(as_gammas(self.gamma_)))

    def _propensities_of(self, pu: PUSample) -> FloatArray:
        """P(labelled | x, y = 1) of the labelled positives: as known, or as estimated."""
        self.propensity_estimator_: PropensityEMClassifier | None = None
        rows, known = pu.positive.rows, self.propensity
        if known is None or isinstance(known, PropensityEMClassifier):
            estimator = PropensityEMClassifier() if known is None else clone(known)
            self.propensity_estimator_ = estimator.set_params(scenario=self.scenario)
            self._fit_estimator(self.propensity_estimator_, pu)
            return self.propensity_estimator_.propensities(rows)
        check_propensity(known)
        if callable(known):
            return checked_propensities(known(rows), len(rows))
        return np.full(len(rows), float(known))

    def _fit_estimator(self, estimator: PropensityEMClassifier, pu: PUSample) -> None:
        """Fit it to the samples, which have features and no names: its columns are those of the table."""
        if estimator.columns is not None:
            names = getattr(self, "feature_names_in_", ())
            places = places_of_columns(estimator.columns, pu.positive.rows.shape[1], names, self.encoder_)
            estimator.set_params(columns=places.tolist())
        estimator.fit_sample(pu)

    def _best_gamma(self, two: WeightedSamples, places: tuple[np.ndarray, ...]) -> float:
        automatic = isinstance(self.gamma, str) and self.gamma == "auto"
        gammas = gamma_grid(two.pu, as_kernel("rbf")) if automatic else as_gammas(self.gamma)
        rng = np.random.RandomState(0)
        judged = tuple(rows[some_rows(len(rows), JUDGING_ROWS, rng)] for rows in places)
        worth = log_likelihoods(self._honest_scores(two, judged, gammas))
        return float(gammas[first_of_best(averaged_with_neighbours(worth) if automatic else worth)])

    def _honest_scores(self, two: WeightedSamples, places: tuple[np.ndarray, ...], gammas: FloatArray) -> HonestScores:
        """Leave-one-out scores of some of the weighted positives and of the population."""
        of_positive, of_population = places
        kernels, single = self._kernels(gammas), self.scenario == "single-sample"
        # In the single-sample scenario the labelled rows are the first of the population.
        in_positive = np.where(single & (of_population < len(two.shares)), of_population, -1)
        in_population = of_positive if single else np.full(len(of_positive), -1)
        weights = two.shares[of_positive] * two.counts[of_positive]
        n_effective = effective_number(two.shares[of_positive], two.counts[of_positive])
        return HonestScores(
            two.log_ratios(two.positive.rows[of_positive], of_positive, in_population, kernels),
            two.log_ratios(two.population.rows[of_population], in_positive, of_population, kernels),
            weights * (n_effective / weights.sum()),
            two.population.effective_weights[of_population],
            0.0,
            two.positive.row_numbers[of_positive],
            two.population.row_numbers[of_population],
        )

    def _kernels(self, gammas: FloatArray) -> Kernels:
        return Kernels("rbf", gammas, self.engine, self.n_jobs)


@dataclass(frozen=True)
class WeightedSamples:
    """Weighted positives and the population.

    A labelled row that counts several times is there as a single observation and, after all rows, once more with the
    rest of its weight, so that leave-one-out drops one observation, whatever its weight.
    """

    positive: Sample
    population: Sample
    shares: FloatArray  # the weight of one observation of each labelled row, at most 1
    counts: FloatArray  # how often each counts

    @classmethod
    def of(cls, pu: PUSample, shares: FloatArray) -> WeightedSamples:
        """The samples, an observation of each labelled row weighing its share."""
        counts = pu.positive.weights
        more = np.flatnonzero(counts > 1)
        rows = pu.positive.take(np.concatenate([np.arange(len(counts)), more]))
        observations = np.concatenate([np.minimum(1, counts), counts[more] - 1])
        weights = observations * np.concatenate([shares, shares[more]])
        return cls(replace(rows, log_weights=np.log(weights)), pu.population, shares, counts)

    @property
    def pu(self) -> PUSample:
        """As two samples, the second of which is the population."""
        return PUSample(self.positive, self.population)

    def log_ratios(
        self, queries: FloatArray, own_positive: np.ndarray, own_population: np.ndarray, kernels: Kernels
    ) -> FloatArray:
        """Log ratios of queries without (one observation of) their own rows; -1: a query has none there."""
        means = []
        for sample, own in ((self.positive, own_positive), (self.population, own_population)):
            totals = sample.total - np.where(own >= 0, np.minimum(1, sample.weights[own]), 0)
            means.append(kernels.log_sums(queries, sample, own) - np.log(totals))
        return means[0] - means[1]


def effective_number(shares: FloatArray, counts: FloatArray) -> float:
    """How many observations of equal weight tell a mean as well as these, each of which weighs its share.

    Weights that are no counts are no numbers of observations, but part of what each row weighs.
    """
    squared = shares**2 @ (counts if are_counts(counts) else counts**2)
    return float((shares @ counts) ** 2 / squared)


def check_propensity(known: Any) -> None:
    """Refuse what is no propensity: neither a probability above 0, nor a function, nor an estimator."""
    if isinstance(known, Real) and not isinstance(known, bool):
        checked_propensities([float(known)], 1)
    elif not (callable(known) or isinstance(known, PropensityEMClassifier)):
        shown = f"an array of shape {np.shape(known)}" if np.ndim(known) else repr(known)
        raise ValueError(  # noqa: TRY004
            f"propensity={shown} is not known; use a number, a function that is given the rows of the labelled "
            "positives and answers with one number for each, or a PropensityEMClassifier."
        )


def checked_propensities(found: ArrayLike, n_rows: int) -> FloatArray:
    """Propensities that somebody gave, unless they are none."""
    values = np.asarray(found, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(f"propensity answered with shape {values.shape}, expected {(n_rows,)}: one a row.")
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            f"A propensity is a probability in (0, 1]: a positive that is never labelled cannot be. Got "
            f"{values[~((values > 0) & (values <= 1))][:3]}."
        )
    return values


def _clipped(propensities: FloatArray) -> FloatArray:
    least = SMALLEST_SHARE * propensities.max()
    small = propensities < least
    if small.any():
        warnings.warn(
            f"{small.sum():,} of {len(small):,} labelled positives have a propensity below {SMALLEST_SHARE:g} of the "
            f"largest, and are taken to have that, {least:.2g}: else a few rows would outweigh all others.",
            stacklevel=4,
        )
    return np.maximum(propensities, least)
