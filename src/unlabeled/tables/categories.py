"""Categories of which there are many: how often each occurs, and how it is spelled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from unlabeled.arrays import FloatArray
from unlabeled.tables.texts import TextFeatures


class ManyCategories(TransformerMixin, BaseEstimator):
    """What can be said of a category beside which one it is; of one that is new, too.

    Whether a row is labelled takes no part in it: features that have seen the label of their own row make scores that
    look better than they are.

    Parameters
    ----------
    n_features : int, default=10
        Features by spelling (`TextFeatures`), at most. The first feature is how often the category occurs.

    Attributes
    ----------
    spelling_ : TextFeatures
    categories_ : array of str, sorted
    log_shares_ : array of shape (n_categories,)
        Log of the share of the rows that have each category, less its mean, over its spread.
    log_share_of_new_ : float
        The same for a category that is new.
    """

    def __init__(self, n_features: int = 10) -> None:
        self.n_features = n_features

    def fit(self, words: Sequence[str], y: object = None) -> ManyCategories:
        """Learn from a column, "" where it is missing."""
        del y
        present = np.array([word for word in words if word])
        self.categories_, counts = np.unique(present, return_counts=True)
        log_shares = np.log((counts + 1) / (len(present) + 1))
        mean = np.average(log_shares, weights=counts)
        spread = np.sqrt(np.average((log_shares - mean) ** 2, weights=counts)) or 1.0
        self.log_shares_ = (log_shares - mean) / spread
        self.log_share_of_new_ = float((np.log(1 / (len(present) + 1)) - mean) / spread)
        self.spelling_ = TextFeatures(self.n_features, pieces=True).fit(present.tolist())
        return self

    def transform(self, words: Sequence[str]) -> FloatArray:
        """How often (1 feature) and how spelled (the others); all 0 where missing."""
        different, place = np.unique(np.asarray(words, dtype=str), return_inverse=True)
        at = np.minimum(np.searchsorted(self.categories_, different), len(self.categories_) - 1)
        shares = np.where(self.categories_[at] == different, self.log_shares_[at], self.log_share_of_new_)
        shares[different == ""] = 0.0
        return np.column_stack([shares, self.spelling_.transform(different.tolist())])[place]

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """How often, and how spelled."""
        return np.append(["frequency"], self.spelling_.get_feature_names_out(input_features)).astype(object)
