"""A model of a table: the pipeline that scores its rows, and how its labels were read."""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from sklearn.pipeline import Pipeline

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import Columns, Notices
from unlabeled.tables.encoding import FrameEncoder


@dataclass
class TableModel:
    """The fitted pipeline (`FrameEncoder`, classifier), and how labels were read.

    ``facts`` is what was estimated when it was fitted, for people to read.
    """

    pipeline: Pipeline
    label: str
    positive: str
    facts: dict[str, Any] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "facts": json.dumps(self.facts)}  # one text, for tables of 10,000 columns

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, facts=json.loads(state["facts"]))

    @property
    def encoder(self) -> FrameEncoder:
        """The first step of the pipeline, which makes features of a table."""
        return self.pipeline[0]

    @property
    def columns(self) -> Columns:
        """What the columns of the table are."""
        return self.encoder.columns

    @property
    def classifier(self) -> Any:
        """The last step of the pipeline."""
        return self.pipeline[-1]

    def with_decimal(self, mark: str | None) -> TableModel:
        """The same model for tables that write decimals with another mark, "." or ","."""
        if mark is None:
            return self
        encoder = copy(self.encoder)
        encoder.columns = self.columns.with_decimal(mark)
        return replace(self, pipeline=Pipeline([("columns", encoder), *self.pipeline.steps[1:]]))

    def features(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The rows of a table as the classifier sees them, and what was strange in them."""
        return self.encoder.encode(frame)

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
