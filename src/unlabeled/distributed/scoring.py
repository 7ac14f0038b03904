"""Scores of new rows, by tasks: each block of them meets the positives, the voters, and every partition in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed
from dask.delayed import Delayed

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.distributed.partitions import Layout, is_frame, query_blocks
from unlabeled.distributed.running import for_all_workers, limited_to_a_slot, merged_over, n_threads_of, running_client
from unlabeled.distributed.samples import Job, Part, UnlabeledRows
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.ratio import Kernels, Ratio, log_ratio, log_score


@dataclass(frozen=True)
class Scorer:
    """All that a score takes but the sums over the unlabeled rows; plain data that tasks are given.

    With ``compressed`` ratios it takes nothing else.
    """

    decider: WMMDClassifier  # without samples: scaling, threshold, probabilities
    kernels: Kernels
    positive: Sample
    scenario: str
    n_unlabeled: float
    of_rounds: tuple[Ratio, ...]
    compressed: tuple[Ratio, ...] | None

    def scaled(self, layout: Layout, number: int, block: Any) -> FloatArray:
        """A block of rows in the units of the kernels."""
        try:
            return self.decider.scaling_.apply(layout.rows(block))
        except Exception as error:
            error.add_note(f"This came up in partition {number} (counted from 0) of the rows to be scored.")
            raise

    def scores(self, rows: FloatArray, unlabeled: FloatArray | None) -> FloatArray:
        """Scores of scaled rows, from their log sums over the unlabeled rows."""
        with limited_to_a_slot():
            if self.compressed is not None or unlabeled is None:
                return log_score(self.compressed or (), rows, self.kernels)
            positive = self.kernels.log_sums(rows, self.positive)[0]
            pu = PUSample(self.positive, self.positive, self.scenario)
            scores = log_ratio(pu, positive, unlabeled, self.positive.total, self.n_unlabeled)
            if not self.of_rounds:
                return scores
            scores = scores * (1 - sum(ratio.weight for ratio in self.of_rounds))
            return scores + log_score(self.of_rounds, rows, self.kernels)


#: From scores to what is asked for.
Answering = Callable[[WMMDClassifier, FloatArray], np.ndarray]


def as_scores(decider: WMMDClassifier, scores: FloatArray) -> np.ndarray:  # noqa: ARG001
    """The scores themselves."""
    return scores


def as_decisions(decider: WMMDClassifier, scores: FloatArray) -> np.ndarray:
    """How far each row is on the positive side."""
    return np.asarray(scores - decider.threshold_)


def as_classes(decider: WMMDClassifier, scores: FloatArray) -> np.ndarray:
    """The class of each row."""
    return np.asarray(decider.classes_[(scores > decider.threshold_).astype(int)])


def as_probabilities(decider: WMMDClassifier, scores: FloatArray) -> np.ndarray:
    """Probabilities of both classes."""
    return decider.probability_of_scores(scores)


def as_table(decider: WMMDClassifier, scores: FloatArray) -> np.ndarray:
    """Score, probability of the positive class, and whether the row is flagged."""
    probability = decider.probability_of_scores(scores)[:, 1]
    return np.column_stack([scores, probability, scores > decider.threshold_])


def lazy_scores(
    X: Any, table: UnlabeledRows, scorer: Scorer, answering: Answering, answer: Answered
) -> da.Array | dd.Series | dd.DataFrame:
    """What is asked for, of each row of a Dask array or data frame, as tasks that have not begun."""
    blocks, layout = query_blocks(X, table.partitions.layout)
    client = running_client(table.client)
    shared = for_all_workers(client, scorer)
    job = for_all_workers(
        client, Job(table.partitions.layout, _no_function, None, scorer_changes(scorer), None, table.weighted)
    )
    n_lanes = -(-2 * n_threads_of(client) // max(1, len(blocks)))
    found = []
    for number, block in enumerate(blocks):
        rows = delayed(_scaled, name="unlabeled-scaled")(shared, layout, number, block)
        sums = None if scorer.compressed is not None else _sums(rows, table, job, shared, n_lanes)
        index = delayed(_index)(block) if is_frame(X) else None
        found.append(delayed(_answered, name="unlabeled-scores")(shared, rows, sums, answering, answer, index))
    if not is_frame(X):
        return _as_array(found, X.chunks[0], answer)
    return dd.from_delayed(found, meta=answer.meta, verify_meta=False, prefix="unlabeled")


def scorer_changes(scorer: Scorer) -> tuple[Callable[[FloatArray], FloatArray], ...]:
    """What is done to unlabeled rows before sums are taken over them."""
    return (scorer.decider.scaling_.apply,)


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
        if self.columns:
            return pd.DataFrame(values, index=index, columns=list(self.columns))
        return pd.Series(values, index=index, name=self.name)


def _as_array(found: list[Delayed], lengths: tuple[float, ...], answer: Answered) -> da.Array:
    width = (len(answer.columns),) if answer.columns else ()
    arrays = [
        da.from_delayed(block, shape=(length, *width), dtype=answer.dtype)
        for block, length in zip(found, lengths, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _sums(rows: Delayed, table: UnlabeledRows, job: Any, scorer: Any, n_lanes: int) -> Delayed:
    def step_of(number: int) -> Callable[[Any], Delayed]:
        return lambda so_far: delayed(_summed, name="unlabeled-sums")(
            so_far, rows, scorer, job, table.part(number), *table.inputs(number)
        )

    return merged_over([step_of(number) for number in table.in_use.tolist()], delayed(np.logaddexp), n_lanes)


def _no_function(part: Sample, start: int) -> None:  # noqa: ARG001
    return None


def _scaled(scorer: Scorer, layout: Layout, number: int, block: Any) -> FloatArray:
    return scorer.scaled(layout, number, block)


def _index(block: Any) -> Any:
    return block.index


def _summed(
    so_far: FloatArray | None,
    rows: FloatArray,
    scorer: Scorer,
    job: Job,
    which: Part,
    block: Any,
    labels: Any,
    weights: Any,
) -> FloatArray:
    """Log sums from a block of rows to the unlabeled rows of a partition, added to those of others."""
    of_part = partial(_to_part, kernels=scorer.kernels, queries=rows)
    found = Job(job.layout, of_part, None, job.changes, None, job.weighted).answer(which, block, labels, weights)
    return found if so_far is None else np.logaddexp(so_far, found)


def _to_part(part: Sample, start: int, kernels: Kernels, queries: FloatArray) -> FloatArray:  # noqa: ARG001
    return kernels.log_sums_over(queries, part.rows, part.log_weights)[0]


def _answered(
    scorer: Scorer, rows: FloatArray, sums: FloatArray | None, answering: Answering, answer: Answered, index: Any
) -> Any:
    values = answering(scorer.decider, scorer.scores(rows, sums)).astype(answer.dtype, copy=False)
    return values if index is None else answer.framed(values, index)
