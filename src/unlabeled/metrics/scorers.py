"""The metrics as scikit-learn scorers, for `GridSearchCV`, `cross_val_score` and everything else with ``scoring``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import make_scorer

from unlabeled.metrics import decisions, ranking, risk
from unlabeled.samples import SCENARIOS


@dataclass(frozen=True)
class _Metric:
    function: Callable[..., float]
    response: str | tuple[str, ...] = "predict"
    needs_prior: bool = True
    greater_is_better: bool = True


_RANKS = ("decision_function", "predict_proba")
_RISKS = {f"{loss}-risk": _Metric(risk.pu_risk, "decision_function", greater_is_better=False) for loss in risk.LOSSES}

_METRICS: dict[str, _Metric] = {
    "recall": _Metric(decisions.pu_recall, needs_prior=False),
    "lee-liu": _Metric(decisions.pu_lee_liu, needs_prior=False),
    "precision": _Metric(decisions.pu_precision),
    "f1": _Metric(decisions.pu_f1),
    "accuracy": _Metric(decisions.pu_accuracy),
    "proxy-accuracy": _Metric(decisions.proxy_accuracy),
    "roc-auc": _Metric(ranking.pu_roc_auc, _RANKS),
    "average-precision": _Metric(ranking.pu_average_precision, _RANKS),
    "proxy-roc-auc": _Metric(ranking.proxy_roc_auc, _RANKS, needs_prior=False),
    **_RISKS,
}

#: The names that `pu_scorer` knows.
SCORERS = tuple(_METRICS)


def pu_scorer(name: str, *, prior: float | None = None, scenario: str = "case-control") -> Any:
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
    metric = _METRICS[name]
    options: dict[str, Any] = {"scenario": scenario}
    if metric.needs_prior:
        if prior is None:
            raise ValueError(f"{name!r} needs the prior: pu_scorer({name!r}, prior=...), P(y = 1) in the population.")
        options["prior"] = prior
    if name in _RISKS:
        options["loss"] = name.removesuffix("-risk")
    return make_scorer(
        metric.function, response_method=metric.response, greater_is_better=metric.greater_is_better, **options
    )
