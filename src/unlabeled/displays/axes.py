"""What all displays share: how they come by matplotlib, its axes, and the evidence that they draw."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

from unlabeled.evaluation import Evidence, find_evidence

#: Colours that are told apart by people who see few of them.
POSITIVE, POPULATION, THIRD = "#b3430f", "#2563a8", "#17735a"


class Display:
    """A picture that is drawn by `plot`, into axes of its own or given ones."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default new ones.

        Returns
        -------
        display : itself
            With ``ax_`` and ``figure_``.
        """
        self.ax_ = _pyplot().subplots()[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


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
