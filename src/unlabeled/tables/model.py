"""A model of a table: the pipeline that scores its rows, and how its labels were read."""

from __future__ import annotations

import json
from copy import copy
from typing import Any

import polars as pl
from sklearn.pipeline import Pipeline

from unlabeled.arrays import FloatArray
from unlabeled.tables.columns import Columns, Notices
from unlabeled.tables.encoding import TableEncoder


class TableModel(Pipeline):
    """A pipeline from a table to decisions: `TableEncoder`, then a classifier. The command line saves these.

    As an estimator it answers for data frames of pandas and polars and for mappings of columns, in which columns are
    found by name; other columns do not matter. Classes are 1, what ``positive`` is in the column ``label``, and 0.

    Parameters
    ----------
    steps : list of (name, estimator)
        A `TableEncoder` and a classifier.
    label : str
        The column that marked positives in the table that the model was fitted to.
    positive : str
        Its value for positives.
    facts : dict
        What was estimated when it was fitted, for people to read.
    transform_input, memory, verbose
        As in scikit-learn's `Pipeline`.

    Examples
    --------
    >>> import numpy as np
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.tables import TableEncoder, TableModel
    >>> table = {"age": np.arange(40.0) ** 2, "city": ["Bonn", "Rome"] * 20}
    >>> y = [1] * 10 + [0] * 30
    >>> model = TableModel([("columns", TableEncoder()), ("classifier", WMMDClassifier(prior=0.5))]).fit(table, y)
    >>> model.predict({"city": ["Rome", "Bonn"], "age": [4, 1500]})
    array([1, 0])
    """

    def __init__(
        self,
        steps: list[tuple[str, Any]],
        *,
        label: str = "",
        positive: str = "",
        facts: dict[str, Any] | None = None,
        transform_input: list[str] | None = None,
        memory: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.label = label
        self.positive = positive
        self.facts = facts

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "facts": json.dumps(self.facts)}  # one text, for tables of 10,000 columns

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__({**state, "facts": json.loads(state["facts"])})

    @property
    def encoder(self) -> TableEncoder:
        """The first step, which makes features of a table."""
        return self[0]

    @property
    def columns(self) -> Columns:
        """What the columns of the table are."""
        return self.encoder.columns_

    @property
    def classifier(self) -> Any:
        """The last step."""
        return self[-1]

    @property
    def negative(self) -> str | None:
        """The value in the column ``label`` of rows that were known to be negative; None where there were none."""
        known = (self.facts or {}).get("negatives")
        return None if known is None else str(known["negative"])

    def with_decimal(self, mark: str | None) -> TableModel:
        """The same model for tables that write decimals with another mark, "." or ",".

        Examples
        --------
        >>> import polars as pl
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.tables import TableEncoder, TableModel
        >>> table = pl.DataFrame({"age": [float(n * n) for n in range(40)], "city": ["Bonn", "Rome"] * 20})
        >>> steps = [("columns", TableEncoder()), ("classifier", WMMDClassifier(prior=0.5))]
        >>> model = TableModel(steps).fit(table, [1] * 10 + [0] * 30)
        >>> comma = pl.DataFrame({"age": ["1,5", "400,5"], "city": ["Rome", "Bonn"]})
        >>> same = comma.with_columns(pl.col("age").str.replace(",", "."))
        >>> bool((model.with_decimal(",").predict(comma) == model.predict(same)).all())
        True
        """
        if mark is None:
            return self
        model, encoder = copy(self), copy(self.encoder)
        encoder.columns_ = self.columns.with_decimal(mark)
        model.steps = [(self.steps[0][0], encoder), *self.steps[1:]]
        return model

    def with_classifier(self, classifier: Any) -> TableModel:
        """The same model with another last step, fitted already.

        Examples
        --------
        >>> import polars as pl
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.tables import TableEncoder, TableModel
        >>> table = pl.DataFrame({"age": [float(n * n) for n in range(40)], "city": ["Bonn", "Rome"] * 20})
        >>> steps = [("columns", TableEncoder()), ("classifier", WMMDClassifier(prior=0.5))]
        >>> model = TableModel(steps).fit(table, [1] * 10 + [0] * 30)
        >>> model.with_classifier(model.classifier.adapt(model.features(table)[0], check=False)).predict(table.head(2))
        array([1, 1])
        """
        model = copy(self)
        model.steps = [*self.steps[:-1], (self.steps[-1][0], classifier)]
        return model

    def features(self, frame: pl.DataFrame) -> tuple[FloatArray, Notices]:
        """The rows of a table as the classifier sees them, and what was strange in them.

        Examples
        --------
        >>> import polars as pl
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.tables import TableEncoder, TableModel
        >>> table = pl.DataFrame({"age": [float(n * n) for n in range(40)], "city": ["Bonn", "Rome"] * 20})
        >>> steps = [("columns", TableEncoder()), ("classifier", WMMDClassifier(prior=0.5))]
        >>> model = TableModel(steps).fit(table, [1] * 10 + [0] * 30)
        >>> features, notices = model.features(table.head(2))
        >>> features.shape, notices.unseen
        ((2, 3), {})
        """
        return self.encoder.encode(frame)

    def decide(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, Notices]:
        """Margin (score less threshold), probability and decision of each row, and what was strange in the table.

        Examples
        --------
        >>> import polars as pl
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.tables import TableEncoder, TableModel
        >>> table = pl.DataFrame({"age": [float(n * n) for n in range(40)], "city": ["Bonn", "Rome"] * 20})
        >>> steps = [("columns", TableEncoder()), ("classifier", WMMDClassifier(prior=0.5))]
        >>> model = TableModel(steps).fit(table, [1] * 10 + [0] * 30)
        >>> decisions, _ = model.decide(table.head(2))
        >>> len(decisions)
        2
        """
        features, notices = self.features(frame)
        margin, probability = _decide(self.classifier, features)
        return pl.DataFrame({"margin": margin, "probability": probability, "flagged": margin > 0}), notices


def _decide(classifier: Any, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Margin and probability of each row, from one pass over the rows where the classifier can."""
    if not hasattr(classifier, "probability_of_scores"):
        return classifier.decision_function(features), classifier.predict_proba(features)[:, 1]
    scores = classifier.score_samples(features)
    return scores - classifier.threshold_, classifier.probability_of_scores(scores)[:, 1]
