"""Checks 3: what was learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from unlabeled.arrays import FloatArray
from unlabeled.bounds import round_ball_bound, sample_size
from unlabeled.evaluation import Evidence
from unlabeled.priors.limits import ENOUGH_POSITIVES, WIDE
from unlabeled.reports.findings import NO_SCORES, WEIGHTED, Finding, check
from unlabeled.reports.leaks import placements
from unlabeled.reports.subject import Subject

#: Below it (AUC; 0.5 is chance) scores hardly tell positives from others.
LEAST_AUC = 0.65
#: The gap to the best classifier of its class that the paper's promise is asked for, and the rows that decide it.
GAP = 0.1
#: Standard errors that make a difference clear.
CLEAR = 2.0
_FOLDS = 5


@check("PU301", "Fewer positives than needed")
def few_positives(subject: Subject) -> Finding:
    """Whether the labelled positives suffice for numbers, and what the paper's promise would ask."""
    if (evidence := subject.evidence) is None:
        return NO_SCORES
    n_positive, n_unlabeled = round(evidence.scores.n_positive), max(round(evidence.n_population), 1)
    needed = positives_needed(evidence)
    gap = f"a gap of at most {GAP:g} to the best function of its class (probability 95 %, unlabeled.bounds)"
    promise = (
        f"The theory promises {gap} from {needed:,} positives on"
        if needed
        else f"For the theory to promise {gap}, {n_unlabeled:,} rows of the population are too few"
    )
    if n_positive < ENOUGH_POSITIVES:
        return Finding(
            "warning",
            f"{n_positive} labelled positives rank rows, but recall and precision cannot be told. {promise}.",
            f"Label more: from {ENOUGH_POSITIVES} positives on numbers are estimated.",
        )
    recall = evidence.at(evidence.threshold).recall
    if recall.high - recall.low > WIDE:
        return Finding(
            "info",
            f"With {n_positive:,} labelled positives recall is known between {recall.low:.2f} and {recall.high:.2f}. "
            f"{promise}.",
            "Four times as many positives halve the intervals.",
        )
    return Finding("ok", f"With {n_positive:,} positives recall is known to {recall.high - recall.low:.2f}. {promise}.")


def positives_needed(evidence: Evidence) -> int | None:
    """Positives from which on the bound for kernel balls promises the gap; None where no number suffices."""
    n_unlabeled = max(round(evidence.n_population), 1)
    prior = float(np.clip(evidence.prior.value, 1e-6, 1 - 1e-6))
    try:
        return sample_size(GAP, round_ball_bound, prior=prior, n_unlabeled=n_unlabeled)[0]
    except ValueError:  # out of reach
        return None


@check("PU302", "No better than taking unlabeled as negative")
def no_better_than_negatives(subject: Subject) -> Finding:
    """Whether a plain classifier that takes unlabeled rows for negatives ranks labelled positives as well."""
    evidence, rows = subject.evidence, subject.rows
    if not subject.is_training or rows is None or rows.is_positive is None or evidence is None:
        return Finding("skipped", "It needs the table that the model was fitted to, with its labels.")
    if subject.is_weighted:
        return WEIGHTED
    n_folds = int(min(_FOLDS, rows.is_positive.sum(), (~rows.is_positive).sum()))
    if n_folds < 2:
        return Finding("skipped", "There are too few rows to hold any out.")
    plain = _plain_scores(rows.features, rows.is_positive, n_folds)
    ours = evidence.scores.against_unlabeled()
    of_ours = placements(ours.positive, ours.unlabeled)
    of_plain = placements(plain[rows.is_positive], plain[~rows.is_positive])
    difference = float(of_ours.mean() - of_plain.mean())
    noise = float(np.hypot(of_ours.std() / np.sqrt(len(of_ours)), of_plain.std() / np.sqrt(len(of_plain))))
    areas = f"AUC of labelled against unlabeled rows {of_ours.mean():.3f}, plain {of_plain.mean():.3f}"
    if difference < -CLEAR * noise:
        return Finding(
            "warning",
            f"Boosted trees that take unlabeled rows for negatives rank labelled positives higher ({areas}).",
            "Use them as a part: PUClassifier(parts={'mine': HistGradientBoostingClassifier()}), or "
            "ScoreWMMDClassifier(...). Their probabilities are those of being labelled, not of being positive.",
        )
    if difference < CLEAR * noise:
        return Finding(
            "info",
            "The ranking cannot be told from that of a plain classifier which takes unlabeled rows for negatives "
            f"({areas}). What is gained here is threshold, probabilities and counts, which the plain one has wrong.",
        )
    return Finding("ok", f"The ranking is better than that of a plain classifier ({areas}).")


def _plain_scores(features: Any, is_positive: np.ndarray, n_folds: int) -> FloatArray:
    """Scores of rows by a classifier of labelled against unlabeled rows that has not seen them."""
    plain: Any = (
        LogisticRegression(max_iter=300)
        if issparse(features)
        else HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
    )
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    method = "decision_function"
    return np.asarray(cross_val_predict(plain, features, is_positive, cv=folds, method=method))


@check("PU303", "Columns hardly tell positives from others")
def little_told(subject: Subject) -> Finding:
    """Whether the scores are hardly better than chance."""
    if (evidence := subject.evidence) is None:
        return NO_SCORES
    area = evidence.roc_auc
    if area.value is not None and area.value < LEAST_AUC:
        return Finding(
            "warning",
            f"The estimated AUC is {area.value:.2f} ({area.low:.2f} to {area.high:.2f}; 0.5 is chance): the ranking "
            "will be of little use.",
            "Add columns that have to do with what makes a row positive, or label more positives.",
        )
    return Finding("ok", f"The estimated AUC is {area.value:.2f} ({area.low:.2f} to {area.high:.2f}).")
