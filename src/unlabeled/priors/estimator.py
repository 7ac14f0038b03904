"""The contract of prior estimators: fit(X, y) -> prior_, and an interval."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray
from unlabeled.contract import PUInput
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.limits import share_limits
from unlabeled.samples import PUSample


class PriorEstimator(PUInput, BaseEstimator):
    """Estimates the prior P(y = 1) of the population from labelled positives and unlabeled rows.

    A subclass estimates the share of positives among the *unlabeled* rows. In the case-control scenario these are a
    sample of the population and the share is the prior. In the single-sample scenario the population is labelled and
    unlabeled rows together, and with a labelled share s the prior is ``s + (1 - s) * share``.

    What can be identified is the largest share of the unlabeled distribution that could be positive. If some mixture
    of the negatives looks like the positives (the distributions are not *irreducible*), every estimate here is, in the
    limit, an upper bound of the prior and not the prior.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import BestBinPrior, PriorEstimator
    >>> estimator = BestBinPrior().fit(data.X, data.y)
    >>> isinstance(estimator, PriorEstimator)
    True
    >>> low, high = estimator.interval()
    >>> bool(low <= estimator.prior_ <= high)
    True
    """

    _takes_missing = True
    _takes_sparse = True
    random_state: int | np.random.RandomState | None = None
    verbose: bool = False  # what models that were saved before have
    least_: float = 0.0  # what the prior cannot be below, beyond what the samples say

    @property
    def reads_scores(self) -> bool:
        """Whether a classifier should give it its own honest scores (`fit_scores`) rather than rows (`fit_sample`)."""
        return False

    def _fit(self, pu: PUSample) -> Self:
        self.labelled_share_ = pu.labelled_share
        self.prior_ = float(self._to_population(self._unlabeled_share(pu, check_random_state(self.random_state))))
        return self

    def fit_scores(self, scores: HonestScores) -> Self:
        """Estimate the prior from honest scores that a classifier has already, where the method works on scores.

        Examples
        --------
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.priors import AutoPrior
        >>> data = make_gaussians(60, 200, separation=3, random_state=0)
        >>> first = AutoPrior().fit(data.X, data.y)
        >>> AutoPrior().fit_scores(first.honest_scores_).prior_ == first.prior_
        True
        """
        raise NotImplementedError(f"{type(self).__name__} estimates the prior from rows: use fit.")

    def raised_to(self, least: float) -> Self:
        """The same, of a population that is known to hold at least this share of positives.

        Examples
        --------
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.priors import ElkanNotoPrior
        >>> data = make_gaussians(prior=0.3, random_state=0)
        >>> ElkanNotoPrior().fit(data.X, data.y).raised_to(0.9).prior_
        0.9
        """
        self.least_, self.prior_ = least, max(self.prior_, least)
        return self

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Interval that holds the prior, at a confidence level.

        Not the noise of this estimate alone, which knows nothing of its bias: between which limits the prior lies, from
        how many unlabeled rows score as high as the labelled positives do (`unlabeled.priors.limits`), and wide enough
        for the estimate itself. With few positives it is wide. The upper end assumes labels given completely at random;
        the lower end also that the highest scores are those of positives (irreducibility), or that probabilities are
        a logistic curve in the rank of the score: the smaller of the two limits is taken. Where both are in doubt the
        estimate is an upper bound of the prior, and the prior may lie anywhere below the interval.

        Parameters
        ----------
        level : float in (0, 1), default=0.95

        Examples
        --------
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.priors import AutoPrior
        >>> data = make_gaussians(60, 200, separation=3, random_state=0)
        >>> estimator = AutoPrior().fit(data.X, data.y)
        >>> (low, high), (lower, higher) = estimator.interval(0.5), estimator.interval(0.95)
        >>> lower <= low < high <= higher
        True
        """
        check_is_fitted(self, "prior_")
        low, high = (self._to_population(share) for share in share_limits(self._scores_at_hand(), check_level(level)))
        return float(max(min(low, self.prior_), self.least_)), float(max(high, self.prior_))

    def _scores_at_hand(self) -> HonestScores:
        """Honest scores of the rows that the estimate is from."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        """It predicts nothing, but learns from two classes as a binary classifier does."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        return tags

    def _unlabeled_share(self, pu: PUSample, rng: np.random.RandomState) -> float:
        """Share of positives among the unlabeled rows, in [0, 1]."""
        raise NotImplementedError

    def _to_population(self, share: float | FloatArray) -> float | FloatArray:
        """From the share among unlabeled rows to the prior of the population."""
        return self.labelled_share_ + (1 - self.labelled_share_) * share


def check_max_evaluations(max_evaluations: object) -> None:
    """Refuse what is not a number of rows to score, or None for all of them."""
    if max_evaluations is None:
        return
    if not isinstance(max_evaluations, Integral) or int(max_evaluations) < 2:  # one row has no other to score it by
        raise ValueError(f"max_evaluations must be a whole number of 2 or more, or None; got {max_evaluations!r}.")


def check_level(level: float) -> float:
    """Refuse what is not a confidence level."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1; got {level!r}.")
    return level
