"""The prior by the label frequency of Elkan and Noto (2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled.kernels import FloatArray
from unlabeled.priors.score_based import ScorePrior
from unlabeled.priors.scores import Scores, honest_scores
from unlabeled.samples import PUSample

ESTIMATES = ("e1", "e2", "e3")


class ElkanNotoPrior(ScorePrior):
    """Prior from the probability of being labelled (Elkan and Noto, 2008).

    A classifier of P against U gives g(x) = P(labelled | x). Where the positives are pure, P(y=1 | x) = 1, and the odds
    g / (1 - g) there are those of labelled to unlabeled *positives*, c / (1 - c); so c is read off the out-of-fold g of
    the labelled positives. From n_p labelled rows follow n_p (1 - c) / c positives among the unlabeled ones.

    The method assumes that the classes hardly overlap: where they do, g is smaller than c at many positives, and
    ``"e1"`` and ``"e2"``, which average, come out above the prior. ``"e3"`` takes the largest g, and is noisy.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Must have ``predict_proba``. None: logistic regression on standardised features.
    estimates : {"e1", "e2", "e3"}, default="e1"
        c as the mean of g over the positives, as the sum of g over the positives by its sum over all rows, or as the
        largest g of all rows.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    c_ : float
        Share of labelled rows among the positives of P and U together.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        estimates: str = "e1",
        n_folds: int = 5,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(estimator, n_folds=n_folds, scenario=scenario, random_state=random_state)
        self.estimates = estimates

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        if self.estimates not in ESTIMATES:
            raise ValueError(f"estimates={self.estimates!r} is not known; use one of {list(ESTIMATES)}.")
        model = make_pipeline(StandardScaler(), LogisticRegression()) if self.estimator is None else self.estimator
        if not hasattr(model, "predict_proba"):
            raise ValueError(f"{type(model).__name__} has no predict_proba, which this method needs.")
        self.scores_ = honest_scores(pu, model, self.n_folds, None, rng)
        self.c_ = label_frequency(self.scores_, self.estimates)
        return self._share(self.scores_)

    def _share(self, scores: Scores) -> float:
        c = label_frequency(scores, self.estimates)
        n_labelled, n_unlabeled = scores.positive_weights.sum(), scores.unlabeled_weights.sum()
        return float(np.clip(n_labelled * (1 - c) / c / n_unlabeled, 0, 1))


def label_frequency(scores: Scores, estimates: str) -> float:
    """P(labelled | positive), in (0, 1], from out-of-fold log odds of being labelled."""
    of_positive, of_unlabeled = _probability(scores.positive), _probability(scores.unlabeled)
    c: float
    if estimates == "e1":
        c = np.average(of_positive, weights=scores.positive_weights)
    elif estimates == "e2":
        over_positives = of_positive @ scores.positive_weights
        c = float(over_positives / (over_positives + of_unlabeled @ scores.unlabeled_weights))
    else:
        c = max(of_positive.max(), of_unlabeled.max())
    return float(np.clip(c, 1e-9, 1))


def _probability(log_odds: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-log_odds))
