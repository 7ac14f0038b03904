"""``unlabeled explain``: why a row has the score it has."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unlabeled.classifier import WMMDClassifier
from unlabeled.cli import options
from unlabeled.cli.kernel_shares import explain_score
from unlabeled.cli.learned_score import importances, nearest_in_score
from unlabeled.cli.methods import scoring_part
from unlabeled.cli.output import say, say_json, show_table
from unlabeled.cli.predict import load_table_model
from unlabeled.kernels import FloatArray
from unlabeled.score_classifier import ScoreWMMDClassifier
from unlabeled.tables import Table, TableError, TableModel, feature_columns

_SHOWN = 5
_MOST_COLUMNS = 10
_EXACT = "the score is a closed form of the training rows: every share and part below is exact"
_LEARNED = (
    "the score is learned: below are the training rows next to this one in that score, which do not decide it, and "
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

    By distances the score is the log of a ratio of two means over training rows, so each training row has an exact
    share in either of them, and parts by column and the crowding sum up to the score. For a row that was itself in the
    training table, its own share is in it. A learned score has no such parts, and the answer says so.

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
    part = scoring_part(model.classifier)
    if isinstance(part, WMMDClassifier):
        return _exact_reasons(model, part, features)
    if isinstance(part, ScoreWMMDClassifier):
        return _learned_reasons(model, part, features)
    raise TableError(f"Scores of {type(part).__name__} are not explained; fit with --method wmmd or score.")


def _exact_reasons(model: TableModel, part: WMMDClassifier, features: FloatArray) -> dict[str, Any]:
    found = explain_score(part, features)
    rows = {}
    for name, shares, numbers, n_half in (
        ("positives", found.positive_shares, model.positive_rows, found.n_half_positive),
        ("unlabeled", found.unlabeled_shares, model.unlabeled_rows, found.n_half_unlabeled),
    ):
        order = (-shares).argsort(kind="stable")[:_SHOWN]
        deciding = [{"row": int(numbers[place]), "share": float(shares[place])} for place in order]
        rows[name] = {"n_for_half": n_half, "first": deciding}
    return {"because": _EXACT, "rows": rows, "parts": _by_column(found.by_feature, model), "crowding": found.crowding}


def _learned_reasons(model: TableModel, part: ScoreWMMDClassifier, features: FloatArray) -> dict[str, Any]:
    nearest = nearest_in_score(part, float(part.score_samples(features)[0]), _SHOWN)
    numbers = {"positives": model.positive_rows, "unlabeled": model.unlabeled_rows}
    rows = {
        name: [{"row": int(numbers[name][place]), "log_ratio": score} for place, score in found]
        for name, found in nearest.items()
    }
    weights = importances(part)
    return {
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
    say("Because", answer["because"])
    if "parts" in answer:
        _report_exact(answer)
    else:
        _report_learned(answer)


def _report_exact(answer: dict[str, Any]) -> None:
    for name, what in (("positives", "labelled positives"), ("unlabeled", "unlabeled rows")):
        side = answer["rows"][name]
        say(name.capitalize(), f"{side['n_for_half']:,} {what} make up half of their mean; the first of them:")
        show_table(("training row", "share"), [(f"{e['row']:,}", f"{e['share']:.1%}") for e in side["first"]])
    say("Columns", "parts of the log ratio (above 0: nearer to the positives that count than to the rows that count):")
    _show_columns(answer["parts"], "{:+.3f}", [("how many rows are near", f"{answer['crowding']:+.3f}")])


def _report_learned(answer: dict[str, Any]) -> None:
    for name, rows in answer["nearest"].items():
        say(name.capitalize(), "those with the nearest log ratio:")
        show_table(("training row", "log ratio"), [(f"{e['row']:,}", f"{e['log_ratio']:.3f}") for e in rows])
    if answer["importances"] is not None:
        say("Columns", "the model's own importances:")
        _show_columns(answer["importances"], "{:.1%}", [])


def _show_columns(values: dict[str, float], form: str, last: list[tuple[str, str]]) -> None:
    rows = [(name, form.format(value)) for name, value in list(values.items())[:_MOST_COLUMNS]]
    if len(values) > _MOST_COLUMNS:
        rest = sum(list(values.values())[_MOST_COLUMNS:])
        rows.append((f"{len(values) - _MOST_COLUMNS:,} other columns", form.format(rest)))
    show_table(("column", "part"), [*rows, *last])
