"""Checks 2: labels."""

from __future__ import annotations

import numpy as np

from unlabeled.bias import ScarTest
from unlabeled.deciding.adapting import LEVEL
from unlabeled.priors.limits import ENOUGH_POSITIVES
from unlabeled.reports.copies import copied_from_the_others, n_labelled_among_unlabeled
from unlabeled.reports.findings import NO_LABELS, NO_SCORES, WEIGHTED, Finding, check
from unlabeled.reports.subject import Subject, hidden_share

#: Labels at random are in random order: fewer runs of equal labels than this many standard errors below that are none.
ORDERLY = 4.0


@check("PU201", "Labels do not look random")
def labels_not_at_random(subject: Subject) -> Finding:
    """Whether the labelled positives can be a random choice of all positives."""
    remedy = (
        "Think of how rows came to be labelled. If you know the columns that it depended on, use "
        "PropensityWMMDClassifier(PropensityEMClassifier(columns)); else trust the ranking more than the prior, and "
        "place the threshold by Balanced(clusters=0.5) or by a prior that you know. The page of this check shows how."
    )
    known = subject.facts.get("labelling")
    if subject.is_training and not known and subject.is_weighted:
        return WEIGHTED
    if subject.is_training and not known:
        rows = subject.rows
        assert rows is not None  # noqa: S101  # a training table has rows, and labels
        assert rows.is_positive is not None  # noqa: S101
        given = getattr(subject.classifier, "prior_estimator_", None) is None and subject.evidence is not None
        prior = float(subject.classifier.prior_) if given else None
        names = [str(name) for name in subject.feature_names]
        share = subject.labelled_share
        test = ScarTest(prior, scenario=subject.scenario, labelled_share=share, feature_names=names, n_simulated=1_999)
        test.fit(rows.features, rows.is_positive)
        p_value, verdict = test.p_value_, test.verdict_
    elif known:
        p_value, verdict = known["p_value"], known["verdict"]
        if known.get("contradicts_estimate"):
            return Finding("warning", verdict, remedy)
    else:
        return Finding("skipped", "It needs the table that the model was fitted to, with its labels.")
    return Finding("warning", verdict, remedy) if p_value < 0.05 else Finding("ok", verdict)


@check("PU202", "Scenario mismatch")
def scenario_mismatch(subject: Subject) -> Finding:
    """Whether labelled rows look as if they came about in another way than was said."""
    labels = _labels_in_order(subject)
    if labels is None:
        return NO_LABELS
    z = order_of_labels(labels)
    n_copied = n_labelled_among_unlabeled(subject)
    if subject.scenario == "single-sample":
        doubts = []
        if z < -ORDERLY and _n_runs(labels) <= 3:
            doubts.append("the labelled rows stand in one block, as if they had been added to the table")
        if n_copied is not None and copied_from_the_others(subject):
            doubts.append(f"{n_copied:,} labelled rows have a copy among the unlabeled ones")
        if doubts:
            return Finding(
                "warning",
                f"The model takes the table for one sample, some of whose positives are labelled, but "
                f"{' and '.join(doubts)}.",
                "If the positives were collected apart from the unlabeled rows, fit with scenario='case-control' "
                "(--scenario case-control). The prior is then that of the unlabeled rows alone.",
            )
        return Finding("ok", "Nothing speaks against one table with some of its positives labelled.")
    if z > -ORDERLY / 2 and labels.sum() >= ENOUGH_POSITIVES:
        return Finding(
            "info",
            "The model takes the labelled rows for a sample of their own, but they are scattered among the others as "
            "if some rows of one table had been labelled.",
            "If the table is one sample, fit with scenario='single-sample': prior, precision and counts then speak of "
            "all rows. If the table was shuffled, all is well.",
        )
    return Finding("ok", "The labelled rows stand apart from the unlabeled ones, as a sample of their own does.")


def _labels_in_order(subject: Subject) -> np.ndarray | None:
    """Labels in the order of the table that the model was fitted to."""
    if subject.is_training:
        return subject.labels
    honest = getattr(subject.classifier, "honest_scores_", None)
    if honest is None or honest.positive_rows is None or honest.unlabeled_rows is None:
        return None
    positive, unlabeled = np.unique(honest.positive_rows), np.unique(honest.unlabeled_rows)
    unlabeled = np.setdiff1d(unlabeled, positive)
    order = np.argsort(np.concatenate([positive, unlabeled]))
    return np.repeat([True, False], [len(positive), len(unlabeled)])[order]


def _n_runs(labels: np.ndarray) -> int:
    return 1 + int((labels[1:] != labels[:-1]).sum())


def order_of_labels(labels: np.ndarray) -> float:
    """How many standard errors more runs of equal labels there are than in random order (Wald and Wolfowitz, 1940)."""
    n, n_positive = len(labels), int(labels.sum())
    n_others = n - n_positive
    expected = 1 + 2 * n_positive * n_others / n
    variance = (expected - 1) * (expected - 2) / (n - 1)
    return float((_n_runs(labels) - expected) / np.sqrt(max(variance, 1e-12)))


@check("PU203", "Hardly an unlabeled positive left")
def no_positive_left(subject: Subject) -> Finding:
    """Whether the model finds (nearly) no positives among the unlabeled rows."""
    if (evidence := subject.evidence) is None:
        return NO_SCORES
    left = hidden_share(evidence.prior.value, evidence.scores.labelled_share)
    n_left = left * evidence.scores.n_unlabeled
    if n_left < 1:
        return Finding(
            "warning",
            f"By the estimated prior, {evidence.prior.value:.4g}, not one of {evidence.scores.n_unlabeled:,.0f} "
            "unlabeled rows is positive: all would be labelled already.",
            "Look for a column that knows the label (PU401), and whether labels were given at random (PU201).",
        )
    return Finding("ok", f"About {left:.1%} of the unlabeled rows are positive.")


@check("PU204", "Known negatives look picked")
def picked_negatives(subject: Subject) -> Finding:
    """Whether the known negatives, taken for a random choice of all negatives, can be one."""
    known = getattr(subject.classifier, "known_negatives_", None)
    if known is None:
        return Finding("ok", "No row was said to be negative.")
    told = (
        f"The score goes by {known.n_negatives:,.0f} known negatives for {1 - known.eta:.0%}, by the population for "
        f"{known.eta:.0%}."
    )
    if known.p_value is None:
        return Finding("ok", f"{told} They are too few to tell how they were chosen.")
    if known.p_value >= LEVEL:
        return Finding("ok", f"{told} Nothing speaks against a random choice (p = {known.p_value:.2g}).")
    found = f"They do not look like a random choice of all negatives (p = {known.p_value:.2g})"
    if not known.weight:
        return Finding("ok", f"{told} {found}, and have no say in the prior.")
    return Finding(
        "warning",
        f"{told} {found}, and have a say in the prior.",
        "If they were picked, say so: negatives_are='selected' (--negatives-are selected).",
    )
