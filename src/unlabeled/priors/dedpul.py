"""DEDPUL (Ivanov, 2020): the prior from the ratio of two densities of a score."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.score_based import ScorePrior
from unlabeled.samples import Sample
from unlabeled.scoring.ratio import Kernels

N_GRID = 512
#: Where no unlabeled row is near, the ratio is as good as infinite.
LARGEST_LOG_RATIO = 300.0
#: Below it no unlabeled row is anywhere near a positive.
SMALLEST_INTEGRAL = 1e-9
MAX_ITERATIONS, TOLERANCE = 2000, 1e-6


class DedpulPrior(ScorePrior):
    """Prior from the densities of the positives' and the unlabeled rows' scores (Ivanov, 2020).

    The ratio r = f_p / f_u of the densities of honest scores, made monotone, gives P(y=1 | score) = share * r, which
    cannot exceed 1: the share is at most one over the largest ratio. The largest of many noisy ratios is too large, so
    ``method="ratio"`` (the default) takes the largest share for which at most ``eta`` of the positives' mass lies
    above that bound. ``method="em"`` iterates share <- mean over the unlabeled rows of min(1, share * r), from 1
    downwards, to the largest share that agrees with its own posteriors; it uses no ``eta`` and is biased downwards.

    Parameters
    ----------
    method : {"ratio", "em"}, default="ratio"
    eta : float in (0, 1), default=0.02
        The share of the positives' mass that may lie above the bound, for ``method="ratio"``.
    estimator, n_folds, scenario, max_evaluations, engine, n_jobs, random_state, pos_label, verbose
        As for `BestBinPrior`.

    Attributes
    ----------
    prior_, honest_scores_
        As for `BestBinPrior`.

    Notes
    -----
    The plan is Ivanov's: scores by a classifier that did not see the row, kernel densities of them, their ratio at the
    unlabeled rows made smooth and monotone, the bound by the largest ratio, and the iteration of ``method="em"``. This
    library's own are:

    - the rule of ``eta``. Ivanov's relaxed bound takes a quantile of the ratios in place of the largest; his preferred
      estimate is the iteration, and where it finds nothing but 0 the kink of share - mean posterior;
    - ranks as the scale of the densities, where Ivanov has log odds, so that scores of any scale will do;
    - a bandwidth by the rule of thumb (1.06 standard deviations times n^-0.2), where Ivanov has fixed ones, and mass
      beyond the ends folded back;
    - a running maximum over all scores as the only smoothing, where Ivanov has one on the side of the positives, and
      running medians;
    - the WMMD scores, and ``method="em"`` without the kink: it answers near 0 where the iteration does.

    What Ivanov has is read off the program that he released. Errors published for DEDPUL are not those of this class.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import DedpulPrior
    >>> round(float(DedpulPrior().fit(data.X, data.y).prior_), 2)  # in truth 0.5
    0.41
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str = "ratio",
        eta: float = 0.02,
        n_folds: int = 5,
        scenario: str = "case-control",
        max_evaluations: int | None = 20_000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            n_folds=n_folds,
            scenario=scenario,
            max_evaluations=max_evaluations,
            engine=engine,
            n_jobs=n_jobs,
            random_state=random_state,
            pos_label=pos_label,
            verbose=verbose,
        )
        self.method = method
        self.eta = eta

    def _share(self, scores: HonestScores) -> float:
        if self.method not in {"em", "ratio"}:
            raise ValueError(f"method={self.method!r} is not known; use 'ratio' or 'em'.")
        if not 0 < self.eta < 1:
            raise ValueError(f"eta must lie strictly between 0 and 1; got {self.eta!r}.")
        weights = scores.unlabeled_weights / scores.n_unlabeled
        ratio = density_ratio(scores, self.engine, self.n_jobs)
        integral = ratio @ weights  # f_p is a density: its integral is the mean of the ratio over the unlabeled rows
        if integral < SMALLEST_INTEGRAL:
            return 0.0
        ratio /= integral
        return _fixed_point(ratio, weights) if self.method == "em" else _corrected_bound(ratio, weights, self.eta)


def _corrected_bound(ratio: FloatArray, weights: FloatArray, eta: float) -> float:
    """The largest share with mean of (ratio - 1/share)+ at most eta: that mean falls as 1/share grows."""
    if np.maximum(ratio - 1, 0) @ weights <= eta:
        return 1.0
    return float(1 / brentq(lambda bound: np.maximum(ratio - bound, 0) @ weights - eta, 1, ratio.max()))


def _fixed_point(ratio: FloatArray, weights: FloatArray) -> float:
    share = 1.0
    for _ in range(MAX_ITERATIONS):
        update = float(np.minimum(1, share * ratio) @ weights)
        if share - update < TOLERANCE:
            break
        share = update
    return share


def density_ratio(scores: HonestScores, engine: str = "auto", n_jobs: int | None = None) -> FloatArray:
    """f_p / f_u at each unlabeled score, not falling in the score.

    Scores are turned into ranks first, so that f_u is nearly flat and one bandwidth fits all of it.
    """
    ranks = _weighted_ranks(
        np.concatenate([scores.positive, scores.unlabeled]),
        np.concatenate([scores.positive_weights, scores.unlabeled_weights]),
        scores.rounding,
    )
    n_positive = len(scores.positive)
    grid = np.linspace(0, 1, N_GRID)
    densities = [
        _density(grid, ranks[part], weights, engine, n_jobs)
        for part, weights in (
            (slice(None, n_positive), scores.positive_weights),
            (slice(n_positive, None), scores.unlabeled_weights),
        )
    ]
    on_grid = np.exp(np.minimum(np.maximum.accumulate(densities[0] - densities[1]), LARGEST_LOG_RATIO))
    return np.interp(ranks[n_positive:], grid, on_grid)


def _weighted_ranks(values: FloatArray, weights: FloatArray, rounding: float) -> FloatArray:
    """Ranks in (0, 1), the mean rank for ties, equal up to rounding; a weight of 2 ranks as the value twice."""
    _, place = np.unique(np.round(values / rounding), return_inverse=True)
    of_place = np.bincount(place, weights)
    upper = np.cumsum(of_place)
    return np.asarray(((upper - (of_place - 1) / 2) / (upper[-1] + 1))[place])


def _density(grid: FloatArray, points: FloatArray, weights: FloatArray, engine: str, n_jobs: int | None) -> FloatArray:
    """Log density on [0, 1] by a Gaussian kernel, the mass beyond each end folded back."""
    spread = np.sqrt(np.average((points - np.average(points, weights=weights)) ** 2, weights=weights))
    bandwidth = max(1.06 * spread * weights.sum() ** -0.2, 1e-3)
    folded = Sample(np.concatenate([-points, points, 2 - points])[:, None], np.log(np.tile(weights, 3)))
    kernels = Kernels("rbf", np.array([1 / (2 * bandwidth**2)]), engine, n_jobs)
    return kernels.log_sums(grid[:, None], folded)[0] - np.log(weights.sum())
