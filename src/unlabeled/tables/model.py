"""A model of a table: what its columns are, and the pipeline that scores its rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from sklearn.pipeline import Pipeline

from unlabeled.kernels import FloatArray
from unlabeled.tables.columns import Columns, Notices
from unlabeled.tables.encoding import make_encoder


@dataclass
class TableModel:
    """Columns, the fitted pipeline (encoder, classifier), how labels were read, and the row each training row was.

    ``facts`` is what was estimated when it was fitted, for people to read. ``positive_rows`` and ``unlabeled_rows``
    are row numbers of the training table, counted from 1, in the order of the classifier's samples.
    """

    columns: Columns
    pipeline: Pipeline
    label: str
    positive: str
    positive_rows: np.ndarray
    unlabeled_rows: np.ndarray
    facts: dict[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "facts": json.dumps(self.facts)}  # one text, for tables of 10,000 columns

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, facts=json.loads(state["facts"]))

    @property
    def classifier(self) -> Any:
        """The last step of the pipeline."""
        return self.pipeline[-1]

    def features(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The rows of a table as the classifier sees them."""
        matrix, notices = self.columns.matrix(frame)
        return self.pipeline[:-1].transform(matrix), notices

    def score(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Notices]:
        """Score, probability and decision of each row of a table, and what was strange in it."""
        features, notices = self.features(frame)
        decision, probability = _decide(self.classifier, features)
        return pl.DataFrame({"score": decision, "probability": probability, "flagged": decision > 0}), notices


def _decide(classifier: Any, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Decision and probability of each row, from one pass over the rows where the classifier can."""
    if not hasattr(classifier, "probability_of_scores"):
        return classifier.decision_function(features), classifier.predict_proba(features)[:, 1]
    scores = classifier.score_samples(features)
    return scores - classifier.threshold_, classifier.probability_of_scores(scores)[:, 1]


def encode(columns: Columns, frame: pl.DataFrame) -> tuple[Any, FloatArray]:
    """A fitted encoder for a table, and the features it makes of it."""
    matrix, _ = columns.matrix(frame)
    encoder = make_encoder(columns)
    return encoder, encoder.fit_transform(matrix)
