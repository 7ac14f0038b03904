"""From a score to decisions and probabilities: what the WMMD classifiers share."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.arrays import FloatArray, on_device_of, on_host
from unlabeled.contract import PUClassifierMixin, ResolvedPrior, two_columns
from unlabeled.deciding.calibration import Calibration, calibrate, ratio_probability
from unlabeled.deciding.scores import HonestScores, KeepsHonestScores
from unlabeled.deciding.thresholds import CALIBRATING, Policy, place_threshold
from unlabeled.samples import PUSample

CALIBRATIONS = ("monotone", "ratio")


class ScoreDecisions(KeepsHonestScores, PUClassifierMixin):
    """Threshold and probabilities for an estimator whose score is a log ratio and that knows its prior."""

    threshold: Policy
    calibration: str = "monotone"
    prior_: float
    threshold_: float
    calibration_: Calibration | None

    def fit_sample(self, pu: PUSample, *, prior: ResolvedPrior | None = None) -> Self:
        """Learn from samples that are already separated, of the same scenario; classes are then called 1 and 0.

        ``prior`` is what the parameter of that name comes to, where that is known already.
        """
        return self._fit(self._checked(pu), prior)

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        raise NotImplementedError

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log of p(x | y = 1) / p(x), as the estimator sees it: larger is more likely positive.

        A tensor of torch on a card is answered by a tensor there.
        """
        return on_device_of(X, self.score_rows(self._validated(X)))

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """What `score_samples` answers for rows that are validated already."""
        raise NotImplementedError

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Score less threshold: `predict` answers positive where this is above 0."""
        scores = self.score_samples(X)
        return scores - self.threshold_

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """P(y = 1 | x) in the second column, its complement in the first; never falling with the score.

        With the thresholds "calibrated", "prevalence" and "bayes" it is above 1/2 exactly where `predict` answers
        positive. With other thresholds the two may differ: `predict` follows the threshold.
        """
        return self.probability_of_scores(on_host(self.score_samples(X)))

    def probability_of_scores(self, scores: FloatArray) -> FloatArray:
        """What `predict_proba` answers for rows whose `score_samples` are known: (n_rows, 2)."""
        if self.calibration_ is None:
            positive = ratio_probability(scores + np.log(2 * self.prior_))
        else:
            positive = self.calibration_.probability(scores)
        if self.threshold in CALIBRATING:
            return two_columns(positive, scores - self.threshold_)
        return np.column_stack([1 - positive, positive])

    def _decide(self, scores: HonestScores) -> None:
        """Keep honest scores, and read threshold and probabilities off them."""
        self.honest_scores_ = scores
        calibration = calibrate(scores, self.prior_)
        self.threshold_ = place_threshold(self.threshold, scores, self.prior_, calibration)
        self.calibration_ = None
        if self.calibration == "monotone":
            bends = self.threshold in ("prevalence", "bayes")
            self.calibration_ = calibration.through_half_at(self.threshold_) if bends else calibration
