"""``unlabeled explain``: why a row has the score it has."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unlabeled.classifier import WMMDClassifier
from unlabeled.cli import options
from unlabeled.cli.kernel_shares import ProbablePositives, explain_score, n_for_half
from unlabeled.cli.learned_score import nearest_in_score
from unlabeled.cli.methods import scoring_parts
from unlabeled.cli.output import say, say_json, show_table
from unlabeled.cli.predict import load_table_model
from unlabeled.kernels import FloatArray
from unlabeled.score_classifier import ScoreWMMDClassifier
from unlabeled.tables import Table, TableError, TableModel, feature_columns

_SHOWN = 5
_MOST_COLUMNS = 10
_EXACT = "this score is a closed form of the training rows: every share and part below is exact"
_LEARNED = (
    "this score is learned: below are the training rows next to this one in that score, which do not decide it, and "
    "what the model goes by over all rows, which need not be what counts for this one"
)


def explain(
    model: options.ModelPath,
    table: options.TablePath,
    *,
    row: Annotated[int, typer.Option(metavar="K", min=1, help="The row, counted from 1, as `predict` numbers them.")],
    as_json: options.AsJson = False,
) -> None:
    """Say which training rows decide the score of a row, and which columns tell them apart.

    By distances the score is the log of a ratio of two means over training rows, or a sum of such logs, so each
    training row has an exact share in either mean, and parts by column and the crowding sum up to the score. For a row
    that was itself in the training table, its own share is in it. A learned score has no such parts, and the answer
    says so. Where both are in use, both are explained.

    For example:

        unlabeled explain customers.model customers.parquet --row 17
    """
    fitted = load_table_model(model)
    source = Table.open(table)
    if not source.leaves_out_zeros:
        fitted.columns.check_present(source.names(), str(table))
    frame = source.row(row, fitted.columns.names)
    if frame is None:
        raise TableError(f"{table} has fewer than {row:,} rows.")
    features, _ = fitted.features(frame)
    answer = {"row": row} | _decision(fitted, features) | _reasons(fitted, features)
    say_json(answer) if as_json else _report(answer)


def _decision(model: TableModel, features: FloatArray) -> dict[str, Any]:
    decision, threshold = float(model.classifier.decision_function(features)[0]), float(model.classifier.threshold_)
    return {"log_ratio": decision + threshold, "threshold": threshold, "flagged": decision > 0}


def _reasons(model: TableModel, features: FloatArray) -> dict[str, Any]:
    """What each of the scores in use is made of, and what it adds to the log ratio of the row."""
    found = []
    for part, weight in scoring_parts(model.classifier):
        if isinstance(part, WMMDClassifier):
            reasons = {"by": "distances"} | _exact_reasons(model, part, features, weight)
        elif isinstance(part, ScoreWMMDClassifier):
            reasons = {"by": "learned score"} | _learned_reasons(model, part, features, weight)
        else:
            raise TableError(f"Scores of {type(part).__name__} are not explained; fit with --method wmmd or score.")
        found.append(reasons)
    return {"scores": found}


def _exact_reasons(model: TableModel, part: WMMDClassifier, features: FloatArray, weight: float) -> dict[str, Any]:
    found = explain_score(part, features)
    rows = {
        "positives": _deciding(found.positive_shares, model.positive_rows),
        "unlabeled": _deciding(found.unlabeled_shares, model.unlabeled_rows),
    }
    if found.probable is not None:
        rows["probable"] = _deciding_probable(found.probable, model)
    return {
        "adds": weight * found.score,
        "because": _EXACT,
        "rows": rows,
        "parts": _by_column(weight * found.by_feature, model),
        "crowding": weight * found.crowding,
    }


def _deciding(shares: FloatArray, numbers: Any) -> dict[str, Any]:
    """The rows with the largest shares, and how many make up half of the mean."""
    order = (-shares).argsort(kind="stable")[:_SHOWN]
    first = [{"row": int(numbers[place]), "share": float(shares[place])} for place in order]
    return {"n_for_half": n_for_half(shares), "first": first}


def _deciding_probable(probable: ProbablePositives, model: TableModel) -> dict[str, Any]:
    is_labelled = probable.positive >= 0
    numbers = [
        model.positive_rows[positive] if labelled else model.unlabeled_rows[unlabeled]
        for labelled, positive, unlabeled in zip(is_labelled, probable.positive, probable.unlabeled, strict=True)
    ]
    found = _deciding(probable.shares, numbers)
    order = (-probable.shares).argsort(kind="stable")[:_SHOWN]
    for entry, place in zip(found["first"], order, strict=True):
        entry["probability"] = float(probable.probabilities[place])
    return found


def _learned_reasons(
    model: TableModel, part: ScoreWMMDClassifier, features: FloatArray, weight: float
) -> dict[str, Any]:
    score = float(part.score_samples(features)[0])
    nearest = nearest_in_score(part, score, _SHOWN)
    numbers = {"positives": model.positive_rows, "unlabeled": model.unlabeled_rows}
    rows = {
        name: [{"row": int(numbers[name][place]), "log_ratio": weight * near} for place, near in found]
        for name, found in nearest.items()
    }
    weights = getattr(part, "feature_importances_", None)
    return {
        "adds": weight * score,
        "because": _LEARNED,
        "nearest": rows,
        "importances": None if weights is None else _by_column(weights, model),
    }


def _by_column(values: FloatArray, model: TableModel) -> dict[str, float]:
    """Values of features summed up by column of the table, those that count most first."""
    names = model.columns.names
    sums = dict.fromkeys(names, 0.0)
    for place, value in zip(feature_columns(model.pipeline, len(names)), values, strict=True):
        sums[names[place]] += float(value)
    return dict(sorted(sums.items(), key=lambda item: -abs(item[1])))


def _report(answer: dict[str, Any]) -> None:
    flagged = "flagged" if answer["flagged"] else "not flagged"
    score, threshold = answer["log_ratio"], answer["threshold"]
    say("Row", f"{answer['row']:,}: log ratio {score:.4g}, threshold {threshold:.4g}: {flagged}")
    for reasons in answer["scores"]:
        say("Score", f"by {reasons['by']}, {reasons['adds']:+.4g} of the log ratio")
        say("Because", reasons["because"])
        if "parts" in reasons:
            _report_exact(reasons)
        else:
            _report_learned(reasons)


_KINDS_OF_ROWS = {
    "positives": "labelled positives",
    "unlabeled": "unlabeled rows",
    "probable": "rows of the population, weighted by their probability,",
}


def _report_exact(reasons: dict[str, Any]) -> None:
    for name, side in reasons["rows"].items():
        say(name.capitalize(), f"{side['n_for_half']:,} {_KINDS_OF_ROWS[name]} make up half of their mean; the first:")
        has_probability = "probability" in side["first"][0]
        titles = ("training row", "share", *(("probability",) if has_probability else ()))
        show_table(titles, [_cells(entry) for entry in side["first"]])
    say("Columns", "parts of the log ratio (above 0: nearer to the positives that count than to the rows that count):")
    _show_columns(reasons["parts"], "{:+.3f}", [("how many rows are near", f"{reasons['crowding']:+.3f}")])


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    chance = (f"{entry['probability']:.0%}",) if "probability" in entry else ()
    return (f"{entry['row']:,}", f"{entry['share']:.1%}", *chance)


def _report_learned(reasons: dict[str, Any]) -> None:
    for name, rows in reasons["nearest"].items():
        say(name.capitalize(), "those with the nearest log ratio:")
        show_table(("training row", "log ratio"), [(f"{e['row']:,}", f"{e['log_ratio']:.3f}") for e in rows])
    if reasons["importances"] is not None:
        say("Columns", "the model's own importances:")
        _show_columns(reasons["importances"], "{:.1%}", [])


def _show_columns(values: dict[str, float], form: str, last: list[tuple[str, str]]) -> None:
    rows = [(name, form.format(value)) for name, value in list(values.items())[:_MOST_COLUMNS]]
    if len(values) > _MOST_COLUMNS:
        rest = sum(list(values.values())[_MOST_COLUMNS:])
        rows.append((f"{len(values) - _MOST_COLUMNS:,} other columns", form.format(rest)))
    show_table(("column", "part"), [*rows, *last])
