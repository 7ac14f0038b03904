"""PU samples drawn from a table whose classes are known, with the share of positives set.

The paper's resampling. The test sample and U are disjoint and hold ``round(prior * n)`` positives each. P is drawn
from the positives outside both while enough of them remain, else from all positives outside the test sample: the
paper's small sets have too few for three disjoint samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.datasets.labelling import Labelling
from unlabeled.datasets.pu_data import PUData, RandomState, check_prior
from unlabeled.labels import completed, find_classes
from unlabeled.samples import SCENARIOS

#: P(labelled | positive): one number for all rows, a function of the rows, or a named way to label.
Propensity = float | Callable[[FloatArray], ArrayLike] | Labelling
#: Rows copied at a time out of a memory-mapped table.
_ROWS_AT_ONCE = 8192


def draw_pu(
    X: ArrayLike,
    y: ArrayLike,
    n_positive: int,
    n_unlabeled: int,
    n_test: int,
    prior: float,
    *,
    scenario: str = "case-control",
    propensity: Propensity | None = None,
    random_state: RandomState = None,
    pos_label: Any = None,
) -> PUData:
    """Draw positives, unlabeled rows and a test sample from rows whose classes are known.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows; a memory-mapped array is read only where it is drawn from.
    y : array-like of shape (n_samples,)
        Their classes: two values, of numbers the larger positive, of words as `fit` of the classifiers reads them.
    n_positive, n_unlabeled, n_test : int
        How many rows each sample gets. In the single-sample scenario one sample of ``n_positive + n_unlabeled`` rows
        is drawn, and the propensity decides how many of them are labelled.
    prior : float
        Share of positives in the population: among the unlabeled and the test rows in the case-control scenario,
        among the labelled and unlabeled rows together and the test rows in the single-sample scenario.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Two samples, positives and population; or one sample of the population, some of its positives labelled.
    propensity : float, callable or one of `AtRandom`, `EasyFirst`, `HardFirst`, `ByColumn`, `LogisticIn`, default=None
        Single-sample only: P(labelled | positive). A number labels completely at random; a callable gets the rows of
        the positives and answers with one probability each, so that labelling depends on features. The named values
        do so by the formulas in their docstrings, at an expected label frequency, and see the one sample that is
        drawn with its true classes. None labels exactly ``n_positive`` positives, completely at random.
    random_state : int, RandomState instance or None, default=None
        Decides the draw.
    pos_label : optional
        The value of y that marks positives, where numbers or words do not say it.

    Returns
    -------
    PUData
        The samples, in random order, with their hidden classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unlabeled.datasets import draw_pu
    >>> X, benign = load_breast_cancer(return_X_y=True)
    >>> data = draw_pu(X, benign == 0, 50, 200, 100, 0.3, random_state=0)
    >>> data.positive.shape, data.unlabeled.shape, int(data.unlabeled_truth.sum())
    ((50, 30), (200, 30), 60)
    """
    table, is_positive = _check_table(X, y, pos_label)
    _check_options(scenario, propensity)
    check_prior(prior)
    rng = check_random_state(random_state)
    sizes = Sizes(n_positive, n_unlabeled, n_test, prior)
    if scenario == "single-sample":
        return _draw_single_sample(table, is_positive, sizes, propensity, rng)
    return _draw_case_control(table, is_positive, sizes, rng)


@dataclass(frozen=True)
class Sizes:
    """How many rows P, U and the test sample get, and the share of positives in the last two."""

    n_positive: int
    n_unlabeled: int
    n_test: int
    prior: float

    def __post_init__(self) -> None:
        for name in ("n_positive", "n_unlabeled", "n_test"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)} is negative; it says how many rows to draw.")

    @property
    def positives_in_unlabeled(self) -> int:
        """Positives hidden in U."""
        return round(self.prior * self.n_unlabeled)

    @property
    def positives_in_test(self) -> int:
        """Positives in the test sample."""
        return round(self.prior * self.n_test)

    @property
    def mixed_positives(self) -> int:
        """Positives in U and the test sample together."""
        return self.positives_in_unlabeled + self.positives_in_test

    @property
    def mixed_negatives(self) -> int:
        """Negatives in U and the test sample together."""
        return self.n_unlabeled + self.n_test - self.mixed_positives

    def fit(self, n_positives: int, n_negatives: int) -> bool:
        """Whether a table with these numbers of positives and negatives has enough of both."""
        return (
            self.mixed_positives <= n_positives
            and self.mixed_negatives <= n_negatives
            and self.positives_in_test + self.n_positive <= n_positives
        )

    def shrunk(self, n_positives: int, n_negatives: int) -> Sizes:
        """The largest U and test sample of the same proportion that such a table has rows for; P stays."""
        total = self.n_unlabeled + self.n_test
        for wanted in range(self._most(n_positives, n_negatives), 0, -1):
            n_test = wanted * self.n_test // total
            sizes = replace(self, n_unlabeled=wanted - n_test, n_test=n_test)
            if sizes.fit(n_positives, n_negatives):
                return sizes
        return replace(self, n_unlabeled=0, n_test=0)

    def _most(self, n_positives: int, n_negatives: int) -> int:
        """A bound on the rows of U and the test sample together, close above what fits: both round by up to 1/2."""
        total = self.n_unlabeled + self.n_test
        bounds = [total, (n_positives + 1) / self.prior, (n_negatives + 1) / (1 - self.prior)]
        if self.n_test:
            bounds.append(((n_positives - self.n_positive + 0.5) / self.prior + 1) * total / self.n_test)
        return floor(min(bounds))


def _draw_case_control(X: np.ndarray, is_positive: np.ndarray, sizes: Sizes, rng: np.random.RandomState) -> PUData:
    """P from the positives, U and the test sample from the population."""
    _check_enough(sizes, is_positive)
    positives, negatives = _shuffled_classes(is_positive, rng)
    unlabeled, test = _mixtures(positives, negatives, sizes)
    left = positives[sizes.mixed_positives :]
    if len(left) < sizes.n_positive:
        left = rng.permutation(positives[sizes.positives_in_test :])
    return _gather(X, is_positive, left[: sizes.n_positive], unlabeled, test, rng)


def _draw_single_sample(
    X: np.ndarray, is_positive: np.ndarray, sizes: Sizes, propensity: Propensity | None, rng: np.random.RandomState
) -> PUData:
    """One sample of the population, some of its positives labelled, and a test sample."""
    one_sample = Sizes(0, sizes.n_positive + sizes.n_unlabeled, sizes.n_test, sizes.prior)
    _check_enough(one_sample, is_positive)
    positives, negatives = _shuffled_classes(is_positive, rng)
    sample, test = _mixtures(positives, negatives, one_sample)
    candidates = sample[is_positive[sample]]
    if isinstance(propensity, Labelling):
        labelled = _labelled_by(propensity.propensities(_rows(X, sample), is_positive[sample]), len(candidates), rng)
    else:
        labelled = _label(X, candidates, sizes.n_positive, propensity, rng)
    unlabeled = np.r_[candidates[~labelled], sample[~is_positive[sample]]]
    data = _gather(X, is_positive, candidates[labelled], unlabeled, test, rng)
    return replace(data, scenario="single-sample")


def _mixtures(positives: np.ndarray, negatives: np.ndarray, sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
    """Two disjoint samples of the population, U and test, from the first positives and negatives."""
    in_test = sizes.positives_in_test
    negatives_in_test = sizes.n_test - in_test
    test = np.r_[positives[:in_test], negatives[:negatives_in_test]]
    unlabeled = np.r_[positives[in_test : sizes.mixed_positives], negatives[negatives_in_test : sizes.mixed_negatives]]
    return unlabeled, test


def _label(
    X: np.ndarray,
    candidates: np.ndarray,
    n_positive: int,
    propensity: float | Callable[[FloatArray], ArrayLike] | None,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Which of the positives get their label."""
    if propensity is None:
        if n_positive > len(candidates):
            raise ValueError(
                f"n_positive={n_positive} positives are to be labelled, but prior * (n_positive + n_unlabeled) leaves "
                f"{len(candidates)} in the sample; raise the prior or n_unlabeled, or lower n_positive."
            )
        return rng.permutation(len(candidates)) < n_positive
    return _labelled_by(propensity(_rows(X, candidates)) if callable(propensity) else propensity, len(candidates), rng)


def _labelled_by(propensities: ArrayLike, n_candidates: int, rng: np.random.RandomState) -> np.ndarray:
    """Which of the positives get their label, each with its own chance or all with the same."""
    chances = np.asarray(propensities, dtype=np.float64)
    if chances.ndim and chances.shape != (n_candidates,):
        raise ValueError(f"propensity answered with shape {chances.shape}, expected {(n_candidates,)}: one a row.")
    if not ((chances >= 0) & (chances <= 1)).all():
        raise ValueError(f"propensity is a probability, from 0 to 1; got {np.ravel(chances)[:3]}.")
    labelled = rng.uniform(size=n_candidates) < chances
    if not labelled.any():
        raise ValueError(f"None of the {n_candidates} positives was labelled; raise the propensity or draw more rows.")
    return labelled


def _gather(
    X: np.ndarray,
    is_positive: np.ndarray,
    positive: np.ndarray,
    unlabeled: np.ndarray,
    test: np.ndarray,
    rng: np.random.RandomState,
) -> PUData:
    """Rows and hidden classes of three samples; shuffled, so that order gives no class away."""
    positive, unlabeled, test = (rng.permutation(index) for index in (positive, unlabeled, test))
    return PUData(_rows(X, positive), _rows(X, unlabeled), is_positive[unlabeled], _rows(X, test), is_positive[test])


def _rows(X: np.ndarray, index: np.ndarray) -> FloatArray:
    """Copy rows; out of a file they are read in the order in which they lie there."""
    if not isinstance(X, np.memmap):
        return np.asarray(X[index])
    rows = np.empty((len(index), X.shape[1]), dtype=X.dtype)
    order = np.argsort(index)
    for start in range(0, len(order), _ROWS_AT_ONCE):
        block = order[start : start + _ROWS_AT_ONCE]
        rows[block] = X[index[block]]
    return rows


def _shuffled_classes(is_positive: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Indices of positives and of negatives, each in random order."""
    return rng.permutation(np.flatnonzero(is_positive)), rng.permutation(np.flatnonzero(~is_positive))


def _check_table(X: ArrayLike, y: ArrayLike, pos_label: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows, left in their file where they are memory-mapped, and which are positive."""
    if issparse(X):
        raise TypeError("X is sparse; draw_pu takes dense rows, for example X.toarray().")
    table = X if isinstance(X, np.ndarray) else np.asarray(X)
    if table.ndim != 2:
        raise ValueError(f"X must be a table of rows and columns; got shape {table.shape}.")
    if completed(y, pos_label) is not y:
        raise ValueError("y has missing values; draw_pu needs the class of every row. Leave these rows out.")
    _, is_positive = find_classes(y, pos_label)
    if is_positive.shape != (len(table),):
        raise ValueError(f"y has shape {is_positive.shape}, expected {(len(table),)}: one class for each row of X.")
    return table, is_positive


def _check_options(scenario: str, propensity: Propensity | None) -> None:
    if scenario not in SCENARIOS:
        raise ValueError(f"scenario={scenario!r} is not known; use one of {list(SCENARIOS)}.")
    if isinstance(propensity, str):
        raise ValueError(  # noqa: TRY004
            f"propensity={propensity!r} is not known; use a number, a function of rows, or one of AtRandom, EasyFirst, "
            "HardFirst, ByColumn and LogisticIn of unlabeled.datasets, such as EasyFirst(0.2)."
        )
    if scenario == "case-control" and propensity is not None:
        raise ValueError(
            "propensity labels some positives of one sample, so it needs scenario='single-sample'; in the "
            "case-control scenario n_positive alone says how many positives are drawn."
        )


def _check_enough(sizes: Sizes, is_positive: np.ndarray) -> None:
    """Refuse sizes the table has no rows for, and say which it has rows for."""
    n_positives = int(is_positive.sum())
    n_negatives = len(is_positive) - n_positives
    if sizes.fit(n_positives, n_negatives):
        return
    needed = max(sizes.mixed_positives, sizes.positives_in_test + sizes.n_positive)
    if sizes.n_positive > n_positives:
        remedy = f"n_positive={sizes.n_positive} alone asks for too many: at most {n_positives} are available."
    else:
        largest = sizes.shrunk(n_positives, n_negatives)
        remedy = f"The most of the same proportion is n_unlabeled={largest.n_unlabeled}, n_test={largest.n_test}."
    raise ValueError(
        f"At prior {sizes.prior:g}, n_unlabeled={sizes.n_unlabeled} and n_test={sizes.n_test} need {needed} positives "
        f"and {sizes.mixed_negatives} negatives; the data have {n_positives} and {n_negatives}. {remedy}"
    )
