"""What all displays share: how they come by matplotlib, its axes, and the evidence that they draw."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.deciding.scores import HonestScores
from unlabeled.evaluation import Evidence, find_evidence
from unlabeled.labels import find_classes
from unlabeled.metrics.averages import Averages
from unlabeled.priors import PriorEstimate

#: Colours that are told apart by people who see few of them.
POSITIVE, POPULATION, THIRD = "#b3430f", "#2563a8", "#17735a"
#: Those of curves in the same axes, one after the other.
CYCLE = (POSITIVE, POPULATION, THIRD, "#8a3a8f", "#8c6d00", "#4d4d4d")


class Display:
    """A picture that is drawn by `plot`, into axes of its own or given ones."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default new ones. Curves of several models may share axes.
        name : str, optional
            What the model is called: in the legend of a curve, above other pictures.
        **kwargs : keyword arguments of matplotlib
            For the lines, bars or points that are drawn, such as ``color`` or ``linewidth``.

        Returns
        -------
        display : itself
            With ``ax_`` and ``figure_``.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import GammaDisplay
        >>> data = make_gaussians(random_state=0)
        >>> ax = Figure().subplots()
        >>> shown = GammaDisplay.of_model(WMMDClassifier(prior=0.5).fit(data.X, data.y))
        >>> shown.plot(ax, name="Gaussian kernel", linewidth=2).ax_.lines[0].get_label()
        'Gaussian kernel'
        """
        self.ax_ = _pyplot().subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_, name, kwargs)
        return self

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        """Draw into axes; ``kwargs`` are for what the picture is mainly made of."""
        raise NotImplementedError


class EvidenceDisplay(Display):
    """A picture of scores of rows that took no part in them."""

    @classmethod
    def _of(cls, evidence: Evidence) -> Self:
        raise NotImplementedError

    @classmethod
    def of_evidence(cls, model: Any, X: ArrayLike | None = None, y: ArrayLike | None = None) -> Self:
        """Computed, and not drawn yet; the parameters are those of `from_estimator`.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import ThresholdDisplay
        >>> data = make_gaussians(random_state=0)
        >>> shown = ThresholdDisplay.of_evidence(WMMDClassifier(prior=0.5).fit(data.X, data.y))
        >>> shown.table.rows[0].threshold < shown.table.rows[-1].threshold
        True
        """
        return cls._of(evidence_of(model, X, y))

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
        """Draw what is known of a fitted classifier by the table that it was fitted to.

        Parameters
        ----------
        model : classifier, or pipeline that ends with one
            Fitted; or a search over such, for its best estimator.
        X, y : table and labels, optional
            Those that it was fitted to. A model that keeps honest scores does not need them.
        ax, name, **kwargs : optional
            As in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import PURocCurveDisplay
        >>> data, ax = make_gaussians(random_state=0), Figure().subplots()
        >>> for kernel in ("rbf", "inverse"):  # two curves in the same axes
        ...     model = WMMDClassifier(prior=0.5, kernel=kernel).fit(data.X, data.y)
        ...     shown = PURocCurveDisplay.from_estimator(model, ax=ax, name=kernel)
        >>> len({line.get_color() for line in shown.ax_.lines if "AUC" in line.get_label()})
        2
        """
        return cls.of_evidence(model, X, y).plot(ax, name=name, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        prior: float | PriorEstimate,
        scenario: str = "case-control",
        threshold: float = 0.0,
        pos_label: Any = None,
        ax: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what scores of another table say, one that no model was fitted to.

        Parameters
        ----------
        y : array of shape (n_samples,)
            Which rows are labelled positive.
        scores : array of shape (n_samples,)
            Of each row, the larger the more positive, as by ``decision_function``.
        prior : float in (0, 1) or PriorEstimate
            P(y = 1) in the population of that table. A number is taken to be certain.
        scenario : {"case-control", "single-sample"}, default="case-control"
            Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
        threshold : float, default=0
            From where on a row is flagged: 0 for decision functions.
        pos_label : optional
            The value of y that marks labelled positives, where numbers or words do not say it.
        ax, name, **kwargs : optional
            As in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import PURocCurveDisplay
        >>> data, held_out = make_gaussians(random_state=0), make_gaussians(random_state=1)
        >>> scores = WMMDClassifier(prior=0.5).fit(data.X, data.y).decision_function(held_out.X)
        >>> shown = PURocCurveDisplay.from_predictions(held_out.y, scores, prior=0.5, ax=Figure().subplots())
        >>> bool(0.8 < shown.curves.roc_auc.value < 1)
        True
        """
        found = evidence_of_predictions(y, scores, prior, scenario, threshold, pos_label)
        return cls._of(found).plot(ax, name=name, **kwargs)


def style_of(ax: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What was asked for, and a colour that no other curve in the axes has."""
    if {"color", "c"} & set(kwargs):
        return kwargs
    taken = {line.get_color() for line in ax.lines}
    free = [colour for colour in CYCLE if colour not in taken]
    return {"color": free[0] if free else CYCLE[len(taken) % len(CYCLE)], **kwargs}


def once(ax: Any, label: str) -> str:
    """A label for the legend, or none where the axes have it already."""
    return "_nolegend_" if label in ax.get_legend_handles_labels()[1] else label


def _pyplot() -> Any:
    try:
        return import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        raise ImportError("Pictures are drawn by matplotlib: pip install 'unlabeled[figures]'.") from error


def evidence_of(model: Any, X: Any = None, y: Any = None, prior: float | None = None) -> Evidence:
    """What a display goes by, or an error that says what is missing."""
    found = find_evidence(model, X, y, prior=prior)
    if found is not None:
        return found
    if y is None:
        raise ValueError(
            f"{type(model).__name__} keeps no scores of the rows it was fitted to, so X and y are needed: it is fitted "
            "anew without each of five folds."
        )
    raise ValueError("There are too few rows to hold any out; three positives and three unlabeled rows are the least.")


def evidence_of_predictions(
    y: ArrayLike, scores: ArrayLike, prior: float | PriorEstimate, scenario: str, threshold: float, pos_label: Any
) -> Evidence:
    """What a display goes by, from scores of a table that took no part in them."""
    _, is_positive = find_classes(np.asarray(y), pos_label)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != is_positive.shape or not np.isfinite(values).all():
        raise ValueError(
            f"scores must be one finite number for each of the {len(is_positive):,} labels; got shape {values.shape}."
        )
    averages = Averages.of(is_positive, scenario, None)
    known = prior if isinstance(prior, PriorEstimate) else PriorEstimate(float(prior), None, None, "as given")
    averages.check_prior(known.value)
    positive, unlabeled = values[is_positive], values[~is_positive]
    weights = np.ones_like(positive), np.ones_like(unlabeled)
    found = HonestScores(positive, unlabeled, weights[0], weights[1], averages.labelled_share)
    n_population = float((averages.population > 0).sum())
    return Evidence(found, float(threshold), known, n_population, averages.labelled_share, 0.0)
