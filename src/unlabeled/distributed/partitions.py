"""A table in partitions: what each holds, checked, and its two kinds of rows.

Partitions are given as Dask arrays, or as Dask data frames with a label column or a series of labels. They are read by
tasks and never here; a task that finds a partition to be unlike the others says which one it is.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from dask.delayed import Delayed
from scipy.sparse import issparse
from sklearn.utils import check_array

from unlabeled.arrays import FloatArray
from unlabeled.distributed.placing import Inputs, Recipe, made, origins, with_recipes
from unlabeled.labels import completed, find_classes, says_unlabeled
from unlabeled.samples import LARGEST_WEIGHT, Sample, are_counts, count_missing
from unlabeled.scoring.forms import Ranges

#: The most different labels of a partition that are counted: a column of labels has two.
_MOST_LABELS = 100
#: The most of them that an error tells.
_MOST_SHOWN = 5


@dataclass(frozen=True)
class Layout:
    """What every partition must look like, and how it is read: plain data that tasks are given.

    ``columns`` are the names of the features in a data frame; None in an array. ``label`` and ``weight`` name columns
    of the same data frame; None where labels and weights come beside it.
    """

    n_features: int
    dtype: str
    columns: tuple[Any, ...] | None = None
    label: Any = None
    weight: Any = None
    all_columns: tuple[Any, ...] | None = None
    classes: np.ndarray | None = None  # once labels are known: that of unlabeled rows, that of positives
    unit: float = 1.0  # what weights are divided by: their largest where they are no counts

    def rows(self, block: Any) -> FloatArray:
        """The features of a partition, as numbers."""
        if self.columns is not None:
            self._check_columns(block)
            block = block[list(self.columns)]
            strange = [name for name, kind in block.dtypes.items() if getattr(kind, "kind", "O") not in "biuf"]
            if strange:
                raise ValueError(
                    f"its columns {strange[:5]} hold no numbers ({[str(block.dtypes[name]) for name in strange[:5]]}); "
                    "make numbers of them, or leave them out, in every partition."
                )
            self._check_precision(block.dtypes.to_dict(), len(block))
            block = block.to_numpy(dtype=self.dtype, na_value=np.nan)
        block = np.asarray(block)
        if issparse(block) or (block.dtype == object and block.size and issparse(block.flat[0])):
            raise ValueError(
                "its rows are sparse, and in partitions they must be dense: "
                "X.map_blocks(lambda block: block.toarray())."
            )
        if block.dtype.kind not in "biuf":
            raise ValueError(f"its rows are {block.dtype} and no numbers.")
        self._check_precision({"rows": block.dtype}, len(block))
        if block.ndim != 2 or block.shape[1] != self.n_features:
            raise ValueError(f"its shape is {block.shape}, and rows of {self.n_features} features are expected.")
        rows: FloatArray = check_array(
            block.astype(self.dtype, copy=False),
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            ensure_min_samples=0,
            input_name="X",
        )
        return rows

    def _check_precision(self, kinds: dict[Any, Any], n_rows: int) -> None:
        """Refuse to round the rows of one partition: one machine would take all rows as float64 then."""
        if self.dtype != "float32" or not n_rows:
            return
        of_numpy = {name: getattr(kind, "numpy_dtype", kind) for name, kind in kinds.items()}
        rounded = {name: str(kind) for name, kind in of_numpy.items() if not np.can_cast(kind, np.float32)}
        if rounded:
            raise ValueError(
                f"it holds {dict(list(rounded.items())[:5])}, and the table is float32, which would round that. Make "
                "all partitions alike: .astype('float64') of the whole table, or .astype('float32')."
            )

    def _check_columns(self, block: Any) -> None:
        expected = self.columns if self.all_columns is None else self.all_columns
        if expected is None or tuple(block.columns) == tuple(expected):
            return
        missing = [name for name in expected if name not in block.columns]
        more = [name for name in block.columns if name not in expected]
        raise ValueError(
            f"its columns differ from those of the table: {missing[:5]} are missing, {more[:5]} are too many, or their "
            f"order is another. Expected {list(expected)[:20]}."
        )

    def labels(self, block: Any, labels: Any) -> np.ndarray:
        """The labels of a partition."""
        if self.label is not None:
            if self.label not in block.columns:
                raise ValueError(f"it has no column {self.label!r} of labels; its columns are {list(block.columns)}.")
            labels = block[self.label]
        found = _without_na(labels) if hasattr(labels, "isna") else np.asarray(labels)
        return found.ravel() if found.ndim == 2 and found.shape[1] == 1 else found

    def weights(self, block: Any, weights: Any) -> FloatArray | None:
        """How often the rows of a partition count; None: each once."""
        if self.weight is not None:
            weights = block[self.weight]
        if weights is None:
            return None
        found = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(found) & (found >= 0)).all():
            raise ValueError("sample_weight must be finite and not negative: it says how often a row counts.")
        if found.max(initial=0) > LARGEST_WEIGHT:
            raise ValueError(f"sample_weight is too large, above {LARGEST_WEIGHT:g}: it says how often a row counts.")
        return found / self.unit

    def separated(self, block: Any, labels: Any, weights: Any, start: int = 0) -> tuple[Sample, Sample]:
        """Positives and unlabeled rows of a partition, numbered from ``start``; rows of weight zero are left out."""
        if self.classes is None:
            raise RuntimeError("Labels are looked at first.")
        rows, given = self.rows(block), self.labels(block, labels)
        if len(given) != len(rows):
            raise ValueError(f"it has {len(rows)} rows and {len(given)} labels; each row needs one.")
        weighed = self.weights(block, weights)
        if weighed is not None and len(weighed) != len(rows):
            raise ValueError(f"it has {len(rows)} rows and {len(weighed)} weights; each row needs one.")
        is_positive = np.asarray(given == self.classes[1], dtype=bool)
        counts = np.ones(len(rows), dtype=bool) if weighed is None else weighed > 0
        places = np.flatnonzero(is_positive & counts), np.flatnonzero(~is_positive & counts)
        positive, unlabeled = (
            Sample(rows[where], None if weighed is None else np.log(weighed[where]), start + where) for where in places
        )
        return positive, unlabeled


def _without_na(labels: Any) -> np.ndarray:
    """Labels of a data frame with None where they are missing: NA of pandas is neither equal to a label nor unequal."""
    missing = np.asarray(labels.isna())
    if not missing.any() or (isinstance(labels.dtype, np.dtype) and labels.dtype.kind == "f"):
        return np.asarray(labels.to_numpy())
    found = np.array(labels.to_numpy(dtype=object))
    found[missing] = None
    return found


@dataclass(frozen=True)
class Partitions:
    """The tasks that make the partitions, and their layout."""

    layout: Layout
    blocks: Sequence[Delayed]
    labels: Sequence[Delayed | None]
    weights: Sequence[Delayed | None]
    label_blocks: Sequence[Delayed] = field(default=())  # the label column alone, which is read sooner

    def __len__(self) -> int:
        return len(self.blocks)

    def inputs(self, number: int) -> Inputs:
        """What makes a partition: its rows, labels and weights."""
        return self.blocks[number], self.labels[number], self.weights[number]

    @cached_property
    def read_inside(self) -> list[Inputs]:
        """What makes each partition for one task alone."""
        return with_recipes([self.inputs(number) for number in range(len(self))])

    def made_once(self) -> list[Inputs]:
        """The same for several tasks: where there is a recipe, another task carries it out for them."""
        carry_out = delayed(_carried_out, name="unlabeled-partition")
        return [
            (carry_out(number, each[0]), None, None) if isinstance(each[0], Recipe) else each
            for number, each in enumerate(self.read_inside)
        ]

    @cached_property
    def labels_inside(self) -> list[Inputs]:
        """The same of labels and weights."""
        return with_recipes(list(zip(self.label_blocks or self.labels, self.labels, self.weights, strict=True)))

    @cached_property
    def kept(self) -> list[frozenset[Any]]:
        """Keys of what the cluster keeps of the rows of each partition."""
        return [origin.kept for origin in origins([(block, None, None) for block in self.blocks])]


def _carried_out(number: int, recipe: Recipe) -> Inputs:
    try:
        return recipe.made()
    except Exception as error:
        error.add_note(f"This came up in partition {number} (counted from 0) of the table that was learned from.")
        raise


@dataclass(frozen=True)
class Counts:
    """How often each label occurs in a partition among the rows that count; None stands for a missing one.

    And the largest weight, and whether all that are not 0 are numbers of copies.
    """

    n_rows: int
    labels: dict[Any, int]
    largest: float = 1.0
    are_counts: bool = True


def count_labels(layout: Layout, block: Any, labels: Any, weights: Any) -> Counts:
    """Which labels a partition holds."""
    block, labels, weights = made(block, labels, weights)
    values, weighed = layout.labels(block, labels), layout.weights(block, weights)
    if values.ndim != 1:
        raise ValueError(f"its labels have shape {values.shape}; one label for each row is expected.")
    n_rows = len(values)
    of_weights: tuple[float, bool] = (1.0, True)
    if weighed is not None:
        values = values[weighed > 0]
        of_weights = float(weighed.max(initial=0)), are_counts(weighed[weighed > 0])
    if values.dtype.kind in "biuf":
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        found, numbers = np.unique(values[~missing], return_counts=True)
        counted = dict(zip(found.tolist(), numbers.tolist(), strict=True))
        if missing.any():
            counted[None] = int(missing.sum())
    else:
        counted = {}
        for value in values.tolist():
            key = None if value is None or value != value or type(value).__name__ == "NAType" else value  # noqa: PLR0124
            counted[key] = counted.get(key, 0) + 1
    if len(counted) > _MOST_LABELS:
        raise ValueError(
            f"its labels have {len(counted):,} different values; a column of labels has two, one of them for positives."
        )
    return Counts(n_rows, counted, *of_weights)


def classes_of(counts: Sequence[Counts], pos_label: Any) -> np.ndarray:
    """The two classes of the table; an error that names a partition where there is something else."""
    total: dict[Any, int] = {}
    for found in counts:
        for label, number in found.labels.items():
            total[label] = total.get(label, 0) + number
    if not total:
        raise ValueError("The table is empty: no partition has a row that counts.")
    present = [label for label in total if label is not None]
    try:
        return _classes_among(present, pos_label, some_missing=None in total)
    except ValueError as error:
        if len(total) == 1:
            lacking = "none is labelled" if None in total or says_unlabeled(present[0]) else "no other is there"
            raise ValueError(
                f"{error} All {sum(total.values()):,} rows that count have the same label, in {len(counts)} "
                f"partitions: {lacking}."
            ) from error
        if len(present) > 2 or _mixed(present):
            firsts = {label: next(n for n, found in enumerate(counts) if label in found.labels) for label in present}
            where = ", ".join(f"{label!r} in partition {first}" for label, first in list(firsts.items())[:_MOST_SHOWN])
            raise ValueError(f"{error} They are first found: {where} (counted from 0).") from error
        raise


def _classes_among(present: list[Any], pos_label: Any, *, some_missing: bool) -> np.ndarray:
    if _mixed(present):  # NumPy would make words of the numbers, and these are equal to none of them
        raise ValueError(f"Some labels are words and others are none, {present[:5]}; use one kind.")
    values = np.array([*present, None], dtype=object) if some_missing else np.array(present)
    classes, _ = find_classes(completed(values, pos_label), pos_label)
    return classes


def _mixed(labels: list[Any]) -> bool:
    return len({isinstance(label, str) for label in labels}) > 1


@dataclass(frozen=True)
class Report:
    """What a partition holds: its positives, and numbers about its unlabeled rows."""

    n_rows: int
    positive: Sample
    n_unlabeled: int
    total: float  # weight of the unlabeled rows
    heaviest: float
    all_once: bool  # whether every row counts once
    ranges: Ranges
    n_missing: np.ndarray


def report(layout: Layout, block: Any, labels: Any, weights: Any) -> Report:
    """Read a whole partition."""
    block, labels, weights = made(block, labels, weights)
    positive, unlabeled = layout.separated(block, labels, weights)
    n_rows, weighed = len(layout.labels(block, labels)), np.concatenate([positive.weights, unlabeled.weights])
    return Report(
        n_rows,
        positive,
        len(unlabeled),
        unlabeled.total,
        float(unlabeled.weights.max(initial=0)),
        bool((weighed == 1).all()),
        Ranges.of(unlabeled),
        count_missing(unlabeled),
    )


# --- from what a user gives ------------------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether this is a Dask data frame."""
    return _is_of_frames(X, "DataFrame")


def _is_series(X: Any) -> bool:
    return _is_of_frames(X, "Series")


def _is_of_frames(X: Any, name: str) -> bool:
    """Told without loading `dask.dataframe`, which takes a worker with it 90 MB: who has one has loaded it."""
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(X, getattr(frames, name))


def as_partitions(X: Any, y: Any, sample_weight: Any = None) -> Partitions:
    """Partitions of a table with labels and, where there are any, weights."""
    if is_frame(X):
        return _of_frame(X, y, sample_weight)
    if isinstance(X, da.Array):
        return _of_array(X, y, sample_weight)
    raise TypeError(
        f"X must be a Dask array or a Dask data frame; got {type(X).__name__}. Rows that are in memory are fitted by "
        "WMMDClassifier, or made into partitions by dask.array.from_array or dask.dataframe.from_pandas."
    )


def query_blocks(X: Any, layout: Layout) -> tuple[list[Delayed], Layout]:
    """Partitions of rows that are to be scored, and how these are read."""
    if is_frame(X):
        if layout.columns is None:
            names, labelled = tuple(X.columns), None
            if len(names) != layout.n_features:
                raise ValueError(f"X has {len(names)} columns, and {layout.n_features} features are expected.")
        else:
            names, labelled = layout.columns, tuple(X.columns)
            missing = [name for name in names if name not in X.columns]
            if missing:
                raise ValueError(f"X has no columns {missing[:5]}, which the classifier was fitted to.")
        _check_kinds(X, names)
        new = Layout(layout.n_features, _precision([X.dtypes[name] for name in names]), names, all_columns=labelled)
        return list(X.to_delayed()), new
    if isinstance(X, da.Array):
        _check_width(X, layout.n_features)
        return list(_row_blocks(X).to_delayed().ravel()), Layout(layout.n_features, _precision([X.dtype]))
    raise TypeError(
        f"X must be a Dask array or a Dask data frame; got {type(X).__name__}. For rows in memory there is to_local()."
    )


def _check_width(X: da.Array, n_features: int) -> None:
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X has shape {X.shape}, and rows of {n_features} features are expected.")


def _row_blocks(X: da.Array) -> da.Array:
    if X.ndim != 2:
        raise ValueError(f"Expected 2D X, one row for each observation; got shape {X.shape}.")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _precision(kinds: Sequence[Any]) -> str:
    """The type of all rows, from those of their columns."""
    return "float32" if all(kind == np.float32 for kind in kinds) else "float64"


def _of_array(X: da.Array, y: Any, sample_weight: Any) -> Partitions:
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X is an array of {X.dtype}, and numbers are expected.")
    X = _row_blocks(X)
    labels = _beside(X, y, "y")
    weights = [None] * len(labels) if sample_weight is None else _beside(X, sample_weight, "sample_weight")
    return Partitions(Layout(int(X.shape[1]), _precision([X.dtype])), list(X.to_delayed().ravel()), labels, weights, ())


def _beside(X: da.Array, values: Any, name: str) -> list[Any]:
    """Values of the rows of an array, in its partitions."""
    if _is_series(values):
        values = values.to_dask_array()
    if isinstance(values, np.ndarray) and not np.isnan(X.chunks[0]).any():
        if values.shape != (X.shape[0],):
            raise ValueError(f"{name} has shape {values.shape}, and X has {X.shape[0]} rows.")
        values = da.from_array(values, chunks=(X.chunks[0],))
    if not isinstance(values, da.Array) or values.ndim != 1:
        shape = f" of shape {values.shape}" if hasattr(values, "shape") else ""
        raise TypeError(
            f"{name} must be a Dask array or series of one value for each row of X; got {type(values).__name__}{shape}."
        )
    known = not (np.isnan(X.chunks[0]).any() or np.isnan(values.chunks[0]).any())
    if known and values.shape[0] != X.shape[0]:
        raise ValueError(f"{name} has {values.shape[0]} values and X has {X.shape[0]} rows; each row needs one.")
    if known and values.chunks[0] != X.chunks[0]:
        values = values.rechunk((X.chunks[0],))
    if values.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"{name} has {values.numblocks[0]} partitions and X {X.numblocks[0]}, and how long they are is not known. "
            "Call compute_chunk_sizes() of both first."
        )
    return list(values.to_delayed().ravel())


def _of_frame(X: Any, y: Any, sample_weight: Any) -> Partitions:
    names = list(X.columns)
    label = _column(names, y, "label")
    weight = None if sample_weight is None else _column(names, sample_weight, "weight")
    features = tuple(name for name in names if all(taken is None or name != taken for taken in (label, weight)))
    if not features:
        raise ValueError("No column of the table is left beside labels and weights; features are needed.")
    _check_each_once(X, tuple(name for name in (label, weight) if name is not None))
    _check_kinds(X, features)
    dtype = _precision([X.dtypes[name] for name in features])
    layout = Layout(len(features), dtype, features, label, weight, tuple(names))
    n = X.npartitions
    labels: list[Any] = [None] * n if label is not None else _series(X, y, "y")
    by_name = weight is not None or sample_weight is None
    weights: list[Any] = [None] * n if by_name else _series(X, sample_weight, "sample_weight")
    wanted = [name for name in (label, weight) if name is not None]
    label_blocks = list(X[wanted].to_delayed()) if wanted else [None] * n
    return Partitions(layout, list(X.to_delayed()), labels, weights, label_blocks)


def _column(names: list[Any], given: Any, what: str) -> Any:
    """The name of a column, if one is given."""
    if isinstance(given, da.Array) or _is_series(given):
        return None
    if not isinstance(given, str | int):
        kind = type(given)
        raise TypeError(
            f"The {what}s must be the name of a column or a Dask series; got {kind.__module__}.{kind.__qualname__}. "
            f"Make them a column of the table."
        )
    if given not in names:
        raise ValueError(f"The table has no column {given!r} of {what}s; its columns are {names[:30]}.")
    return given


def _series(X: Any, values: Any, name: str) -> list[Any]:
    blocks = list(values.to_delayed().ravel()) if isinstance(values, da.Array) else list(values.to_delayed())
    if len(blocks) != X.npartitions:
        raise ValueError(f"{name} has {len(blocks)} partitions and the table {X.npartitions}; they must agree.")
    return blocks


def _check_each_once(X: Any, names: tuple[Any, ...]) -> None:
    times = Counter(X.columns)
    if twice := [name for name in dict.fromkeys(names) if times[name] > 1]:
        raise ValueError(
            f"Several columns of the table have the same name, {twice[:5]}. Give each its own: frame.columns = [...]."
        )


def _check_kinds(X: Any, features: tuple[Any, ...]) -> None:
    _check_each_once(X, features)
    strange = [name for name in features if getattr(X.dtypes[name], "kind", "O") not in "biuf"]
    if strange:
        raise ValueError(
            f"Columns {strange[:5]} of the table hold no numbers ({[str(X.dtypes[name]) for name in strange[:5]]}). "
            "Make numbers of them by a TableEncoder in map_partitions, as docs/parquet.md does, or leave them out: "
            "frame.drop(columns=...)."
        )


def with_classes(partitions: Partitions, classes: np.ndarray, counts: Sequence[Counts]) -> Partitions:
    """The same partitions, with their labels known, and what their weights are divided by."""
    unit = 1.0 if all(found.are_counts for found in counts) else max(found.largest for found in counts)
    return replace(partitions, layout=replace(partitions.layout, classes=classes, unit=unit))
