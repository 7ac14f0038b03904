"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_val_score` and everything else with ``scoring``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer

from unlabeled.labels import find_classes, share_of_choice
from unlabeled.metrics import decisions, ranking, risk
from unlabeled.metrics.third_sample import OfThreeSamples
from unlabeled.samples import SCENARIOS


@dataclass(frozen=True)
class _OfScores:
    """A metric of scores that refuses to be read upside down.

    A scorer of scikit-learn hands over the scores for ``pos_label``, and without one those for the last of a
    classifier's classes. Most classifiers have these sorted, and "positive" comes before "unlabeled".
    """

    function: Callable[..., float]

    @property
    def __name__(self) -> str:
        return self.function.__name__

    def __call__(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: Any = None, pos_label: Any = None, **options: Any
    ) -> float:
        classes, _ = find_classes(y_true, pos_label)
        if pos_label is None and classes[0] > classes[1]:
            unlabeled, positive = classes.tolist()
            raise ValueError(
                f"y marks positives by {positive!r}, which is sorted before {unlabeled!r}, so that scikit-learn may "
                f"take scores upside down. Name it: pu_scorer(..., pos_label={positive!r})."
            )
        return self.function(y_true, y_score, sample_weight=sample_weight, pos_label=classes[1], **options)


@dataclass(frozen=True)
class _Metric:
    function: Callable[..., float]
    response: str | tuple[str, ...] = "predict"
    needs_prior: bool = True
    greater_is_better: bool = True


_RANKS = ("decision_function", "predict_proba")
_RISK = _Metric(_OfScores(risk.pu_risk), "decision_function", greater_is_better=False)
_RISKS = {f"{loss}-risk": _RISK for loss in risk.LOSSES}

_METRICS: dict[str, _Metric] = {
    "recall": _Metric(decisions.pu_recall, needs_prior=False),
    "lee-liu": _Metric(decisions.pu_lee_liu, needs_prior=False),
    "precision": _Metric(decisions.pu_precision),
    "f1": _Metric(decisions.pu_f1),
    "accuracy": _Metric(decisions.pu_accuracy),
    "proxy-accuracy": _Metric(decisions.proxy_accuracy),
    "roc-auc": _Metric(_OfScores(ranking.pu_roc_auc), _RANKS),
    "average-precision": _Metric(_OfScores(ranking.pu_average_precision), _RANKS),
    "proxy-roc-auc": _Metric(_OfScores(ranking.proxy_roc_auc), _RANKS, needs_prior=False),
    **_RISKS,
}

#: The names that `pu_scorer` knows.
SCORERS = tuple(_METRICS)


def pu_scorer(
    name: str,
    *,
    prior: float | None = None,
    scenario: str = "case-control",
    pos_label: Any = None,
    negative: Any = None,
    negatives_are: str | float = "selected",
) -> Any:
    """A scikit-learn scorer of a fitted classifier on a PU table: ``scorer(model, X, y)``, larger is better.

    Risks come out negated, as scikit-learn wants it. All candidates of a search are judged with
    the one prior given here, not with each one's own estimate, which would let an estimate speak for itself.

    Parameters
    ----------
    name : str
        One of `SCORERS`: a metric of this package, with "-" for "_" and without "pu", such as "f1" or "roc-auc"; the
        risks are "zero-one-risk", "hinge-risk", "logistic-risk", "sigmoid-risk" and "double-hinge-risk".
    prior : float in (0, 1), optional
        P(y = 1) in the population. Those that need none (recall, lee-liu, proxy-roc-auc) ignore it.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the population is the unlabeled rows, or labelled and unlabeled rows together.
    pos_label : optional
        The value that marks labelled positives. Words need it where a metric reads scores and the positive one is
        sorted first, as "positive" is before "unlabeled".
    negative : optional
        The value of y that marks rows known to be negative: in the single-sample scenario members of the population
        like unlabeled rows, in the case-control scenario of neither sample.
    negatives_are : {"selected", "random"} or float in [0, 1], default="selected"
        How far these are a random choice of all negatives. If they are, a metric with a prior takes them and the
        positives, mixed as the prior says, for a second sample of the population.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.metrics import PUStratifiedKFold, pu_scorer
    >>> data = make_gaussians(random_state=0)
    >>> scorer = pu_scorer("roc-auc", prior=0.5)
    >>> areas = cross_val_score(WMMDClassifier(0.5), data.X, data.y, scoring=scorer, cv=PUStratifiedKFold(5))
    >>> bool(areas.mean() > 0.8)
    True
    """
    if name not in _METRICS:
        raise ValueError(f"{name!r} is not a PU metric; use one of {list(SCORERS)}.")
    if scenario not in SCENARIOS:
        raise ValueError(f"scenario={scenario!r} is not known; use one of {list(SCENARIOS)}.")
    metric, share = _METRICS[name], share_of_choice(negatives_are)
    function = metric.function
    if negative is not None:
        function = OfThreeSamples(function, negative, share or 0.0, of_classes=metric.response == "predict")
    options: dict[str, Any] = {"scenario": scenario}
    if pos_label is not None:
        options["pos_label"] = pos_label
    if metric.needs_prior:
        if prior is None:
            raise ValueError(f"{name!r} needs the prior: pu_scorer({name!r}, prior=...), P(y = 1) in the population.")
        options["prior"] = prior
    if name in _RISKS:
        options["loss"] = name.removesuffix("-risk")
    return make_scorer(function, response_method=metric.response, greater_is_better=metric.greater_is_better, **options)
