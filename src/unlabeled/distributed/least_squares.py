"""The fitted ratio of a table in partitions: landmarks and honest scores of some rows, moments of all of them."""

from __future__ import annotations

from functools import partial

from unlabeled.classifiers.least_squares import LeastSquaresPUClassifier
from unlabeled.contract import ResolvedPrior
from unlabeled.samples import PUSample
from unlabeled.scoring.averaging import MomentsOf, moments_of_all


class ClusterLeastSquares(LeastSquaresPUClassifier):
    """The fitted ratio whose mean and second moments are those of all rows, at the landmarks of the evaluated ones.

    A moment is a sum over rows, and so one pass over the partitions gives those of all kernels that are in use, a
    matrix of landmarks by landmarks each.
    """

    def fit_partitions(self, pu: PUSample, prior: ResolvedPrior | None) -> LeastSquaresPUClassifier:
        """Fit to all rows, and score some."""
        self._whole = pu
        self.fit_sample(pu, prior=prior)
        del self._whole
        plain = LeastSquaresPUClassifier(**self.get_params(deep=False))
        plain.__dict__.update(self.__dict__)
        return plain

    def _moments_of(self, fitted: PUSample) -> MomentsOf | None:
        whole = self._whole
        if len(fitted.positive) == len(whole.positive) and len(fitted.unlabeled) == len(whole.unlabeled):
            return None
        complete = whole.mapped(self.form_.apply)
        return partial(moments_of_all, pu=complete, labelled_share=whole.labelled_share)
