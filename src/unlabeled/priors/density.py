"""The paper's density-based prior (appendix D.1)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.scores import HonestScores
from unlabeled.kernels import PAPER_GAMMAS, RBF, Kernel, as_gammas, as_kernel
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.priors.row_based import RowPrior
from unlabeled.samples import PUSample
from unlabeled.scoring.forms import complete
from unlabeled.scoring.ratio import Kernels
from unlabeled.scoring.scaling import has_distances, refuse_large_values
from unlabeled.scoring.selection import loo_scores, misclassification_risks


class DensityPrior(RowPrior):
    """The paper's density-based prior on leave-one-out scores, at the gamma that the WMMD classifier would choose.

    Parameters
    ----------
    kernel : {"rbf", "inverse"} or a kernel, default="rbf"
    gamma : float or sequence of floats, default=(1, 0.4, 0.2, 0.1, 0.05)
        Each gamma has its own estimate, which enters its own risk; the estimate with the least risk counts.
    eta : float in (0, 1), default=0.1
        The share of positives whose bound may be broken.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    max_evaluations : int or None, default=20000
        The most rows of each sample that are scored. All stay in the sums.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How the kernel sums are computed.
    n_jobs : int or None, default=None
        Threads for the kernel sums.
    random_state : int, RandomState or None, default=0
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    gamma_ : float
        The gamma it was read at; not there after `fit_scores`.

    Notes
    -----
    As ``prior`` of a classifier that has scores of its own, and unless it was given a kernel or gammas, it reads these
    scores (`fit_scores`), as in the paper.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import DensityPrior
    >>> round(float(DensityPrior().fit(data.X, data.y).prior_), 2)  # in truth 0.5
    0.6
    """

    def __init__(
        self,
        *,
        kernel: str | Kernel = "rbf",
        gamma: float | tuple[float, ...] = PAPER_GAMMAS,
        eta: float = 0.1,
        scenario: str = "case-control",
        max_evaluations: int | None = 20_000,
        engine: str = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.eta = eta
        self.scenario = scenario
        self.max_evaluations = max_evaluations
        self.engine = engine
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pos_label = pos_label
        self.verbose = verbose

    @property
    def reads_scores(self) -> bool:
        """Whether a classifier should give it its own honest scores: unless it was given a kernel or gammas."""
        return as_kernel(self.kernel) == RBF() and np.array_equal(self.gamma, PAPER_GAMMAS)

    def fit_scores(self, scores: HonestScores) -> Self:
        """Estimate the prior from honest scores against the population that a classifier has already."""
        for name in {"gamma_", "_sample"} & set(vars(self)):  # of an earlier fit to rows
            delattr(self, name)
        self.honest_scores_, self.labelled_share_ = scores, scores.labelled_share
        self.prior_ = self._of_scores(scores)
        return self

    def _scores_at_hand(self) -> HonestScores:
        return self.honest_scores_ if hasattr(self, "honest_scores_") else super()._scores_at_hand()

    def _of_scores(self, scores: HonestScores) -> float:
        return max(float(density_prior(scores.positive, scores.positive_weights, self.eta)[0]), scores.labelled_share)

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        if hasattr(self, "honest_scores_"):  # of an earlier fit to scores
            del self.honest_scores_
        return super()._unlabeled_share(pu, rng)

    def _share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        check_max_evaluations(self.max_evaluations)
        gammas, pu = as_gammas(self.gamma), complete(pu)
        if not has_distances(pu):
            refuse_large_values(pu, self)
        scores = loo_scores(pu, Kernels(self.kernel, gammas, self.engine, self.n_jobs), self.max_evaluations, rng)
        priors = np.maximum(density_prior(scores.positive, scores.positive_weights, self.eta), pu.labelled_share)
        best = int(np.argmin(misclassification_risks(scores, priors)))
        self.gamma_ = float(gammas[best])
        # The scores are against the population, so this is its prior; the contract asks for the unlabeled share.
        return float((priors[best] - pu.labelled_share) / (1 - pu.labelled_share))


def density_prior(log_scores: FloatArray, weights: FloatArray | None = None, eta: float = 0.1) -> FloatArray:
    """Estimate the prior from scores of positives that took no part in their own score, for each gamma.

    The score estimates p(x | y=1) / p(x), and prior * p(x | y=1) <= p(x) everywhere, so each 1 / score is an upper
    bound of the prior, up to its own error. The estimate is the largest t in (0, 1) such that at most a share ``eta``
    of the positives has ``1 / score <= t``: the first value of the ordered 1 / score at which that share is exceeded.

    It is an upper bound in the limit: it reaches the prior only where some region is purely positive, and wide kernels,
    which pull all scores to 1, pull the estimate towards 1. When every such value is at or above 1, the
    supremum is 1: the sample says nothing against all of the population being positive.

    Parameters
    ----------
    log_scores : array of shape (n_gammas, n_positive)
        Leave-one-out or held-out log scores of positives.
    weights : array of shape (n_positive,), optional
        How often each counts.
    eta : float in (0, 1)
        The share of positives whose bound may be broken; 0.1 in the paper.

    Returns
    -------
    priors : array of shape (n_gammas,)
        In (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.priors import density_prior
    >>> log_scores = np.log([[1.0, 1.6, 2.0, 2.0, 2.5]])  # (n_gammas, n_positive)
    >>> density_prior(log_scores)
    array([0.4])
    """
    if not 0 < eta < 1:
        raise ValueError(f"eta must lie strictly between 0 and 1; got {eta!r}.")
    log_bounds = -np.atleast_2d(log_scores)
    weights = np.ones(log_bounds.shape[1]) if weights is None else np.asarray(weights)
    order = np.argsort(log_bounds, axis=1)
    # Ten positives and eta = 0.1: exactly one may lie at or below t. The slack keeps rounding from deciding that.
    exceeded = np.cumsum(weights[order], axis=1) > eta * weights.sum() * (1 + 1e-12)
    first = np.argmax(exceeded, axis=1)
    log_prior = np.take_along_axis(log_bounds, np.take_along_axis(order, first[:, None], axis=1), axis=1)[:, 0]
    # A held-out positive that outweighs the population beyond the range of a float must not give a prior of 0.
    return np.exp(np.clip(log_prior, np.log(np.finfo(np.float64).tiny), 0.0))
