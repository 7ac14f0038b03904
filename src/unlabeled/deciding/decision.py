"""From a score to decisions and probabilities: what the WMMD classifiers share."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from unlabeled.arrays import FloatArray, on_device_of, on_host
from unlabeled.contract import PUClassifierMixin, ResolvedPrior, two_columns
from unlabeled.deciding.adapting import Adaptation, adaptation
from unlabeled.deciding.calibration import Calibration, calibrate, ratio_probability
from unlabeled.deciding.choice_of_negatives import check_of_choice
from unlabeled.deciding.distributions import piece_for_notebooks
from unlabeled.deciding.known_negatives import KnownNegatives, TwoScores, known_negatives
from unlabeled.deciding.scores import HonestScores, KeepsHonestScores
from unlabeled.deciding.thresholds import CALIBRATING, Policy, place_threshold
from unlabeled.samples import PUSample
from unlabeled.stages import stage

CALIBRATIONS = ("monotone", "ratio")
#: A prior of 0 flags nothing, by any policy.
_LEAST_PRIOR = 1e-9


class ScoreDecisions(KeepsHonestScores, PUClassifierMixin):
    """Threshold and probabilities for an estimator whose score is a log ratio and that knows its prior."""

    threshold: Policy
    calibration: str = "monotone"
    prior_: float
    threshold_: float
    calibration_: Calibration | None
    adaptation_: Adaptation | None = None
    negatives_are: str | float = "auto"
    known_negatives_: KnownNegatives | None = None
    prior_estimator_: Any

    def fit_sample(self, pu: PUSample, *, prior: ResolvedPrior | None = None) -> Self:
        """Learn from samples that are already separated, of the same scenario; classes are then called 1 and 0.

        ``prior`` is what the parameter of that name comes to, where that is known already.
        """
        return self._learn(self._checked(pu), prior)

    def _learn(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        """Fit to positives and population; and once more to positives and known negatives, where there are any."""
        self.known_negatives_ = None
        self._fit(pu.without_negatives(), prior)
        if pu.negative is not None:
            with stage("known negatives"):
                other = self._against_negatives(pu)
                two = TwoScores.of(self, other, pu)
                p_value = check_of_choice(self._checks_negatives_by, pu, self._largest_prior())
                n_known = pu.positive.n_effective + pu.negative.n_effective if self._leaves_one_out else None
                self.known_negatives_, scores = known_negatives(self, other, two, p_value, n_known)
                self._decide(scores)
        return self

    def _largest_prior(self) -> float:
        """The largest prior to reckon with: the given one, or the upper end of the interval of the estimate."""
        return self.prior_ if self.prior_estimator_ is None else float(self.prior_estimator_.interval()[1])

    def _against_negatives(self, pu: PUSample) -> Self:
        """The same classifier, fitted to positives and known negatives: a population whose prior is known."""
        return self._fitted_to_known(pu.against_negatives())

    def _checks_negatives_by(self, both: PUSample) -> Any:
        """A classifier of known negatives against all other rows, to tell by whether these are a random choice."""
        return self._fitted_to_known(both)

    def _fitted_to_known(self, both: PUSample) -> Self:
        threshold = "bayes" if self.threshold == "bayes" else "calibrated"
        params = {"prior": both.labelled_share, "scenario": both.scenario, "threshold": threshold, "negative": None}
        if "compress" in self.get_params(deep=False):
            params["compress"] = None  # known rows are few, and a target for all rows may not be met by these
        return clone(self).set_params(**params).fit_sample(both)

    @property
    def own_honest_scores(self) -> HonestScores:
        """The honest scores of what `score_rows` answers: known negatives have no part in them."""
        return self.honest_scores_ if self.known_negatives_ is None else self.known_negatives_.without

    @property
    def _score_is_ratio(self) -> bool:
        """Whether the score is the log of a ratio of densities as it stands, and not a mean of several."""
        return self.threshold == "bayes"

    @property
    def _leaves_one_out(self) -> bool:
        """Whether an honest score is that of a fit without this one row."""
        return False

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        raise NotImplementedError

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of p(x | y = 1) / p(x), as the estimator sees it: larger is more likely positive.

        A tensor of torch on a card is answered by a tensor there.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> margins = model.score_samples(data.test) - model.threshold_
        >>> bool((margins == model.decision_function(data.test)).all())
        True
        """
        return on_device_of(X, self.scores_of(self._validated(X)))

    def scores_of(self, rows: FloatArray) -> FloatArray:
        """What `score_samples` answers for rows that are validated already."""
        known, scores = self.known_negatives_, self.score_rows(rows)
        return scores if known is None else known.combined(on_host(scores), on_host(known.model.score_rows(rows)))

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """What `scores_of` answers if no negatives are known."""
        raise NotImplementedError

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> bool(((model.decision_function(data.test) > 0) == (model.predict(data.test) == 1)).all())
        True
        """
        scores = self.score_samples(X)
        return scores - self.threshold_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, its complement in the first; never falling with the score.

        With the thresholds "calibrated", "prevalence" and "bayes" it is above 1/2 exactly where `predict` answers
        positive. With other thresholds the two may differ: `predict` follows the threshold.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> model.predict_proba(data.test).shape
        (100, 2)
        >>> bool(abs(model.predict_proba(data.test).sum(axis=1) - 1).max() < 1e-12)
        True
        """
        return self.probability_of_scores(on_host(self.score_samples(X)))

    def probability_of_scores(self, scores: FloatArray) -> FloatArray:
        """What `predict_proba` answers for rows whose `score_samples` are known: (n_rows, 2).

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> import numpy as np
        >>> of_scores = model.probability_of_scores(model.score_samples(data.test))
        >>> bool(np.allclose(of_scores, model.predict_proba(data.test)))
        True
        """
        if self.calibration_ is None:
            positive = ratio_probability(scores + np.log(2 * self.prior_))
        else:
            positive = self.calibration_.probability(scores)
        if self.threshold in CALIBRATING:
            return two_columns(positive, scores - self.threshold_)
        return np.column_stack([1 - positive, positive])

    def adapt(self, X: ArrayLike, *, check: bool = True) -> Self:
        """A copy of the fitted classifier for a population in which the share of positives is another.

        Prior, threshold and probabilities are read off a batch of its unlabeled rows, without new labels. What
        positives look like, and what negatives look like, is taken to have stayed (label shift). Scores and the ranking
        stay as they are. ``unlabeled.deciding.adapting`` says how.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Unlabeled rows of the new population.
        check : bool, default=True
            Refuse a batch whose scores are no mixture of those of the old positives and negatives, at the 5 % level.

        Returns
        -------
        adapted : classifier
            ``adaptation_`` has the old and the new prior, with an interval, and the p-value of the check. Targets of
            precision and prevalence are met in the batch. Adapting it once more starts from the first fit.

        Raises
        ------
        CovariateShiftError
            Where the batch is no such mixture.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(100, 500, prior=0.2, separation=4, random_state=0)
        >>> model = WMMDClassifier(prior=0.2).fit(data.X, data.y)
        >>> later = make_gaussians(1, 500, prior=0.7, separation=4, random_state=1).unlabeled
        >>> found = model.adapt(later).adaptation_
        >>> found.low < 0.7 < found.high
        True
        """
        return self.adapted_to_scores(self.scores_like_honest(X), check=check)

    def scores_like_honest(self, X: ArrayLike) -> FloatArray:
        """Scores of new rows that are made as the honest scores of the training rows were: what `adapt` goes by."""
        return self.scores_of_like_honest(self._validated(X))

    def scores_of_like_honest(self, rows: FloatArray) -> FloatArray:
        """What `scores_like_honest` answers for rows that are validated already."""
        known, scores = self.known_negatives_, on_host(self.score_rows_like_honest(rows))
        return scores if known is None else known.combined(scores, on_host(known.model.score_rows_like_honest(rows)))

    def score_rows_like_honest(self, rows: FloatArray) -> FloatArray:
        """What `scores_of_like_honest` answers if no negatives are known; as a rule, the scores of the rows."""
        return self.score_rows(rows)

    def adapted_to_scores(self, scores: FloatArray, *, check: bool = True) -> Self:
        """What `adapt` answers for rows whose `scores_like_honest` are known."""
        before = self.prior_ if self.adaptation_ is None else self.adaptation_.old_prior
        old = calibrate(self.honest_scores_, before)
        found = adaptation(self.honest_scores_, old, before, scores)
        if check:
            found.check()
        new = copy(self)
        new.adaptation_, new.prior_, new.prior_estimator_ = found, found.prior, None
        calibration = Calibration(old.scores, found.probability(old.probabilities))
        batch = replace(
            self.honest_scores_,
            unlabeled=scores,
            unlabeled_weights=np.ones(len(scores)),
            labelled_share=0.0,
            unlabeled_rows=None,
        )
        new.threshold_ = (
            _moved_bayes(found)
            if self.threshold == "bayes"
            else place_threshold(self.threshold, batch, max(found.prior, _LEAST_PRIOR), calibration)
        )
        bends = self.threshold in ("prevalence", "bayes")
        new.calibration_ = calibration.through_half_at(new.threshold_) if bends else calibration
        return new

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's view of the parameters, and once fitted what was learned."""
        shown: str = super()._html_repr()  # of scikit-learn's `BaseEstimator`
        if not hasattr(self, "honest_scores_") or not hasattr(self, "threshold_"):
            return shown
        piece = piece_for_notebooks(self.honest_scores_, self.threshold_, self.prior_, f"scores-{id(self):x}")
        return f"{shown}{piece}"

    def _decide(self, scores: HonestScores) -> None:
        """Keep honest scores, and read threshold and probabilities off them."""
        self.honest_scores_, self.adaptation_ = scores, None
        calibration = calibrate(scores, self.prior_)
        self.threshold_ = place_threshold(self.threshold, scores, self.prior_, calibration)
        self.calibration_ = None
        if self.calibration == "monotone":
            bends = self.threshold in ("prevalence", "bayes")
            self.calibration_ = calibration.through_half_at(self.threshold_) if bends else calibration


def _moved_bayes(found: Adaptation) -> float:
    """Where the ratio to the new population is 1 / (2 prior), on the scale of the ratio r to the old one.

    The new population is a F1 + (1 - a) F, so that the new ratio is 1 / (a + (1 - a) / r).
    """
    above = 2 * found.prior - found.mixture
    return float(np.log((1 - found.mixture) / above)) if above > 0 and found.mixture < 1 else float(np.finfo(float).max)
