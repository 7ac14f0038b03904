"""What a classifier will do on rows that it has not seen, estimated from rows that took no part in their own score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from unlabeled.arrays import FloatArray, on_host
from unlabeled.contract import without_search
from unlabeled.deciding.calibration import Calibration, calibrate
from unlabeled.deciding.scores import HonestScores
from unlabeled.frames import is_frame
from unlabeled.labels import find_classes, without_negatives
from unlabeled.metrics import PUStratifiedKFold
from unlabeled.metrics.averages import Averages
from unlabeled.metrics.estimate import Estimate, proportion
from unlabeled.priors import PriorEstimate
from unlabeled.priors.limits import ENOUGH_POSITIVES
from unlabeled.priors.scar import told_once
from unlabeled.samples import are_counts, effective, means_of_some_rows, places_to_know_by, some_rows, unit_of

__all__ = ["Estimate", "Estimates", "Evidence", "evaluate", "find_evidence"]

#: Folds for classifiers that keep no honest scores of their own.
N_FOLDS = 5
#: The most rows of each sample that are scored in a fold.
MOST_SCORED = 2_000
#: Of the population that may be negative: an AUC among none says nothing.
SMALLEST_SHARE = 1e-9


@dataclass(frozen=True)
class Estimates:
    """What to expect of a classifier in the population, and how many positives its table holds.

    Each is an `Estimate`: ``value``, and the ends of a 95 % interval, ``low`` and ``high``. ``value`` is None for what
    cannot be told: precision where nothing is flagged; and all but the flagged rate with fewer than
    `ENOUGH_POSITIVES` labelled positives.

    Attributes
    ----------
    recall, precision, flagged_rate, roc_auc : Estimate
        Shares of the positives and of the population that are flagged, of the flagged that are positive; ROC AUC.
    n_positives : Estimate
        Positives in the table, where it is the population: in all rows, or in the unlabeled ones (case-control).
    n_flagged_positives : Estimate
        Those of them that are flagged.
    """

    recall: Estimate
    precision: Estimate
    flagged_rate: Estimate
    roc_auc: Estimate
    n_positives: Estimate
    n_flagged_positives: Estimate


@dataclass(frozen=True)
class Evidence:
    """What estimates are made of: scores of rows that took no part in them, and what they are judged by.

    Attributes
    ----------
    scores : HonestScores
        Of the labelled positives and the population.
    threshold : float
        What the classifier compares them with.
    prior : PriorEstimate
        The share of positives in the population.
    n_population : float
        How many rows of the population the table has.
    labelled_share : float
        Share of them that is labelled.
    spent : float
        How many positives went into the choice of a threshold: 1 where the same scores placed it.
    """

    scores: HonestScores
    threshold: float
    prior: PriorEstimate
    n_population: float
    labelled_share: float
    spent: float

    @property
    def enough(self) -> bool:
        """Whether there are enough positives for numbers, and not for intervals alone."""
        return self.scores.n_positive >= ENOUGH_POSITIVES

    @cached_property
    def calibration(self) -> Calibration:
        """P(y = 1 | score) at the prior."""
        return calibrate(self.scores, self.prior.value)

    @cached_property
    def probabilities(self) -> FloatArray:
        """P(y = 1 | score) of each score of the population."""
        return self.calibration.probability(self.scores.population)

    @cached_property
    def roc_auc(self) -> Estimate:
        """The area under the ROC curve, whatever the threshold."""
        return _roc_auc(self.scores, self.prior, self.spent)

    def at(self, threshold: float) -> Estimates:
        """What to expect at a threshold, that of the classifier or another."""
        found = _estimates(self, threshold)
        if self.enough:
            return found
        return _intervals_alone(found, keep=("flagged_rate", *(["n_positives"] if self.prior.low is None else [])))


def evaluate(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    prior: float | PriorEstimate | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Estimates | None:
    """Estimate recall, precision, flagged rate and ROC AUC of a fitted classifier, and how many positives there are.

    The classifiers on WMMD keep the honest scores that their threshold was placed by, and these serve. Others are
    fitted anew without each of five folds. All come with intervals of 95 %.

    Parameters
    ----------
    model : classifier, or pipeline that ends with one
        Fitted to this table; or a search over such, for its best estimator.
    X : array or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Which rows are labelled positive, as the model was told.
    prior : float in (0, 1) or PriorEstimate, optional
        P(y = 1) in the population. A number is taken to be certain. By default the model's, with the interval of its
        prior estimator if it has one.
    sample_weight : array of shape (n_samples,), optional
        How often each row counted.
    pos_label : optional
        The value of y that marks labelled positives; by default what the model has learned.

    Returns
    -------
    estimates : Estimates or None
        None where there are too few rows to hold any out.

    Notes
    -----
    - Recall is the share of the labelled positives that are flagged, and its interval that of a binomial proportion
      (Clopper and Pearson). Honest scores placed the threshold too, which takes one positive: k of n count as
      k / (n + 1).
    - Precision is the mean of the calibrated probabilities of the flagged rows. prior * recall / flagged rate would be
      the same in the limit; but an estimated prior comes out too large rather than too small, and whatever is too much
      in it would be found among the flagged rows, while calibration leaves it where the scores are low. The interval
      is made of those of prior, recall and flagged rate, as far off as independent factors can be.
    - Of a model that `adapt` made, its threshold is judged in the table and at the prior of the first fit: of the new
      population there are no labels.
    - ``benchmarks/intervals.py`` counts how often the intervals hold.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, evaluate
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> recall = evaluate(model, data.X, data.y).recall
    >>> 0.7 < recall.low < recall.value < recall.high < 0.95
    True
    """
    found = find_evidence(model, X, y, prior=prior, sample_weight=sample_weight, pos_label=pos_label)
    return None if found is None else found.at(found.threshold)


def find_evidence(
    model: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    prior: float | PriorEstimate | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> Evidence | None:
    """What `evaluate` goes by; its parameters. Without X and y, what the model alone knows, if it has honest scores.

    None where there are too few rows to hold any out, or where a model without honest scores has no table to be fitted
    to anew.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.evaluation import find_evidence
    >>> data = make_gaussians(random_state=0)
    >>> found = find_evidence(WMMDClassifier(prior=0.5).fit(data.X, data.y))
    >>> found.at(found.threshold).recall.value > found.at(found.threshold + 1).recall.value
    True
    """
    check_is_fitted(model)
    model = without_search(model)
    classifier = model[-1] if isinstance(model, Pipeline) else model
    if y is None:
        return _own_evidence(model, classifier, prior)
    pos_label = _positive_label(classifier, y) if pos_label is None else pos_label
    y, is_negative = without_negatives(y, getattr(classifier, "negative", None), pos_label)
    _, is_positive = find_classes(y, pos_label)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if is_negative is not None and classifier.scenario == "case-control":  # known negatives come on top
        weights = np.where(is_negative, 0.0, 1.0 if weights is None else weights)
    if weights is not None and weights.any():
        weights = weights / unit_of(weights[weights > 0])
    averages = Averages.of(is_positive, classifier.scenario, weights)
    if has_honest_scores(classifier):
        _check_rows(model, classifier, X, is_positive)
        scores, threshold, spent = classifier.honest_scores_, float(classifier.threshold_), 1.0
    elif min(is_positive.sum(), (~is_positive).sum()) < 3:  # each fit needs two rows of each sample
        return None
    else:
        model, threshold, spent = _unfitted(model, pos_label), 0.0, 0.0
        with told_once():
            scores = _refitted_decisions(model, X, np.asarray(y), is_positive, weights)
        scores = replace(scores, labelled_share=averages.labelled_share)
    in_population = averages.population > 0
    n_population = float(in_population.sum())
    if weights is not None and are_counts(weights[in_population]):
        n_population = float(weights[in_population].sum())
    # Where negatives are known, positives may have a share in what is known of the population and be none of it.
    labelled_share = min(scores.labelled_share, averages.labelled_share)
    known = _known_prior(classifier, prior, averages)
    return Evidence(scores, threshold, known, n_population, labelled_share, spent)


def has_honest_scores(classifier: Any) -> bool:
    """Whether a fitted classifier keeps the scores that its estimates are made of."""
    return isinstance(getattr(classifier, "honest_scores_", None), HonestScores)


def _own_evidence(model: Any, classifier: Any, prior: float | PriorEstimate | None) -> Evidence | None:
    if not has_honest_scores(classifier):
        return None
    scores: HonestScores = classifier.honest_scores_
    known = _prior_of(classifier, prior)
    n_population = _n_population(model, classifier)
    labelled_share = scores.labelled_share if classifier.scenario == "single-sample" else 0.0
    return Evidence(scores, float(classifier.threshold_), known, n_population, labelled_share, 1.0)


def _n_population(model: Any, classifier: Any) -> float:
    """Rows of the population that a model was fitted to: as it was told, as it keeps them, or as many as it scored."""
    scores: HonestScores = classifier.honest_scores_
    facts = getattr(model, "facts", None) or {}
    if "n_rows" in facts:
        label = facts["label"] if classifier.scenario == "case-control" else {}
        return float(facts["n_rows"] - label.get("n_positive", 0) - label.get("n_negative", 0))
    for part in (classifier, *getattr(classifier, "parts_", {}).values()):
        if hasattr(part, "sample_"):
            return float(part.sample_.population.n_observations)
    return scores.n_positive / scores.labelled_share if scores.labelled_share else scores.n_population


def _positive_label(classifier: Any, y: ArrayLike) -> Any:
    """The value that the classifier knows positives by; None where y is spelled otherwise, as samples are not."""
    try:
        known, _ = classifier._labels_among(np.asarray(y))
    except ValueError:
        return None
    return classifier.classes_[1] if known.any() else None


def _unfitted(model: Any, pos_label: Any) -> Any:
    """A copy to be fitted anew that knows the positive value, so that no fold has to guess it."""
    copy = clone(model)
    (copy[-1] if isinstance(copy, Pipeline) else copy).set_params(pos_label=pos_label)
    return copy


def _known_prior(classifier: Any, prior: float | PriorEstimate | None, averages: Averages) -> PriorEstimate:
    """The prior with its interval, as given or the model's, if it can be that of a table."""
    known = _prior_of(classifier, prior)
    averages.check_prior(known.value)
    return known


def _prior_of(classifier: Any, prior: float | PriorEstimate | None) -> PriorEstimate:
    estimator, adaptation = (getattr(classifier, name, None) for name in ("prior_estimator_", "adaptation_"))
    if prior is None and adaptation is not None:  # the scores and the table are of the population before
        prior = float(adaptation.old_prior)
    if prior is None and estimator is not None:
        prior = PriorEstimate.of(estimator, "the model's")
    if isinstance(prior, PriorEstimate):
        return prior
    return PriorEstimate(float(classifier.prior_) if prior is None else prior, None, None, "as given")


def _estimates(evidence: Evidence, threshold: float) -> Estimates:
    """From scores of rows that knew nothing of themselves."""
    scores, prior, spent, n_population = evidence.scores, evidence.prior, evidence.spent, evidence.n_population
    flagged_mass = np.where(scores.population > threshold, scores.population_mass, 0.0)
    found = float(scores.recall(np.array([threshold]))[0])
    recall = proportion(found * scores.n_positive, scores.n_positive, spent=spent)
    flagged = proportion(flagged_mass.sum() * scores.n_population, scores.n_population)
    precision = _precision(float(flagged_mass @ evidence.probabilities), prior, recall, flagged)
    n_known = evidence.labelled_share * n_population
    return Estimates(
        recall,
        precision,
        flagged,
        evidence.roc_auc,
        Estimate(prior.value, *prior.ends).of_rows(n_population, at_least=n_known),
        precision.of_rows(flagged_mass.sum() * n_population, at_least=n_known * found),
    )


def _precision(found: float, prior: PriorEstimate, recall: Estimate, flagged: Estimate) -> Estimate:
    """Share of positives among the flagged, where flagged positives make up this share of the population."""
    if not flagged.value:
        return Estimate(None, 0.0, 1.0)
    value, (prior_low, prior_high) = min(1.0, found / flagged.value), prior.ends
    down = [(prior.value, prior_low), (recall.value, recall.low), (flagged.high, flagged.value)]
    up = [(prior_high, prior.value), (recall.high, recall.value), (flagged.value, flagged.low)]
    low, high = value * np.exp(-squared_and_added(down)), value * np.exp(squared_and_added(up))
    return Estimate(value, float(low), float(min(high, 1.0)))


def squared_and_added(ratios: Sequence[tuple[float | None, float | None]]) -> float:
    """How far a product can lie off, as a log, if each of its independent factors can lie off by this ratio."""
    logs = [np.log(larger / smaller) if larger and smaller else np.inf for larger, smaller in ratios]
    return float(np.linalg.norm(logs))


def _roc_auc(decisions: HonestScores, prior: PriorEstimate, spent: float) -> Estimate:
    """Chance that a positive scores higher than a negative: a mean over positives, no noisier than a share."""
    area = decisions.area
    noise = proportion(area * decisions.n_positive, decisions.n_positive, spent=spent)
    value = _against_negatives(area, prior.value)
    by_area = [_against_negatives(end, prior.value) for end in (noise.low, noise.high)]
    by_prior = [_against_negatives(area, end) for end in prior.ends]
    low = value - np.hypot(value - by_area[0], value - min(*by_prior, value))
    high = value + np.hypot(by_area[1] - value, max(*by_prior, value) - value)
    return Estimate(value, float(max(low, 0.0)), float(min(high, 1.0)))


def _against_negatives(area: float, prior: float) -> float:
    """The AUC, from the chance to score higher than a row of the population, which may be a positive itself."""
    return float(np.clip((area - prior / 2) / max(1 - prior, SMALLEST_SHARE), 0, 1))


def _intervals_alone(found: Estimates, keep: tuple[str, ...]) -> Estimates:
    """With few positives: no numbers but those that need none of them."""
    return replace(
        found, **{name: replace(getattr(found, name), value=None) for name in vars(found) if name not in keep}
    )


def features_of(model: Any, X: Any) -> Any:
    """Rows of a table as the classifier sees them, at the end of a pipeline or by itself."""
    table = model[:-1].transform(X) if isinstance(model, Pipeline) else X
    return (model[-1] if isinstance(model, Pipeline) else model)._validated(on_host(table))


def has_features_of_fit(model: Any, X: Any, is_positive: np.ndarray) -> bool:
    """Whether a table has as many rows as that of `fit`, and in some of them the same features.

    Of its features a model that was fitted elsewhere, or saved long ago, knows nothing; then it may be that table.
    """
    known = (model[-1] if isinstance(model, Pipeline) else model)._table_seen
    if known is None or X is None or isinstance(X, Mapping):
        return True
    X = on_host(X) if is_frame(X) or hasattr(X, "shape") else np.asarray(X)
    if {X.shape[0], len(is_positive)} != {known["n_rows"]} or known["n_labelled"] != int(is_positive.sum()):
        return False
    found = means_of_some_rows(features_of(model, _safe_indexing(X, places_to_know_by(X.shape[0]))))
    return bool(np.allclose(found, known["means"], rtol=1e-5, atol=1e-7))


def _check_rows(model: Any, classifier: Any, X: Any, is_positive: np.ndarray) -> None:
    """Refuse a table that the honest scores are not of."""
    not_of_fit = ValueError(
        "X and y are not the table that the model was fitted to, or its rows are in another order. Estimates speak of "
        "that table; report(model, X, y, new=X_new) compares another with it, and the scorers of unlabeled.metrics "
        "judge the model by another table with labels."
    )
    honest: HonestScores = classifier.honest_scores_
    # A weighted score has the labelled rows among the population once more, in the single-sample scenario.
    among_others = classifier.scenario == "single-sample" and not honest.labelled_share
    for rows, expected in (
        (honest.positive_rows, np.ones_like(is_positive)),
        (honest.unlabeled_rows, is_positive & among_others),
    ):
        if rows is None or rows.max() >= len(is_positive) or (is_positive != expected)[rows].any():
            raise not_of_fit
    if not has_features_of_fit(model, X, is_positive):
        raise not_of_fit


def _refitted_decisions(
    model: Any, X: ArrayLike, y: np.ndarray, is_positive: np.ndarray, weights: FloatArray | None
) -> HonestScores:
    """Decisions about rows by fits without their fold; each fold weighs what its rows do, whichever are scored."""
    n_folds = int(min(N_FOLDS, is_positive.sum(), (~is_positive).sum()))
    counts = np.ones(len(y)) if weights is None else weights
    decisions, stands_for, scored = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y), dtype=bool)
    rng = np.random.RandomState(0)
    for train, test in PUStratifiedKFold(n_folds, shuffle=True, random_state=0).split(y, is_positive):
        options = {} if weights is None else {"sample_weight": weights[train]}
        fitted = clone(model).fit(_safe_indexing(X, train), y[train], **options)
        for value in (True, False):
            of_sample = test[is_positive[test] == value]
            some = of_sample[some_rows(len(of_sample), MOST_SCORED, rng)]  # tables are often in some order
            decisions[some], scored[some] = fitted.decision_function(_safe_indexing(X, some)), True
            stands_for[some] = counts[some] * (counts[of_sample].sum() / counts[some].sum())
    samples = scored & is_positive, scored & ~is_positive
    as_many = [effective(counts[rows & (counts > 0)]).sum() for rows in samples]  # as were scored
    in_all = [n / stands_for[rows].sum() for n, rows in zip(as_many, samples, strict=True)]
    return HonestScores(
        *(decisions[rows] for rows in samples),
        *(stands_for[rows] * factor for rows, factor in zip(samples, in_all, strict=True)),
    )
