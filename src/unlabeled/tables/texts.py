"""Free text as a few features: words that tell texts apart, and the directions in which texts differ most.

Names of which there are many, such as those of streets or job titles, are texts of a few letters: what tells them apart
are pieces of words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray

#: Texts to learn from, at most: more change little and take long.
MOST_TEXTS = 50_000
#: Words that are kept: the most frequent. More make a larger model, and are in few rows.
MOST_WORDS = 5_000
_ONE_WORD = r"(?u)\b\w+\b"
#: Features that a text column becomes, at most.
MOST_FEATURES = 10


class TextFeatures(TransformerMixin, BaseEstimator):
    """Texts as points on a sphere, by latent semantic analysis: TF-IDF of words, and its first singular vectors.

    Two texts that have nothing in common are then as far apart as two rows that differ in a category. A text
    without a known word, or a missing one, is in the middle.

    Parameters
    ----------
    n_features : int, default=10
        Features that a text becomes, at most.
    pieces : bool, default=False
        Whether pieces of words, of two to four letters, are counted instead of words: names that are spelled alike
        are then near each other.

    Attributes
    ----------
    words_ : list of str
        The words that count.
    idf_ : array of shape (n_words,)
        How rare each is.
    directions_ : array of shape (n_features, n_words)
        What each feature is made of.
    """

    words_: list[str]
    idf_: FloatArray
    directions_: FloatArray

    def __init__(self, n_features: int = MOST_FEATURES, *, pieces: bool = False) -> None:
        self.n_features = n_features
        self.pieces = pieces

    def fit(self, texts: Sequence[str], y: object = None) -> TextFeatures:
        """Learn from the texts of a table, or from some spread over it."""
        del y
        counter = self._counter(max_features=MOST_WORDS)
        with_words = [text for text in texts if text.strip()]
        weighted = counter.fit_transform(with_words[:: len(with_words) // MOST_TEXTS + 1])
        self.words_, self.idf_ = counter.get_feature_names_out().tolist(), counter.idf_
        self.directions_ = _directions(weighted, self.n_features)
        return self

    def transform(self, texts: Sequence[str]) -> FloatArray:
        """The features (n_texts, n_features) of texts."""
        check_is_fitted(self)
        counter = self._counter(vocabulary=self.words_)
        counter.idf_ = self.idf_
        features: FloatArray = normalize(np.asarray(counter.transform(texts) @ self.directions_.T))
        return features

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """The features by number."""
        del input_features
        return np.array([f"text{number}" for number in range(len(self.directions_))], dtype=object)

    def _counter(self, **options: Any) -> TfidfVectorizer:
        how = {"analyzer": "char_wb", "ngram_range": (2, 4)} if self.pieces else {"token_pattern": _ONE_WORD}
        return TfidfVectorizer(sublinear_tf=True, strip_accents="unicode", **how, **options)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        return state | ({"words_": json.dumps(self.words_)} if "words_" in state else {})  # one text, for 5,000 words

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state | ({"words_": json.loads(state["words_"])} if "words_" in state else {}))


def _directions(weighted: Any, n_features: int) -> FloatArray:
    """The first right singular vectors (n_features, n_words) of weighted word counts."""
    n_texts, n_words = weighted.shape
    if n_words == 1:  # scikit-learn wants two
        return np.ones((1, 1))
    directions: FloatArray = TruncatedSVD(min(n_features, n_texts, n_words), random_state=0).fit(weighted).components_
    return directions
