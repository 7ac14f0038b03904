"""Checks 4: the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import issparse

from unlabeled.evaluation import Evidence
from unlabeled.priors.limits import ENOUGH_POSITIVES
from unlabeled.priors.scar import FEWEST_POSITIVES
from unlabeled.reports.copies import MANY_COPIES, n_labelled_among_unlabeled
from unlabeled.reports.findings import MOST_SHOWN, NO_LABELS, NO_TABLE, Finding, check
from unlabeled.reports.leaks import ColumnScores, Region, column_scores, leaking_region
from unlabeled.reports.subject import Subject, hidden_share
from unlabeled.samples import hash_of_rows

#: The fewest labelled rows that columns are asked about.
FEWEST_LABELLED = 5
#: Values of a column that hold this share of the labelled rows are an error where they leak; scores have to do more.
MOST_OF_THEM, NEARLY_ALL = 0.5, 0.9


@check("PU401", "A column leaks the label")
def leaking_column(subject: Subject) -> Finding:
    """Whether a column has values that labelled rows have, and the unlabeled positives do not."""
    rows, evidence = subject.rows, subject.evidence
    is_labelled = None if rows is None else rows.is_positive
    if (
        rows is None
        or is_labelled is None
        or is_labelled.sum() < FEWEST_LABELLED
        or (~is_labelled).sum() < FEWEST_LABELLED
    ):
        return NO_LABELS if evidence is None else _leaking_scores(evidence)
    columns = column_scores(subject, rows)
    prior = float(subject.classifier.prior_) if evidence is None else evidence.prior.ends[0]
    n_hidden, surely = hidden_share(prior, subject.labelled_share or 0.0) * len(rows.unlabeled), True
    leaks = _leaks(columns, n_hidden)
    if not leaks and evidence is not None and evidence.prior.low is not None:  # the leak may have drawn the prior down
        leaks, surely = _leaks(columns, min(FEWEST_POSITIVES, len(rows.unlabeled))), False
    if leaks:
        return _leak_found(leaks, surely=surely)
    if evidence is not None and (of_scores := _leaking_scores(evidence)).severity == "warning":
        return of_scores
    best = max(columns, key=lambda column: column.area)
    return Finding(
        "ok", f"No column alone knows which rows are labelled (largest AUC {best.area:.3f}, of {best.name!r})."
    )


def _leaks(columns: Sequence[ColumnScores], n_hidden: float) -> list[tuple[str, Region]]:
    """The columns that know the label if so many unlabeled rows are positive, the one that knows most of it first."""
    found = [(column.name, column.leak(n_hidden, len(columns))) for column in columns]
    leaks = [(name, region) for name, region in found if region is not None]
    return sorted(leaks, key=lambda leak: -leak[1].share)


_LEFT_OUT = (
    "If it was filled in because the row was labelled (a case number, a date of the finding), leave it out: "
    "--column NAME=drop. Labelled rows must not be told from unlabeled positives."
)


def _leak_found(leaks: list[tuple[str, Region]], *, surely: bool) -> Finding:
    """What to say of the columns that leak; ``surely`` if the prior does not allow it, and not only many positives."""
    name, worst = leaks[0]
    others = [repr(other) for other, _ in leaks[1:MOST_SHOWN]]
    too = f" So does {' and '.join(others)}." if others else ""
    told = (
        f"{name!r} has values that {worst.n_labelled:,} labelled rows have ({worst.share:.0%} of them) and "
        f"{worst.n_others:,} unlabeled ones"
    )
    if surely and worst.share >= MOST_OF_THEM:
        return Finding(
            "error",
            f"{told}, where about {worst.n_expected:,.0f} unlabeled positives should have them too. Even a perfect "
            f"column cannot tell labelled positives from unlabeled ones: it seems to know the label.{too}",
            _LEFT_OUT,
        )
    instead = "labelled rows were picked by it" if surely else "hardly an unlabeled row is positive"
    return Finding("warning", f"{told}: either it knows the label, or {instead}.{too}", _LEFT_OUT)


def _leaking_scores(evidence: Evidence) -> Finding:
    """The same of the scores, which see all columns together."""
    scores = evidence.scores.against_unlabeled()
    labelled, others = scores.positive, scores.unlabeled
    n_hidden = hidden_share(evidence.prior.ends[0], evidence.scores.labelled_share) * len(others)
    if evidence.prior.low is not None:
        n_hidden = max(n_hidden, min(FEWEST_POSITIVES, len(others)))
    region = leaking_region(labelled, others, n_hidden) if len(labelled) >= ENOUGH_POSITIVES else None
    if region is not None and region.share >= NEARLY_ALL:
        return Finding(
            "warning",
            f"The scores tell labelled from unlabeled rows nearly perfectly (AUC {scores.area:.3f}; above "
            f"{region.n_labelled:,} labelled rows only {region.n_others:,} unlabeled ones): either hardly an unlabeled "
            "row is positive, or columns know the label.",
            f"Give the table to the report, and it names a column that does so alone. {_LEFT_OUT}",
        )
    return Finding("ok", f"The scores do not tell labelled from unlabeled rows too well (AUC {scores.area:.3f}).")


@check("PU402", "Duplicates")
def duplicates(subject: Subject) -> Finding:
    """Whether rows have copies, so that a row is scored by itself after all."""
    rows = subject.rows
    if rows is None:
        return NO_TABLE
    if issparse(rows.features):
        return Finding("skipped", "Copies are not looked for in sparse tables.")
    hashes = hash_of_rows(np.asarray(rows.features, dtype=np.float64))
    _, place, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    copied = counts[place] > 1
    share = float(copied.mean())
    if rows.is_positive is None:
        told = f"{share:.1%} of the {len(hashes):,} rows looked at have a copy among them."
        return Finding("info" if share > MANY_COPIES else "ok", told)
    of_labelled = float(copied[rows.is_positive].mean())
    n_across = n_labelled_among_unlabeled(subject) or 0
    told = (
        f"{share:.1%} of the {len(hashes):,} rows looked at have a copy in all columns that are used, and "
        f"{of_labelled:.1%} of the labelled ones; {n_across:,} labelled rows have one among the unlabeled."
    )
    if of_labelled > MANY_COPIES:
        return Finding(
            "warning",
            told,
            "A row that has a copy is not scored without itself: recall and AUC come out too good. Remove copies. In "
            "tables of few categories they are natural.",
        )
    return Finding("info" if share > MANY_COPIES else "ok", told)
