"""A map of the rows in two dimensions, and where on it rows are flagged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline

from unlabeled.arrays import FloatArray, on_host
from unlabeled.contract import without_search
from unlabeled.displays.axes import POPULATION, POSITIVE, Display
from unlabeled.labels import known_among

#: Cells of the map, across and up.
N_ACROSS, N_UP = 48, 36
#: The most rows of each sample that are on the map.
MOST_ROWS = 1_500
#: Rows that a place asks whether they are flagged: at least so many, or this share of those on the map.
LEAST_NEIGHBOURS, SHARE_OF_NEIGHBOURS = 10, 0.02
#: Shares of flagged rows nearby, from each of which on a map is a shade darker.
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
#: Columns that an axis is named by.
_NAMED = 3


@dataclass(frozen=True)
class DataMap:
    """Rows at places in the plane, and how far each cell is on the positive side.

    With two features these are the axes, and ``field`` is the decision function: ``is_exact``. With more, the first
    axis is the direction in which the score rises most (a ridge regression of it on standardised features), the second
    the direction in which rows differ most across it, and ``field`` is the share of the rows nearby that are flagged,
    less a half: rows at the same place may be decided otherwise.
    """

    places: FloatArray  # (n_rows, 2)
    labelled: np.ndarray
    flagged: np.ndarray
    x_edges: FloatArray
    y_edges: FloatArray
    field: FloatArray  # (n_up, n_across), above 0 on the positive side
    axes: tuple[str, str]
    is_exact: bool

    @classmethod
    def of(
        cls,
        features: Any,
        labelled: np.ndarray,
        margins: FloatArray,
        names: Sequence[str],
        decide: Callable[[FloatArray], FloatArray] | None = None,
    ) -> DataMap:
        """Of rows as a classifier sees them; ``decide`` gives margins of further rows, if there are two features."""
        exact = decide is not None and features.shape[1] == 2 and not issparse(features)
        places, axes = (
            (filled(features), (str(names[0]), str(names[1]))) if exact else _projected(features, margins, names)
        )
        x_edges, y_edges = (_edges(values, n) for values, n in zip(places.T, (N_ACROSS, N_UP), strict=True))
        centres = np.array([(x, y) for y in _middles(y_edges) for x in _middles(x_edges)])
        if exact and decide is not None:
            field = decide(centres)
        else:
            n_near = int(np.clip(SHARE_OF_NEIGHBOURS * len(places), LEAST_NEIGHBOURS, None))
            nearby = KNeighborsRegressor(min(n_near, len(places)), weights="distance")
            scaled = np.ptp(places, axis=0) + 1e-12
            field = nearby.fit(places / scaled, (margins > 0) - 0.5).predict(centres / scaled)
        shape = len(y_edges) - 1, len(x_edges) - 1
        return cls(places, labelled, margins > 0, x_edges, y_edges, field.reshape(shape), axes, exact)

    @property
    def strength(self) -> FloatArray:
        """How positive each cell is, from 0 to 1: for two features 0 or 1, else the share of flagged rows nearby."""
        return (self.field > 0).astype(float) if self.is_exact else np.clip(self.field + 0.5, 0, 1)

    def boundary(self) -> list[FloatArray]:
        """Lines (n_points, 2) on which the field is 0; none where it is one-sided."""
        if not (self.field.min() < 0 < self.field.max()):
            return []
        return [np.asarray(line) for line in self._contours(self.field).lines(0.0)]

    def regions(self) -> list[list[FloatArray]]:
        """Closed outlines (n_points, 2) of where the field is positive; of a share, of where it is above each level."""
        if self.is_exact:
            return [self._outlines(self.field, 0.0)]
        return [self._outlines(self.strength, level) for level in LEVELS]

    def _outlines(self, heights: FloatArray, level: float) -> list[FloatArray]:
        if heights.max() <= level:
            return []
        polygons, starts = self._contours(heights).filled(level, np.inf)
        return [
            outline
            for points, places in zip(polygons, starts, strict=True)
            for outline in np.split(points, np.asarray(places[1:-1], dtype=int))
        ]

    def _contours(self, heights: FloatArray) -> Any:
        """By the middles of cells, and on to the edges of the map."""
        x, y = (np.concatenate([ends[:1], _middles(ends), ends[-1:]]) for ends in (self.x_edges, self.y_edges))
        return import_module("contourpy").contour_generator(
            x, y, np.pad(heights, 1, mode="edge"), fill_type="OuterOffset"
        )


def _projected(features: Any, margins: FloatArray, names: Sequence[str]) -> tuple[FloatArray, tuple[str, str]]:
    """Along the score and across it, and what these directions are mostly made of."""
    if issparse(features):
        reduction = TruncatedSVD(2, random_state=0)
        places = reduction.fit_transform(features)
        return places, (_made_of(reduction.components_[0], names), _made_of(reduction.components_[1], names))
    values = filled(features)
    spread = values.std(axis=0)
    scaled = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)
    if scaled.shape[1] == 1:
        scaled = np.column_stack([scaled, np.random.RandomState(0).uniform(-1, 1, len(scaled))])
        return scaled, (str(names[0]), "(no second column: spread at random)")
    along = Ridge(alpha=0.01 * len(scaled)).fit(scaled, margins).coef_
    along = along / np.linalg.norm(along) if along.any() else np.eye(len(along))[0]
    left = scaled - np.outer(scaled @ along, along)
    solver = "covariance_eigh" if scaled.shape[1] < 500 else "randomized"
    across = PCA(1, svd_solver=solver, random_state=0).fit(left).components_[0]
    places = np.column_stack([scaled @ along, scaled @ across])
    return places, (_made_of(along, names), _made_of(across, names))


def _made_of(direction: FloatArray, names: Sequence[str]) -> str:
    """The columns with the largest weights in a direction, and their signs."""
    order = np.argsort(-np.abs(direction))[:_NAMED]
    words = [f"{'+' if direction[place] > 0 else '-'} {_cut(str(names[place]))}" for place in order]
    return " ".join(words).removeprefix("+ ")


def _cut(name: str, most: int = 16) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def filled(features: FloatArray) -> FloatArray:
    """Missing values replaced by the mean of their feature, or by 0 where it has no value at all."""
    values = np.asarray(features, dtype=np.float64)
    missing = np.isnan(values)
    means = np.where(missing, 0, values).sum(axis=0) / np.maximum((~missing).sum(axis=0), 1)
    return np.where(missing, means, values)


def _edges(values: FloatArray, n_cells: int) -> FloatArray:
    low, high = np.quantile(values, [0.002, 0.998])
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n_cells + 1)


def _middles(edges: FloatArray) -> FloatArray:
    return (edges[:-1] + edges[1:]) / 2


class PUDecisionBoundaryDisplay(Display):
    """A map of the rows: labelled positives, flagged and other unlabeled rows, and the boundary.

    Attributes
    ----------
    data_map : DataMap
        ``places`` of the rows, ``labelled``, ``flagged``, and the ``field`` whose zero is the boundary.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier
    >>> from unlabeled.datasets import make_two_moons
    >>> from unlabeled.displays import PUDecisionBoundaryDisplay
    >>> data = make_two_moons(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> PUDecisionBoundaryDisplay.of_rows(model, data.X, data.y).data_map.is_exact
    True
    """

    def __init__(self, data_map: DataMap) -> None:
        self.data_map = data_map

    @classmethod
    def of_rows(cls, model: Any, X: ArrayLike, y: ArrayLike) -> Self:
        """Computed, and not drawn yet.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, 100, random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> from unlabeled.displays import PUDecisionBoundaryDisplay
        >>> PUDecisionBoundaryDisplay.of_rows(model, data.X, data.y).data_map.places.shape
        (250, 2)
        """
        model = without_search(model)
        classifier, table = (model[-1], model[:-1].transform(X)) if isinstance(model, Pipeline) else (model, X)
        rows = classifier._validated(on_host(table))
        labelled, _ = known_among(np.asarray(y), classifier.classes_, getattr(classifier, "unlabeled_label_", None))
        some = np.sort(
            np.concatenate(
                [_some(np.flatnonzero(labelled == value), number) for number, value in enumerate((True, False))]
            )
        )
        rows, labelled = rows[some], labelled[some]
        decide = margins_of(classifier)
        return cls(DataMap.of(rows, labelled, decide(rows), feature_names(model, rows.shape[1]), decide))

    @classmethod
    def from_estimator(
        cls, model: Any, X: ArrayLike, y: ArrayLike, *, ax: Any = None, name: str | None = None, **kwargs: Any
    ) -> Self:
        """Draw the rows of a table, labelled or not, and the boundary of a fitted classifier.

        ``ax``, ``name`` and ``**kwargs`` are as in `plot`.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from unlabeled import WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> from unlabeled.displays import PUDecisionBoundaryDisplay
        >>> data = make_gaussians(random_state=0)
        >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
        >>> PUDecisionBoundaryDisplay.from_estimator(model, data.X, data.y, ax=Figure().subplots()).ax_.get_xlabel()
        'x0'
        """
        return cls.of_rows(model, X, y).plot(ax, name=name, **kwargs)

    def _draw(self, ax: Any, name: str | None, kwargs: dict[str, Any]) -> None:
        found = self.data_map
        ax.pcolormesh(found.x_edges, found.y_edges, found.strength, cmap="Oranges", vmin=0, vmax=2.2, rasterized=True)
        for line in found.boundary():
            ax.plot(*line.T, color="k", lw=1.2)
        others = ~found.labelled & ~found.flagged, ~found.labelled & found.flagged, found.labelled
        styles = (
            {"color": POPULATION, "alpha": 0.45, "s": 9, "label": "unlabeled, not flagged"},
            {"color": "#e8893f", "alpha": 0.9, "s": 12, "label": "unlabeled, flagged"},
            {"color": POSITIVE, "s": 26, "marker": "^", "edgecolor": "k", "lw": 0.4, "label": "labelled positives"},
        )
        for rows, style in zip(others, styles, strict=True):
            ax.scatter(*found.places[rows].T, **style | kwargs)
        ax.set(xlabel=found.axes[0], ylabel=found.axes[1])
        ax.set(xlim=found.x_edges[[0, -1]], ylim=found.y_edges[[0, -1]])
        ax.set_title(name or "")
        ax.legend(frameon=True, fontsize="small")


def _some(places: np.ndarray, seed: int) -> np.ndarray:
    if len(places) <= MOST_ROWS:
        return places
    return np.random.RandomState(seed).choice(places, MOST_ROWS, replace=False)


def margins_of(classifier: Any) -> Callable[[Any], FloatArray]:
    """From rows that a classifier has validated to score less threshold."""
    if hasattr(classifier, "scores_of"):
        return lambda rows: np.asarray(classifier.scores_of(rows) - classifier.threshold_)
    return lambda rows: np.asarray(classifier.decision_function(rows))


def feature_names(model: Any, n_features: int) -> list[str]:
    """What the features that a classifier sees are called: by an encoder, by the table, or by their places."""
    classifier, before = (model[-1], model[0]) if isinstance(model, Pipeline) else (model, None)
    encoders: tuple[Any, ...] = (getattr(classifier, "encoder_", None), before)
    for encoder in encoders:
        if hasattr(encoder, "get_feature_names_out"):
            names = encoder.get_feature_names_out()
            if len(names) == n_features:
                return [str(name) for name in names]
    names = getattr(classifier, "feature_names_in_", ())
    return [str(name) for name in names] if len(names) == n_features else [f"x{place}" for place in range(n_features)]
