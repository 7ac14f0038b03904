"""Shares of training rows in a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unlabeled.arrays import FloatArray


@dataclass(frozen=True)
class Shares:
    """The share of training rows in a mean: which rows they are, and P(y = 1) where they count as probable positives.

    ``rows`` are counted as in the table that `fit` was given.
    """

    rows: np.ndarray
    shares: FloatArray
    probabilities: FloatArray | None = None

    @property
    def n_for_half(self) -> int:
        """The least number of rows that make up half of the mean."""
        ordered = np.cumsum(np.sort(self.shares)[::-1])
        return int(np.searchsorted(ordered, ordered[-1] / 2)) + 1

    def largest(self, n_rows: int) -> Shares:
        """The rows of the largest shares, the largest first."""
        order = (-self.shares).argsort(kind="stable")[:n_rows]
        probabilities = None if self.probabilities is None else self.probabilities[order]
        return Shares(self.rows[order], self.shares[order], probabilities)
