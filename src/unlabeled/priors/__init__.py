"""Estimators of the class prior P(y = 1) of the population, one file for each method."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from unlabeled.contract import ResolvedPrior
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.auto import AutoPrior
from unlabeled.priors.best_bin import BestBinPrior
from unlabeled.priors.comparison import PriorComparison, PriorEstimate, compare
from unlabeled.priors.dedpul import DedpulPrior
from unlabeled.priors.density import DensityPrior, density_prior
from unlabeled.priors.elkan_noto import ElkanNotoPrior
from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.kernel_mean import KernelMeanPrior
from unlabeled.priors.limits import PriorWarning
from unlabeled.priors.scar import ScarWarning
from unlabeled.samples import PUSample

__all__ = [
    "PRIORS",
    "AutoPrior",
    "BestBinPrior",
    "DedpulPrior",
    "DensityPrior",
    "ElkanNotoPrior",
    "KernelMeanPrior",
    "PriorComparison",
    "PriorEstimate",
    "PriorEstimator",
    "PriorWarning",
    "ResolvedPrior",
    "ScarWarning",
    "compare_priors",
    "density_prior",
    "resolve_prior",
]

#: A prior of 0 has no threshold.
_TINY = float(np.finfo(np.float64).tiny)

#: The names users may write for ``prior``, and the estimator each stands for.
PRIORS: dict[str, PriorEstimator] = {
    "auto": AutoPrior(),
    "density": DensityPrior(),
    "km1": KernelMeanPrior("km1"),
    "km2": KernelMeanPrior("km2"),
    "best-bin": BestBinPrior(),
    "dedpul": DedpulPrior(),
    "elkan-noto": ElkanNotoPrior(),
}


def compare_priors(
    X: ArrayLike,
    y: ArrayLike,
    *,
    scenario: str = "case-control",
    names: Iterable[str] | None = None,
    classifier: Any = None,
    pos_label: Any = None,
    on_estimate: Callable[[str], object] = lambda _name: None,
) -> PriorComparison:
    """Estimate the prior by several methods, and say whether they agree.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Which rows are labelled positive: two values, spelled as `fit` of the estimators takes them.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Which population the prior speaks of: that of the unlabeled rows, or that of all rows together.
    names : names of `PRIORS`, optional
        Only these.
    classifier : classifier, optional
        Fitted to the same table: the prior that it estimated is compared too, in the place of "auto". A classifier
        reads "auto" off its own scores, where the estimator of that name makes scores for itself, and the two differ.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it.
    on_estimate : callable, optional
        Called with each name when it is done: some take seconds.

    Returns
    -------
    comparison : PriorComparison
        ``estimates`` by name, with intervals; ``failures`` by name; ``verdict``, a sentence.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import compare_priors
    >>> comparison = compare_priors(data.X, data.y, names=["best-bin", "dedpul"])
    >>> {name: round(estimate.value, 2) for name, estimate in comparison.estimates.items()}  # in truth 0.5
    {'best-bin': 0.42, 'dedpul': 0.41}
    """
    found = getattr(classifier, "prior_estimator_", None)
    chosen = [
        (name, as_prior_estimator(name))
        for name in (PRIORS if names is None else names)
        if found is None or name != "auto"
    ]
    compared = compare(chosen, X, y, scenario, on_estimate, pos_label)
    if found is None:
        return compared
    return replace(compared, estimates={"auto": PriorEstimate.of(found, "auto"), **compared.estimates})


def resolve_prior(
    prior: float | str | PriorEstimator,
    pu: PUSample,
    scores: HonestScores | None = None,
    *,
    least: float = 0.0,
    engine: str = "auto",
    n_jobs: int | None = None,
) -> ResolvedPrior:
    """The prior as a number: as given, or as estimated by the estimator given or named.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator
        What a user gave. An estimator is cloned.
    pu : PUSample
        The samples that it speaks of.
    scores : HonestScores, optional
        One honest score of a classifier. Estimators that read scores (``"auto"`` and ``"density"``) are given these.
        All others, and these two where there are no scores, make what they need from the rows.
    least : float, default=0
        A share of positives that the population is known to hold: an estimate is raised to it, and its interval.
    engine, n_jobs
        How an estimator that is named computes kernel sums; an instance has its own.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.priors import resolve_prior
    >>> from unlabeled.samples import split_samples
    >>> pu = split_samples(data.X, data.y == 1)
    >>> resolve_prior(0.3, pu).value
    0.3
    >>> resolve_prior("best-bin", pu).estimator
    BestBinPrior()
    """
    if _is_number(prior):
        return ResolvedPrior(_check_number(float(prior), pu), None)
    estimator = as_prior_estimator(prior).set_params(scenario=pu.scenario)
    if isinstance(prior, str) and "engine" in estimator.get_params():
        estimator.set_params(engine=engine, n_jobs=n_jobs)
    if scores is not None and estimator.reads_scores:
        estimator.fit_scores(scores)
    else:
        estimator.fit_sample(pu)
    if least:
        estimator.raised_to(least)
    return ResolvedPrior(max(estimator.prior_, _TINY), estimator)


def check_prior(prior: float | str | PriorEstimator, pu: PUSample) -> None:
    """Refuse what cannot be the prior of these samples, before any work is done."""
    if _is_number(prior):
        _check_number(float(prior), pu)
    else:
        as_prior_estimator(prior)


def reads_scores(prior: float | str | PriorEstimator) -> bool:
    """Whether a classifier that has honest scores should estimate this prior from them."""
    return not _is_number(prior) and as_prior_estimator(prior).reads_scores


def as_prior_estimator(prior: object) -> PriorEstimator:
    """An unfitted estimator from a name or an instance, which is not modified."""
    if isinstance(prior, str) and prior in PRIORS:
        return clone(PRIORS[prior])
    if isinstance(prior, PriorEstimator):
        return clone(prior)
    raise ValueError(f"prior={prior!r} is not known; use a number in (0, 1), one of {sorted(PRIORS)}, or an estimator.")


def _is_number(prior: object) -> bool:
    return isinstance(prior, Real) and not isinstance(prior, bool)


def _check_number(prior: float, pu: PUSample) -> float:
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, or be one of {sorted(PRIORS)}; got {prior!r}.")
    if prior < pu.labelled_share:
        raise ValueError(
            f"prior={prior!r} is below the labelled share of the population, {pu.labelled_share:.6g}: that is "
            "impossible in the single-sample scenario. Give a larger prior, or use scenario='case-control'."
        )
    return prior
