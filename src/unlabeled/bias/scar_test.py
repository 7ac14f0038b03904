"""The test whether labels look as if they were given completely at random (SCAR)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.bias.columns import ColumnDifference, column_differences
from unlabeled.contract import PUInput
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import PORTIONS, Count, Hidden, Share, TopCounts, expected_in_half, p_value_of_half
from unlabeled.kernels import RBF
from unlabeled.priors import AutoPrior, ScarWarning, check_prior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.priors.scar import FEWEST_POSITIVES
from unlabeled.samples import PUSample, Sample, some_rows, stacked
from unlabeled.scoring.cross_fitting import Fold, Pool, check_can_score, fit_clone, score_of
from unlabeled.scoring.ratio import Kernels, log_scores
from unlabeled.scoring.scaling import gamma_grid, standardised
from unlabeled.scoring.selection import (
    JUDGING_ROWS,
    averaged_with_neighbours,
    first_of_best,
    log_likelihoods,
    loo_scores,
)
from unlabeled.stages import stage

#: The most tables that are simulated for each step towards the largest prior.
N_SIMULATED_A_STEP = 1_999
#: With fewer of either sample no half has two rows.
FEWEST_ROWS = 4
#: Relative errors of the prior at which the p-value is told too.
ERRORS = (0.8, 1.0, 1.2)
#: How sure to be of the largest prior.
LEVEL = 0.05


class ScarTest(PUInput, BaseEstimator):
    """Test whether the labelled positives can be a random choice of all positives.

    No table contradicts that by itself: if every positive is labelled, labels are random. So the null hypothesis is
    joint: labels were given completely at random, *and* the population holds at least a share ``prior`` of positives,
    or the unlabeled rows at least ``at_least`` of them. A small p-value says that one of the two is wrong. A large one
    proves nothing: what is tested is that no region has more labelled positives than its unlabeled rows allow, and
    much bias leaves no such region.

    Give a prior that you know from elsewhere. One that was estimated from the same table agrees with labels at random
    by construction, and testing it says nothing: compare it with `largest_prior`. An error in the prior matters more
    than anything else here: `sensitivity` tells how much.

    Parameters
    ----------
    prior : float in (0, 1), optional
        The least share of positives in the population.
    at_least : float, default=20
        Without a prior: the fewest positives among the unlabeled rows.
    estimator : classifier, optional
        What learns the scores from labelled against unlabeled rows. None: the ratio of kernel means.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    labelled_share : float, optional
        In the single-sample scenario, the share of the whole table that is labelled, where X is only a part of it in
        which labelled rows are more frequent: these, say, and some of the others. The prior is that of the whole.
    max_evaluations : int, default=10000
        The most rows of each sample that are scored in either half.
    n_simulated : int, default=9999
        Tables that are simulated for a p-value, which is at least 2 / (n_simulated + 1).
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    random_state : int, RandomState or None, default=0
        For the simulation.
    n_jobs : int or None, default=None
        Threads for the kernel sums.
    feature_names : sequence of str, optional
        What to call the features in ``columns_`` and ``verdict_``, where X does not say it.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it.
    negative : optional
        The value of y that marks rows known to be negative. In the single-sample scenario they are unlabeled rows like
        others, in the case-control scenario they are left out.

    Attributes
    ----------
    p_value_ : float
        At most the level, with this probability, if the null hypothesis is true. 1 where there are
        too few rows to tell anything.
    portion_, n_unlabeled_, n_expected_ : float
        The region that speaks most against labels at random: the share of the labelled positives in it, its unlabeled
        rows, and how many positives the null hypothesis expects among these. Of one half of the rows, of which at
        most ``max_evaluations`` are scored.
    columns_ : tuple of ColumnDifference
        How labelled positives differ from the probable positives among the unlabeled rows, largest difference first.
        A hint at what labels depend on, not a part of the test: some difference is there with labels at random too,
        because what is probably positive is told by likeness to the labelled.
    rejects_ : bool
        Whether the p-value is below 0.05.
    tells_nothing_ : bool
        Whether there are too few rows to tell anything.
    verdict_ : str
        All this in a sentence or two.

    Notes
    -----
    Each half of the table is scored by the other half, and each gives a p-value that is exact for its scores
    (`unlabeled.deciding.top_counts` says why); the smaller is doubled. Scores for which each row is left out in turn
    know nothing of their own row, but as a whole they know the labelled rows, and lean to whatever these have in common
    by chance. ``benchmarks/bias_size.py`` counts how often the test rejects, with labels at random and without.

    Examples
    --------
    >>> from unlabeled.bias import ScarTest
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(100, 400, prior=0.4, separation=6, random_state=2)
    >>> ScarTest(prior=0.4).fit(data.X, data.y).p_value_ > 0.05
    True
    >>> easy = data.X[:, 0] > data.positive[:, 0].mean()
    >>> keep = easy | (data.y == 0)
    >>> ScarTest(prior=0.4).fit(data.X[keep], data.y[keep]).p_value_ < 0.05
    True
    """

    _takes_missing = True
    _takes_sparse = True

    def __init__(
        self,
        prior: float | None = None,
        *,
        at_least: float = FEWEST_POSITIVES,
        estimator: Any = None,
        scenario: str = "case-control",
        labelled_share: float | None = None,
        max_evaluations: int = 10_000,
        n_simulated: int = 9_999,
        engine: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        feature_names: Sequence[str] | None = None,
        pos_label: Any = None,
        negative: Any = None,
    ) -> None:
        self.prior = prior
        self.at_least = at_least
        self.estimator = estimator
        self.scenario = scenario
        self.labelled_share = labelled_share
        self.max_evaluations = max_evaluations
        self.n_simulated = n_simulated
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.feature_names = feature_names
        self.pos_label = pos_label
        self.negative = negative

    @property
    def rejects_(self) -> bool:
        """Whether the p-value is below 0.05."""
        return self.p_value_ < LEVEL

    @property
    def tells_nothing_(self) -> bool:
        """Whether there are too few rows to tell anything."""
        return not self._halves

    def _fit(self, pu: PUSample) -> Self:
        pu = pu.without_negatives()
        self._check_parameters(pu)
        self._n_labelled, self._n_unlabeled = round(pu.positive.n_effective), round(pu.unlabeled.n_effective)
        self.labelled_share_ = pu.labelled_share if self.labelled_share is None else float(self.labelled_share)
        self.p_value_, self._halves = 1.0, tuple[TopCounts, ...]()
        self.portion_, self.n_unlabeled_, self.n_expected_ = 1.0, float(self._n_unlabeled), 0.0
        self.columns_: tuple[ColumnDifference, ...] = ()
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        if min(len(pu.positive), len(pu.unlabeled)) >= FEWEST_ROWS:
            pool = Pool.of(pu)
            with stage("scores to test labels by"):
                halves = [self._scored(pool, fold) for fold in pool.folds(2)]
            self._halves = tuple(TopCounts.of(scores) for scores, _ in halves)
            self._test(self._null())
            self.columns_ = self._differences(halves)
        self.verdict_ = self._in_words()
        return self

    def _check_parameters(self, pu: PUSample) -> None:
        if self.prior is not None:
            if not isinstance(self.prior, Real) or isinstance(self.prior, bool):
                raise ValueError(
                    f"prior={self.prior!r} is no number. ScarTest asks for one that you know from elsewhere: an "
                    "estimate from the same table agrees with labels at random by construction, and testing it says "
                    "nothing. Leave it out, and compare the estimate with largest_prior()."
                )
            if not 0 < float(self.prior) < 1:
                raise ValueError(f"prior must lie strictly between 0 and 1; got {self.prior!r}.")
            check_prior(float(self.prior), pu if self.labelled_share is None else replace(pu, scenario="case-control"))
        self._check_labelled_share()
        if not (isinstance(self.n_simulated, Integral) and int(self.n_simulated) >= 19):
            raise ValueError(f"n_simulated must be a whole number of 19 or more; got {self.n_simulated!r}.")
        check_max_evaluations(self.max_evaluations)
        if not (isinstance(self.at_least, Real) and 1 <= float(self.at_least) < np.inf):
            raise ValueError(f"at_least is a number of positives, 1 or more; got {self.at_least!r}.")
        if self.estimator is not None:
            check_can_score(self.estimator)

    def _check_labelled_share(self) -> None:
        known = self.labelled_share
        if known is None:
            return
        if self.scenario != "single-sample":
            raise ValueError(
                "labelled_share is for scenario='single-sample': else no labelled row is of the population."
            )
        if not (isinstance(known, Real) and 0 < float(known) < 1):
            raise ValueError(f"labelled_share must lie between 0 and 1; got {known!r}.")
        if self.prior is not None and self.prior < known:
            raise ValueError(
                f"prior={self.prior!r} is below labelled_share={known!r}: that is impossible. Give a larger prior."
            )

    # --- scores ---

    def _scored(self, pool: Pool, fold: Fold) -> tuple[HonestScores, PUSample]:
        """One half of the table, scored by the other."""
        kept, held = fold
        rng = np.random.RandomState(0)
        tested = pool.weighted(held).samples("case-control")
        places = (some_rows(len(sample), self.max_evaluations, rng) for sample in (tested.positive, tested.unlabeled))
        tested = tested.take(*places)
        rows = stacked([tested.positive.rows, tested.unlabeled.rows])
        values = self._scores_of(rows, pool.weighted(kept), rng)
        positive, unlabeled = np.split(values, [len(tested.positive)])
        weights = tested.positive.effective_weights, tested.unlabeled.effective_weights
        return HonestScores(positive, unlabeled, *weights), tested

    def _scores_of(self, rows: FloatArray, training: Pool, rng: np.random.RandomState) -> FloatArray:
        """Scores by labelled against unlabeled rows: by the classifier, or by the ratio of kernel means."""
        if self.estimator is not None:
            return score_of(fit_clone(self.estimator, training), rows)
        pu = training.samples("case-control").mapped(lambda r: r.astype(np.float64))
        scaling = standardised(pu)
        scaled = scaling.apply_to_samples(pu)
        kernels = Kernels("rbf", gamma_grid(scaled, RBF()), self.engine, self.n_jobs)
        worth = averaged_with_neighbours(log_likelihoods(loo_scores(scaled, kernels, JUDGING_ROWS, rng)))
        return log_scores(scaling.apply(rows.astype(np.float64)), scaled, kernels.only(first_of_best(worth)))[0]

    # --- the test ---

    def p_value_at(self, prior: float) -> float:
        """The p-value for labels at random and at least this share of positives in the population.

        Examples
        --------
        >>> from unlabeled.bias import ScarTest
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(100, 400, prior=0.4, separation=6, random_state=2)
        >>> test = ScarTest().fit(data.X, data.y)
        >>> test.p_value_at(0.4) > 0.05, test.p_value_at(0.9) < 0.05
        (True, True)
        """
        check_is_fitted(self)
        if not self.labelled_share_ <= prior <= 1:
            raise ValueError(
                f"prior must lie between {self.labelled_share_:.6g}, the labelled share of the population, and 1; got "
                f"{prior!r}."
            )
        return _doubled(self._p_values(self._share(float(prior)), self.n_simulated))

    def sensitivity(self) -> dict[float, float]:
        """The p-value at the given prior, and at priors that are 20 % smaller and larger; by prior.

        Examples
        --------
        >>> from unlabeled.bias import ScarTest
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(100, 400, prior=0.4, separation=6, random_state=2)
        >>> found = ScarTest(prior=0.4).fit(data.X, data.y).sensitivity()
        >>> [round(prior, 2) for prior in found]
        [0.32, 0.4, 0.48]
        """
        check_is_fitted(self)
        if self.prior is None:
            raise ValueError("No prior was given to vary; give one, ScarTest(prior=...), or ask p_value_at(prior).")
        priors = [float(np.clip(factor * self.prior, self.labelled_share_, 1)) for factor in ERRORS]
        return {prior: self.p_value_at(prior) for prior in priors}

    def largest_prior(self, level: float = LEVEL) -> float:
        """The largest prior that labels at random do not contradict at this level, to within 0.001.

        Examples
        --------
        >>> from unlabeled.bias import ScarTest
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(100, 400, prior=0.4, separation=6, random_state=2)
        >>> test = ScarTest(prior=0.4).fit(data.X, data.y)
        >>> 0.4 < test.largest_prior() < 0.6, test.p_value_at(0.9) < 0.05
        (True, True)
        """
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"level must lie between 0 and 1; got {level!r}.")
        low, high = self.labelled_share_, 1.0

        def agrees(prior: float) -> bool:
            found = self._p_values(self._share(prior), min(self.n_simulated, N_SIMULATED_A_STEP))
            return _doubled(found) >= level

        if agrees(high):
            return high
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (middle, high) if agrees(middle) else (low, middle)
        return low

    def _test(self, null: Hidden) -> None:
        """Keep the p-value, and the region that speaks most against the null hypothesis."""
        p_values = self._p_values(null, self.n_simulated)
        self.p_value_ = _doubled(p_values)
        worst = self._halves[int(np.argmin(p_values))]
        expected = expected_in_half(worst, null, self._n_labelled, self._n_unlabeled)
        region = int(np.argmin(worst.improbability(worst.n_above, expected)))
        self.portion_, self.n_unlabeled_ = PORTIONS[region], float(worst.n_above[region])
        self.n_expected_ = expected * float(worst.places[region] / (worst.n_labelled + 1))

    def _p_values(self, null: Hidden, n_simulated: int) -> list[float]:
        return [self._p_value(half, null, n_simulated) for half in self._halves]

    def _null(self) -> Hidden:
        if self.prior is None:
            return Count(int(self.at_least))
        return self._share(float(self.prior))

    def _share(self, prior: float) -> Share:
        """What is said of the unlabeled rows here by a prior of the population."""
        if self.labelled_share is None:
            return Share(prior, self.labelled_share_ > 0)
        return Share((prior - self.labelled_share_) / (1 - self.labelled_share_), labelled_in_population=False)

    def _p_value(self, half: TopCounts, null: Hidden, n_simulated: int) -> float:
        return p_value_of_half(half, null, self._n_labelled, self._n_unlabeled, (n_simulated, self._seed))

    # --- what differs ---

    def _differences(self, halves: list[tuple[HonestScores, PUSample]]) -> tuple[ColumnDifference, ...]:
        probabilities = np.concatenate([self._probabilities(scores) for scores, _ in halves])
        labelled, unlabeled = (
            _joined([getattr(tested, name) for _, tested in halves]) for name in ("positive", "unlabeled")
        )
        return column_differences(labelled, unlabeled, probabilities, self._names(labelled.rows.shape[1]))

    def _probabilities(self, scores: HonestScores) -> FloatArray:
        """P(y = 1) of the unlabeled rows, at the prior that is given or else the one that labels at random imply."""
        if self.prior is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScarWarning)
                share = AutoPrior().fit_scores(scores).prior_
        else:
            share = (float(self.prior) - self.labelled_share_) / (1 - self.labelled_share_)
        return calibrate(scores, share).probability(scores.unlabeled)

    def _names(self, n_features: int) -> list[str]:
        if self.encoder_ is not None:
            return [str(name) for name in self.encoder_.get_feature_names_out()]
        names = getattr(self, "feature_names_in_", None) if self.feature_names is None else self.feature_names
        if names is None:
            return [f"column {place}" for place in range(n_features)]
        if len(names) != n_features:
            raise ValueError(f"feature_names has {len(names)} names, and X has {n_features} features.")
        return [str(name) for name in names]

    # --- in words ---

    def _in_words(self) -> str:
        if self.tells_nothing_:
            return f"With {self._n_labelled} labelled positives nothing can be told of how labels were given."
        null = (
            f"at least {self.at_least:g} positives among the unlabeled rows"
            if self.prior is None
            else f"a prior of at least {self.prior:g}"
        )
        least = 2 / (self.n_simulated + 1)
        p_value = f"p = {self.p_value_:.2g}" if self.p_value_ > least else f"p <= {least:.1g}"
        if not self.rejects_:
            return f"Nothing speaks against labels at random with {null} ({p_value}); much bias cannot be seen."
        return (
            f"Labels do not look as if they were given completely at random, with {null} ({p_value}): where "
            f"{self.portion_:.0%} of the labelled positives lie, one half of the rows that were looked at has "
            f"{self.n_unlabeled_:g} unlabeled rows and should have {self.n_expected_:.0f} or more."
            f"{self._columns_in_words()}"
        )

    def _columns_in_words(self) -> str:
        clear = [str(one) for one in self.columns_ if one.is_clear][:3]
        return f" Labelled positives differ from probable ones in {', '.join(clear)}." if clear else ""

    def __sklearn_tags__(self) -> Any:
        """It predicts nothing, but learns from two classes as a binary classifier does."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        return tags


def _doubled(p_values: list[float]) -> float:
    """The smallest, times their number; 1 where there are none."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else 1.0


def _joined(samples: list[Sample]) -> Sample:
    weights = np.concatenate([sample.weights for sample in samples])
    return Sample(stacked([sample.rows for sample in samples]), np.log(weights))
