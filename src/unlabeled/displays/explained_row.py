"""What the columns do for the score of one row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from unlabeled.arrays import FloatArray
from unlabeled.displays.axes import POPULATION, POSITIVE, Display
from unlabeled.explanations import DistanceReasons, Explanation, LeastSquaresReasons, explain

MOST_COLUMNS = 10


@dataclass(frozen=True)
class RowDrivers:
    """What each column does for a score, by what the score goes by; and what no column accounts for.

    ``parts`` (n_parts, n_columns), for ``by``: of distances the exact parts of the score, of a fitted ratio how much
    the score would fall with the column at its mean. ``others`` are in words: how many rows are near, and
    what a learned score adds, or one that is not explained, which have no parts. All are in units of the row's score, a
    log ratio.
    """

    columns: tuple[str, ...]
    by: tuple[str, ...]
    parts: FloatArray
    others: tuple[tuple[str, float], ...]
    score: float
    threshold: float

    @classmethod
    def of(cls, explanation: Explanation) -> RowDrivers:
        """What an explanation says, by column."""
        by, parts, others = [], [], []
        for reasons in explanation.reasons:
            made_of = reasons.made_of
            if isinstance(made_of, (DistanceReasons, LeastSquaresReasons)):
                by.append(reasons.by)
                parts.append(reasons.weight * made_of.by_feature)
            if isinstance(made_of, DistanceReasons):
                others.append((f"how many rows are near ({reasons.by})", reasons.weight * made_of.crowding))
            elif not isinstance(made_of, LeastSquaresReasons):
                others.append((f"{reasons.by}, as a whole", reasons.adds))
        n_columns = len(parts[0]) if parts else 0
        names = explanation.columns
        if names is None or len(names) != n_columns:
            names = tuple(f"x{place}" for place in range(n_columns))
        table = np.array(parts).reshape(len(parts), n_columns)
        return cls(tuple(names), tuple(by), table, tuple(others), explanation.score, explanation.threshold)

    @property
    def totals(self) -> FloatArray:
        """What each column does in all."""
        return np.asarray(self.parts.sum(axis=0))

    def largest(self, n_columns: int) -> list[tuple[str, float]]:
        """The columns that do most, either way, the largest first."""
        order = np.argsort(-np.abs(self.totals), kind="stable")[:n_columns]
        return [(self.columns[place], float(self.totals[place])) for place in order]


class ExplanationDisplay(Display):
    """What the columns do for the score of one row: bars to the right speak for a positive.

    Attributes
    ----------
    drivers : RowDrivers
        What is drawn, made of `unlabeled.explain`.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> from unlabeled.displays import ExplanationDisplay
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> drivers = ExplanationDisplay.of_row(model, data.X[3]).drivers
    >>> bool(abs(drivers.totals.sum() + drivers.others[0][1] - drivers.score) < 1e-5)
    True
    """

    def __init__(self, drivers: RowDrivers) -> None:
        self.drivers = drivers

    @classmethod
    def of_row(cls, model: Any, row: ArrayLike) -> Self:
        """Computed, and not drawn yet.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> from unlabeled.displays import ExplanationDisplay
        >>> ExplanationDisplay.of_row(model, data.X[3]).drivers.columns
        ('x0', 'x1')
        """
        return cls(RowDrivers.of(explain(model, row)))

    @classmethod
    def from_estimator(
        cls, model: Any, X: ArrayLike, y: Any = None, *, ax: Any = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw why one row has its score; X is the row, as `unlabeled.explain` takes it, and y is not needed.

        ``ax``, ``name`` and ``**kwargs`` are as in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import ExplanationDisplay
        >>> data = make_gaussians(random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> shown = ExplanationDisplay.from_estimator(model, data.X[3], ax=Figure().subplots())
        >>> "part of the score" in shown.ax_.get_xlabel()
        True
        """
        del y
        return cls.of_row(model, X).plot(ax, name=name, **kwargs)

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.drivers
        order = np.argsort(-np.abs(found.totals), kind="stable")[:MOST_COLUMNS]
        names = [found.columns[place] for place in order] + [words for words, _ in found.others]
        start = np.zeros((2, len(names)))  # bars to the left, and to the right
        rows = [np.append(part[order], np.zeros(len(found.others))) for part in found.parts]
        rows.append(np.append(np.zeros(len(order)), [value for _, value in found.others]))
        colours = [*islice(cycle((POSITIVE, POPULATION, "0.3", "0.8")), len(found.by)), "0.6"]
        for kind, values, colour in zip((*found.by, "not by column"), rows, colours, strict=True):
            side = (values > 0).astype(int)
            left = start[side, np.arange(len(names))]
            ax.barh(np.arange(len(names)), values, left=left, **{"color": colour, "label": kind} | kwargs)
            start[side, np.arange(len(names))] += values
        ax.axvline(0, color="k", lw=0.8)
        ax.set_yticks(np.arange(len(names)), names)
        ax.invert_yaxis()
        flagged = "flagged" if found.score > found.threshold else "not flagged"
        ax.set(xlabel=f"part of the score {found.score:.3g} (threshold {found.threshold:.3g}: {flagged})")
        ax.set_title(name or "")
        ax.legend(frameon=False, fontsize="small")
