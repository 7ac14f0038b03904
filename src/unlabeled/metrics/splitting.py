"""Folds that hold their share of both samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold

from unlabeled.labels import find_classes, without_negatives


class PUStratifiedKFold(StratifiedKFold):
    """K folds, each with its share of the labelled positives and of the unlabeled rows, up to one row.

    Both samples are in every fold, so every PU metric can be taken there; and the labelled share, which is part of the
    single-sample scenario, is that of the whole table. Fewer positives than folds are an error: scikit-learn's
    `StratifiedKFold` would leave folds without any.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
        Shuffle the rows of each sample first. Otherwise folds are stretches of the table.
    random_state : int, RandomState or None, default=None
        Used when ``shuffle`` is True.
    pos_label : optional
        The value that marks labelled positives, where numbers or words do not say it.
    negative : optional
        The value that marks rows known to be negative; of these too each fold has its share.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled.metrics import PUStratifiedKFold
    >>> X, y = np.zeros((12, 1)), np.array([1, 1, 1] + [0] * 9)
    >>> [int(y[test].sum()) for _, test in PUStratifiedKFold(3).split(X, y)]
    [1, 1, 1]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        pos_label: Any = None,
        negative: Any = None,
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.pos_label = pos_label
        self.negative = negative

    def split(self, X: Any, y: ArrayLike, groups: None = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The row numbers of training and test part of each fold.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.metrics import PUStratifiedKFold
        >>> y = np.array([1, 1, 1] + [0] * 9)
        >>> [int(y[test].sum()) for _, test in PUStratifiedKFold(3).split(np.zeros((12, 1)), y)]
        [1, 1, 1]
        """
        y, found = without_negatives(y, self.negative, self.pos_label)
        _, is_positive = find_classes(y, self.pos_label)
        is_negative = np.zeros(len(is_positive), dtype=bool) if found is None else found
        samples = is_positive + 2 * is_negative
        for sample, name in ((1, "labelled positives"), (0, "unlabeled rows"), (2, "known negatives")):
            count = int((samples == sample).sum())
            if count < self.n_splits and (count or sample < 2):
                raise ValueError(
                    f"There are {count} {name} for n_splits={self.n_splits} folds, and each fold needs one; "
                    f"use n_splits={max(count, 2)}{' and more data' if count < 2 else ''}."
                )
        return super().split(X, samples, groups)
