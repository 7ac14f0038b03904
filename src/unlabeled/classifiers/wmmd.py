"""The WMMD classifier as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.deciding.choice_of_negatives import check_choice
from unlabeled.deciding.decision import CALIBRATIONS, ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.kernels import PAPER_GAMMAS, Kernel, as_gammas, as_kernel
from unlabeled.priors import DensityPrior, PriorEstimator, ResolvedPrior, check_prior, reads_scores, resolve_prior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.samples import PUSample
from unlabeled.scoring.candidate import Candidate
from unlabeled.scoring.compression import Compression, Target, check_target
from unlabeled.scoring.copies import Copies, once_each, without_copies
from unlabeled.scoring.folds import Folds
from unlabeled.scoring.ratio import Kernels, Ratio, engine_of_fit, log_score, log_scores
from unlabeled.scoring.scaling import (
    SCALINGS,
    Scaling,
    different_scalings,
    gamma_grid,
    refuse_without_distances,
)
from unlabeled.scoring.selection import (
    CRITERIA,
    SELECTIONS,
    averaged_with_neighbours,
    first_of_best,
    holdout_scores,
    judging,
    judging_points,
    log_likelihoods,
    loo_scores_at,
    misclassification_risks,
    some_places,
)
from unlabeled.scoring.smoothing import Round, Smoothing, SumsByFold, Voters, scored_places
from unlabeled.scoring.witness import Witness
from unlabeled.stages import stage

#: What the prior is, with one of several scores.
PriorOf = Callable[[HonestScores], ResolvedPrior]
#: Rounds of smoothing by default.
N_ROUNDS = 2


class WMMDClassifier(ScoreDecisions, BaseEstimator):
    """Closed-form classifier from positive and unlabeled data (after Kwon, Kim, Sugiyama and Paik, 2020).

    A point is scored by the ratio of two kernel means, over the labelled positives and over the population. Nothing is
    trained: fitting chooses the units of the features and the kernel's gamma, by leave-one-out scores of the data,
    and from the same scores reads the prior, the threshold and the probabilities. `WMMDClassifier.paper` is the
    configuration of the paper.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it. ``"auto"`` estimates it from the classifier's own scores
        (`AutoPrior`), ``"density"`` likewise by the paper's density-based method (`DensityPrior`). ``"best-bin"``,
        ``"dedpul"``, ``"km1"``, ``"km2"``, ``"elkan-noto"`` or an estimator of `unlabeled.priors` estimate it from the
        rows, beforehand.
    kernel : {"rbf", "inverse"} or a kernel, default="rbf"
        ``exp(-gamma |x - y|^2)`` or ``gamma / (gamma + |x - y|^2)``.
    gamma : "auto", float or sequence of floats, default="auto"
        One gamma, or the grid to choose from; of equally good ones the first wins. "auto": 12 gammas around one over
        the median squared distance of the population's rows.
    scale : {"auto", "standard", "none"}, default="auto"
        Units of the features. "standard": mean 0 and variance 1 in the population. "none": as they are. "auto":
        whichever of the two scores better, if ``gamma`` is "auto"; "none" if you give gammas.
    criterion : {"likelihood", "risk"}, default="likelihood"
        What gamma and units are chosen by: how well the score tells positives from the population, whatever its scale,
        or the paper's estimated error rate at the threshold 1 / (2 prior).
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed. "calibrated": where the recalibrated P(y = 1 | x) is 1/2. "prevalence": such that as
        many of the population are called positive as the prior says. "bayes": ratio above 1 / (2 prior), the paper's
        rule. A number: on the scale of `score_samples`. `Costs`, `TargetRecall`, `TargetPrecision` of
        `unlabeled.deciding.thresholds`: what you want to have.
    calibration : {"monotone", "ratio"}, default="monotone"
        Probabilities recalibrated from the honest scores, or the paper's ``prior * ratio`` cut off at 1.
    selection : {"loo", "holdout"}, default="loo"
        Where honest scores come from: each row against all others, or the paper's 80/20 random split, after which the
        classifier keeps the 80 %.
    smoothing : "auto" or int, default="auto"
        How often rows of the population pass their probabilities on to their neighbours; see Notes. 0: the score is
        the ratio of the paper. "auto": 2, but 0 where you give gammas, a hold-out, the threshold "bayes" or the
        calibration "ratio", which all speak of that ratio.
    refit : bool, default=False
        With ``selection="holdout"``, use all of the data for the classifier once gamma is chosen.
    floor : float, default=0.0
        Added to the kernel mean over the positives. 1e-8 with `paper` is what the paper's authors released. Where both
        means are far below it, the fewer unlabeled rows are near, the higher is the score: a row far from all data
        is called positive. Only with ``selection="holdout"``, case-control, no smoothing and no compression.
    compress : {None, "copies"}, int or float, default=None
        What new rows are scored by. None: all training rows. "copies": equal rows merged into one with their weight,
        which is exact. An int: at most so many rows of each sample, by kernel thinning. A float: as few rows as change
        the log ratio by at most so much, measured at 1,000 rows of each sample. See also `compressed`. Of the fit to
        known negatives all rows stay, and what is measured is the change before these come in.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Case-control: the unlabeled rows are a sample of the population (the paper's two samples). Single-sample: one
        sample of the population, some of whose positives are labelled; labelled and unlabeled rows together are
        the population.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How the kernel sums are computed, never what they are.
    max_evaluations : int or None, default=10000
        The most rows of each sample, chosen at random, that are given honest scores and pass probabilities on. All
        stay in the first ratio.
    random_state : int, RandomState or None, default=None
        Used by the random split, and by the choice of rows beyond ``max_evaluations``.
    n_jobs : int or None, default=None
        Threads for the kernel sums. None: all cores, or one inside a joblib worker thread.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.
    exact : bool, default=False
        Take all kernel sums in float64. Otherwise large ones may be off by a millionth.
    negative : optional
        The value of y that marks rows known to be negative, see Notes of `PUClassifier`; None: there are none.
    negatives_are : {"auto", "random", "selected"} or float in [0, 1], default="auto"
        How far the known negatives are a random choice of all negatives, and so have a say in the prior. "auto":
        random, unless a check contradicts it.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives. `predict` answers in them.
    prior_ : float
        The prior in use: as given, or as estimated.
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    gamma_ : float
        The chosen gamma.
    rounds_ : tuple of Round
        The rounds of smoothing: gamma, log-probabilities of the rows that pass them on (those of ``honest_scores_``
        that belong to the population), and weight in the score. Empty without smoothing, or with too few different
        rows.
    compression_ : Compression or None
        What new rows are scored by instead of all training rows, how many these are, and what that changed.
    scaling_ : Scaling
        The chosen units; ``scaling_.name`` is "standard" or "none". ``scaling_.form`` is what came before: how missing
        values were filled in, or what sparse rows were reduced to.
    gammas_, criteria_ : arrays of shape (n_gammas,)
        The grid in these units, and what each gamma was judged by: larger is better (a risk with its sign changed).
    priors_ : array of shape (n_gammas,) or None
        The prior that went into each gamma's risk, with ``criterion="risk"`` only.
    threshold_ : float
        What `score_samples` is compared with.
    calibration_ : Calibration or None
        P(y = 1 | score); None where it is ``prior * ratio``.
    known_negatives_ : KnownNegatives or None
        How known negatives enter the score, and whether they look like a random choice; None without any.
    honest_scores_ : HonestScores
        Scores of positives and unlabeled rows without themselves, at the chosen gamma, and which rows these are.
    engine_ : str
        The engine of the largest sums of the fit; "auto" chooses for each.
    engine_reason_ : str
        Why it is this one.
    sample_ : PUSample
        The labelled positives and the unlabeled rows that the ratio is made of, in the chosen units.
    n_features_in_ : int
    n_missing_ : array of shape (`n_features_in_`,)
        How many values of each feature were missing in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    ``docs/accuracy`` shows what each default is worth, and on which data it was chosen.

    A missing value (NaN) is the feature's median for distances, and a column more tells that it was missing; a sparse
    table is reduced to 100 columns by a truncated singular value decomposition. `unlabeled.scoring.forms` says why.

    Labelled positives are few and the population is plentiful. Smoothing gives rows of the population their
    probability by the ratio of kernel means, without themselves, and scores by a second such ratio, in which these rows
    weighted by their probabilities stand in for the labelled positives; then once more. The score is the mean of the
    three logs, each in units of its spread. `unlabeled.scoring.smoothing` says how that is kept honest.

    Without smoothing the score needs no prior: a known prior only enters the likelihood that chooses gamma, as a bound
    of the ratio, 1 / prior.

    ``sample_weight`` of whole numbers are frequencies: a weight of 2 equals the row twice, in leave-one-out too.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import WMMDClassifier
    >>> rng = np.random.default_rng(0)
    >>> positive = rng.normal(+1, 1, (100, 2))
    >>> unlabeled = np.vstack([rng.normal(+1, 1, (200, 2)), rng.normal(-1, 1, (200, 2))])
    >>> X = np.vstack([positive, unlabeled])
    >>> y = np.r_[np.ones(100), np.zeros(400)]
    >>> model = WMMDClassifier(prior=0.5).fit(X, y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1., 0.])
    """

    _takes_missing = True
    _takes_sparse = True
    _takes_tensors = True
    # What models that were saved before these existed have.
    compress: Target | None = None
    verbose: bool = False
    exact: bool = False
    floor: float = 0.0
    compression_: Compression | None = None
    # What is made of the rest when it is first needed, and neither copied nor saved: it holds rows once more.
    _witness: Witness | None = None
    _without_copies: tuple[PUSample, list[Ratio]] | None = None

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        kernel: str | Kernel = "rbf",
        gamma: str | float | tuple[float, ...] = "auto",
        scale: str = "auto",
        criterion: str = "likelihood",
        threshold: Policy = "calibrated",
        calibration: str = "monotone",
        selection: str = "loo",
        smoothing: str | int = "auto",
        refit: bool = False,
        floor: float = 0.0,
        compress: Target | None = None,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
        negative: Any = None,
        negatives_are: str | float = "auto",
        verbose: bool = False,
        exact: bool = False,
    ) -> None:
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.scale = scale
        self.criterion = criterion
        self.threshold = threshold
        self.calibration = calibration
        self.selection = selection
        self.smoothing = smoothing
        self.refit = refit
        self.floor = floor
        self.compress = compress
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.pos_label = pos_label
        self.negative = negative
        self.negatives_are = negatives_are
        self.verbose = verbose
        self.exact = exact

    @classmethod
    def paper(
        cls,
        prior: float | str | PriorEstimator = "density",
        *,
        kernel: str | Kernel = "rbf",
        random_state: int | np.random.RandomState | None = None,
        **options: Any,
    ) -> Self:
        """The configuration of the paper's appendix D.1; ``options`` override it.

        Features as they are, hold-out selection of gamma from {1, 0.4, 0.2, 0.1, 0.05} by the estimated error rate, the
        classifier keeping 80 % of the data, the threshold 1 / (2 prior), and the density-based prior where the prior is
        not given. Two things are not the paper's to the letter: of more than 20,000 held-out rows of a sample, 20,000
        chosen at random judge gamma (``max_evaluations=None`` takes all), and where kernels underflow the score stays
        exact (``floor=1e-8`` is what its authors released).

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, prior=0.5, random_state=0)
        >>> far = [[40.0, 40.0], [-40.0, -40.0]]
        >>> for floor in (0.0, 1e-8):
        ...     model = WMMDClassifier.paper(0.5, floor=floor, random_state=0).fit(data.X, data.y)
        ...     print(model.predict(far))
        [1 0]
        [1 1]
        """
        settings: dict[str, Any] = {
            "gamma": PAPER_GAMMAS,
            "scale": "none",
            "criterion": "risk",
            "threshold": "bayes",
            "calibration": "ratio",
            "selection": "holdout",
            "smoothing": 0,
            "max_evaluations": 20_000,
        }
        return cls(prior, kernel=kernel, random_state=random_state, **(settings | options))

    def _learn(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        if pu.negative is not None and self.selection == "holdout":
            raise ValueError(
                "Known negatives need scores of all rows by both fits, and selection='holdout' scores a fifth of them, "
                "another one each time; use selection='loo'."
            )
        super()._learn(pu, prior)
        if self.compress is not None:
            with stage("compression"):  # last: known negatives come in by scores of all rows
                self.compression_ = self._compression(self.compress)
        return self

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_parameters(pu)
        choice = engine_of_fit(self.engine, self.kernel, pu, pu.positive.rows.shape[1])
        self.engine_, self.engine_reason_ = choice.name, choice.reason
        prior_of = self._prior_of(pu, prior)
        with stage("units and gamma"):
            candidates = self._candidates(pu, prior_of)
            chosen = candidates[first_of_best([candidate.criteria.max() for candidate in candidates])]
            self._keep(chosen)
            complete = pu.mapped(chosen.scaling.complete)
            chosen, complete = self._at_hand(chosen, complete)
            folds = self._folds(chosen, complete)
            copies = chosen.copies(complete)
            chosen = chosen.merged(copies)
            sums = self._sums_by_fold(chosen, folds, copies)
            scores = chosen.scores(self._kernels(self.gamma_), sums)
        with stage("prior"):
            self._keep_prior(chosen, copies.apart(scores), prior_of)
        with stage("smoothing"):
            smoothed = scores if sums is None else self._smoothed(chosen, scores, sums, copies)
        with stage("calibration"):
            self._decide(copies.apart(smoothed))
        self._witness, self._without_copies, self.compression_ = None, None, None
        self._scored_by()
        return self

    def _at_hand(self, chosen: Candidate, complete: PUSample) -> tuple[Candidate, PUSample]:
        """The choice, and its rows without missing values, as smoothing is to have them."""
        return chosen, complete

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_witness": None, "_without_copies": None}

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log of the ratio of the two kernel means at validated rows.

        After smoothing it is a weighted mean of such logs: of the ratio and of the rounds.
        """
        return once_each(self.scaling_.apply(rows), self._log_scores)

    def _log_scores(self, rows: FloatArray) -> FloatArray:
        kernels = self._kernels(self.gamma_)
        if self.compression_ is not None:
            return log_score(self.compression_.ratios, rows, kernels)
        sample, of_rounds = self._scored_by()
        scores = log_scores(rows, sample, kernels)[0]
        if not of_rounds:
            return scores
        scores *= 1 - sum(ratio.weight for ratio in of_rounds)
        return scores + log_score(of_rounds, rows, kernels)

    def compressed(self, target: Target) -> Self:
        """A copy that scores by fewer rows; ``target`` as the parameter ``compress``.

        `compression_` of the copy says how many rows are left and how much the log ratio changed at some rows. That
        holds for rows like the training rows; rows that are more spread may change by more. Prior, threshold and what
        probability a score has stay as they are (near a step of these a small change of the score is a large one of
        the probability), and `witness` and explanations still speak of all rows, which are kept: scoring takes less
        time, and a saved model no less space.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(100, 2000, random_state=0)
        >>> small = WMMDClassifier(prior=0.5, smoothing=0).fit(data.X, data.y).compressed(0.2).compression_
        >>> small.n_rows < small.n_rows_before, small.largest_change <= 0.2
        (True, True)
        """
        check_is_fitted(self)
        check_target(target)
        smaller = copy(self).set_params(compress=target)
        smaller._check_floor()
        smaller.compression_ = self._compression(target)
        return smaller

    def _compression(self, target: Target | None) -> Compression | None:
        if target is None:
            return None
        return Compression.of(self._ratios(), target, self._kernels(self.gamma_))

    def _ratios(self) -> list[Ratio]:
        """The log ratios whose weighted sum is the score: of the samples, and of each round."""
        pu, of_rounds = self.sample_, self._round_ratios()
        weight = 1 - sum(ratio.weight for ratio in of_rounds)
        return [Ratio(weight, self.gamma_, pu.positive, pu.population), *of_rounds]

    def _round_ratios(self) -> list[Ratio]:
        if not self.rounds_:
            return []
        voters = Voters.among(self.sample_, scored_places(self.sample_, self.own_honest_scores))
        return [finished.ratio(voters) for finished in self.rounds_]

    def _scored_by(self) -> tuple[PUSample, list[Ratio]]:
        """What new rows are scored by, copies merged where there are many: the samples, and the ratios of rounds."""
        if self._without_copies is None:
            (positive,), (unlabeled,) = map(without_copies, (self.sample_.positive, self.sample_.unlabeled))
            merged = PUSample(positive, unlabeled, self.sample_.scenario)
            self._without_copies = merged, [_merged_ratio(ratio) for ratio in self._round_ratios()]
        return self._without_copies

    def witness(self, X: ArrayLike) -> FloatArray:
        """The normalised discriminant function f of the paper's closed form: positive where `predict` says so.

        It is the function of the unit ball that minimises the empirical hinge risk, the positives weighted by
        ``exp(-threshold_)`` (2 prior, in the paper), up to the rounding of a sum of kernels: far from all data it is
        0, while `decision_function` still tells the sides apart. A smoothed score has no such function.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(random_state=0)
        >>> model = WMMDClassifier.paper(prior=0.5, random_state=0).fit(data.X, data.y)
        >>> bool(((model.witness(data.test) > 0) == (model.predict(data.test) == 1)).all())
        True
        """
        rows = self._validated(X)
        if self.known_negatives_ is not None:
            raise ValueError("The witness belongs to the ratio of two samples; fit without known negatives.")
        if self.rounds_:
            raise ValueError("The witness belongs to the ratio of the paper; fit with smoothing=0.")
        if self._witness is None:  # its norm takes all pairs of training rows, so it is made when first asked for
            weight, kernels = float(np.exp(-self.threshold_)), self._kernels(self.gamma_)
            self._witness = Witness.of(self.sample_.positive, self.sample_.population, weight, kernels)
        return self._witness.f(self.scaling_.apply(rows))

    def _check_parameters(self, pu: PUSample) -> None:
        as_kernel(self.kernel)
        for name, accepted in (
            ("selection", SELECTIONS),
            ("criterion", CRITERIA),
            ("calibration", CALIBRATIONS),
            ("scale", ("auto", *SCALINGS)),
        ):
            value = getattr(self, name)
            if not (isinstance(value, str) and value in accepted):
                raise ValueError(f"{name}={value!r} is not known; use one of {list(accepted)}.")
        check_threshold(self.threshold)
        check_choice(self.negatives_are)
        self._check_smoothing()
        check_max_evaluations(self.max_evaluations)
        check_target(self.compress)
        self._check_floor()
        check_prior(self.prior, pu)

    def _check_floor(self) -> None:
        if not (isinstance(self.floor, Real) and 0 <= self.floor < 1):
            raise ValueError(f"floor must be a number in [0, 1); got {self.floor!r}.")
        needed = {"selection": "holdout", "scenario": "case-control", "smoothing": 0, "compress": None}
        other = [name for name, value in needed.items() if getattr(self, name) != value]
        if self.floor and other:
            raise ValueError(f"floor={self.floor} needs {other[0]}={needed[other[0]]!r}; see WMMDClassifier.paper.")

    def _check_smoothing(self) -> None:
        rounds = self.smoothing
        if isinstance(rounds, str) and rounds == "auto":
            return
        if not isinstance(rounds, Integral) or isinstance(rounds, bool) or rounds < 0:
            raise ValueError(f"smoothing={rounds!r} is not known; use 'auto', 0 for none, or a number of rounds.")
        if rounds and self.selection != "loo":
            raise ValueError("smoothing needs leave-one-out scores; use selection='loo', or smoothing=0.")
        if rounds and (self.threshold == "bayes" or self.calibration == "ratio"):
            raise ValueError(
                "threshold='bayes' and calibration='ratio' speak of the ratio itself, and a smoothed score is a mean "
                "of several; use smoothing=0 with them."
            )

    @property
    def _score_is_ratio(self) -> bool:
        return not self.rounds_

    @property
    def _leaves_one_out(self) -> bool:
        return True

    # --- choosing units and gamma ---

    def _scalings(self) -> tuple[str, ...]:
        if self.scale != "auto":
            return (self.scale,)
        return ("standard", "none") if self._automatic_grid() else ("none",)

    def _automatic_grid(self) -> bool:
        return isinstance(self.gamma, str) and self.gamma == "auto"

    def _prior_of(self, pu: PUSample, known: ResolvedPrior | None) -> PriorOf:
        """What the prior is with one of the scores: known beforehand, or read off the score."""
        how: dict[str, Any] = {"engine": self.engine, "n_jobs": self.n_jobs}
        if known is None and not reads_scores(self.prior):
            known = resolve_prior(self.prior, pu, **how)
        return lambda scores: known or resolve_prior(self.prior, pu, scores, **how)

    def _candidates(self, pu: PUSample, prior_of: PriorOf) -> list[Candidate]:
        """Every choice of units, judged on the same rows."""
        seed = self._seed()
        return [
            self._candidate(scaling, pu, np.random.RandomState(seed), prior_of)
            for scaling in different_scalings(self._scalings(), pu)
        ]

    def _seed(self) -> int:
        """Of the choice of rows."""
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _candidate(self, scaling: Scaling, pu: PUSample, rng: np.random.RandomState, prior_of: PriorOf) -> Candidate:
        scaled = scaling.apply_to_samples(pu)
        # Rows in units of their spread have distances; complete rows are no larger than they were.
        if scaling.center is None:
            refuse_without_distances(scaled if self._learned_sparse else pu, self)
        gammas = gamma_grid(scaled, as_kernel(self.kernel)) if self._automatic_grid() else as_gammas(self.gamma)
        kernels = self._kernels(gammas)
        if self.selection == "holdout":
            scores, kept = holdout_scores(scaled, kernels, self.max_evaluations, rng)
            places, whole = None, True
        else:
            places, kept = some_places(scaled, self.max_evaluations, rng), scaled
            points = judging_points(scaled, places)
            scores = loo_scores_at(scaled, kernels, judging(places), points)
            whole = points is None and all(map(np.array_equal, places, judging(places)))
        priors = [prior_of(one) for one in scores.each()] if self.criterion == "risk" else None
        criteria = self._worth(scores, None if priors is None else np.array([prior.value for prior in priors]))
        return Candidate(scaling, gammas, scores, whole, places, scaled if self.refit else kept, criteria, priors)

    def _worth(self, scores: HonestScores, priors: FloatArray | None) -> FloatArray:
        """What each gamma is worth: larger is better."""
        if self.criterion == "risk" and priors is not None:
            return -misclassification_risks(scores, priors)
        largest_ratio = 1 / float(self.prior) if isinstance(self.prior, Real) else np.inf
        criteria = log_likelihoods(scores, largest_ratio)
        return averaged_with_neighbours(criteria) if self._automatic_grid() else criteria

    def _keep(self, chosen: Candidate) -> None:
        self.scaling_, self.gammas_, self.criteria_ = chosen.scaling, chosen.gammas, chosen.criteria
        self.gamma_, self.sample_ = float(chosen.gammas[chosen.best]), chosen.sample
        self.priors_ = None if chosen.priors is None else np.array([prior.value for prior in chosen.priors])

    def _keep_prior(self, chosen: Candidate, scores: HonestScores, prior_of: PriorOf) -> None:
        sizes = [(len(some.positive_weights), len(some.unlabeled_weights)) for some in (scores, chosen.judged)]
        same_rows = sizes[0] == sizes[1]
        known = chosen.priors[chosen.best] if chosen.priors is not None and same_rows else None
        self.prior_, self.prior_estimator_ = known or prior_of(scores)
        if self.prior_ == 1.0 and isinstance(self.prior_estimator_, DensityPrior):
            warnings.warn(
                "The density-based prior came out as 1, the end of its range: unlabeled rows are as dense around the "
                "labelled positives as these are. Give the prior if you know it, or try larger gammas.",
                stacklevel=4,
            )

    # --- smoothing ---

    def _n_rounds(self) -> int:
        if not isinstance(self.smoothing, str):
            return int(self.smoothing)
        of_the_ratio_itself = self.threshold == "bayes" or self.calibration == "ratio"
        return N_ROUNDS if self._automatic_grid() and self.selection == "loo" and not of_the_ratio_itself else 0

    def _folds(self, chosen: Candidate, complete: PUSample) -> Folds | None:
        """How rows are dealt into folds; None where there is nothing to smooth."""
        return Folds.of(complete, chosen.places) if self._n_rounds() and chosen.places is not None else None

    def _sums_by_fold(self, chosen: Candidate, folds: Folds | None, copies: Copies) -> SumsByFold | None:
        """What smoothing starts from, and leave-one-out scores are made of; None where there is nothing to smooth."""
        self.rounds_: tuple[Round, ...] = ()
        if folds is None or chosen.places is None:
            return None
        folds = folds.without_copies(copies)
        return SumsByFold.of(chosen.sample, folds, chosen.places, self._kernels(self.gamma_))

    def _smoothed(self, chosen: Candidate, plain: HonestScores, sums: SumsByFold, copies: Copies) -> HonestScores:
        """Let rows of the population pass probabilities on; the scores to decide by."""
        smoothing = Smoothing.start(sums)
        priors = np.full(len(chosen.gammas), self.prior_)
        mean, rounds = smoothing.rounds(
            self._n_rounds(),
            plain,
            self.prior_,
            self._kernels(chosen.gammas),
            lambda scores: self._worth(scores, priors),
        )
        self.rounds_ = tuple(
            replace(done, log_probabilities=copies.population_apart(done.log_probabilities)) for done in rounds
        )
        return mean

    def _kernels(self, gammas: ArrayLike) -> Kernels:
        return Kernels(self.kernel, as_gammas(gammas), self.engine, self.n_jobs, self.exact, float(self.floor))


def _merged_ratio(ratio: Ratio) -> Ratio:
    """A round's ratio, whose two samples are over the same rows, without copies of them."""
    numerator, denominator = without_copies(ratio.numerator, ratio.denominator)
    return replace(ratio, numerator=numerator, denominator=denominator)
