"""``unlabeled fit``: from a table to a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.pipeline import Pipeline

from unlabeled.cli import options
from unlabeled.cli.evaluation import Estimates, estimate
from unlabeled.cli.failures import check_output
from unlabeled.cli.learning_table import LearningTable, read_learning_table
from unlabeled.cli.methods import DEFAULT_METHOD, METHODS, describe
from unlabeled.cli.output import collected_warnings, say, say_json
from unlabeled.cli.prior_estimate import PriorEstimate, estimate_prior, given_prior
from unlabeled.saving import save
from unlabeled.tables import Columns, TableError, TableModel

FEW_POSITIVES = 10


def fit(
    table: options.TablePath,
    *,
    label: options.Label,
    positive: options.Positive = None,
    prior: Annotated[
        str, typer.Option(metavar="X|auto", help="Share of positives in the population, or auto: estimate it.")
    ] = "auto",
    scenario: options.Scenario = "single-sample",
    method: Annotated[str, typer.Option(help=f"The classifier: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    model: Annotated[
        Path | None, typer.Option(metavar="OUT", help="Where to write the model. Default: TABLE's name with .model.")
    ] = None,
    category: options.Category = None,
    identifier: options.Identifier = None,
    drop: options.Drop = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
) -> None:
    """Learn from a table in which some rows are known to be positive.

    A missing number or date becomes the median, and the model is told that it was missing; a missing category is a
    category of its own. NA, N/A, NaN, null, None and ? count as missing.

    For example:

        unlabeled fit customers.parquet --label fraud

        unlabeled fit genes.csv --label known --positive yes --prior 0.05 --model genes.model
    """
    out = model or Path(table.with_suffix(".model").name)
    check_output(out, force=force, inputs=(table,))
    if method not in METHODS:
        raise TableError(f"There is no method {method!r}; use one of {', '.join(METHODS)}.")
    with collected_warnings() as warned:
        learning = read_learning_table(
            table, label, positive, categories=category or (), identifiers=identifier or (), drop=drop or ()
        )
        classifier, found = _fitted(method, prior, learning, scenario)
        estimates = estimate(classifier, learning.features, learning.y, found.value, scenario)
    remarks = warned + _remarks(learning, found, estimates)
    facts = _facts(learning, found, classifier, estimates, remarks, method, scenario, out)
    save(_table_model(learning, classifier, label, facts), out)
    if as_json:
        say_json(facts)
    else:
        _report(learning, found, classifier, estimates, remarks, method, scenario, out)


def _fitted(method: str, prior: str, learning: LearningTable, scenario: str) -> tuple[Any, PriorEstimate]:
    """The classifier, and the prior that it was given or found."""
    X, y = learning.features, learning.y
    if prior != "auto":
        found = given_prior(prior, learning.labelled_share if scenario == "single-sample" else 0.0)
        return METHODS[method](found.value, scenario).fit(X, y), found
    classifier = METHODS[method]("auto", scenario).fit(X, y)
    estimator = getattr(classifier, "prior_estimator_", None)
    if estimator is None:
        return classifier, estimate_prior("auto", X, y, scenario)
    low, high = estimator.interval()
    return classifier, PriorEstimate(classifier.prior_, low, high, "auto")


def _table_model(learning: LearningTable, classifier: Any, label: str, facts: dict[str, Any]) -> TableModel:
    is_positive = learning.labels.is_positive
    return TableModel(
        learning.columns,
        Pipeline([("columns", learning.encoder), ("classifier", classifier)]),
        label,
        learning.labels.positive,
        (np.flatnonzero(is_positive) + 1).astype(np.int32),
        (np.flatnonzero(~is_positive) + 1).astype(np.int32),
        facts,
    )


def _remarks(learning: LearningTable, prior: PriorEstimate, estimates: Estimates | None) -> list[str]:
    """What a person should know before trusting the result."""
    remarks = []
    if learning.labels.n_positive < FEW_POSITIVES:
        remarks.append(f"{learning.labels.n_positive} labelled positives are few: expect large errors below ten or so.")
    if estimates is None:
        remarks.append("There are too few rows to hold any out, so recall and precision are not estimated.")
    elif estimates.roc_auc < 0.65:
        remarks.append(
            f"The columns hardly tell positives from others (AUC {max(estimates.roc_auc, 0):.2f}; 0.5 is chance): the "
            "ranking will be of little use."
        )
    if prior.low is not None and prior.high is not None and prior.high - prior.low > 0.3:
        remarks.append(
            "The prior is uncertain. Give it if you know it (--prior); `unlabeled prior` shows more estimates."
        )
    return remarks


def _facts(
    learning: LearningTable,
    prior: PriorEstimate,
    classifier: Any,
    estimates: Estimates | None,
    remarks: list[str],
    method: str,
    scenario: str,
    out: Path,
) -> dict[str, Any]:
    """All that the report says, for machines and for the model file."""
    return {
        "table": str(learning.source.path),
        "format": learning.source.format.name,
        "n_rows": len(learning.frame),
        "label": {"positive": learning.labels.positive, "n_positive": learning.labels.n_positive},
        "columns": [{"name": c.name, "kind": c.kind, "note": c.note} for c in learning.columns.all],
        "scenario": scenario,
        "prior": asdict(prior),
        "method": method,
        "threshold": float(classifier.threshold_),
        "estimates": None if estimates is None else asdict(estimates),
        "warnings": remarks,
        "model": str(out),
    }


def _report(
    learning: LearningTable,
    prior: PriorEstimate,
    classifier: Any,
    estimates: Estimates | None,
    remarks: list[str],
    method: str,
    scenario: str,
    out: Path,
) -> None:
    n_rows, n_positive = len(learning.frame), learning.labels.n_positive
    say("Read", learning.describe())
    say("Labels", f"{n_positive:,} positives ({learning.labels.positive!r}), {n_rows - n_positive:,} unlabeled rows")
    say("Scenario", _SCENARIOS[scenario])
    say("Columns", *_column_lines(learning.columns))
    n_in_population = n_rows if scenario == "single-sample" else n_rows - n_positive
    say("Prior", prior.describe(), f"about {prior.value * n_in_population:,.0f} positives in {n_in_population:,} rows")
    say("Method", *_method_lines(classifier, method))
    say("Threshold", f"rows with a log ratio above {classifier.threshold_:.3f} are flagged")
    if estimates is not None:
        say(
            "Estimates",
            f"recall {estimates.recall:.2f}, precision {estimates.precision:.2f}, flagged {estimates.flagged_rate:.1%} "
            "of the population (each row scored without itself)",
        )
    for remark in remarks:
        say("Warning", remark)
    say("Model", f"{out} ({out.stat().st_size / 1e6:.1f} MB)")


_SCENARIOS = {
    "single-sample": "single-sample: all rows are the population, and some of its positives are labelled",
    "case-control": "case-control: the unlabeled rows are the population, and positives were added to them",
}


def _method_lines(classifier: Any, method: str) -> list[str]:
    """What scores the rows, and why, where it was a choice."""
    return [f"{method}: {describe(classifier)}", *([classifier.reason_] if hasattr(classifier, "reason_") else [])]


def _column_lines(columns: Columns, most: int = 12) -> list[str]:
    """A line for each kind of column, and one for each that is left out."""
    lines = []
    for kind in dict.fromkeys(column.kind for column in columns.used):
        names = [column.name or "(no name)" for column in columns.used if column.kind == kind]
        lines.append(
            f"{kind}: {', '.join(names[:most])}{f' and {len(names) - most:,} more' if len(names) > most else ''}"
        )
    left_out = [column for column in columns.all if not column.used]
    lines += [f"{column.name or '(no name)'}: {column.kind}, {column.note}" for column in left_out[:most]]
    return lines + ([f"{len(left_out) - most:,} more are left out"] if len(left_out) > most else [])
