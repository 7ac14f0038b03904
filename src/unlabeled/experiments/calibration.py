"""How far predicted probabilities are from the truth that an experiment knows and a method does not."""

from __future__ import annotations

import numpy as np

N_BINS = 15


def calibration_error(probability: np.ndarray, truth: np.ndarray, n_bins: int = N_BINS) -> float:
    """Expected calibration error: mean distance of probability and share of positives, in bins of equal mass.

    Bins hold rows of like probability. With few rows a bin the share of positives is noisy, and the error of a perfect
    model is well above 0.
    """
    n_rows = len(truth)
    bins = np.array_split(np.argsort(probability, kind="stable"), min(n_bins, n_rows))
    return float(sum(len(rows) * abs(probability[rows].mean() - truth[rows].mean()) for rows in bins) / n_rows)
