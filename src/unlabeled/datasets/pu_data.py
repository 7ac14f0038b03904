"""What every data set of this package hands out: two samples to learn from, and the truth a real one hides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray

RandomState = int | np.random.RandomState | None


@dataclass(frozen=True, eq=False)
class PUData:
    """Positives, unlabeled rows with their hidden classes (True: positive), and a test sample with its classes.

    In the single-sample scenario the population is `positive` and `unlabeled` together; in the case-control scenario
    `unlabeled` alone is a sample of it. The test sample is one of the population in both.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> data.X.shape, int(data.y.sum())
    ((260, 2), 60)
    >>> data.unlabeled_truth[:5]
    array([ True, False, False, False,  True])
    """

    positive: FloatArray
    unlabeled: FloatArray
    unlabeled_truth: np.ndarray
    test: FloatArray
    test_truth: np.ndarray
    scenario: str = "case-control"

    @property
    def X(self) -> FloatArray:
        """Positives above unlabeled rows, as `fit` wants them."""
        return np.concatenate([self.positive, self.unlabeled])

    @property
    def y(self) -> np.ndarray:
        """1 for labelled positives, 0 for unlabeled rows."""
        return np.repeat([1, 0], [len(self.positive), len(self.unlabeled)])


def check_prior(prior: float) -> None:
    """Refuse a share of positives that leaves one class without rows."""
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1; got {prior!r}.")
