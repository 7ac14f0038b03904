"""Copies of labelled rows among the others."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse

from unlabeled.reports.subject import Subject
from unlabeled.samples import hash_of_rows

#: The share of labelled rows with a copy in the table, from which scores without each row are not honest.
MANY_COPIES = 0.05


def n_labelled_among_unlabeled(subject: Subject) -> int | None:
    """Labelled rows with a copy among the unlabeled rows that were looked at."""
    rows = subject.rows
    if rows is None or rows.is_positive is None or issparse(rows.features):
        return None
    hashes = hash_of_rows(np.asarray(rows.features, dtype=np.float64))
    return int(np.isin(hashes[rows.is_positive], hashes[~rows.is_positive]).sum())


def copied_from_the_others(subject: Subject) -> bool:
    """Whether labelled rows have copies among the unlabeled ones clearly more often than unlabeled rows have.

    In a table of few categories, or of rounded numbers, all rows have copies now and then.
    """
    rows = subject.rows
    if rows is None or rows.is_positive is None:
        return False
    hashes = hash_of_rows(np.asarray(rows.features, dtype=np.float64))
    labelled, others = hashes[rows.is_positive], hashes[~rows.is_positive]
    _, place, counts = np.unique(others, return_inverse=True, return_counts=True)
    of_labelled, of_others = float(np.isin(labelled, others).mean()), float((counts[place] > 1).mean())
    error = np.sqrt(max(of_others * (1 - of_others), 1 / len(others)) / len(labelled))
    return of_labelled >= MANY_COPIES and of_labelled * len(labelled) >= 2 and of_labelled - of_others > 4 * error
