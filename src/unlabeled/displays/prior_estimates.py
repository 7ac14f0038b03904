"""Several estimates of the prior with their intervals, from the scores that a classifier has already."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from unlabeled.contract import without_search
from unlabeled.displays.axes import POPULATION, POSITIVE, Display, evidence_of
from unlabeled.evaluation import Evidence
from unlabeled.priors import (
    AutoPrior,
    BestBinPrior,
    DedpulPrior,
    PriorComparison,
    PriorEstimate,
    ScarWarning,
    compare_priors,
)

#: Estimators that read honest scores, by the names that they have as parameters.
_FROM_SCORES = {"auto": AutoPrior, "best-bin": BestBinPrior, "dedpul": DedpulPrior}


def priors_of(evidence: Evidence) -> PriorComparison:
    """The prior in use, and what estimators say that read nothing but the honest scores: in no time, from no table."""
    found, failed = {"in use": evidence.prior}, {}
    for name, estimator in _FROM_SCORES.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ScarWarning)
                found[name] = PriorEstimate.of(estimator().fit_scores(evidence.scores), name)
        except ValueError as error:
            failed[name] = str(error)
    return PriorComparison(found, failed, evidence.scores.n_positive)


class PriorDisplay(Display):
    """Estimates of the prior with intervals of 95 %, the one in use first.

    With X and y all estimators of `unlabeled.priors` are fitted, which takes a while; without them those that read the
    model's honest scores.

    Attributes
    ----------
    comparison : PriorComparison
        ``estimates`` by name, and whether they agree (``verdict``).

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import PriorDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier().fit(data.X, data.y)
    >>> shown = PriorDisplay.of_evidence(model)
    >>> list(shown.comparison.estimates)
    ['in use', 'auto', 'best-bin', 'dedpul']
    """

    def __init__(self, comparison: PriorComparison) -> None:
        self.comparison = comparison

    @classmethod
    def of_evidence(cls, model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Self:
        """Computed, and not drawn yet.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import PriorDisplay
        >>> data = make_gaussians(random_state=0)
        >>> found = PriorDisplay.of_evidence(WMMDClassifier().fit(data.X, data.y)).comparison
        >>> found.estimates["in use"].low < found.estimates["in use"].value
        True
        """
        if X is None or y is None:
            return cls(priors_of(evidence_of(model)))
        table: Any = X
        classifier = model = without_search(model)
        if isinstance(model, Pipeline):
            table, classifier = model[:-1].transform(X), model[-1]
        compared = compare_priors(table, y, scenario=classifier.scenario)
        in_use = {"in use": evidence_of(model, X, y).prior}
        return cls(PriorComparison(in_use | compared.estimates, compared.failures, compared.n_positive))

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw estimates for the table that a classifier was fitted to.

        ``ax``, ``name`` and ``**kwargs`` are as in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import PriorDisplay
        >>> data = make_gaussians(random_state=0)
        >>> model = WMMDClassifier().fit(data.X, data.y)
        >>> PriorDisplay.from_estimator(model, ax=Figure().subplots()).ax_.get_xlabel()
        'prior: share of positives in the population'
        """
        return cls.of_evidence(model, X, y).plot(ax, name=name, **kwargs)

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        estimates = self.comparison.estimates
        for place, (estimator, found) in enumerate(estimates.items()):
            low, high = found.ends
            style = {"color": POSITIVE if estimator == "in use" else POPULATION, "linewidth": 2, **kwargs}
            ax.plot([low, high], [place, place], **style)
            ax.plot(found.value, place, **{"marker": "o"} | style)
        ax.set_yticks(np.arange(len(estimates)), list(estimates))
        ax.invert_yaxis()
        ax.set_title(name or "")
        ax.set(xlabel="prior: share of positives in the population", xlim=(0, None))
