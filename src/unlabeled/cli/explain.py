"""``unlabeled explain``: why a row has the score it has."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unlabeled.arrays import FloatArray
from unlabeled.cli import options
from unlabeled.cli.output import say, say_json, show_table, shown_progress
from unlabeled.cli.predict import load_table_model, unreadable_in_words
from unlabeled.explanations import (
    DistanceReasons,
    Explanation,
    LearnedReasons,
    LeastSquaresReasons,
    OtherReasons,
    Reasons,
    Shares,
)
from unlabeled.explanations import explain as explain_row
from unlabeled.explanations.learned_score import Nearest
from unlabeled.tables import Table, TableError, TableModel

_SHOWN = 5
_MOST_COLUMNS = 10
_EXACT = "this score is a closed form of the training rows: every share and part below is exact"
_FITTED = (
    "this score is a closed form, fitted by least squares: below is how much it would fall if a column had its mean "
    "instead, one column at a time, and the training rows next to this one in the score, which do not decide it"
)
_LEARNED = (
    "this score is learned: below are the training rows next to this one in that score, which do not decide it, and "
    "what the model goes by over all rows, which need not be what counts for this one"
)


def explain(
    model: options.ModelPath,
    table: options.TablePath,
    *,
    row: Annotated[int, typer.Option(metavar="K", min=1, help="The row, counted from 1, as `predict` numbers them.")],
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    as_json: options.AsJson = False,
) -> None:
    """Say which training rows decide the score of a row, and which columns tell them apart.

    By distances the score is the log of a ratio of two means over training rows, or a sum of such logs, so each
    training row has an exact share in either mean, and parts by column and the crowding sum up to the score. For a row
    that was itself in the training table, its own share is in it. A ratio fitted by least squares is explained by what
    each column at its mean would change. A learned score has no such parts, and the answer says so. Where several are
    in use, all are explained.

    For example:

        unlabeled explain customers.model customers.parquet --row 17
    """
    with shown_progress("Loading the model") as show:
        fitted = load_table_model(model).with_decimal(decimal)
        source = Table.open(table, encoding=encoding)
        if not source.leaves_out_zeros:
            fitted.columns.check_present(source.names(), source.name)
        show(f"Looking for row {row:,}")
        if fitted.negative is not None:
            raise TableError(
                "Scores with known negatives are made of two fits and are not explained. Fit without --negative, to "
                "another --model, to explain the score of positives and unlabeled rows."
            )
        frame = source.row(row, fitted.columns.names)
        if frame is None:
            raise TableError(f"{source.name} has fewer than {row:,} rows.")
        features, notices = fitted.features(frame)
        show(f"Explaining row {row:,}")
        try:
            found = explain_row(fitted.classifier, features)
        except ValueError as error:
            raise TableError(f"{error} Fit with --method wmmd, least-squares or score.") from error
    answer = _answer(row, found, fitted)
    if as_json:
        say_json(answer | {"unreadable": notices.unreadable})
        return
    _report(answer)
    for words in unreadable_in_words(notices):
        say("Warning", words)


def _answer(row: int, found: Explanation, model: TableModel) -> dict[str, Any]:
    """An explanation in the words of the table: rows counted from 1, columns by name."""
    answer = {"row": row, "log_ratio": found.score, "threshold": found.threshold, "flagged": found.flagged}
    return answer | {"scores": [_reasons(reasons, model) for reasons in found.reasons]}


def _reasons(reasons: Reasons, model: TableModel) -> dict[str, Any]:
    found: dict[str, Any] = {"by": reasons.by, "adds": reasons.adds}
    if isinstance(reasons.made_of, DistanceReasons):
        return found | _exact_reasons(reasons.made_of, reasons.weight, model)
    if isinstance(reasons.made_of, LeastSquaresReasons):
        return found | _fitted_reasons(reasons.made_of, reasons.weight, model)
    if isinstance(reasons.made_of, OtherReasons):
        return found | {"because": f"this score is left out: {reasons.made_of.why}", "nearest": {}}
    return found | _learned_reasons(reasons.made_of, reasons.weight, model)


def _exact_reasons(found: DistanceReasons, weight: float, model: TableModel) -> dict[str, Any]:
    rows = {"positives": _deciding(found.positive), "unlabeled": _deciding(found.unlabeled)}
    if found.probable is not None:
        rows["probable"] = _deciding(found.probable)
    return {
        "because": _EXACT,
        "rows": rows,
        "parts": _by_column(weight * found.by_feature, model),
        "crowding": weight * found.crowding,
    }


def _deciding(shares: Shares) -> dict[str, Any]:
    """The rows with the largest shares, and how many make up half of the mean."""
    largest = shares.largest(_SHOWN)
    first = [
        {"row": int(number) + 1, "share": float(share)}
        for number, share in zip(largest.rows, largest.shares, strict=True)
    ]
    if largest.probabilities is not None:
        for entry, probability in zip(first, largest.probabilities, strict=True):
            entry["probability"] = float(probability)
    return {"n_for_half": shares.n_for_half, "first": first}


def _fitted_reasons(found: LeastSquaresReasons, weight: float, model: TableModel) -> dict[str, Any]:
    return {
        "because": _FITTED,
        "instead_of_mean": _by_column(weight * found.by_feature, model),
        "nearest": {"positives": _nearest(found.positive, weight), "unlabeled": _nearest(found.unlabeled, weight)},
    }


def _learned_reasons(found: LearnedReasons, weight: float, model: TableModel) -> dict[str, Any]:
    return {
        "because": _LEARNED,
        "nearest": {"positives": _nearest(found.positive, weight), "unlabeled": _nearest(found.unlabeled, weight)},
        "importances": None if found.importances is None else _by_column(found.importances, model),
    }


def _nearest(near: Nearest, weight: float) -> list[dict[str, Any]]:
    first = zip(near.rows[:_SHOWN], near.scores[:_SHOWN], strict=True)
    return [{"row": int(number) + 1, "log_ratio": weight * float(score)} for number, score in first]


def _by_column(values: FloatArray, model: TableModel) -> dict[str, float]:
    """Values of features summed up by column of the table, those that count most first."""
    sums = zip(model.columns.all, model.encoder.by_column(values), strict=True)
    parts = {column.name: float(value) for column, value in sums if column.used}
    return dict(sorted(parts.items(), key=lambda item: -abs(item[1])))


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
    "positives": ("labelled positive makes", "labelled positives make"),
    "unlabeled": ("unlabeled row makes", "unlabeled rows make"),
    "probable": (
        "row of the population, weighted by its probability, makes",
        "rows of the population, weighted by their probability, make",
    ),
}


def _report_exact(reasons: dict[str, Any]) -> None:
    for name, side in reasons["rows"].items():
        n_rows, (one, many) = side["n_for_half"], _KINDS_OF_ROWS[name]
        say(name.capitalize(), f"{n_rows:,} {one if n_rows == 1 else many} up half of their mean; the first:")
        has_probability = "probability" in side["first"][0]
        titles = ("training row", "share", *(("probability",) if has_probability else ()))
        show_table(titles, [_cells(entry) for entry in side["first"]])
    say("Columns", "parts of the log ratio (above 0: nearer to the positives that count than to the rows that count):")
    _show_columns(reasons["parts"], "{:+.3f}", [("how many rows are near", f"{reasons['crowding']:+.3f}")])


def _cells(entry: dict[str, Any]) -> tuple[str, ...]:
    chance = (f"{entry['probability']:.0%}",) if "probability" in entry else ()
    return (f"{entry['row']:,}", f"{entry['share']:.1%}", *chance)


def _report_learned(reasons: dict[str, Any]) -> None:
    if "instead_of_mean" in reasons:
        say("Columns", "what the log ratio would lose with the column at its mean:")
        _show_columns(reasons["instead_of_mean"], "{:+.3f}", [])
    for name, rows in reasons["nearest"].items():
        say(name.capitalize(), "those with the nearest log ratio:")
        show_table(("training row", "log ratio"), [(f"{e['row']:,}", f"{e['log_ratio']:.3f}") for e in rows])
    if reasons.get("importances") is not None:
        say("Columns", "the model's own importances:")
        _show_columns(reasons["importances"], "{:.1%}", [])


def _show_columns(values: dict[str, float], form: str, last: list[tuple[str, str]]) -> None:
    rows = [(name, form.format(value)) for name, value in list(values.items())[:_MOST_COLUMNS]]
    if len(values) > _MOST_COLUMNS:
        rest = sum(list(values.values())[_MOST_COLUMNS:])
        rows.append((f"{len(values) - _MOST_COLUMNS:,} other columns", form.format(rest)))
    show_table(("column", "part"), [*rows, *last])
