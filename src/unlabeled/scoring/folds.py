"""Folds for smoothing: copies of a row come into one, wherever they are, and the order of rows does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.samples import PUSample, Sample, hash_of_rows, order_by_values
from unlabeled.scoring.copies import Copies
from unlabeled.scoring.selection import Places

N_FOLDS = 10
#: Folds of more rows than this are about of a size where the hash of each row decides.
MANY_ROWS = 100_000
#: So many different rows take turns where that makes uneven folds.
FEW_HASHES = 10_000
#: With fewer different rows nothing is left to score by once a fold and the row itself are left out.
LEAST_ROWS = 3
#: A population thinned out to fewer rows than this has nothing to pass on.
LEAST_VOTERS = 200


def deal_into_folds(rows: FloatArray, n_folds: int = N_FOLDS) -> np.ndarray:
    """A fold for each row: copies share one, and the order of the rows does not matter.

    Of few rows, different ones take turns in a random order of their values, so that units do not matter either. Of
    many rows the hash of a row decides, whatever the others are. Where so many are alike that folds would be uneven,
    different hashes take turns, in the order of the hashes, if there are few.
    """
    return deal(Sample(rows), n_folds).folds_of(Sample(rows), 0)


def deal(sample: Sample, n_folds: int = N_FOLDS) -> Turns | Hashed:
    """How the rows of a sample are dealt into folds, wherever they are."""
    if len(sample) <= MANY_ROWS:
        return Turns(_folds_by_turns(sample, n_folds))
    counts = sample.reduced(partial(_counts_by_hash, n_folds=n_folds), np.add)
    if 2 * n_folds * counts.min() <= len(sample):
        hashes = sample.reduced(_few_hashes, _both_few)
        if hashes is not None:
            return Hashed(n_folds, hashes)
    return Hashed(n_folds)


@dataclass(frozen=True)
class Turns:
    """The fold of each row, known."""

    folds: np.ndarray

    @property
    def n(self) -> int:
        """One more than the last fold."""
        return int(self.folds.max()) + 1

    def folds_of(self, part: Sample, start: int) -> np.ndarray:
        """Folds of the rows of a part."""
        return self.folds[start : start + len(part)]

    def folds_at(self, sample: Sample, places: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Folds of the rows at some places."""
        return self.folds[places]

    def kept(self, places: np.ndarray) -> Turns:
        """The same for the rows at some places, once others are gone."""
        return Turns(self.folds[places])


@dataclass(frozen=True)
class Hashed:
    """Folds by the hash of a row: by its remainder or, of few hashes, by turns."""

    n_folds: int
    hashes: np.ndarray | None = None  # ascending

    @property
    def n(self) -> int:
        """How many folds have rows."""
        return self.n_folds if self.hashes is None else min(self.n_folds, len(self.hashes))

    def folds_of(self, part: Sample, start: int) -> np.ndarray:  # noqa: ARG002
        """Folds of the rows of a part."""
        hashes = hash_of_rows(part.rows)
        if self.hashes is None:
            return (hashes % np.uint64(self.n_folds)).astype(np.int64)
        return np.searchsorted(self.hashes, hashes) % self.n_folds

    def folds_at(self, sample: Sample, places: np.ndarray) -> np.ndarray:
        """Folds of the rows at some places."""
        return self.folds_of(sample.take(places), 0)

    def kept(self, places: np.ndarray) -> Hashed:  # noqa: ARG002
        """The same for the rows at some places, once others are gone."""
        return self


def _folds_by_turns(sample: Sample, n_folds: int) -> np.ndarray:
    """Different rows take turns, in a random order of their values."""
    for n_features in (1, 4, sample.n_features):  # the first decide, as a rule, and then no others are looked at
        keys = _as_one(sample.each_part(partial(_first_features, n_features=n_features)))
        order = order_by_values(keys)
        ordered = keys[order]
        differ = (ordered[1:] != ordered[:-1]).any(axis=1)
        if n_features >= sample.n_features or (differ.all() and not np.isnan(keys).any()):
            break
    rank = np.cumsum(np.append(False, differ))
    shuffled = np.random.RandomState(0).permutation(rank[-1] + 1)  # neighbours in the order should not take turns
    folds = np.empty(len(sample), dtype=np.int64)
    folds[order] = shuffled[rank] % n_folds
    return folds


def _as_one(parts: list[FloatArray]) -> FloatArray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _first_features(part: Sample, start: int, n_features: int) -> FloatArray:  # noqa: ARG001
    return part.rows[:, :n_features]


def _counts_by_hash(part: Sample, start: int, n_folds: int) -> np.ndarray:
    return np.bincount(Hashed(n_folds).folds_of(part, start), minlength=n_folds)


def _few_hashes(part: Sample, start: int) -> np.ndarray | None:  # noqa: ARG001
    return _if_few(np.unique(hash_of_rows(part.rows)))


def _both_few(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return None if one is None or other is None else _if_few(np.union1d(one, other))


def _if_few(hashes: np.ndarray) -> np.ndarray | None:
    return hashes if len(hashes) <= FEW_HASHES else None


def members_of_folds(folds: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Places of the rows of each fold, ascending."""
    order = np.argsort(folds.astype(np.uint8 if n_folds < 256 else folds.dtype), kind="stable")
    return np.split(order, np.cumsum(np.bincount(folds, minlength=n_folds))[:-1])


@dataclass(frozen=True)
class Folds:
    """How positives and unlabeled rows are dealt, and the folds of those that are scored."""

    positive: Turns | Hashed
    unlabeled: Turns | Hashed
    complete: PUSample  # the rows as they are dealt

    @classmethod
    def of(cls, pu: PUSample, scored: Places) -> Folds | None:
        """Deal both samples; None where too few rows differ, or too few are scored to pass anything on."""
        n_positive, n_unlabeled = map(len, scored)
        some_are_scored = n_positive < len(pu.positive) or n_unlabeled < len(pu.unlabeled)
        if some_are_scored and n_unlabeled < LEAST_VOTERS:
            return None
        folds = cls(deal(pu.positive), deal(pu.unlabeled), pu)
        return folds if min(folds.positive.n, folds.unlabeled.n) >= LEAST_ROWS else None

    @property
    def n(self) -> int:
        """How many folds there are."""
        return max(self.positive.n, self.unlabeled.n)

    def of_places(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """Folds of the rows at some places of both samples."""
        positive, unlabeled = places
        return (
            self.positive.folds_at(self.complete.positive, positive),
            self.unlabeled.folds_at(self.complete.unlabeled, unlabeled),
        )

    def without_copies(self, copies: Copies) -> Folds:
        """The folds of the rows that stay once copies are merged."""
        positive, unlabeled = (
            dealt if merged is None else dealt.kept(merged.first)
            for dealt, merged in ((self.positive, copies.positive), (self.unlabeled, copies.unlabeled))
        )
        return Folds(positive, unlabeled, copies.merged(self.complete))
