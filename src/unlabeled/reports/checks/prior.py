"""Checks 1: the prior."""

from __future__ import annotations

from unlabeled.displays.prior_estimates import priors_of
from unlabeled.priors.limits import why_open
from unlabeled.reports.findings import NO_SCORES, Finding, check
from unlabeled.reports.subject import Subject

#: A prior above it leaves too few negatives to learn from.
NEAR_ONE = 0.9


@check("PU101", "Prior near 1")
def prior_near_one(subject: Subject) -> Finding:
    """Whether nearly all of the population would be positive."""
    if (evidence := subject.evidence) is None:
        return NO_SCORES
    value, (_, high) = evidence.prior.value, evidence.prior.ends
    if value >= NEAR_ONE:
        return Finding(
            "warning",
            f"The prior is {value:.3f}: nearly every row would be positive, and there is hardly a negative to learn "
            "from. Often the columns do not tell positives from others, or the labelled rows are no sample of all "
            "positives.",
            "Give the prior if you know it. Look at the score distributions: if both look alike, other columns are "
            "needed.",
        )
    if high >= NEAR_ONE:
        return Finding(
            "info",
            f"The prior is {value:.3f}, but its interval reaches {high:.2f}: that nearly every row is positive cannot "
            "be excluded.",
            "Give the prior if you know it, or label more positives.",
        )
    return Finding("ok", f"The prior is {value:.3f}, and its interval stays below {NEAR_ONE:g}.")


@check("PU102", "Prior not identified")
def prior_not_identified(subject: Subject) -> Finding:
    """Whether the data leave the prior open."""
    if (evidence := subject.evidence) is None:
        return NO_SCORES
    if evidence.prior.low is None:
        return Finding("ok", f"The prior was given: {evidence.prior.value:g}.")
    low, high = evidence.prior.ends
    compared = priors_of(evidence)
    remedy = (
        "Give the prior if you know it from elsewhere (a survey, an audit of some random rows). The ranking does not "
        "depend on it; counts, precision and the threshold do. `unlabeled prior` compares estimates."
    )
    scores = evidence.scores
    if doubt := why_open((low, high), scores.labelled_share, scores.n_positive):
        return Finding("warning", doubt, remedy)
    if compared.disagree:
        return Finding("info", compared.verdict, remedy)
    return Finding("ok", f"The prior lies between {low:.3f} and {high:.3f}, and estimates from the scores agree.")
