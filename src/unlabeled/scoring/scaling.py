"""From raw rows to those that kernels see: complete and dense, in units, and a grid of gammas that fits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import issparse

from unlabeled.arrays import FloatArray, is_on_device, on_device_of, row_blocks
from unlabeled.kernels import Kernel
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.forms import JUMP, Completion, Form, Ranges, center_and_scale, center_and_scale_of, form_of

#: The grid of gamma, sharpest last, in units of one over the median squared distance. Wide enough for a class boundary
#: far finer than the data (skin colours want 16 to 32) and for many weak features (which want the widest).
RELATIVE_GAMMAS: FloatArray = np.exp2(np.arange(-3, 9))
#: The most pairs of rows that the median distance is taken over.
N_PAIRS = 20_000
PAIRS_AT_A_TIME = 1_000
#: Beyond it squares overflow.
LARGEST_VALUE = 1e150
#: Below it squares lose digits, and then vanish.
SMALLEST_VALUE = 1e-140
#: Features that were standardised before have mean 0 and variance 1 up to this.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Scaling:
    """Rows made complete and dense by a form; their features minus a center, divided by a scale, unless it is None."""

    name: str
    center: FloatArray | None = None
    scale: FloatArray | None = None
    form: Form | None = None

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows in these units, in the precision they came in."""
        rows = self.complete(rows)
        if self.center is None or self.scale is None:
            return rows
        if is_on_device(rows):
            center, scale = on_device_of(rows, self.center), on_device_of(rows, self.scale)
            return ((rows - center) / scale).type(rows.dtype)
        scaled: FloatArray = np.empty_like(rows, order="C")
        with np.errstate(over="ignore"):  # what is too far to be a number is infinitely far
            for block in row_blocks(rows):
                np.divide(rows[block] - self.center, self.scale, out=scaled[block], casting="same_kind")
        return scaled

    def complete(self, rows: FloatArray) -> FloatArray:
        """Rows without missing values, dense, in their own units."""
        return rows if self.form is None else self.form.apply(rows)

    def by_feature(self, values: FloatArray) -> FloatArray:
        """From a value for each column that kernels see to one for each feature."""
        return values if self.form is None else self.form.by_feature(values)

    def apply_to_samples(self, pu: PUSample) -> PUSample:
        """Both samples in these units."""
        return pu.mapped(self.apply)

    @property
    def changes_nothing(self) -> bool:
        """Whether these are the units that the features come in, up to rounding."""
        if self.center is None or self.scale is None:
            return True
        return bool((np.abs(self.center) < _ROUNDING).all() and (np.abs(self.scale - 1) < _ROUNDING).all())


def as_they_are(pu: PUSample, form: Form | None = None) -> Scaling:
    """No scaling."""
    return Scaling("none", form=form or form_of(pu))


def standardised(pu: PUSample, form: Form | None = None) -> Scaling:
    """Mean 0 and variance 1 of every feature in the population, missing values apart; a constant keeps its units.

    The column that tells where a feature is missing is in the units of that feature.
    """
    form, population = form or form_of(pu), pu.population
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
        if isinstance(form, Completion):
            center, scale = center_and_scale_of(population)
            center, scale = np.append(center, np.zeros(len(form.jumps))), np.append(scale, form.jumps / JUMP)
        else:
            center, scale = center_and_scale(form.apply(population.rows), population.weights)
    _refuse_overflow(center, scale)
    return Scaling("standard", center, scale, form)


def _refuse_overflow(center: FloatArray, scale: FloatArray) -> None:
    """Refuse features whose values are so large that their means or differences overflow."""
    if not (np.isfinite(center) & np.isfinite(scale)).all():
        place = int(np.flatnonzero(~(np.isfinite(center) & np.isfinite(scale)))[0])
        raise ValueError(
            f"Feature {place} (counted from 0) of X holds values so large that their differences overflow. Divide the "
            "feature by a constant, or correct the values if they stand for missing ones."
        )


SCALINGS = {"standard": standardised, "none": as_they_are}


def different_scalings(names: Sequence[str], pu: PUSample, form: Form | None = None) -> list[Scaling]:
    """The scalings of these names; of those that change nothing, only the first, and none without distances.

    Features as they are may be so large that most squared distances overflow, or so small that they vanish, in which
    case they are left out, unless they were all that was asked for.
    """
    found: list[Scaling] = []
    form = form or form_of(pu)
    for scaling in (SCALINGS[name](pu, form) for name in names):
        if scaling.name == "none" and found and not has_distances(pu):
            continue
        if not (scaling.changes_nothing and any(other.changes_nothing for other in found)):
            found.append(scaling)
    return found


def has_distances(pu: PUSample) -> bool:
    """Whether most squared distances of the population's rows are numbers, neither too large nor too small for one."""
    if has_squares(pu):
        return True
    return _largest_value(pu) > LARGEST_VALUE and bool(np.isfinite(median_sq_distance(pu.population)))


def has_squares(pu: PUSample) -> bool:
    """Whether the squares of all values are numbers, and not all of them vanish."""
    largest = _largest_value(pu)
    return largest == 0 or SMALLEST_VALUE <= largest <= LARGEST_VALUE


def _largest_value(pu: PUSample) -> float:
    return max(0.0, *(float(_largest(sample).max()) for sample in (pu.positive, pu.unlabeled)))


def _largest(sample: Sample) -> FloatArray:
    """The largest absolute value of each feature; minus infinity for one that no row has."""
    if issparse(sample.rows):
        return np.asarray(abs(sample.rows).max(axis=0).toarray()[0], dtype=np.float64)
    found = sample.reduced(Ranges.of, Ranges.merged)
    return np.maximum(found.high, -found.low)


def refuse_without_distances(pu: PUSample, estimator: object) -> None:
    """Refuse features as they are where most squared distances would overflow or vanish."""
    if not has_distances(pu):
        refuse_without_squares(pu, estimator)


def refuse_without_squares(pu: PUSample, estimator: object) -> None:
    """Refuse features as they are where any value is too large to be squared, or all are too small."""
    if has_squares(pu):
        return
    refuse_large_values(pu, estimator, remedy="Use scale='standard'. ")
    raise ValueError(
        f"All values of X lie within {SMALLEST_VALUE:g} of 0, where squares vanish in {type(estimator).__name__}. Use "
        "scale='standard', or multiply X by a constant."
    )


def refuse_large_values(pu: PUSample, estimator: object, *, remedy: str = "") -> None:
    """Refuse features that cannot be squared, and name them as the estimator knows them."""
    largest = np.maximum(_largest(pu.positive), _largest(pu.unlabeled))
    place = int(np.argmax(largest))
    if not float(largest[place]) > LARGEST_VALUE:
        return
    names = getattr(estimator, "feature_names_in_", None)
    feature = f"{place} (counted from 0)" if names is None else repr(names[place])
    raise ValueError(
        f"Feature {feature} of X holds values up to {largest[place]:.3g}, of which squares overflow in "
        f"{type(estimator).__name__}. {remedy}Divide the feature by a constant, or correct the values if they stand "
        "for missing ones."
    )


def gamma_grid(pu: PUSample, kernel: Kernel, rng: np.random.RandomState | None = None) -> FloatArray:
    """Gammas around one over the median squared distance of the population's rows, widest kernel first."""
    return np.asarray(kernel.sharpness(RELATIVE_GAMMAS / median_sq_distance(pu.population, rng)), dtype=np.float64)


def median_sq_distance(sample: Sample, rng: np.random.RandomState | None = None) -> float:
    """Median squared distance of different rows: of all pairs where they are few, else of random pairs.

    1 where all rows are alike, up to what vanishes when squared. A weight of 2 counts as the row twice. Without ``rng``
    the pairs are always the same places in the table.
    """
    first, second, weights = _pairs(sample, rng)
    sample.wanted(np.concatenate([first, second]))
    sq_dist = _sq_distances(sample, first, second)
    order = np.argsort(sq_dist)
    order = order[sq_dist[order] > SMALLEST_VALUE**2]
    if len(order) == 0:
        return 1.0
    share = np.cumsum(weights[order])
    return float(sq_dist[order[np.searchsorted(share, share[-1] / 2 * (1 - 1e-9))]])


def _pairs(sample: Sample, rng: np.random.RandomState | None) -> tuple[np.ndarray, np.ndarray, FloatArray]:
    """Pairs of rows, and how often each counts."""
    n_rows = len(sample)
    n_observations = float(n_rows) if rng is not None else sample.n_observations
    if n_observations * (n_observations - 1) / 2 <= N_PAIRS:
        first, second = np.triu_indices(n_rows, 1)
    elif rng is not None:
        first, second = rng.randint(n_rows, size=(2, N_PAIRS))
    else:  # pairs of observations and not of rows, so that weights and repeated rows give the same result
        first, second = sample.observations(np.random.RandomState(0).uniform(size=(2, N_PAIRS)))
        return first, second, np.ones(N_PAIRS)
    return first, second, sample.weights_of(first) * sample.weights_of(second)


def _sq_distances(sample: Sample, first: np.ndarray, second: np.ndarray) -> FloatArray:
    """Squared distances of pairs of rows, some pairs at a time: rows may be long."""
    found = np.empty(len(first))
    for start in range(0, len(first), PAIRS_AT_A_TIME):
        part = slice(start, start + PAIRS_AT_A_TIME)
        with np.errstate(over="ignore"):  # infinitely far
            differences = sample.rows_of(first[part]).astype(np.float64) - sample.rows_of(second[part])
            found[part] = (differences**2).sum(axis=1)
    return found
