"""Checks 5: another table."""

from __future__ import annotations

import numpy as np

from unlabeled.deciding.adapting import FEWEST_ROWS, Adaptation, adaptation
from unlabeled.reports.findings import MOST_SHOWN, NO_TABLE, Finding, check
from unlabeled.reports.subject import Subject
from unlabeled.tables.profile import Shift, shifts

#: The share of values that cannot be read, or are new, from which it is told.
STRANGE = 0.01


def adaptation_to(subject: Subject) -> Adaptation | None:
    """What the scores of another table say of its prior; None where there is none, or the model cannot."""
    rows, classifier, evidence = subject.rows, subject.classifier, subject.evidence
    if rows is None or subject.is_training or evidence is None or not hasattr(classifier, "scores_of_like_honest"):
        return None
    population = rows.of_population(subject.scenario)
    if len(population) < FEWEST_ROWS:
        return None
    scores = np.asarray(classifier.scores_of_like_honest(rows.features[population]))
    return adaptation(evidence.scores, evidence.calibration, evidence.prior.value, scores)


_SAME_TABLE = Finding("ok", "The table is the one that the model was fitted to.")


@check("PU501", "Drift")
def drift(subject: Subject) -> Finding:
    """Whether the columns of another table, or its scores, are not those that the model was fitted to."""
    rows = subject.rows
    if rows is None:
        return NO_TABLE
    if subject.is_training:
        return _SAME_TABLE
    shifted = [shift for shift in column_shifts(subject) if shift.is_clear]
    found = adaptation_to(subject)
    words = []
    if shifted:
        names = ", ".join(f"{shift.name!r} ({shift.index:.2f})" for shift in shifted[:MOST_SHOWN])
        more = f" and {len(shifted) - MOST_SHOWN} more" if len(shifted) > MOST_SHOWN else ""
        words.append(f"Columns have shifted (population stability index): {names}{more}.")
    if found is not None and found.p_value < 0.05:
        words.append(f"Its scores are no mixture of the old positives and negatives (p = {found.p_value:.2g}).")
    if words:
        return Finding(
            "warning",
            " ".join(words),
            "Estimates speak of the first table and not of this one. Look at what has changed, and fit anew with rows "
            "like these.",
        )
    if found is None and not subject.training_profile:
        return Finding("skipped", "The model keeps nothing that another table could be compared with.")
    return Finding("ok", "Columns and scores look like those of the table that the model was fitted to.")


def column_shifts(subject: Subject) -> list[Shift]:
    """How far each column of another table is off the training table, the farthest first; none where unknown."""
    rows = subject.rows
    if rows is None or subject.is_training or not subject.training_profile:
        return []
    frame = subject.as_frame(rows.some(rows.of_population(subject.scenario)))
    return [] if frame is None else shifts(subject.training_profile, frame, subject.columns)


@check("PU502", "Another share of positives")
def other_prior(subject: Subject) -> Finding:
    """Whether the share of positives in another table is another."""
    if subject.rows is None:
        return NO_TABLE
    if subject.is_training:
        return _SAME_TABLE
    if (found := adaptation_to(subject)) is None:
        return Finding("skipped", "It needs a model that scores by ratios, and ten rows or more.")
    told = (
        f"About {found.prior:.3f} of this table is positive ({found.low:.3f} to {found.high:.3f}), "
        f"{found.old_prior:.3f} of the first, if what positives and negatives look like has stayed."
    )
    if not found.low <= found.old_prior <= found.high:
        return Finding("warning", told, "Use `unlabeled predict --adapt`, or model.adapt(X).")
    return Finding("ok", told)


@check("PU503", "Values that the model does not know")
def strange_values(subject: Subject) -> Finding:
    """Whether another table has values that cannot be read, or categories that were not there."""
    rows = subject.rows
    if rows is None:
        return NO_TABLE
    if subject.is_training:
        return _SAME_TABLE
    frame = subject.as_frame(rows.X)
    if frame is None:
        return Finding("skipped", "Sparse tables have numbers only.")
    if not subject.are_columns_known:
        return Finding("skipped", "The model keeps no values of its columns; give its table, and this one as `new`.")
    _, notices = subject.columns.matrix(frame)
    strange = {name: count for counts in (notices.unseen, notices.unreadable) for name, count in counts.items()}
    many = {name: count for name, count in strange.items() if count > STRANGE * len(frame)}
    if many:
        names = ", ".join(
            f"{name!r} ({count:,} of {len(frame):,} rows)" for name, count in list(many.items())[:MOST_SHOWN]
        )
        return Finding(
            "warning",
            f"Values that were not there when the model was fitted, or cannot be read: {names}.",
            "New categories count as rare ones or none, and unreadable values as missing. Check how the table is "
            "written, or fit anew.",
        )
    return Finding("ok", "All values are of kinds that the model knows.")
