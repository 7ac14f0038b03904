"""Which positives get a label, as named values for ``propensity`` of `draw_pu`: at random, and in ways that are not.

Each answers with the propensities e(x) = P(labelled | x, y = 1) of the positives of a table whose classes are known.
``frequency`` is the expected share of the positives that are labelled: the mean of e over them is exactly that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, log_expit, logit
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled.arrays import FloatArray

#: P(y = 1 | x) of rows.
Posterior = Callable[[FloatArray], ArrayLike]
#: Posteriors this close to 0 or 1 are taken to be so far off: a propensity of 0 would mean never.
CLOSEST = 1e-6
#: The smallest propensity beside the largest.
SMALLEST_SHARE = 1e-200


@runtime_checkable
class Labelling(Protocol):
    """A way to label positives."""

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:
        """P(labelled | x) of each positive row of a table, in its order."""
        ...


@dataclass(frozen=True)
class AtRandom:
    """Completely at random: e(x) = frequency.

    Examples
    --------
    >>> from unlabeled.datasets import draw_pu, make_gaussians, AtRandom
    >>> pool = make_gaussians(1, 2000, 10, random_state=0)
    >>> data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 50, 450, 10, 0.5, scenario="single-sample",
    ...                propensity=AtRandom(0.2), random_state=0)
    >>> data.positive.mean(axis=0).round(1), pool.unlabeled[pool.unlabeled_truth].mean(axis=0).round(1)
    (array([0.8, 0.6]), array([0.7, 0.7]))
    """

    frequency: float

    def __post_init__(self) -> None:
        _check_frequency(self.frequency)

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:  # noqa: ARG002
        """P(labelled | x) of each positive row of a table, in its order.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.datasets import AtRandom
        >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
        >>> AtRandom(0.3).propensities(X, X[:, 0] >= 0).round(2)
        array([0.3, 0.3, 0.3])
        """
        return np.full(int(is_positive.sum()), float(self.frequency))


@dataclass(frozen=True)
class EasyFirst:
    """Positives that look like it are labelled first: e(x) = min(1, a P(y = 1 | x)^strength).

    Parameters
    ----------
    frequency : float in (0, 1]
        The mean of e over the positives, which decides a.
    strength : float of at least 0, default=1
        1 is proportional to P(y = 1 | x); 0 is completely at random.
    posterior : callable, optional
        Answers with P(y = 1 | x) of rows. By default a logistic regression (L2 penalty, C = 1) on standardised
        features, fitted to the table and its true classes.

    Examples
    --------
    >>> from unlabeled.datasets import draw_pu, make_gaussians, EasyFirst
    >>> pool = make_gaussians(1, 2000, 10, random_state=0)
    >>> data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 50, 450, 10, 0.5, scenario="single-sample",
    ...                propensity=EasyFirst(0.2), random_state=0)
    >>> data.positive.mean(axis=0).round(1), pool.unlabeled[pool.unlabeled_truth].mean(axis=0).round(1)
    (array([1. , 0.9]), array([0.7, 0.7]))
    """

    frequency: float
    strength: float = 1.0
    posterior: Posterior | None = None

    def __post_init__(self) -> None:
        _check_frequency(self.frequency)
        _check_strength(self.strength)

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:
        """P(labelled | x) of each positive row of a table, in its order.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.datasets import EasyFirst
        >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
        >>> EasyFirst(0.3).propensities(X, X[:, 0] >= 0).round(2)
        array([0.25, 0.31, 0.35])
        """
        log_shape = self.strength * np.log(posteriors(X, is_positive, self.posterior)[is_positive])
        return scaled_to_mean(_beside_largest(log_shape), self.frequency)


@dataclass(frozen=True)
class HardFirst:
    """Positives that do not look like it are labelled first: e(x) = min(1, a sigmoid(-strength logit P(y = 1 | x))).

    Parameters
    ----------
    frequency : float in (0, 1]
        The mean of e over the positives, which decides a.
    strength : float of at least 0, default=0.5
        1 is proportional to P(y = 0 | x); 0 is completely at random.
    posterior : callable, optional
        As for `EasyFirst`.

    Examples
    --------
    >>> from unlabeled.datasets import draw_pu, make_gaussians, HardFirst
    >>> pool = make_gaussians(1, 2000, 10, random_state=0)
    >>> data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 50, 450, 10, 0.5, scenario="single-sample",
    ...                propensity=HardFirst(0.2), random_state=0)
    >>> data.positive.mean(axis=0).round(1), pool.unlabeled[pool.unlabeled_truth].mean(axis=0).round(1)
    (array([0.4, 0.3]), array([0.7, 0.7]))
    """

    frequency: float
    strength: float = 0.5
    posterior: Posterior | None = None

    def __post_init__(self) -> None:
        _check_frequency(self.frequency)
        _check_strength(self.strength)

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:
        """P(labelled | x) of each positive row of a table, in its order.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.datasets import HardFirst
        >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
        >>> HardFirst(0.3).propensities(X, X[:, 0] >= 0).round(2)
        array([0.37, 0.3 , 0.23])
        """
        log_odds = logit(posteriors(X, is_positive, self.posterior)[is_positive])
        return scaled_to_mean(_beside_largest(log_expit(-self.strength * log_odds)), self.frequency)


@dataclass(frozen=True)
class ByColumn:
    """Positives with large values of one column are labelled first: e(x) = min(1, a u(x)^strength).

    u(x) is the share of the positives whose value is as large as that of x or smaller, ties counting half.

    Parameters
    ----------
    column : int
        Its place in the table.
    frequency : float in (0, 1]
        The mean of e over the positives, which decides a.
    strength : float of at least 0, default=1
        1 is proportional to u; 0 is completely at random.
    falling : bool, default=False
        Small values first: u(x) counts the positives whose value is as small or larger.

    Examples
    --------
    >>> from unlabeled.datasets import draw_pu, make_gaussians, ByColumn
    >>> pool = make_gaussians(1, 2000, 10, random_state=0)
    >>> data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 50, 450, 10, 0.5, scenario="single-sample",
    ...                propensity=ByColumn(0, 0.2), random_state=0)
    >>> data.positive.mean(axis=0).round(1), pool.unlabeled[pool.unlabeled_truth].mean(axis=0).round(1)
    (array([1.3, 0.6]), array([0.7, 0.7]))
    """

    column: int
    frequency: float
    strength: float = 1.0
    falling: bool = False

    def __post_init__(self) -> None:
        _check_frequency(self.frequency)
        _check_strength(self.strength)

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:
        """P(labelled | x) of each positive row of a table, in its order.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.datasets import ByColumn
        >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
        >>> ByColumn(0, 0.3).propensities(X, X[:, 0] >= 0).round(2)
        array([0.1, 0.3, 0.5])
        """
        (values,) = _columns(X, is_positive, [self.column]).T
        rank = rankdata(-values if self.falling else values) - 0.5
        return scaled_to_mean(_beside_largest(self.strength * np.log(rank / len(values))), self.frequency)


@dataclass(frozen=True)
class LogisticIn:
    """Labels by a logistic curve in some columns: e(x) = sigmoid(b + sum over columns of coefficient * z(x)).

    z is the column less its mean and divided by its standard deviation, both among the positives; 0 for a constant one.

    Parameters
    ----------
    columns : sequence of int
        Their places in the table.
    coefficients : sequence of float
        One for each of them.
    frequency : float in (0, 1)
        The mean of e over the positives, which decides b.

    Examples
    --------
    >>> from unlabeled.datasets import draw_pu, make_gaussians, LogisticIn
    >>> pool = make_gaussians(1, 2000, 10, random_state=0)
    >>> data = draw_pu(pool.unlabeled, pool.unlabeled_truth, 50, 450, 10, 0.5, scenario="single-sample",
    ...                propensity=LogisticIn([0], [2.0], 0.2), random_state=0)
    >>> data.positive.mean(axis=0).round(1), pool.unlabeled[pool.unlabeled_truth].mean(axis=0).round(1)
    (array([1.8, 0.7]), array([0.7, 0.7]))
    """

    columns: Sequence[int]
    coefficients: Sequence[float]
    frequency: float

    def __post_init__(self) -> None:
        _check_frequency(self.frequency)
        if self.frequency == 1:
            raise ValueError("frequency must be below 1 for a logistic curve, which never quite reaches it.")
        if len(self.columns) != len(self.coefficients) or len(self.columns) == 0:
            raise ValueError(
                f"columns and coefficients must be as many, and at least one; got {len(self.columns)} and "
                f"{len(self.coefficients)}."
            )
        if not np.isfinite(np.asarray(self.coefficients, dtype=np.float64)).all():
            raise ValueError(f"coefficients must be finite numbers; got {self.coefficients!r}.")

    def propensities(self, X: FloatArray, is_positive: np.ndarray) -> FloatArray:
        """P(labelled | x) of each positive row of a table, in its order.

        Examples
        --------
        >>> import numpy as np
        >>> from unlabeled.datasets import LogisticIn
        >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
        >>> LogisticIn([0], [2.0], 0.3).propensities(X, X[:, 0] >= 0).round(2)
        array([0.02, 0.17, 0.71])
        """
        values = _columns(X, is_positive, self.columns)
        spread = values.std(axis=0)
        z = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1)
        index = z @ np.asarray(self.coefficients, dtype=np.float64)
        middle, width = logit(self.frequency), np.abs(index).max() + 1
        return expit(brentq(lambda b: expit(b + index).mean() - self.frequency, middle - width, middle + width) + index)


def posteriors(X: FloatArray, is_positive: np.ndarray, posterior: Posterior | None = None) -> FloatArray:
    """P(y = 1 | x) of the rows of a table, by a function of theirs or a logistic regression on the true classes."""
    if posterior is None:
        fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, is_positive)
        found = fitted.predict_proba(X)[:, 1]
    else:
        found = np.asarray(posterior(X), dtype=np.float64)
    if found.shape != (len(X),) or not ((found >= 0) & (found <= 1)).all():
        raise ValueError("posterior must answer with one probability, from 0 to 1, for each row that it is given.")
    return np.clip(found, CLOSEST, 1 - CLOSEST)


def scaled_to_mean(shape: FloatArray, frequency: float) -> FloatArray:
    """min(1, a shape), with the a for which its mean is the frequency.

    With the k largest cut off at 1, a is (n frequency - k) / (sum of the others); the smallest k that cuts off enough
    is the one.
    """
    largest_first = np.sort(shape)[::-1]
    rest = np.append(np.cumsum(largest_first[::-1])[::-1], 0.0)[:-1]
    a = (len(shape) * frequency - np.arange(len(shape))) / rest
    with np.errstate(over="ignore"):
        cut = int(np.argmax(a * largest_first <= 1 + 1e-12))
    return np.minimum(1, a[cut] * shape)


def _beside_largest(log_shape: FloatArray) -> FloatArray:
    """The shape, its largest being 1; what is as good as 0 is a little more, for a propensity is above 0."""
    return np.maximum(np.exp(log_shape - log_shape.max()), SMALLEST_SHARE)


def _columns(X: FloatArray, is_positive: np.ndarray, columns: Sequence[Any]) -> FloatArray:
    """Values of some columns at the positives."""
    n_columns = X.shape[1]
    for column in columns:
        known = isinstance(column, Integral) and not isinstance(column, bool) and -n_columns <= int(column) < n_columns
        if not known:
            raise ValueError(
                f"There is no column {column!r}: X has {n_columns} columns, numbered from 0 to {n_columns - 1}."
            )
    values = np.asarray(X[np.flatnonzero(is_positive)][:, [int(column) for column in columns]], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("A column that labels are given by has missing or infinite values among the positives.")
    return values


def _check_frequency(frequency: object) -> None:
    if not (isinstance(frequency, Real) and 0 < float(frequency) <= 1):
        raise ValueError(f"frequency is the share of the positives that are labelled, in (0, 1]; got {frequency!r}.")


def _check_strength(strength: object) -> None:
    if not (isinstance(strength, Real) and 0 <= float(strength) < np.inf):
        raise ValueError(f"strength must be a number of at least 0; got {strength!r}.")
