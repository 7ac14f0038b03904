"""Parquet tables that memory has no room for: `fit` and `predict` have Dask work on them in pieces, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import polars as pl

from unlabeled.arrays import FloatArray
from unlabeled.bias import ScarTest
from unlabeled.cli.learning_table import LearningTable, understood
from unlabeled.evaluation import Estimates, find_evidence
from unlabeled.priors import PriorEstimate
from unlabeled.stages import stage
from unlabeled.tables import Labels, Notices, Table, TableError, TableModel, find_labels
from unlabeled.tables.labels import check_column, is_labelled
from unlabeled.tables.sizes import COPIES_OF_FIT, MEMORY_VARIABLE, free_memory, in_words, row_bytes, table_bytes

#: Rows that tell what the columns are, their medians and categories, and how labels look; fewer where memory is short.
MOST_SAMPLED, FEWEST_SAMPLED = 200_000, 1_000
#: Rows of each sample that a model of such a table scores by.
N_KERNELS = 10_000
#: The classifiers that learn on a cluster, by the names of `METHODS`.
METHODS = ("auto", "wmmd")


@dataclass(frozen=True)
class Shortage:
    """A table that takes more memory than there is."""

    table: Table
    needed: float
    free: float

    @property
    def note(self) -> str:
        """What is done about it, in a line."""
        return (
            f"{self.table.name} would take about {in_words(self.needed)} of memory, and {in_words(self.free)} are free:"
            " Dask works on it in pieces, on this machine"
        )


def find_shortage(table: Table, *, copies: float = COPIES_OF_FIT) -> Shortage | None:
    """Whether a table in Parquet files is too large for so many copies of it in memory."""
    if table.format.kind != "parquet":
        return None
    needed, free = copies * table_bytes(table), free_memory()
    if needed <= free:
        return None
    found = Shortage(table, needed, free)
    if find_spec("dask") is None or find_spec("distributed") is None:
        raise TableError(
            f"{table.name} would take about {in_words(needed)} of memory, and {in_words(free)} are free. Dask works on "
            f"it in pieces: pip install 'unlabeled[dask]'. To try it in memory: {MEMORY_VARIABLE}={needed / 1e9:.0f}GB."
        )
    return found


# --- fit ---


@dataclass(frozen=True)
class CountedLabels(Labels):
    """Labels of some rows of a table, and how many positives the whole table has."""

    n_counted: int = 0

    @property
    def n_positive(self) -> int:
        """How many rows of the table are labelled."""
        return self.n_counted


@dataclass(frozen=True)
class SampledTable(LearningTable):
    """A table of which some rows are here, that tell what its columns are; the others are in its files."""

    n_all: int = 0
    shortage: Shortage | None = None

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self.n_all

    @property
    def notes(self) -> list[str]:
        """How it was read."""
        some = f"{len(self.frame):,} rows of it say what its columns are, and with all positives how labels look"
        return [*self.source.notes, *([] if self.shortage is None else [self.shortage.note]), some]


@dataclass(frozen=True)
class Learned:
    """What `unlabeled fit` has learned: a table, a classifier of it, its prior, what to expect, and how labels look."""

    learning: LearningTable
    classifier: Any
    prior: PriorEstimate
    estimates: Estimates | None
    labels: ScarTest


def learned_in_pieces(
    shortage: Shortage,
    label: str,
    positive: str | None,
    *,
    kinds: Mapping[str, str],
    decimal: str | None,
    method: str,
    scenario: str,
    given_prior: Callable[[float], PriorEstimate | None],
) -> Learned:
    """Learn from a table that memory has no room for; ``given_prior`` answers for a labelled share, None: estimate."""
    from unlabeled.distributed.parquet import PieceReader, on_this_machine, pieces_of, sampled_rows  # noqa: PLC0415

    table = shortage.table
    if method not in METHODS:
        raise TableError(f"{shortage.note}, which --method {method} cannot do. Use {' or '.join(METHODS)}.")
    counted = _counted_labels(table, label, positive)
    prior = given_prior(counted.n_positive / (n_all := table.n_rows()))
    pieces, n_sampled = pieces_of(table, shortage.free), _n_sampled(shortage)
    with on_this_machine() as client:
        with stage("some rows"):
            frame, positives = sampled_rows(client, table, pieces, n_sampled, label, counted.positive)
        counting = _counting_rows(table, frame.drop(label, *kinds, strict=False))
        encoder, features = understood(table, frame, label, kinds, decimal, counting)
        is_positive = is_labelled(frame[label], counted.positive).to_numpy()
        labels = CountedLabels(is_positive, counted.positive, n_counted=counted.n_positive)
        learning = SampledTable(table, frame, labels, encoder, features, n_all, shortage)
        X, y = PieceReader(table, encoder, label, labels.positive).arrays(pieces)
        model = _unfitted(method, "auto" if prior is None else prior.value, scenario).fit(X, y)
        found = PriorEstimate.of(model.prior_estimator_, "auto") if prior is None else prior
        with stage("what to expect"):
            evidence = find_evidence(model, prior=found)
        tested = _tested_labels(learning, encoder.encode(positives)[0], scenario, prior)
        local = model.to_local()
    return Learned(learning, local, found, None if evidence is None else evidence.at(evidence.threshold), tested)


def _n_sampled(shortage: Shortage) -> int:
    """As many rows as a fifth of the memory has room for, with what is made of them."""
    times = 0.2 * shortage.free * shortage.table.n_rows() / shortage.needed
    return int(np.clip(times, FEWEST_SAMPLED, MOST_SAMPLED))


def _counted_labels(table: Table, label: str, positive: str | None) -> CountedLabels:
    """Which label is the positive one, and how often it occurs, from how often each does."""
    check_column(label, table.names())
    counts = table.counts(label)
    values = counts[label].repeat_by(counts["count"].clip(upper_bound=2)).explode()  # one alone is refused
    value = find_labels(values.alias(label).to_frame(), label, positive).positive
    of_positives = counts["count"].filter(is_labelled(counts[label], value))
    return CountedLabels(np.zeros(0, dtype=bool), value, n_counted=int(of_positives.sum()))


def _counting_rows(table: Table, frame: pl.DataFrame) -> list[str]:
    """Columns that count the rows of a table, of which some rows are here: in these alone it cannot be seen."""
    whole = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
    unique = [name for name in whole if frame[name].n_unique() == len(frame)]
    n_all, ranges = table.n_rows(), table.ranges(unique) if unique else {}
    return [name for name, (low, high) in ranges.items() if high - low + 1 == n_all]


def _unfitted(method: str, prior: float | str, scenario: str) -> Any:
    from unlabeled.distributed import DaskPUClassifier, DaskWMMDClassifier  # noqa: PLC0415

    kind = DaskPUClassifier if method == "auto" else DaskWMMDClassifier
    return kind(prior, scenario=scenario, random_state=0, compress=N_KERNELS)


def _tested_labels(
    learning: SampledTable, positive: FloatArray, scenario: str, prior: PriorEstimate | None
) -> ScarTest:
    """Whether labels look as if they were given at random: all positives beside the unlabeled rows that are here."""
    known = learning.labelled_share if scenario == "single-sample" else None
    unlabeled = learning.features[~learning.labels.is_positive]
    names = list(learning.encoder.get_feature_names_out())
    y = np.repeat([1, 0], [len(positive), len(unlabeled)])
    given = None if prior is None else prior.value
    test = ScarTest(given, scenario=scenario, labelled_share=known, feature_names=names)
    return test.fit(np.vstack([positive, unlabeled]), y)


# --- predict ---


def decided_in_pieces(
    model: TableModel, table: Table, names: Sequence[str], n_rows: int
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, Notices]]:
    """Rows of a table, what a model decides of them, and what was strange in them; some at a time, in their order."""
    from unlabeled.distributed.parquet import Piece, in_order, on_this_machine  # noqa: PLC0415

    n_all = table.n_rows()
    pieces = [Piece(start, min(n_rows, n_all - start)) for start in range(0, n_all, n_rows)]

    def decided(piece: Piece) -> tuple[pl.DataFrame, pl.DataFrame, Notices]:
        batch = table.rows(names, piece.start, piece.n_rows)
        scores, notices = model.decide(batch)
        return batch, scores, notices

    with on_this_machine() as client:
        yield from in_order(client, decided, pieces)


def rows_a_piece(table: Table, free: float, most: int) -> int:
    """How many rows each thread of this machine can have, ``most`` at most."""
    return int(np.clip(free / (64 * row_bytes(table.schema())), 1, most))
