"""What a report tells, in the order in which it tells it: numbers and words, ready for the page."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from unlabeled.deciding.distributions import ScoreDistributions, shares_in
from unlabeled.deciding.thresholds import Costs
from unlabeled.displays.calibration import CalibrationBins
from unlabeled.displays.decision_boundary import MOST_ROWS, DataMap, feature_names
from unlabeled.displays.explained_row import RowDrivers
from unlabeled.displays.gammas import GammaCriteria
from unlabeled.displays.prior_estimates import priors_of
from unlabeled.displays.ranking import RankingCurves
from unlabeled.displays.threshold_table import ThresholdRow, ThresholdTable
from unlabeled.evaluation import Evidence
from unlabeled.explanations import explain, in_words
from unlabeled.metrics.estimate import Estimate
from unlabeled.reports import pictures
from unlabeled.reports.checks.other_table import adaptation_to, column_shifts
from unlabeled.reports.findings import Check
from unlabeled.reports.importance import importances, used_columns
from unlabeled.reports.subject import Subject, TableRows
from unlabeled.samples import some_rows

#: Rows at the top of the ranking that are shown, drivers of each, columns of the table beside them.
N_TOP, N_DRIVERS, N_CELLS = 10, 4, 6
#: Columns in the lists of importances and of drift.
N_COLUMNS = 15
#: Characters of a value or name of the user's table that are shown.
MOST_CHARACTERS = 60
#: The most digits behind the point of a cost.
MOST_DIGITS = 6
SCENARIOS = {
    "single-sample": "All rows are the population, and some of its positives are labelled.",
    "case-control": "The unlabeled rows are the population; the labelled positives are a sample of their own.",
}


@dataclass(frozen=True)
class Content:
    """Sections of a report by name, and the checks. What cannot be told without a table is None."""

    title: str
    checks: tuple[Check, ...]
    sections: dict[str, Any]

    @property
    def findings(self) -> list[Check]:
        """The checks that have found something."""
        return [check for check in self.checks if check.is_finding]

    @property
    def n_of_levels(self) -> dict[str, int]:
        """How many findings there are of each level, the gravest first."""
        levels = [check.severity for check in self.findings]
        return {level: levels.count(level) for level in dict.fromkeys(levels)}

    @property
    def others(self) -> list[Check]:
        """Those that have not, or could not look."""
        return [check for check in self.checks if not check.is_finding]


def make_content(
    subject: Subject, other: Subject | None, checks: tuple[Check, ...], costs: Costs, title: str
) -> Content:
    """All that can be told of a model and its tables."""
    evidence, latest = subject.evidence, subject if other is None else other
    sections: dict[str, Any] = {"summary": _summary(subject), "learned": _learned(subject)}
    if evidence is not None:
        sections |= {
            "prior": _prior(evidence),
            "scores": _scores(evidence, latest),
            "thresholds": _thresholds(evidence, costs),
            "ranking": _ranking(evidence),
            "calibration": pictures.calibration_picture(CalibrationBins.of(evidence)),
        }
    if subject.rows is not None:
        sections |= {"map": _map(subject), "columns": _columns(subject)}
    else:
        sections |= {"columns": _own_importances(subject)}
    if latest.rows is not None:
        sections |= {"top": _top(latest), "drift": _drift(latest)}
    return Content(title, checks, sections)


# --- numbers in words ---


def told(found: Estimate, form: str = ".2f") -> str:
    """An estimate with its interval."""
    interval = f"{found.low:{form}} to {found.high:{form}}"
    return interval if found.value is None else f"{found.value:{form}} ({interval})"


def shortened(value: object) -> str:
    """A value of the user's table, as text that is not too long."""
    text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


# --- sections ---


def _summary(subject: Subject) -> dict[str, Any]:
    evidence, facts = subject.evidence, subject.facts
    tiles: list[dict[str, str]] = []
    if evidence is not None:
        found, prior = evidence.at(evidence.threshold), evidence.prior
        low, high = prior.ends
        interval = "as given" if prior.low is None else f"{low:.3f} to {high:.3f}"
        tiles = [
            _tile(
                "Labelled",
                f"{evidence.scores.n_positive:,.0f}",
                f"of {evidence.n_population:,.0f} rows"
                if evidence.scores.labelled_share
                else f"and {evidence.n_population:,.0f} others",
            ),
            _tile("Prior", f"{prior.value:.3f}", interval),
            _estimate_tile("Flagged", found.flagged_rate, ".1%"),
            _estimate_tile("Recall", found.recall, ".0%"),
            _estimate_tile("Precision", found.precision, ".0%"),
            _estimate_tile("AUC", found.roc_auc, ".2f"),
        ]
    return {
        "tiles": tiles,
        "table": shortened(subject.source or facts.get("table", "")),
        "label": shortened(getattr(subject.model, "label", "")),
        "is_training": subject.is_training,
        "n_rows": subject.n_rows,
        "n_scored": 0 if subject.rows is None else len(subject.rows.numbers),
        "n_scored_honestly": 0 if evidence is None else len(evidence.scores.positive) + len(evidence.scores.unlabeled),
    }


def _tile(name: str, value: str, note: str) -> dict[str, str]:
    return {"name": name, "value": value, "note": note}


def _estimate_tile(name: str, found: Estimate, form: str) -> dict[str, str]:
    interval = f"{found.low:{form}} to {found.high:{form}}"
    return _tile(name, "not told" if found.value is None else f"{found.value:{form}}", interval)


def _learned(subject: Subject) -> dict[str, Any]:
    classifier = subject.classifier
    shares = getattr(classifier, "comparison_", None)
    in_use = getattr(classifier, "parts_", {})
    parts = []
    if shares is not None:
        for name, likelihood, share in zip(shares.names, shares.log_likelihoods, shares.shares, strict=True):
            words = in_words(in_use[name]) if name in in_use else f"{name}: left out, it adds too little"
            parts.append(
                {"words": words, "likelihood": float(likelihood), "share": float(share), "used": name in in_use}
            )
    gammas = GammaCriteria.of(subject.model)
    encoder = getattr(subject.model[0] if hasattr(subject.model, "steps") else classifier.encoder_, "columns_", None)
    kinds: dict[str, list[str]] = {}
    for column in () if encoder is None else encoder.all:
        kinds.setdefault(column.kind, []).append(shortened(column.name))
    return {
        "method": in_words(classifier),
        "class": type(classifier).__name__,
        "reason": getattr(classifier, "reason_", ""),
        "parts": parts,
        "scenario": classifier.scenario,
        "scenario_words": SCENARIOS[classifier.scenario],
        "threshold": float(getattr(classifier, "threshold_", 0.0)),
        "policy": str(getattr(classifier, "threshold", "")),
        "kinds": {kind: (names[:N_COLUMNS], max(len(names) - N_COLUMNS, 0)) for kind, names in kinds.items()},
        "gammas": None if gammas is None or len(gammas.gammas) < 2 else pictures.gamma_picture(gammas),
    }


def _prior(evidence: Evidence) -> dict[str, Any]:
    compared = priors_of(evidence)
    count = evidence.at(evidence.threshold).n_positives
    return {
        "rows": pictures.prior_rows(compared),
        "verdict": compared.verdict,
        "count": told(count, ",.0f"),
        "n_population": f"{evidence.n_population:,.0f}",
    }


def _scores(evidence: Evidence, latest: Subject) -> dict[str, Any]:
    found, rows, other = ScoreDistributions.of(evidence.scores, evidence.threshold), latest.rows, None
    if rows is not None and not latest.is_training and len(rows.unlabeled):
        other = shares_in(found.edges, rows.margins[rows.unlabeled] + evidence.threshold)
    return {"picture": found.picture(other), "other": other is not None}


def _ranking(evidence: Evidence) -> dict[str, Any]:
    curves = RankingCurves.of(evidence)
    return {
        "roc": pictures.roc_picture(curves),
        "precision_recall": pictures.precision_recall_picture(curves),
        "auc": told(curves.roc_auc),
    }


def _thresholds(evidence: Evidence, costs: Costs) -> dict[str, Any]:
    table = ThresholdTable.of(evidence)
    return {
        "picture": pictures.threshold_picture(table),
        "rows": [
            threshold_cells(table.rows[place], costs) | {"chosen": place == table.chosen} for place in table.some()
        ],
        "data": explorer_data(table, costs),
        "chosen": table.chosen,
        "last": len(table.rows) - 1,
        "now": threshold_cells(table.rows[table.chosen], costs),
        "costs": costs,
        "enough": evidence.enough,
    }


def threshold_cells(row: ThresholdRow, costs: Costs) -> dict[str, str]:
    """What is shown of a threshold, in words."""
    return {
        "threshold": f"{row.threshold:.3f}",
        "flagged_rate": told(row.flagged_rate, ".1%"),
        "recall": told(row.recall, ".0%"),
        "precision": told(row.precision, ".0%"),
        "n_flagged": f"{row.n_flagged:,.0f}",
        "n_found": told(row.n_found, ",.0f"),
        "n_false": told(row.n_false, ",.0f"),
        "n_missed": told(row.n_missed, ",.0f"),
        "cost": told_as_money(row.cost(costs)),
    }


def told_as_money(found: Estimate) -> str:
    """A cost with its interval, each number to three digits or the whole unit; the page's script does the same."""
    interval = f"{money(found.low)} to {money(found.high)}"
    return interval if found.value is None else f"{money(found.value)} ({interval})"


def money(value: float) -> str:
    """An amount, to the whole unit from 100 on, and to three digits below."""
    digits = 0
    while 0 < value < 100 / 10**digits and digits < MOST_DIGITS:
        digits += 1
    return f"{math.floor(value * 10**digits + 0.5) / 10**digits:,.{digits}f}"


#: What the explorer shows of a row, beside the threshold and the cost, which it computes itself.
SHOWN = ("flagged_rate", "recall", "precision", "n_flagged", "n_found", "n_false", "n_missed")


def explorer_data(table: ThresholdTable, costs: Costs) -> dict[str, Any]:
    """What the script of the page knows: numbers for the cost, and words for the rest, all made here."""
    rows = []
    for row in table.rows:
        cells = threshold_cells(row, costs)
        errors = [[found.value, found.low, found.high] for found in (row.n_false, row.n_missed)]
        rows.append({"t": row.threshold, "words": [cells[name] for name in SHOWN], "errors": errors})
    return {"chosen": table.chosen, "shown": SHOWN, "rows": rows}


def as_script_data(data: object) -> str:
    """JSON that may stand in a page: no text of it can end the element, or be taken for markup."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _map(subject: Subject) -> dict[str, Any] | None:
    rows = subject.rows
    if rows is None or len(rows.numbers) < 3:
        return None
    labelled = np.zeros(len(rows.numbers), dtype=bool) if rows.is_positive is None else rows.is_positive
    places = some_of_both(labelled)
    found = DataMap.of(
        rows.features[places], labelled[places], rows.margins[places], subject.feature_names, subject.margins
    )
    return {
        "picture": pictures.map_picture(found),
        "is_exact": found.is_exact,
        "axes": found.axes,
        "n_rows": len(places),
        "boundary": bool(found.boundary()),
    }


def some_of_both(labelled: np.ndarray) -> np.ndarray:
    """Places of the rows on the map: all of each sample, or so many at random, for tables are often in some order."""
    rng = np.random.RandomState(0)
    sides = np.flatnonzero(labelled), np.flatnonzero(~labelled)
    return np.concatenate([side[some_rows(len(side), MOST_ROWS, rng)] for side in sides])


def _columns(subject: Subject) -> dict[str, Any]:
    found = importances(subject)
    if not found:
        return _own_importances(subject)
    most = max(found[0].change, 1e-12)
    rows = [
        {"name": shortened(one.column), "value": one.change, "width": 100 * one.change / most}
        for one in found[:N_COLUMNS]
    ]
    assert subject.rows is not None  # noqa: S101  # there are importances
    untried = len(used_columns(subject, subject.rows)) - len(found)
    return {"rows": rows, "more": max(len(found) - N_COLUMNS, 0), "dealt": True, "untried": untried}


def _own_importances(subject: Subject) -> dict[str, Any]:
    """Of a learned score, which keeps them."""
    classifier, model = subject.classifier, subject.model
    encoder = model[0] if hasattr(model, "steps") and hasattr(model[0], "by_column") else None
    for part in (classifier, *getattr(classifier, "parts_", {}).values()):
        values = getattr(part, "feature_importances_", None)
        if values is None:
            continue
        values = encoder.by_column(values) if encoder is not None else values
        names = getattr(encoder, "feature_names_in_", None)
        names = feature_names(model, len(values)) if names is None else names
        order = np.argsort(-values, kind="stable")
        most = max(float(values[order[0]]), 1e-12)
        rows = [
            {"name": shortened(names[place]), "value": float(values[place]), "width": 100 * float(values[place]) / most}
            for place in order[:N_COLUMNS]
            if values[place] > 0
        ]
        return {"rows": rows, "more": max(int((values > 0).sum()) - N_COLUMNS, 0), "dealt": False, "untried": 0}
    return {"rows": []}


def _top(subject: Subject) -> dict[str, Any] | None:
    rows = subject.rows
    assert rows is not None  # noqa: S101  # asked for by the caller
    unknown = rows.unknown
    if not len(unknown):
        return None
    best = unknown[np.argsort(-rows.margins[unknown], kind="stable")[:N_TOP]]
    frame = rows.frame(best)
    explained, why_not = _drivers(subject, rows, best)
    shown = _shown_columns(subject, rows, explained)
    numbers = {column.name for column in subject.columns.all if column.kind == "number"}
    entries = []
    for place, number in enumerate(best):
        cells = [] if frame is None else [_cell(frame[name][place], is_number=name in numbers) for name in shown]
        probability = _probability(subject, rows, number)
        entries.append(
            {
                "number": int(rows.numbers[number]) + 1,
                "margin": float(rows.margins[number]),
                "probability": probability,
                "cells": cells,
                "drivers": _driver_bars(explained[place]) if explained else [],
            }
        )
    return {
        "entries": entries,
        "columns": [shortened(name) for name in shown] if frame is not None else [],
        "why_not": why_not,
        "is_sample": len(rows.numbers) < subject.n_rows,
    }


def _cell(value: object, *, is_number: bool) -> str:
    """A value as the table has it, but numbers with six digits at most."""
    text = shortened(value)
    try:
        return f"{float(text):.6g}" if is_number and "." in text and len(text) > 8 else text
    except ValueError:
        return text


def _probability(subject: Subject, rows: TableRows, place: int) -> float | None:
    classifier = subject.classifier
    if not hasattr(classifier, "probability_of_scores"):
        return None
    score = rows.margins[[place]] + classifier.threshold_
    return float(classifier.probability_of_scores(score)[0, 1])


def _drivers(subject: Subject, rows: TableRows, places: np.ndarray) -> tuple[list[RowDrivers], str]:
    """What drives the score of each row; or why that cannot be told."""
    try:
        return [RowDrivers.of(explain(subject.model, rows.some(np.array([place])))) for place in places], ""
    except (ValueError, TypeError, NotImplementedError) as error:
        return [], str(error)


def _driver_bars(drivers: RowDrivers) -> list[dict[str, Any]]:
    largest = [pair for pair in drivers.largest(N_DRIVERS) if abs(pair[1]) > 1e-9]
    others = [(words, value) for words, value in drivers.others if words.endswith("as a whole")]
    pairs = [*largest, *others]
    most = max((abs(value) for _, value in pairs), default=1.0)
    return [
        {"name": shortened(name), "value": value, "width": 100 * abs(value) / most, "speaks_for": value > 0}
        for name, value in pairs
    ]


def _shown_columns(subject: Subject, rows: TableRows, explained: list[RowDrivers]) -> list[str]:
    """Columns that name rows, then those that drive the top rows most."""
    identifiers = [name for name in subject.columns.identifiers if name in rows.names]
    used = [name for name in rows.names if name in set(subject.columns.names)]
    if explained and set(explained[0].columns) <= set(rows.names):
        totals = np.abs([drivers.totals for drivers in explained]).sum(axis=0)
        used = [explained[0].columns[place] for place in np.argsort(-totals) if explained[0].columns[place] in used]
    return [*identifiers[:2], *used][:N_CELLS]


def _drift(subject: Subject) -> dict[str, Any] | None:
    if subject.is_training:
        return None
    found, adaptation = column_shifts(subject), adaptation_to(subject)
    if not found and adaptation is None:
        return None
    rows = [
        {
            "name": shortened(shift.name),
            "index": shift.index,
            "clear": shift.is_clear,
            "bars": pictures.shift_bars(shift),
        }
        for shift in found[:N_COLUMNS]
    ]
    return {"rows": rows, "more": max(len(found) - N_COLUMNS, 0), "adaptation": adaptation}
