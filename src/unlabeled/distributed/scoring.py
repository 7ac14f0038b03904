"""Scores of new rows, by tasks: each block of them meets the positives, the voters, and every partition in turn."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from dask.core import flatten
from dask.delayed import Delayed
from distributed import Client

from unlabeled.arrays import FloatArray
from unlabeled.distributed.partitions import Layout, is_frame, query_blocks
from unlabeled.distributed.placing import made, with_recipes
from unlabeled.distributed.running import for_all_workers, limited_to_a_slot, merged_over, n_threads_of, running_client
from unlabeled.distributed.samples import Job, Part, UnlabeledRows
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.ratio import Kernels, Ratio, log_ratio, log_score
from unlabeled.scoring.scaling import Scaling

#: Of more tasks, which take longer to write down than anybody likes to wait, a warning tells.
MANY_TASKS = 20_000


@dataclass(frozen=True)
class KernelScore:
    """All that a score by distances takes but the sums over the unlabeled rows; plain data that tasks are given.

    With ``compressed`` ratios it takes nothing else.
    """

    scaling: Scaling
    kernels: Kernels
    positive: Sample
    scenario: str
    n_unlabeled: float
    of_rounds: tuple[Ratio, ...]
    compressed: tuple[Ratio, ...] | None

    def scores(self, rows: FloatArray, unlabeled: FloatArray | None) -> FloatArray:
        """Scores of scaled rows, from their log sums over the unlabeled rows."""
        if self.compressed is not None or unlabeled is None:
            return log_score(self.compressed or (), rows, self.kernels)
        positive = self.kernels.log_sums(rows, self.positive)[0]
        pu = PUSample(self.positive, self.positive, self.scenario)
        scores = log_ratio(pu, positive, unlabeled, self.positive.total, self.n_unlabeled)
        if not self.of_rounds:
            return scores
        scores = scores * (1 - sum(ratio.weight for ratio in self.of_rounds))
        return scores + log_score(self.of_rounds, rows, self.kernels)


@dataclass(frozen=True)
class Scorer:
    """What scores are made of: a score by distances, others by classifiers that are whole, and what decides by them."""

    decider: Any  # of one machine, without samples
    kernel: KernelScore | None
    weight: float = 1.0  # of the score by distances
    others: tuple[tuple[float, Any], ...] = ()  # weights, and classifiers with `score_rows`

    @property
    def takes_partitions(self) -> bool:
        """Whether a score takes sums over all unlabeled rows."""
        return self.kernel is not None and self.kernel.compressed is None

    def scores(self, rows: FloatArray, unlabeled: FloatArray | None) -> FloatArray:
        """Scores of rows, from the log sums over the unlabeled rows of the scaled ones."""
        with limited_to_a_slot():
            found = np.zeros(len(rows))
            if not len(rows):
                return found
            if self.kernel is not None:
                found = self.weight * self.kernel.scores(self.kernel.scaling.apply(rows), unlabeled)
            for weight, classifier in self.others:
                found = found + weight * classifier.score_rows(rows)
            return found


#: From scores to what is asked for.
Answering = Callable[[Any, FloatArray], np.ndarray]


def as_scores(decider: Any, scores: FloatArray) -> np.ndarray:  # noqa: ARG001
    """The scores themselves."""
    return scores


def as_decisions(decider: Any, scores: FloatArray) -> np.ndarray:
    """How far each row is on the positive side."""
    return np.asarray(scores - decider.threshold_)


def as_classes(decider: Any, scores: FloatArray) -> np.ndarray:
    """The class of each row."""
    return np.asarray(decider.classes_[(scores > decider.threshold_).astype(int)])


def as_probabilities(decider: Any, scores: FloatArray) -> np.ndarray:
    """Probabilities of both classes."""
    return np.asarray(decider.probability_of_scores(scores))


def as_table(decider: Any, scores: FloatArray) -> np.ndarray:
    """Score, probability of the positive class, and whether the row is flagged."""
    probability = decider.probability_of_scores(scores)[:, 1]
    return np.column_stack([scores, probability, scores > decider.threshold_])


def lazy_scores(X: Any, table: UnlabeledRows, scorer: Scorer, answering: Answering, answer: Answered) -> Any:
    """What is asked for, of each row of a Dask array or data frame, as tasks that have not begun."""
    blocks, layout = query_blocks(X, table.partitions.layout)
    client = running_client(table.client)
    shared = for_all_workers(client, scorer)
    n_lanes = -(-2 * n_threads_of(client) // max(1, len(blocks)))
    sums_of = None
    if scorer.takes_partitions:
        _warn_of_many_tasks(len(blocks), len(table.in_use))
        sums_of = _sums_over_partitions(client, table, scorer.kernel, n_lanes)
    found = []
    for number, (block, *_) in enumerate(with_recipes([(block, None, None) for block in blocks])):
        queries = delayed(_read, name="unlabeled-read")(layout, number, block)
        sums = None if sums_of is None else sums_of(queries)
        found.append(delayed(_answered, name="unlabeled-scores")(shared, queries, sums, answering, answer))
    if not is_frame(X):
        return _as_array(found, X.chunks[0], answer)
    import dask.dataframe as dd  # noqa: PLC0415  # with pandas, of which workers on arrays have no use

    divisions = X.divisions if X.known_divisions else None
    return dd.from_delayed(found, meta=answer.meta, divisions=divisions, verify_meta=False, prefix="unlabeled")


def _warn_of_many_tasks(n_blocks: int, n_partitions: int) -> None:
    if n_blocks * n_partitions > MANY_TASKS:
        warnings.warn(
            f"Each of {n_blocks:,} blocks of rows meets each of {n_partitions:,} partitions, in "
            f"{n_blocks * n_partitions:,} tasks, which are written down one by one before any begins. Score by few "
            "rows, which takes two tasks a block: compress=10_000, or model.compressed(10_000). Or make larger blocks: "
            "X.rechunk, X.repartition.",
            stacklevel=5,
        )


#: The rows of a block that is to be scored, and its index in a data frame.
Queries = tuple[FloatArray, Any]


def _read(layout: Layout, number: int, block: Any) -> Queries:
    try:
        block, *_ = made(block, None, None)
        return layout.rows(block), getattr(block, "index", None)
    except Exception as error:
        error.add_note(f"This came up in partition {number} (counted from 0) of the rows to be scored.")
        raise


@dataclass(frozen=True)
class Answered:
    """The form of an answer: its type, its columns if it has several, and its name in a data frame."""

    dtype: Any
    name: str
    columns: tuple[str, ...] = ()

    @property
    def meta(self) -> Any:
        """An empty series or data frame of this form."""
        empty = np.empty((0, len(self.columns)) if self.columns else 0, dtype=self.dtype)
        return self.framed(empty, None)

    def framed(self, values: np.ndarray, index: Any) -> Any:
        """Values beside the rows of a data frame."""
        import pandas as pd  # noqa: PLC0415

        if self.columns:
            return pd.DataFrame(values, index=index, columns=list(self.columns))
        return pd.Series(values, index=index, name=self.name)


def _as_array(found: list[Delayed], lengths: tuple[float, ...], answer: Answered) -> da.Array:
    width = (len(answer.columns),) if answer.columns else ()
    arrays = [
        da.from_delayed(block, shape=(length, *width), dtype=answer.dtype)
        for block, length in zip(found, lengths, strict=True)
    ]
    whole = da.concatenate(arrays, allow_unknown_chunksizes=True)
    return PlacedArray(whole.dask, whole.name, whole.chunks, meta=whole._meta)


class PlacedArray(da.Array):
    """An array whose tasks run where they were told to.

    Dask fuses tasks of arrays into one graph that has forgotten the workers they name: partitions then move.
    """

    __slots__ = ()

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Any, **_options: Any) -> Any:
        """Leave out what is not asked for, and nothing else."""
        return graph.cull(set(flatten([keys]))) if hasattr(graph, "cull") else graph


def _sums_over_partitions(
    client: Client, table: UnlabeledRows, kernel: KernelScore | None, n_lanes: int
) -> Callable[[Delayed], Delayed]:
    """From a block of queries to their log sums over all unlabeled rows."""
    if kernel is None:
        raise RuntimeError("There is no score by distances.")
    # What is done to rows of either side, and the kernels; the positives stay with the scorer.
    job = Job(table.partitions.layout, _no_function, None, (kernel.scaling.apply,), None, table.weighted)
    shared, add = (
        for_all_workers(client, (kernel.kernels, kernel.scaling, job)),
        delayed(_summed, name="unlabeled-sums"),
    )
    inputs = table.partitions.made_once()  # for all blocks of rows

    def sums_of(queries: Delayed) -> Delayed:
        scaled = delayed(_scaled, name="unlabeled-scaled")(shared, queries)

        def task_of(number: int, so_far: Any, **named: str) -> Delayed:
            found: Delayed = add(so_far, scaled, shared, table.part(number), *inputs[number], **named)
            return found

        return merged_over(table.steps_by(task_of), delayed(np.logaddexp), n_lanes)

    return sums_of


def _no_function(part: Sample, start: int) -> None:  # noqa: ARG001
    return None


#: What sums over partitions take: kernels, units, and how partitions are read.
_Shared = tuple[Kernels, Scaling, Job]


def _scaled(shared: _Shared, queries: Queries) -> FloatArray:
    return shared[1].apply(queries[0])


def _summed(
    so_far: FloatArray | None,
    scaled: FloatArray,
    shared: _Shared,
    which: Part,
    block: Any,
    labels: Any,
    weights: Any,
) -> FloatArray:
    """Log sums from a block of rows to the unlabeled rows of a partition, added to those of others."""
    kernels, _, job = shared
    of_part = partial(_to_part, kernels=kernels, queries=scaled)
    found = Job(job.layout, of_part, None, job.changes, None, job.weighted).answer(which, block, labels, weights)
    return np.asarray(found) if so_far is None else np.logaddexp(so_far, found)


def _to_part(part: Sample, start: int, kernels: Kernels, queries: FloatArray) -> FloatArray:  # noqa: ARG001
    return kernels.log_sums_over(queries, part.rows, part.log_weights)[0]


def _answered(scorer: Scorer, queries: Queries, sums: FloatArray | None, answering: Answering, answer: Answered) -> Any:
    rows, index = queries
    values = answering(scorer.decider, scorer.scores(rows, sums)).astype(answer.dtype, copy=False)
    return values if index is None else answer.framed(values, index)
