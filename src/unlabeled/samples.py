"""Two samples out of a table: the labelled positives and the unlabeled rows, with weights.

Weights are counts, whole numbers: a weight of 2 is a row and its copy, and what leaves the row out keeps the copy.
Where any weight of a table is none, all of them say how far a row stands for others, and only their proportions matter.
Then what leaves a row out leaves all of it out: weights are scaled to a maximum of 1, and of a weight of 1 or less
nothing is kept. Where the number of observations counts, the effective one stands for it, (sum of weights)^2 / (sum of
squared weights), as many as would tell a mean as well if all counted the same.

In the case-control scenario the unlabeled rows are a sample of the population. In the single-sample scenario the
population is the labelled and the unlabeled rows together, so a labelled positive is a member of it too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse, vstack
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray, has_missing, row_blocks
from unlabeled.callers import levels_to_caller

#: Beyond it sums of weights have lost the digits that leaving one row out needs.
LARGEST_WEIGHT = 1e12
#: Rows that a table is known again by.
KNOWN_BY = 256
#: Where all labelled rows have so many copies, it is asked whether these are counts.
MANY_COPIES = 1.5
SCENARIOS = ("case-control", "single-sample")
#: The share of each sample that the paper holds out.
HOLDOUT_SHARE = 0.2
#: Of more rows, some are chosen by an algorithm that does not write all of them down.
MANY_TO_CHOOSE_FROM = 10_000_000

#: What is found out about a part of a sample, and merged over parts.
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Sample:
    """Rows with log weights (None: every row counts once) and numbers, which identify a row wherever it goes.

    Rows are an array, in which NaN is a missing value, or a sparse matrix (CSR) without any.
    ``numbers`` are the rows' places in the table that the sample was taken from; None: their places in the sample.

    A sample need not be in this process. What has to see every row goes through `reduced` and `each_part`, and what
    needs the rows at some places through `take`, `rows_of` and `weights_of`, which samples elsewhere answer as well.
    """

    rows: FloatArray
    log_weights: FloatArray | None = None
    numbers: np.ndarray | None = None

    def __len__(self) -> int:
        return self.rows.shape[0]

    @property
    def row_numbers(self) -> np.ndarray:
        """The number of each row."""
        return np.arange(len(self)) if self.numbers is None else self.numbers

    @property
    def weights(self) -> FloatArray:
        """How often each row counts."""
        return np.ones(len(self)) if self.log_weights is None else np.exp(self.log_weights)

    @property
    def total(self) -> float:
        """How many observations the sample stands for."""
        return float(len(self)) if self.log_weights is None else float(self.weights.sum())

    @property
    def effective_weights(self) -> FloatArray:
        """How many observations each row tells as much as: its count, or its part of the effective number."""
        return effective(self.weights)

    @property
    def n_effective(self) -> float:
        """How many observations that count once would tell a mean as well."""
        return self.total if self.log_weights is None else float(self.effective_weights.sum())

    @property
    def n_observations(self) -> float:
        """How many observations there are: the sum of counts, or the number of rows whose weights are none."""
        return self.total if self.log_weights is None or are_counts(self.weights) else float(len(self))

    @property
    def is_here(self) -> bool:
        """Whether the rows are in this process."""
        return True

    @property
    def n_features(self) -> int:
        """How many features rows have."""
        return int(self.rows.shape[1])

    def reduced(
        self,
        of_part: Callable[..., Answer],
        merged: Callable[[Answer, Answer], Answer],  # noqa: ARG002
        beside: Sample | None = None,
    ) -> Answer:
        """What a function answers for the rows, or for parts of them, merged in any order.

        It is given a part and the place of the part's first row, and the same rows of another sample, if there is
        one ``beside`` that describes the same observations.
        """
        return of_part(self, 0) if beside is None else of_part(self, 0, beside)

    def each_part(self, of_part: Callable[..., Answer]) -> list[Answer]:
        """What a function answers for each part, in their order."""
        return [of_part(self, 0)]

    def mapped(self, function: Callable[[FloatArray], FloatArray]) -> Sample:
        """The same observations, described by what a function makes of their features."""
        return self.with_rows(function(self.rows))

    def rows_of(self, places: np.ndarray) -> FloatArray:
        """The rows at some places."""
        return self.rows[places]

    def weights_of(self, places: np.ndarray) -> FloatArray:
        """How often the rows at some places count."""
        return np.ones(len(places)) if self.log_weights is None else np.exp(self.log_weights[places])

    def wanted(self, places: np.ndarray) -> None:
        """Say which rows will be asked for: those elsewhere come at once then."""

    def observations(self, shares: FloatArray) -> np.ndarray:
        """Places of the observations that have these shares of all up to them, a row of weight 2 being two."""
        if self.log_weights is None:
            return place_of_share(shares, len(self))
        weights = self.weights
        return np.minimum(np.searchsorted(np.cumsum(weights) / weights.sum(), shares), len(self) - 1)

    def after(self, other: Sample) -> Sample:
        """The rows of another sample, and after them those of this one."""
        parts = other, self
        weighted = any(part.log_weights is not None for part in parts)
        return Sample(
            stacked([part.rows for part in parts]),
            np.log(np.concatenate([part.weights for part in parts])) if weighted else None,
            np.concatenate([part.row_numbers for part in parts]),
        )

    def total_of(self, places: np.ndarray) -> float:
        """How many observations the rows at these places stand for."""
        return float(len(places)) if self.log_weights is None else float(np.exp(self.log_weights[places]).sum())

    def take(self, index: np.ndarray) -> Sample:
        """The sample of some of the rows, which keep their numbers."""
        log_weights = None if self.log_weights is None else self.log_weights[index]
        return Sample(self.rows[index], log_weights, self.row_numbers[index])

    def with_rows(self, rows: FloatArray) -> Sample:
        """The same observations, described by other features."""
        return Sample(rows, self.log_weights, self.numbers)

    def places_of(self, numbers: np.ndarray | None) -> np.ndarray:
        """Where in the sample the rows with these numbers are; None: all of them."""
        if numbers is None:
            return np.arange(len(self))
        own = self.row_numbers
        order = None if (own[1:] > own[:-1]).all() else np.argsort(own, kind="stable")  # tables come in order
        places = np.minimum(np.searchsorted(own, numbers, sorter=order), len(own) - 1)
        places = places if order is None else order[places]
        if not np.array_equal(own[places], numbers):
            raise ValueError("Some of these rows are not in the sample.")
        return places


@dataclass(frozen=True)
class PUSample:
    """Labelled positives, unlabeled rows, and which of them are the population; and rows known to be negative, if any.

    In the single-sample scenario known negatives are members of the population; `without_negatives` tells the samples
    that are left when nobody knows that they are negative.
    """

    positive: Sample
    unlabeled: Sample
    scenario: str = "case-control"
    negative: Sample | None = None

    def __post_init__(self) -> None:
        if self.scenario not in SCENARIOS:
            raise ValueError(f"scenario={self.scenario!r} is not known; use one of {list(SCENARIOS)}.")

    @property
    def positives_in_population(self) -> bool:
        """Whether the labelled positives are members of the population (the single-sample scenario)."""
        return self.scenario == "single-sample"

    @property
    def labelled_share(self) -> float:
        """Share of the population that is labelled: the least the prior can be."""
        if not self.positives_in_population:
            return 0.0
        return self.positive.total / (self.positive.total + self.unlabeled.total)

    @property
    def population(self) -> Sample:
        """The sample of the population: the unlabeled rows, with the positives in the single-sample scenario."""
        if not self.positives_in_population:
            return self.unlabeled
        return self.unlabeled.after(self.positive)

    def take(self, positive: np.ndarray, unlabeled: np.ndarray) -> PUSample:
        """The sample of some positive and some unlabeled rows."""
        return replace(self, positive=self.positive.take(positive), unlabeled=self.unlabeled.take(unlabeled))

    def mapped(self, function: Callable[[FloatArray], FloatArray]) -> PUSample:
        """The same observations, described by what a function makes of their features."""
        negative = None if self.negative is None else self.negative.mapped(function)
        return PUSample(self.positive.mapped(function), self.unlabeled.mapped(function), self.scenario, negative)

    def without_negatives(self) -> PUSample:
        """Two samples: known negatives are unlabeled rows of a single sample, and in case-control they are left out."""
        if self.negative is None:
            return self
        if not self.positives_in_population:
            return replace(self, negative=None)
        both = self.negative.after(self.unlabeled)
        in_order = both.take(np.argsort(both.row_numbers, kind="stable"))
        return replace(self, unlabeled=in_order, negative=None)

    def against_negatives(self) -> PUSample:
        """Positives and known negatives as a single sample, all of whose positives are labelled."""
        if self.negative is None:
            raise ValueError("There are no known negatives.")
        return PUSample(self.positive, self.negative, "single-sample")

    @property
    def n_missing(self) -> np.ndarray:
        """How many values of each feature are missing, in all samples."""
        samples = [sample for sample in (self.positive, self.unlabeled, self.negative) if sample is not None]
        return np.sum([sample.reduced(count_missing, np.add) for sample in samples], axis=0)

    def case_control(self) -> PUSample:
        """The same samples, the unlabeled rows alone taken as the population."""
        return replace(self, scenario="case-control")


def count_missing(part: Sample, start: int = 0) -> np.ndarray:  # noqa: ARG001
    """How many values of each feature are missing."""
    rows = part.rows
    if issparse(rows) or not has_missing(rows):
        return np.zeros(rows.shape[1], dtype=np.int64)
    return np.asarray(np.isnan(rows).sum(axis=0))


def as_log_weights(sample_weight: ArrayLike | None, n_rows: int) -> FloatArray | None:
    """Log of the frequencies, or None when every row counts once."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight for each row.")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError("sample_weight must be finite and not negative: it says how often a row counts.")
    if weights.max(initial=0) > LARGEST_WEIGHT:
        raise ValueError(f"sample_weight is too large, above {LARGEST_WEIGHT:g}: it says how often a row counts.")
    if not weights.any():
        raise ValueError("sample_weight is zero throughout; at least some rows must count.")
    if (weights == 1).all():
        return None
    with np.errstate(divide="ignore"):
        return np.log(weights)


def are_counts(weights: FloatArray) -> bool:
    """Whether weights above 0 are numbers of copies: all of them whole, but for the rounding of their logs."""
    return bool((np.abs(weights - np.round(weights)) <= 1e-9 + 1e-12 * weights).all() and weights.min(initial=1) > 0.5)


def unit_of(weights: FloatArray) -> float:
    """What weights of a table, all above 0, are divided by: 1 if they are counts, else the largest of them."""
    return 1.0 if are_counts(weights) else float(weights.max())


def effective(weights: FloatArray) -> FloatArray:
    """Counts as they are; other weights scaled so that their sum is the effective number of observations."""
    if are_counts(weights):
        return weights
    weights = weights / weights.max()  # squares of very small ones would vanish
    return np.asarray(weights * (weights.sum() / (weights @ weights)))


def _in_units(log_weights: FloatArray | None) -> FloatArray | None:
    """Log weights of a table, scaled to a maximum weight of 1 where they are no counts; None: every row counts once."""
    if log_weights is None:
        return None
    weights = np.exp(log_weights)
    unit = unit_of(weights[weights > 0])
    return log_weights if unit == 1 else as_log_weights(weights / unit, len(weights))


def split_samples(
    X: FloatArray,
    is_positive: np.ndarray,
    log_weights: FloatArray | None = None,
    scenario: str = "case-control",
    is_negative: np.ndarray | None = None,
) -> PUSample:
    """Separate positives, unlabeled rows and known negatives, if any; rows of weight zero are left out."""
    log_weights = _in_units(log_weights)
    whole = Sample(X, log_weights)
    counts = np.ones(len(whole), dtype=bool) if log_weights is None else np.isfinite(log_weights)
    is_unlabeled, negative = ~is_positive, None
    if is_negative is not None and (is_negative & counts).any():
        is_unlabeled, negative = is_unlabeled & ~is_negative, whole.take(np.flatnonzero(is_negative & counts))
    positive, unlabeled = (whole.take(np.flatnonzero(rows & counts)) for rows in (is_positive, is_unlabeled))
    return _with_two_of_each(PUSample(positive, unlabeled, scenario, negative))


def means_of_some_rows(rows: FloatArray) -> FloatArray:
    """The mean of each feature over some rows of a table, that the table can be known again by."""
    some = rows[places_to_know_by(rows.shape[0])]
    if issparse(some):
        return np.asarray(some.mean(axis=0), dtype=np.float64).ravel()
    n_known = np.isfinite(some).sum(axis=0)
    return np.asarray(np.nansum(some, axis=0, dtype=np.float64) / np.maximum(n_known, 1))


def places_to_know_by(n_rows: int) -> np.ndarray:
    """The rows, spread over a table of this length, that it is known again by."""
    return np.unique(np.linspace(0, n_rows - 1, KNOWN_BY).astype(int))


def warn_if_no_counts(log_weights: FloatArray, is_positive: np.ndarray) -> None:
    """Say what weights are taken for, where all of the positives have the same whole number of copies."""
    counting = log_weights > -np.inf
    weights = np.exp(log_weights[counting & is_positive])
    if len(weights) < 2 or weights.min() < MANY_COPIES or np.ptp(weights) > 1e-9 * weights.max():
        return
    if are_counts(np.exp(log_weights[counting])):
        warnings.warn(
            f"sample_weight is read as the number of copies of a row, for all are whole numbers, and each labelled row "
            f"has {weights[0]:.4g}: what leaves a row out keeps its copies, so prior, recall and AUC come out wrong if "
            "there are none. Divide weights that are no counts by their largest.",
            stacklevel=levels_to_caller(),
        )


def warn_if_constant(rows: FloatArray) -> None:
    """Say that nothing can be learned from rows that are all alike."""
    if isinstance(rows, np.ndarray) and len(rows) > 1 and (rows[0] == rows[-1]).all() and (rows == rows[0]).all():
        warnings.warn(
            "Every column of X is constant: all rows get the same score, and the prior cannot be estimated from them. "
            "Check how the table was read, or add columns that differ between rows.",
            stacklevel=levels_to_caller(),
        )


def checked_samples(pu: PUSample) -> PUSample:
    """Samples that somebody else has separated, as `split_samples` leaves them.

    Rows are finite numbers or NaN, those of weight zero are left out, and all are numbered: where they were not,
    positives first.
    """
    positive = _checked_sample(pu.positive, "positive", 0)
    unlabeled = _checked_sample(pu.unlabeled, "unlabeled", int(positive.row_numbers.max(initial=-1)) + 1)
    negative = None
    if pu.negative is not None:
        last = max(int(sample.row_numbers.max(initial=-1)) for sample in (positive, unlabeled))
        negative = _checked_sample(pu.negative, "negative", last + 1)
        _check_alike(positive, negative, "known negatives")
    _check_alike(positive, unlabeled, "unlabeled rows")
    return _with_two_of_each(_samples_in_units(PUSample(positive, unlabeled, pu.scenario, negative)))


def _samples_in_units(pu: PUSample) -> PUSample:
    """Samples of a table whose largest weight is 1, where weights are no counts."""
    samples = [sample for sample in (pu.positive, pu.unlabeled, pu.negative) if sample is not None]
    weights = np.concatenate([sample.weights for sample in samples])
    unit = unit_of(weights)
    if unit == 1:
        return pu
    scaled = [replace(s, log_weights=as_log_weights(s.weights / unit, len(s))) for s in samples]
    return PUSample(scaled[0], scaled[1], pu.scenario, *scaled[2:])


def _check_alike(positive: Sample, other: Sample, name: str) -> None:
    if issparse(positive.rows) != issparse(other.rows):
        raise ValueError(f"One of positives and {name} is sparse and the other is dense; they must agree.")
    if positive.rows.shape[1] != other.rows.shape[1]:
        raise ValueError(
            f"Positives have {positive.rows.shape[1]} features and {name} {other.rows.shape[1]}; they must agree."
        )


def _checked_sample(sample: Sample, name: str, first_number: int) -> Sample:
    rows: FloatArray = check_array(
        sample.rows,
        dtype=(np.float64, np.float32),
        accept_sparse="csr",
        ensure_all_finite="allow-nan",
        input_name=name,
    )
    log_weights = as_log_weights(None if sample.log_weights is None else sample.weights, rows.shape[0])
    numbers = first_number + np.arange(rows.shape[0]) if sample.numbers is None else sample.numbers
    counts = slice(None) if log_weights is None else np.isfinite(log_weights)
    return Sample(rows[counts], None if log_weights is None else log_weights[counts], numbers[counts])


def _with_two_of_each(pu: PUSample) -> PUSample:
    """The samples, unless they are too small to learn from."""
    for sample, name in (
        (pu.positive, "labelled positive"),
        (pu.unlabeled, "unlabeled row"),
        (pu.negative, "known negative"),
    ):
        if sample is None:
            continue
        if len(sample) == 0:
            raise ValueError(f"Only one class has weights above zero: no {name} is left, and two are needed.")
        if (sample.total - np.minimum(1, sample.weights)).min() <= 1e-12 * sample.total:
            raise ValueError(
                f"Only one {name} counts (1 sample); two are needed, because each is scored without itself."
            )
    return pu


def stacked(tables: Sequence[FloatArray]) -> FloatArray:
    """The rows of several tables in one: all arrays, or all sparse."""
    return vstack(tables, format="csr") if issparse(tables[0]) else np.concatenate(tables)


def order_by_values(rows: FloatArray) -> np.ndarray:
    """Places of the rows in an order that depends on their values only; equal rows are next to each other.

    The order of their first feature, then of their second, and so on, missing values last. Sparse rows: the order of
    two fixed random sums of their features.
    """
    if issparse(rows):
        sums = rows @ np.random.RandomState(0).normal(size=(rows.shape[1], 2))
        return np.lexsort(sums.T)
    order = np.argsort(np.ascontiguousarray(rows[:, 0]), kind="stable")
    for n_features in (1, 4):  # these decide, as a rule
        run, alone = _runs(rows[order, :n_features])
        tied = np.flatnonzero(~alone)
        if len(tied) == 0:
            break
        among = order[tied]
        more = rows[among, n_features : 4 if n_features == 1 else None]
        order[tied] = among[np.lexsort([*more.T[::-1], run[tied]])]
    return np.asarray(order)


def _runs(ordered: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """For each of some rows in order the number of its run of equal rows, and whether it is alone in it."""
    same = (ordered[1:] == ordered[:-1]) | (np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
    begins = np.concatenate([[True], ~same.all(axis=1), [True]])
    return np.cumsum(begins[:-1]), begins[:-1] & begins[1:]


def distinct_rows(rows: FloatArray) -> tuple[np.ndarray, np.ndarray]:
    """Places of rows that differ, of equal ones the first; and for each row the place of its equal among these.

    Rows are numbered feature by feature, until all are told apart. A missing value equals another.
    """
    place = np.zeros(len(rows), dtype=np.int64)
    first: np.ndarray = np.arange(min(1, len(rows)))
    for values in rows.T:
        found, of_feature = np.unique(values, return_inverse=True)
        codes = place * len(found) + of_feature.ravel()  # below the square of the number of rows
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
        if len(first) == len(rows):
            break
    return first, place.ravel()


def hash_of_rows(rows: FloatArray) -> np.ndarray:
    """A number of 64 bits for each row of an array that depends on its values alone, in float32 as in float64.

    Rows with equal values have equal numbers, 0.0 and -0.0 being equal and NaN equal to NaN. Each value is multiplied
    by a number of its column, and the sum is mixed as in splitmix64 (Steele, Lea and Flood, 2014).
    """
    numbers = np.random.RandomState(0).randint(0, 1 << 63, size=rows.shape[1], dtype=np.int64)
    multipliers = 2 * numbers.astype(np.uint64) + np.uint64(1)
    hashes = np.empty(len(rows), dtype=np.uint64)
    for block in row_blocks(rows):
        values = rows[block].astype(np.float64) + 0.0  # -0.0 becomes 0.0
        if has_missing(values):
            values[np.isnan(values)] = np.nan
        bits = values.view(np.uint64)
        bits ^= bits >> np.uint64(32)  # numbers of few digits differ in their upper half only
        hashes[block] = bits @ multipliers
    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= np.uint64(multiplier)
    return hashes ^ (hashes >> np.uint64(31))


def place_of_share(shares: FloatArray, n_rows: int) -> np.ndarray:
    """For each share u the first place i of ``n_rows`` with (i + 1) / n_rows >= u, without writing them all down."""
    places = np.clip(np.ceil(shares * n_rows).astype(np.int64) - 1, 0, n_rows - 1)
    places -= (places > 0) & (places / n_rows >= shares)  # by how much the product was rounded
    places += (places < n_rows - 1) & ((places + 1) / n_rows < shares)
    return places


def some_rows(n_rows: int, at_most: int | None, rng: np.random.RandomState) -> np.ndarray:
    """Places of all rows, or of ``at_most`` of them chosen at random, in ascending order.

    They depend on the number of rows and on the state of ``rng`` alone: on places, and not on what is there.
    """
    if at_most is None or n_rows <= at_most:
        return np.arange(n_rows)
    if n_rows > MANY_TO_CHOOSE_FROM:
        generator = np.random.Generator(np.random.PCG64(rng.randint(np.iinfo(np.int32).max)))
        return np.sort(generator.choice(n_rows, at_most, replace=False, shuffle=False))
    return np.sort(rng.choice(n_rows, at_most, replace=False))


def random_split(n_rows: int, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """The paper's split, as places in random order: 80 % of the rows, and the other 20 %, at least one.

    A single row goes to the second part, and the first is empty.
    """
    order = rng.permutation(n_rows)
    n_held = int(np.ceil(HOLDOUT_SHARE * n_rows))
    return order[n_held:], order[:n_held]
