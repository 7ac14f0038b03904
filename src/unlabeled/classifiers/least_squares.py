"""The ratio of densities fitted by least squares in a kernel's space: closed form, for boundaries that are curved."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from unlabeled.arrays import FloatArray
from unlabeled.deciding.choice_of_negatives import check_choice
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.engines.choosing import choose_for_matrices
from unlabeled.engines.threads import n_threads
from unlabeled.kernels import Kernel, Linear, as_gammas, as_grid, as_inner_product
from unlabeled.priors import PriorEstimator, ResolvedPrior, check_prior, resolve_prior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.averaging import (
    RELATIVE_GAMMAS,
    TWO_STEP_GAMMA,
    KernelChoice,
    MeanRatio,
    MomentsOf,
    Weighed,
    multipliers,
)
from unlabeled.scoring.cross_fitting import FEW_ROWS
from unlabeled.scoring.forms import form_of
from unlabeled.scoring.landmarks import Features, Landmarks, PlainFeatures, TwoStepFeatures
from unlabeled.scoring.least_squares import log_or_less
from unlabeled.scoring.scaling import (
    SCALINGS,
    Scaling,
    different_scalings,
    has_squares,
    median_sq_distance,
    refuse_without_distances,
    refuse_without_squares,
    standardised,
)
from unlabeled.scoring.selection import some_places
from unlabeled.stages import stage


class LeastSquaresPUClassifier(ScoreDecisions, BaseEstimator):
    """Closed-form classifier that fits the ratio of densities, for classes that lie around or inside each other.

    `WMMDClassifier` divides two kernel means, which smooths. This one solves for the function of the kernel's space
    that is nearest to p(x | y = 1) / p(x) in the mean square: it is the maximiser of the paper's metric over another
    ball of functions (`unlabeled.wipm.FisherBall`), one eigendecomposition gives it for all penalties, and its
    leave-one-out scores are closed form as well. Kernels of several widths and several penalties are averaged, each
    weighted by how far its leave-one-out scores set positives apart from unlabeled rows; nothing is selected, so that
    a few positives cannot select what they happen to like.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it; see `WMMDClassifier`.
    kernel : {"auto", "rbf", "inverse", "linear"} or a kernel, default="auto"
        "linear" is for more features than rows: the ratio is then a weighted sum of the features, of a sparse table of
        what these are reduced to. "auto": "linear" there, if gamma is "auto" too, and else "rbf".
    gamma : "auto", float or sequence of floats, default="auto"
        Gammas of the kernels to average. "auto": four around one over the median squared distance of the population's
        rows, and one more kernel that goes two steps; see Notes. The linear kernel has none.
    penalty : "auto", float or sequence of floats, default="auto"
        What the squared norm of the function is multiplied by. "auto": seven, from a thousandth to a thousand times
        the variance of the kernel's features in the population. One gamma and one penalty: the ratio is the maximiser
        of `FisherBall` itself, with the threshold "bayes" its sign.
    scale : {"auto", "standard", "none"}, default="auto"
        Units of the features. "standard": mean 0 and variance 1 in the population. "none": as they are. "auto": both,
        averaged as kernels are, if ``gamma`` and ``penalty`` are "auto"; "none" if you give one of them.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`.
    max_landmarks : int, default=200
        The most rows that kernels are centred at. With no more different rows than that the solution is exact.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        Where the kernels between rows and landmarks are computed: with "triton" on a CUDA card, with "auto" there
        where they are many, else on the processor. Float64 all the same.
    max_evaluations : int or None, default=10000
        The most rows of each sample, chosen at random, that are fitted to and given honest scores: the ratio has as
        many coefficients as there are landmarks, which more rows hardly make any better.
    random_state : int, RandomState or None, default=None
        Used by the choice of rows beyond ``max_evaluations``.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.
    pos_label : optional
        The value of y that marks labelled positives, where that is not plain from the values.
    negative : optional
        The value of y that marks rows known to be negative, see Notes of `PUClassifier`; None: there are none.
    negatives_are : {"auto", "random", "selected"} or float in [0, 1], default="auto"
        How far the known negatives are a random choice of all negatives, and so have a say in the prior. "auto":
        random, unless a check contradicts it.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    ratio_ : MeanRatio
        The ratio as a function of rows: a constant and kernels at the landmarks.
    kernels_ : list of dict
        What was averaged: "scale", "gamma", "penalty" and "weight" of each ratio that is in use.
    landmarks_ : array of shape (n_landmarks,)
        The training rows that kernels are centred at, as numbers of rows of the table.
    form_ : Completion or Reduction
        What makes rows complete and dense: how missing values are filled in, or what sparse rows are reduced to.
    column_means_ : array of shape (n_columns,)
        Of what ``form_`` makes of rows: means of the features over those rows of the population that have them, and 0
        for columns that tell of missing values.
    prior_, threshold_ : float
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    calibration_ : Calibration
        P(y = 1 | score).
    known_negatives_ : KnownNegatives or None
        How known negatives enter the score, and whether they look like a random choice; None without any.
    honest_scores_ : HonestScores
        Scores of positives and unlabeled rows by fits without them, and which rows these are.
    engine_, engine_reason_ : str
        "triton" where kernels between rows and landmarks were computed on a card, "reference" where by NumPy; and why.
    n_features_in_ : int
    n_missing_ : array of shape (`n_features_in_`,)
        How many values of each feature were missing in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.

    Notes
    -----
    Missing values (NaN) and sparse tables are taken as `WMMDClassifier` takes them.

    A ratio by least squares can be negative. `score_samples` is its log from 1/4 on; below, a curve that goes on
    falling. The threshold "bayes", ratio above 1 / (2 prior), never lies below 1/2.

    One of the kernels averaged by default goes from x to y in two steps, by way of any row z: the mean over z of
    k(x, z) k(z, y). It knows how dense rows are, and so needs few positives to find a class in the middle of another.

    Far from all rows that it was fitted to, where kernels vanish, the ratio is a constant, which may lie on either side
    of the threshold: it says nothing of such a row. (The linear kernel goes on rising instead.)

    ``sample_weight`` of whole numbers are frequencies: a weight of 2 equals the row twice, in leave-one-out too.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import LeastSquaresPUClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 4))
    >>> inside = (X**2).sum(axis=1) < 3.4
    >>> y = inside & (rng.uniform(size=600) < 0.4)
    >>> model = LeastSquaresPUClassifier(0.5, scenario="single-sample").fit(X, y)
    >>> bool(np.mean(model.predict(X) == inside) > 0.85)
    True
    """

    _takes_missing = True
    _takes_sparse = True
    _takes_tensors = True
    engine: str = "auto"  # what models that were saved before have

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        kernel: str | Kernel | Linear = "auto",
        gamma: str | float | tuple[float, ...] = "auto",
        penalty: str | float | tuple[float, ...] = "auto",
        scale: str = "auto",
        threshold: Policy = "calibrated",
        max_landmarks: int = 200,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        pos_label: Any = None,
        negative: Any = None,
        negatives_are: str | float = "auto",
    ) -> None:
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.penalty = penalty
        self.scale = scale
        self.threshold = threshold
        self.max_landmarks = max_landmarks
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.verbose = verbose
        self.pos_label = pos_label
        self.negative = negative
        self.negatives_are = negatives_are

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_parameters(pu)
        scalings, fitted = self._complete(pu)
        n_rows, n_columns = len(fitted.positive) + len(fitted.unlabeled), fitted.positive.rows.shape[1]
        shape = {"n_queries": n_rows, "n_points": min(n_rows, self.max_landmarks), "n_features": n_columns}
        choice = choose_for_matrices(self.engine, **shape)
        self.engine_, self.engine_reason_ = choice.name, choice.reason
        # Small matrices gain nothing from threads, and on a busy machine these wait for each other most of the time.
        # So one kernel has one thread, and several kernels are fitted at once.
        few = len(fitted.unlabeled) <= FEW_ROWS
        with threadpool_limits(1 if few else None, user_api="blas"):
            with stage("landmarks"):
                kernel = self._kernel(pu, fitted)
                kernels = self._kernel_choices(self._usable(scalings, fitted, kernel), fitted, kernel)
            with stage("kernels and penalties"):
                at_once = n_threads(None) if few and choice.name != "triton" else 1
                scores = self._average(kernels, fitted, pu.labelled_share, at_once)
        with stage("prior"):
            self.prior_, self.prior_estimator_ = prior or resolve_prior(self.prior, pu, scores, engine=self.engine)
        with stage("calibration"):
            self._decide(scores)
        return self

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log of the ratio at validated rows, where it is not near 0 or below."""
        return self.score_complete(self.form_.apply(rows))

    def score_complete(self, rows: FloatArray) -> FloatArray:
        """What `score_rows` answers for rows that ``form_`` was applied to."""
        return log_or_less(self.ratio_.at(rows, self.engine))

    def density_ratio(self, X: ArrayLike) -> FloatArray:
        """The estimate of p(x | y = 1) / p(x) itself; its mean over the population is 1, and it may be negative.

        Examples
        --------
        >>> from unlabeled import LeastSquaresPUClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = LeastSquaresPUClassifier(prior=0.5).fit(data.X, data.y)
        >>> ratio = model.density_ratio(data.unlabeled)
        >>> bool(abs(ratio.mean() - 1) < 0.05)
        True
        """
        rows = self._validated(X)
        return self.ratio_.at(self.form_.apply(rows), self.engine)

    def _check_parameters(self, pu: PUSample) -> None:
        kernel = as_inner_product("rbf" if _is_auto(self.kernel) else self.kernel)
        if isinstance(kernel, Linear) and not _is_auto(self.gamma):
            raise ValueError(f"The linear kernel has no gamma; got gamma={self.gamma!r}. Leave it at 'auto'.")
        if not (isinstance(self.scale, str) and self.scale in ("auto", *SCALINGS)):
            raise ValueError(f"scale={self.scale!r} is not known; use one of {['auto', *SCALINGS]}.")
        if (
            not isinstance(self.max_landmarks, Integral)
            or isinstance(self.max_landmarks, bool)
            or self.max_landmarks < 1
        ):
            raise ValueError(f"max_landmarks must be a whole number above 0; got {self.max_landmarks!r}.")
        check_threshold(self.threshold)
        check_choice(self.negatives_are)
        check_max_evaluations(self.max_evaluations)
        check_prior(self.prior, pu)

    # --- kernels, penalties, and their mean ---

    def _complete(self, pu: PUSample) -> tuple[list[Scaling], PUSample]:
        """Units of complete rows, and the samples to fit to: complete, and no more rows than may be."""
        self.form_ = form_of(pu)
        scalings = different_scalings(self._scalings(), pu, self.form_)
        self.column_means_ = standardised(pu, self.form_).center
        places = some_places(pu, self.max_evaluations, check_random_state(self.random_state))
        return [replace(scaling, form=None) for scaling in scalings], pu.take(*places).mapped(self.form_.apply)

    def _usable(self, scalings: list[Scaling], pu: PUSample, kernel: Kernel | Linear) -> list[Scaling]:
        """Units in which the kernel has values: as they are, features may be too large or too small to be squared."""
        in_units = [scaling for scaling in scalings if scaling.center is not None]
        if isinstance(kernel, Linear):  # infinitely far is a distance, and no inner product
            if has_squares(pu):
                return scalings
            if not in_units:
                refuse_without_squares(pu, self)
            return in_units
        if not in_units:
            refuse_without_distances(pu, self)
        return scalings

    def _kernel_choices(self, scalings: list[Scaling], pu: PUSample, kernel: Kernel | Linear) -> list[KernelChoice]:
        """Each kernel in each kind of units, at the same landmarks."""
        standard = standardised(pu)  # in which landmarks are chosen, whatever the units
        landmarks = Landmarks.of(standard.apply_to_samples(pu), self.max_landmarks)
        self.landmarks_ = np.concatenate([pu.positive.row_numbers, pu.unlabeled.row_numbers])[landmarks.places]
        rows = np.concatenate([pu.positive.rows, pu.unlabeled.rows])[landmarks.places]
        penalties = None if _is_auto(self.penalty) else as_grid(self.penalty, "penalty")
        return [
            KernelChoice(scaling, features, penalties, self.engine)
            for scaling in scalings
            for features in self._features(
                landmarks.with_rows(scaling.apply(rows).astype(np.float64, copy=False)),
                kernel,
                scaling.apply_to_samples(pu).population,
                two_steps=scaling is scalings[0],
            )
        ]

    def _scalings(self) -> tuple[str, ...]:
        if self.scale != "auto":
            return (self.scale,)
        return ("standard", "none") if _is_auto(self.gamma) and _is_auto(self.penalty) else ("none",)

    def _features(
        self, landmarks: Landmarks, kernel: Kernel | Linear, population: Sample, *, two_steps: bool
    ) -> list[Features]:
        if isinstance(kernel, Linear):
            return [PlainFeatures.at(landmarks, kernel, None)]
        if not _is_auto(self.gamma):
            return [PlainFeatures.at(landmarks, kernel, float(gamma)) for gamma in as_gammas(self.gamma)]
        median = median_sq_distance(population)
        gammas = kernel.sharpness(RELATIVE_GAMMAS / median)
        found: list[Features] = [PlainFeatures.at(landmarks, kernel, float(gamma)) for gamma in gammas]
        if two_steps:
            found.append(TwoStepFeatures.at(landmarks, kernel, float(kernel.sharpness(TWO_STEP_GAMMA / median))))
        return found

    def _kernel(self, pu: PUSample, fitted: PUSample) -> Kernel | Linear:
        """The kernel for a table, of which rows are fitted to that are complete and, if they were sparse, reduced."""
        if not _is_auto(self.kernel):
            return as_inner_product(self.kernel)
        n_columns = max(each.positive.rows.shape[1] for each in (pu, fitted))
        is_wide = n_columns > fitted.population.n_observations
        return as_inner_product("linear" if is_wide and _is_auto(self.gamma) else "rbf")

    def _moments_of(self, fitted: PUSample) -> MomentsOf | None:  # noqa: ARG002
        """What gives the moments of more rows than these; None: they are all there are to fit to."""
        return None

    def _average(self, kernels: list[KernelChoice], pu: PUSample, labelled_share: float, at_once: int) -> HonestScores:
        """Weigh all ratios, keep the function that is their mean, and answer with its honest scores."""
        weighed = Weighed.of(kernels, pu, labelled_share, at_once, self._moments_of(pu))
        multiplied_by = multipliers(weighed.ratios, weighed.weights.ravel())
        self.ratio_ = MeanRatio.of(weighed, multiplied_by.reshape(weighed.weights.shape))
        self.kernels_ = weighed.table()
        return (
            weighed.ratios.mapped(1.0, -1.0)
            .weighted_sum(multiplied_by)
            .mapped_by(lambda less_1: log_or_less(1 + less_1))
        )


def _is_auto(value: object) -> bool:
    return isinstance(value, str) and value == "auto"
