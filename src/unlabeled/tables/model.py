"""A model of a table: what its columns are, and the pipeline that scores its rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from sklearn.pipeline import Pipeline

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import Columns, Notices
from unlabeled.tables.encoding import make_encoder


@dataclass
class TableModel:
    """Columns, the fitted pipeline (encoder, classifier), and how labels were read.

    ``facts`` is what was estimated when it was fitted, for people to read.
    """

    columns: Columns
    pipeline: Pipeline
    label: str
    positive: str
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

    def decide(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Notices]:
        """Margin (score less threshold), probability and decision of each row, and what was strange in the table."""
        features, notices = self.features(frame)
        margin, probability = _decide(self.classifier, features)
        return pl.DataFrame({"margin": margin, "probability": probability, "flagged": margin > 0}), notices


def _decide(classifier: Any, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Margin and probability of each row, from one pass over the rows where the classifier can."""
    if not hasattr(classifier, "probability_of_scores"):
        return classifier.decision_function(features), classifier.predict_proba(features)[:, 1]
    scores = classifier.score_samples(features)
    return scores - classifier.threshold_, classifier.probability_of_scores(scores)[:, 1]


def encode(columns: Columns, frame: pl.DataFrame) -> tuple[Any, FloatArray]:
    """A fitted encoder for a table, and the features it makes of it."""
    matrix, _ = columns.matrix(frame)
    encoder = make_encoder(columns)
    return encoder, encoder.fit_transform(matrix)
