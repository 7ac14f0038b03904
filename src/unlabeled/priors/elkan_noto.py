"""The prior by the label frequency of Elkan and Noto (2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.score_based import ScorePrior
from unlabeled.samples import PUSample
from unlabeled.scoring.cross_fitting import Pool, check_n_folds, held_out_scores
from unlabeled.scoring.forms import complete
from unlabeled.scoring.scaling import refuse_large_values

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
        c as the mean of g over the positives, as the sum of g over the positives divided by its sum over all rows, or
        as the largest g of all rows.
    n_folds : int, default=5
        Folds of the cross-fitting. The same rows, in any order, always come into the same folds.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    random_state : int, RandomState or None, default=0
        For the interval.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.

    Attributes
    ----------
    prior_ : float
        P(y = 1) in the population.
    c_ : float
        Share of labelled rows among the positives of P and U together.
    honest_scores_ : HonestScores
        The out-of-fold log odds of both samples.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import ElkanNotoPrior
    >>> round(float(ElkanNotoPrior().fit(data.X, data.y).prior_), 2)  # in truth 0.5
    0.51
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        estimates: str = "e1",
        n_folds: int = 5,
        scenario: str = "case-control",
        random_state: int | np.random.RandomState | None = 0,
        pos_label: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            n_folds=n_folds,
            scenario=scenario,
            random_state=random_state,
            pos_label=pos_label,
            verbose=verbose,
        )
        self.estimates = estimates

    def _honest_scores(self, pu: PUSample, rng: np.random.RandomState) -> HonestScores:  # noqa: ARG002
        if self.estimates not in ESTIMATES:
            raise ValueError(f"estimates={self.estimates!r} is not known; use one of {list(ESTIMATES)}.")
        model = self.estimator
        if model is None:
            model, pu = make_pipeline(StandardScaler(), LogisticRegression()), complete(pu)
            refuse_large_values(pu, self)
        if not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba, which this method needs; use a classifier that has it, "
                "or wrap it in sklearn's CalibratedClassifierCV."
            )
        pool = Pool.of(pu)
        return held_out_scores(model, pool, pool.folds(check_n_folds(self.n_folds)))

    def _read(self, scores: HonestScores) -> float:
        self.c_ = label_frequency(scores, self.estimates)
        return super()._read(scores)

    def _share(self, scores: HonestScores) -> float:
        c = label_frequency(scores, self.estimates)
        return min(1.0, scores.n_positive * (1 - c) / c / scores.n_unlabeled)


def label_frequency(scores: HonestScores, estimates: str) -> float:
    """P(labelled | positive) in the table, from out-of-fold log odds of being labelled.

    It is no smaller than the labelled share of the table: that would say that there are more positives than rows.
    """
    estimate = np.nan_to_num(elkan_noto_estimate(scores, estimates))
    return float(np.clip(estimate, scores.n_positive / (scores.n_positive + scores.n_unlabeled), 1))


def elkan_noto_estimate(scores: HonestScores, name: str) -> float:
    """Elkan and Noto's e1, e2 or e3 of P(labelled | positive) as they are; NaN where they are not defined."""
    of_positive, of_unlabeled = expit(scores.positive), expit(scores.unlabeled)
    if name == "e3":
        return float(max(of_positive.max(), of_unlabeled.max()))
    over_positive = float(of_positive @ scores.positive_weights)
    if name == "e1":
        return over_positive / scores.n_positive
    over_all = over_positive + float(of_unlabeled @ scores.unlabeled_weights)
    return over_positive / over_all if over_all > 0 else np.nan
