"""What each gamma of the grid is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.contract import without_search
from unlabeled.displays.axes import Display, style_of


@dataclass(frozen=True)
class GammaCriteria:
    """The grid of gammas in ascending order, what each is worth (larger is better), and the chosen one."""

    gammas: FloatArray
    criteria: FloatArray
    chosen: float
    criterion: str

    @classmethod
    def of(cls, model: Any) -> GammaCriteria | None:
        """Of a fitted classifier or of its part that goes by distances; None where there is none."""
        model = without_search(model)
        classifier = model[-1] if hasattr(model, "steps") else model
        for part in (classifier, *getattr(classifier, "parts_", {}).values()):
            if hasattr(part, "criteria_") and hasattr(part, "gammas_"):
                order = np.argsort(part.gammas_)
                return cls(part.gammas_[order], part.criteria_[order], float(part.gamma_), str(part.criterion))
        return None


class GammaDisplay(Display):
    """The criterion that gamma was chosen by, against gamma.

    A maximum at an end of the grid says that a wider grid might do better; a flat line that gamma does not matter.

    Attributes
    ----------
    criteria : GammaCriteria
        ``gammas``, ``criteria`` and the ``chosen`` gamma.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import GammaDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> shown = GammaDisplay.of_model(model)
    >>> shown.criteria.chosen == model.gamma_
    True
    """

    def __init__(self, criteria: GammaCriteria) -> None:
        self.criteria = criteria

    @classmethod
    def of_model(cls, model: Any) -> Self:
        """Computed, and not drawn yet.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> from unlabeled.displays import GammaDisplay
        >>> model.gamma_ in GammaDisplay.of_model(model).criteria.gammas
        True
        """
        if (found := GammaCriteria.of(model)) is None:
            raise ValueError(
                f"{type(model).__name__} has chosen no gamma: give a WMMDClassifier, or a PUClassifier that uses one."
            )
        return cls(found)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, ax: Any = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the criterion of a fitted classifier; X and y are not needed.

        ``ax``, ``name`` and ``**kwargs`` are as in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import GammaDisplay
        >>> data = make_gaussians(random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> GammaDisplay.from_estimator(model, ax=Figure().subplots()).ax_.get_xlabel()
        'gamma'
        """
        del X, y
        return cls.of_model(model).plot(ax, name=name, **kwargs)

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.criteria
        label = {} if name is None else {"label": name}
        style = {"marker": "o", "markersize": 4, **label} | style_of(ax, kwargs)
        (line,) = ax.plot(found.gammas, found.criteria, **style)
        colour = "k" if name is None else line.get_color()
        ax.axvline(found.chosen, color=colour, ls="--", lw=1, label=f"chosen: {found.chosen:.3g}")
        words = "less the estimated error" if found.criterion == "risk" else "log-likelihood"
        ax.set(xscale="log", xlabel="gamma", ylabel=f"criterion ({words}; larger is better)")
        ax.legend(frameon=False)
