"""Estimators of the class prior P(y = 1) of the population, one file a method."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import clone

from unlabeled.priors.auto import AutoPrior
from unlabeled.priors.best_bin import BestBinPrior
from unlabeled.priors.dedpul import DedpulPrior
from unlabeled.priors.density import DensityPrior, density_prior
from unlabeled.priors.elkan_noto import ElkanNotoPrior
from unlabeled.priors.estimator import PriorEstimator
from unlabeled.priors.kernel_mean import KernelMeanPrior
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
    "PriorEstimator",
    "ScarWarning",
    "density_prior",
    "resolve_prior",
]

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


def resolve_prior(prior: float | str | PriorEstimator, pu: PUSample) -> float:
    """The prior as a number: as given, or as estimated from the samples by the estimator given or named."""
    if isinstance(prior, Real) and not isinstance(prior, bool):
        return check_prior(float(prior), pu)
    estimate = as_prior_estimator(prior).set_params(scenario=pu.scenario).fit_sample(pu).prior_
    return max(estimate, float(np.finfo(np.float64).tiny))  # a prior of 0 has no threshold


def as_prior_estimator(prior: object) -> PriorEstimator:
    """An unfitted estimator from a name or an instance, which is not modified."""
    if isinstance(prior, str) and prior in PRIORS:
        return clone(PRIORS[prior])
    if isinstance(prior, PriorEstimator):
        return clone(prior)
    raise ValueError(f"prior={prior!r} is not known; use a number in (0, 1), one of {sorted(PRIORS)}, or an estimator.")


def check_prior(prior: float, pu: PUSample) -> float:
    """Refuse a number that cannot be the prior of these samples."""
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, or be one of {sorted(PRIORS)}; got {prior!r}.")
    if prior < pu.labelled_share:
        raise ValueError(
            f"prior={prior!r} is below the labelled share of the population, {pu.labelled_share:.6g}: that is "
            "impossible in the single-sample scenario. Give a larger prior, or use scenario='case-control'."
        )
    return prior
