"""Checks of a model and its table, each with a stable code, a sentence, a remedy and a page.

A check is a function from a `Subject` to a `Check`. Its code, title and page stay the same, whatever it finds; what it
finds is its severity and its sentence. Codes are never given to another check: 1 the prior, 2 labels, 3 what was
learned, 4 the table, 5 another table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from unlabeled.arrays import FloatArray
from unlabeled.bias import ScarTest
from unlabeled.bounds import round_ball_bound, sample_size
from unlabeled.deciding.adapting import FEWEST_ROWS, LEVEL, Adaptation, adaptation
from unlabeled.displays.prior_estimates import priors_of
from unlabeled.evaluation import Evidence
from unlabeled.priors.limits import ENOUGH_POSITIVES, WIDE, why_open
from unlabeled.priors.scar import FEWEST_POSITIVES
from unlabeled.reports.leaks import ColumnScores, Region, column_scores, leaking_region, placements
from unlabeled.reports.subject import Subject
from unlabeled.samples import hash_of_rows
from unlabeled.tables.profile import Shift, shifts

#: Where the pages are.
DOCUMENTATION = "https://unlabeled.readthedocs.io/en/latest/"
#: How codes of checks begin that compare another table with the first.
OF_ANOTHER_TABLE = "PU5"
#: From harmless to grave. "skipped" says that a check needs what is not there.
SEVERITIES = ("skipped", "ok", "info", "warning", "error")

#: A prior above it leaves too few negatives to learn from.
NEAR_ONE = 0.9
#: Below it (AUC; 0.5 is chance) scores hardly tell positives from others.
LEAST_AUC = 0.65
#: The fewest labelled rows that columns are asked about.
FEWEST_LABELLED = 5
#: Values of a column that hold this share of the labelled rows are an error where they leak; scores have to do more.
MOST_OF_THEM, NEARLY_ALL = 0.5, 0.9
#: The share of labelled rows with a copy in the table, from which scores without each row are not honest.
MANY_COPIES = 0.05
#: The gap to the best classifier of its class that the paper's promise is asked for, and the rows that decide it.
GAP = 0.1
#: Standard errors that make a difference clear.
CLEAR = 2.0
#: Labels at random are in random order: fewer runs of equal labels than this many standard errors below that are none.
ORDERLY = 4.0
#: The share of values that cannot be read, or are new, from which it is told.
STRANGE = 0.01
_FOLDS = 5
_MOST_SHOWN = 3


@dataclass(frozen=True)
class Check:
    """What a check has found.

    Attributes
    ----------
    code : str
        Such as "PU101"; it stays.
    severity : {"skipped", "ok", "info", "warning", "error"}
    title : str
        What is checked, in a few words.
    sentence : str
        What was found.
    remedy : str
        What to do; empty where nothing need be done.
    link : str
        The page that explains the check.

    Examples
    --------
    >>> from unlabeled.reports import Check
    >>> Check("PU101", "warning", "prior near 1", "The prior is 0.97.", "Give it.", "checks.html#pu101").is_finding
    True
    """

    code: str
    severity: str
    title: str
    sentence: str
    remedy: str
    link: str

    @property
    def is_finding(self) -> bool:
        """Whether there is something to tell."""
        return SEVERITIES.index(self.severity) >= SEVERITIES.index("info")

    def at_least(self, severity: str) -> bool:
        """Whether it is as grave as this, or graver.

        Examples
        --------
        >>> from unlabeled.reports import Check
        >>> Check("PU203", "warning", "a title", "A sentence.", "", "a link").at_least("info")
        True
        """
        return SEVERITIES.index(self.severity) >= SEVERITIES.index(severity)

    def as_dict(self) -> dict[str, str]:
        """For machines.

        Examples
        --------
        >>> from unlabeled.reports import Check
        >>> Check("PU203", "ok", "a title", "A sentence.", "", "a link").as_dict()["code"]
        'PU203'
        """
        return asdict(self)


@dataclass(frozen=True)
class Finding:
    """What a check answers: how grave it is, what was found and what to do."""

    severity: str
    sentence: str
    remedy: str = ""


CheckFunction = Callable[[Subject], Check]
#: All checks, by code.
CHECKS: dict[str, CheckFunction] = {}


def _check(code: str, title: str) -> Callable[[Callable[[Subject], Finding]], CheckFunction]:
    """Put a check into the list."""

    def register(look: Callable[[Subject], Finding]) -> CheckFunction:
        @wraps(look)
        def check(subject: Subject) -> Check:
            found = look(subject)
            link = f"{DOCUMENTATION}checks.html#{code.lower()}"
            return Check(code, found.severity, title, found.sentence, found.remedy, link)

        CHECKS[code] = check
        return check

    return register


def run_checks(subject: Subject, other: Subject | None = None) -> tuple[Check, ...]:
    """All checks of a model and its table, the gravest first; those of another table are of ``other``, if given."""
    found = [
        check(other if other is not None and code.startswith(OF_ANOTHER_TABLE) else subject)
        for code, check in CHECKS.items()
    ]
    return tuple(sorted(found, key=lambda check: (-SEVERITIES.index(check.severity), check.code)))


_NO_SCORES = Finding(
    "skipped", "This model keeps no scores of the rows it was fitted to; give that table, with labels."
)
_NO_TABLE = Finding("skipped", "It needs a table; give the one that the model was fitted to, or another.")
_WEIGHTED = Finding("skipped", "The model was fitted with weights, which the report does not know.")
_NO_LABELS = Finding("skipped", "It needs a table with labels, such as the one that the model was fitted to.")


# --- the prior ---


@_check("PU101", "Prior near 1")
def prior_near_one(subject: Subject) -> Finding:
    """Whether nearly all of the population would be positive."""
    if (evidence := subject.evidence) is None:
        return _NO_SCORES
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


@_check("PU102", "Prior not identified")
def prior_not_identified(subject: Subject) -> Finding:
    """Whether the data leave the prior open."""
    if (evidence := subject.evidence) is None:
        return _NO_SCORES
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


# --- labels ---


@_check("PU201", "Labels do not look random")
def labels_not_at_random(subject: Subject) -> Finding:
    """Whether the labelled positives can be a random choice of all positives."""
    remedy = (
        "Think of how rows came to be labelled. If you know the columns that it depended on, use "
        "PropensityWMMDClassifier(PropensityEMClassifier(columns)); else trust the ranking more than the prior, and "
        "place the threshold by Balanced(clusters=0.5) or by a prior that you know. The page of this check shows how."
    )
    known = subject.facts.get("labelling")
    if subject.is_training and not known and subject.is_weighted:
        return _WEIGHTED
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


@_check("PU202", "Scenario mismatch")
def scenario_mismatch(subject: Subject) -> Finding:
    """Whether labelled rows look as if they came about in another way than was said."""
    labels = _labels_in_order(subject)
    if labels is None:
        return _NO_LABELS
    z = order_of_labels(labels)
    n_copied = _n_labelled_among_unlabeled(subject)
    if subject.scenario == "single-sample":
        doubts = []
        if z < -ORDERLY and _n_runs(labels) <= 3:
            doubts.append("the labelled rows stand in one block, as if they had been added to the table")
        if n_copied is not None and _copied_from_the_others(subject):
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


def _n_labelled_among_unlabeled(subject: Subject) -> int | None:
    """Labelled rows with a copy among the unlabeled rows that were looked at."""
    rows = subject.rows
    if rows is None or rows.is_positive is None or issparse(rows.features):
        return None
    hashes = hash_of_rows(np.asarray(rows.features, dtype=np.float64))
    return int(np.isin(hashes[rows.is_positive], hashes[~rows.is_positive]).sum())


def _copied_from_the_others(subject: Subject) -> bool:
    """Whether labelled rows have copies among the unlabeled ones clearly more often than unlabeled rows have.

    In a table of few categories, or of rounded numbers, all rows have copies now and then.
    """
    rows = subject.rows
    if rows is None or rows.is_positive is None:
        return False
    hashes = hash_of_rows(np.asarray(rows.features, dtype=np.float64))
    labelled, others = hashes[rows.is_positive], hashes[~rows.is_positive]
    _, place, counts = np.unique(others, return_inverse=True, return_counts=True)
    of_labelled, of_others = float(np.isin(labelled, others).mean()), float((counts[place] > 1).mean())
    error = np.sqrt(max(of_others * (1 - of_others), 1 / len(others)) / len(labelled))
    return of_labelled >= MANY_COPIES and of_labelled * len(labelled) >= 2 and of_labelled - of_others > 4 * error


@_check("PU203", "Hardly an unlabeled positive left")
def no_positive_left(subject: Subject) -> Finding:
    """Whether the model finds (nearly) no positives among the unlabeled rows."""
    if (evidence := subject.evidence) is None:
        return _NO_SCORES
    left = _hidden_share(evidence.prior.value, evidence.scores.labelled_share)
    n_left = left * evidence.scores.n_unlabeled
    if n_left < 1:
        return Finding(
            "warning",
            f"By the estimated prior, {evidence.prior.value:.4g}, not one of {evidence.scores.n_unlabeled:,.0f} "
            "unlabeled rows is positive: all would be labelled already.",
            "Look for a column that knows the label (PU401), and whether labels were given at random (PU201).",
        )
    return Finding("ok", f"About {left:.1%} of the unlabeled rows are positive.")


@_check("PU204", "Known negatives look picked")
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


# --- what was learned ---


@_check("PU301", "Fewer positives than needed")
def few_positives(subject: Subject) -> Finding:
    """Whether the labelled positives suffice for numbers, and what the paper's promise would ask."""
    if (evidence := subject.evidence) is None:
        return _NO_SCORES
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


@_check("PU302", "No better than taking unlabeled as negative")
def no_better_than_negatives(subject: Subject) -> Finding:
    """Whether a plain classifier that takes unlabeled rows for negatives ranks labelled positives as well."""
    evidence, rows = subject.evidence, subject.rows
    if not subject.is_training or rows is None or rows.is_positive is None or evidence is None:
        return Finding("skipped", "It needs the table that the model was fitted to, with its labels.")
    if subject.is_weighted:
        return _WEIGHTED
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


@_check("PU303", "Columns hardly tell positives from others")
def little_told(subject: Subject) -> Finding:
    """Whether the scores are hardly better than chance."""
    if (evidence := subject.evidence) is None:
        return _NO_SCORES
    area = evidence.roc_auc
    if area.value is not None and area.value < LEAST_AUC:
        return Finding(
            "warning",
            f"The estimated AUC is {area.value:.2f} ({area.low:.2f} to {area.high:.2f}; 0.5 is chance): the ranking "
            "will be of little use.",
            "Add columns that have to do with what makes a row positive, or label more positives.",
        )
    return Finding("ok", f"The estimated AUC is {area.value:.2f} ({area.low:.2f} to {area.high:.2f}).")


# --- the table ---


@_check("PU401", "A column leaks the label")
def leaking_column(subject: Subject) -> Finding:
    """Whether a column has values that labelled rows have, and the unlabeled positives do not."""
    rows, evidence = subject.rows, subject.evidence
    is_labelled = None if rows is None else rows.is_positive
    if rows is None or is_labelled is None or is_labelled.sum() < FEWEST_LABELLED or (~is_labelled).sum() < _FOLDS:
        return _NO_LABELS if evidence is None else _leaking_scores(evidence)
    columns = column_scores(subject, rows)
    prior = float(subject.classifier.prior_) if evidence is None else evidence.prior.ends[0]
    n_hidden, surely = _hidden_share(prior, subject.labelled_share or 0.0) * len(rows.unlabeled), True
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


def _hidden_share(prior: float, labelled_share: float) -> float:
    """The share of the unlabeled rows that is positive."""
    return float(np.clip((prior - labelled_share) / max(1 - labelled_share, 1e-9), 0, 1))


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
    others = [repr(other) for other, _ in leaks[1:_MOST_SHOWN]]
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
    n_hidden = _hidden_share(evidence.prior.ends[0], evidence.scores.labelled_share) * len(others)
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


@_check("PU402", "Duplicates")
def duplicates(subject: Subject) -> Finding:
    """Whether rows have copies, so that a row is scored by itself after all."""
    rows = subject.rows
    if rows is None:
        return _NO_TABLE
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
    n_across = _n_labelled_among_unlabeled(subject) or 0
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


# --- another table ---


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


@_check("PU501", "Drift")
def drift(subject: Subject) -> Finding:
    """Whether the columns of another table, or its scores, are not those that the model was fitted to."""
    rows = subject.rows
    if rows is None:
        return _NO_TABLE
    if subject.is_training:
        return _SAME_TABLE
    shifted = [shift for shift in column_shifts(subject) if shift.is_clear]
    found = adaptation_to(subject)
    words = []
    if shifted:
        names = ", ".join(f"{shift.name!r} ({shift.index:.2f})" for shift in shifted[:_MOST_SHOWN])
        more = f" and {len(shifted) - _MOST_SHOWN} more" if len(shifted) > _MOST_SHOWN else ""
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


@_check("PU502", "Another share of positives")
def other_prior(subject: Subject) -> Finding:
    """Whether the share of positives in another table is another."""
    if subject.rows is None:
        return _NO_TABLE
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


@_check("PU503", "Values that the model does not know")
def strange_values(subject: Subject) -> Finding:
    """Whether another table has values that cannot be read, or categories that were not there."""
    rows = subject.rows
    if rows is None:
        return _NO_TABLE
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
            f"{name!r} ({count:,} of {len(frame):,} rows)" for name, count in list(many.items())[:_MOST_SHOWN]
        )
        return Finding(
            "warning",
            f"Values that were not there when the model was fitted, or cannot be read: {names}.",
            "New categories count as rare ones or none, and unreadable values as missing. Check how the table is "
            "written, or fit anew.",
        )
    return Finding("ok", "All values are of kinds that the model knows.")
