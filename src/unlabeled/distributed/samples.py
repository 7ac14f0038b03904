"""Samples whose rows are in the partitions of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from dask import delayed
from dask.delayed import Delayed
from distributed import Client

from unlabeled.arrays import FloatArray
from unlabeled.distributed.partitions import Layout, Partitions
from unlabeled.distributed.placing import at_home, homes, made
from unlabeled.distributed.running import (
    Step,
    for_all_workers,
    limited_to_a_slot,
    merged_over,
    n_threads_of,
    of_all,
    of_each,
    running_client,
)
from unlabeled.samples import Answer, Sample, place_of_share

#: Changes of rows, one after the other.
Changes = tuple[Callable[[FloatArray], FloatArray], ...]


@dataclass
class Held:
    """Rows that have come to the client, by their places among the unlabeled rows, ascending."""

    places: np.ndarray
    sample: Sample

    def has(self, places: np.ndarray) -> np.ndarray:
        """Which of these places are here."""
        if not len(self.places):
            return np.zeros(len(places), dtype=bool)
        found = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return np.asarray(self.places[found] == places)

    def at(self, places: np.ndarray) -> Sample:
        """The rows at these places."""
        return self.sample.take(np.searchsorted(self.places, places))

    def and_more(self, places: np.ndarray, more: Sample) -> Held:
        """Others as well."""
        both = np.concatenate([self.places, places])
        order = np.argsort(both, kind="stable")
        return Held(both[order], more.after(self.sample).take(order))


@dataclass
class UnlabeledRows:
    """All unlabeled rows of a table, as they come, in its partitions; and those that have come to the client."""

    partitions: Partitions
    counts: np.ndarray  # unlabeled rows of each partition
    totals: FloatArray  # and their weight
    table_starts: np.ndarray  # the number of the first row of each partition in the table
    weighted: bool
    held: Held
    client: Client | None = None
    verbose: bool = False
    known: dict[Any, Any] = field(default_factory=dict)  # what functions answer for all of the rows

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "client": None, "known": {}}

    @property
    def starts(self) -> np.ndarray:
        """The place of each partition's first unlabeled row among all of them."""
        return np.concatenate([[0], np.cumsum(self.counts)[:-1]])

    @property
    def in_use(self) -> np.ndarray:
        """Numbers of the partitions that hold any."""
        return np.flatnonzero(self.counts)

    def fetch(self, places: np.ndarray) -> None:
        """Have the rows at these places here."""
        places = np.unique(places)
        places = places[~self.held.has(places)]
        if len(places):
            self.held = self.held.and_more(places, self._brought(places))

    def all_rows(self) -> Sample:
        """All rows, here."""
        return self._brought(np.arange(self.counts.sum()))

    def _brought(self, places: np.ndarray) -> Sample:
        picking = self.picking(places)
        tasks, numbers = [task for _, task in picking], [number for number, _ in picking]
        found = of_each(running_client(self.client), tasks, numbers, verbose=self.verbose)
        return stacked_samples(found, weighted=self.weighted)

    def picking(self, places: np.ndarray) -> list[tuple[int, Delayed]]:
        """For each partition that has rows at some of these places, ascending, its number and a picking task."""
        ends = np.searchsorted(places, np.append(self.starts, self.counts.sum()))
        layout, where, found = self.partitions.layout, self.homes(), []
        for number in np.flatnonzero(np.diff(ends)).tolist():
            wanted = places[ends[number] : ends[number + 1]] - self.starts[number]
            given = layout, self.part(number), int(self.table_starts[number]), wanted
            with at_home(where[number]) as named:
                task = delayed(_picked, name="unlabeled-rows")(*given, *self.partitions.read_inside[number], **named)
            found.append((number, task))
        return found

    def homes(self) -> list[str | None]:
        """The worker that keeps each partition, if any does."""
        return homes(running_client(self.client), self.partitions.kept)

    def part(self, number: int) -> Part:
        """A partition, as tasks know it."""
        return Part(number, int(self.starts[number]), int(self.counts[number]))

    def steps(self, job: Any) -> list[Step]:
        """For each partition a task that adds what a job says of it to what there is already."""
        add, inputs = delayed(_added, name="unlabeled-sums"), self.partitions.read_inside
        return self.steps_by(
            lambda number, so_far, **named: add(so_far, job, self.part(number), *inputs[number], **named)
        )

    def steps_by(self, task_of: Callable[..., Delayed]) -> list[Step]:
        """Steps over the partitions by tasks of a partition's number, what there is already, and their name."""
        where = self.homes()
        return [Step(partial(task_of, number), where[number]) for number in self.in_use.tolist()]


def stacked_samples(samples: Iterable[Sample], *, weighted: bool) -> Sample:
    """The rows of several samples in one."""
    several = list(samples)
    return Sample(
        np.concatenate([sample.rows for sample in several]),
        np.log(np.concatenate([sample.weights for sample in several])) if weighted else None,
        np.concatenate([sample.row_numbers for sample in several]),
    )


@dataclass(frozen=True)
class Part:
    """Which partition it is, the place of its first unlabeled row among all of them, and how many it has."""

    number: int
    start: int
    n_rows: int


@dataclass(frozen=True)
class Job:
    """A function of parts, how its answers are merged, and what is done to rows before: what tasks are given."""

    layout: Layout
    of_part: Callable[..., Any]
    merge: Callable[[Any, Any], Any] | None
    changes: Changes
    beside: Changes | None
    weighted: bool

    def answer(self, which: Part, block: Any, labels: Any, weights: Any) -> Any:
        """What the function says of a partition."""
        try:
            with limited_to_a_slot():
                _, unlabeled = self.layout.separated(*made(block, labels, weights))
                _check_same(unlabeled, which.n_rows)
                if not self.weighted:
                    unlabeled = Sample(unlabeled.rows, None, unlabeled.numbers)
                part = changed(unlabeled, self.changes)
                if self.beside is None:
                    return self.of_part(part, which.start)
                return self.of_part(part, which.start, changed(unlabeled, self.beside))
        except Exception as error:
            error.add_note(f"This came up in partition {which.number} (counted from 0).")
            raise


def changed(sample: Sample, changes: Changes) -> Sample:
    """A sample after some changes of its rows."""
    for change in changes:
        sample = sample.with_rows(change(sample.rows))
    return sample


def _added(so_far: Any, job: Job, which: Part, block: Any, labels: Any, weights: Any) -> Any:
    answer = job.answer(which, block, labels, weights)
    return answer if so_far is None or job.merge is None else job.merge(so_far, answer)


def _merge(job: Job, one: Any, other: Any) -> Any:
    return one if job.merge is None else job.merge(one, other)


def _picked(
    layout: Layout, which: Part, table_start: int, places: np.ndarray, block: Any, labels: Any, weights: Any
) -> Sample:
    _, unlabeled = layout.separated(*made(block, labels, weights), table_start)
    _check_same(unlabeled, which.n_rows)
    return unlabeled.take(places)


def _check_same(unlabeled: Sample, n_rows: int) -> None:
    if len(unlabeled) != n_rows:
        raise ValueError(
            f"it had {n_rows} unlabeled rows when it was first read, and {len(unlabeled)} now. A partition must be the "
            "same whenever it is made: give random data a seed, or persist() it."
        )


class RowsElsewhere:
    """What stands for rows that are not here: their shape, and nothing that could be added up by mistake."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape


class DistributedSample(Sample):
    """The unlabeled rows of a table, in the partitions where they are, after some changes of each row."""

    table: UnlabeledRows
    changes: Changes

    def __init__(self, table: UnlabeledRows, changes: Changes = ()) -> None:
        width = table.partitions.layout.n_features
        if changes:
            width = changed(Sample(np.zeros((1, width), dtype=table.partitions.layout.dtype)), changes).n_features
        for name, value in (
            ("table", table),
            ("changes", changes),
            ("rows", RowsElsewhere((int(table.counts.sum()), width))),
            ("log_weights", None),
            ("numbers", None),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return DistributedSample, (self.table, self.changes)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def is_here(self) -> bool:
        """They are not."""
        return False

    # --- what must see every row ---

    def reduced(
        self,
        of_part: Callable[..., Answer],
        merged: Callable[[Answer, Answer], Answer],
        beside: Sample | None = None,
    ) -> Answer:
        """What a function answers for the partitions, merged where they are and over a tree."""
        if not self.changes and of_part in self.table.known:
            known: Answer = self.table.known[of_part]
            return known
        client = running_client(self.table.client)
        shared = for_all_workers(client, self._job(of_part, merged, beside))
        merge = partial(delayed(_merge, name="unlabeled-merge"), shared)
        task = merged_over(self.table.steps(shared), merge, 2 * n_threads_of(client))
        answer: Answer = of_all(client, task, verbose=self.table.verbose)
        return answer

    def each_part(self, of_part: Callable[..., Answer]) -> list[Answer]:
        """What a function answers for each partition, in their order."""
        client = running_client(self.table.client)
        shared = for_all_workers(client, self._job(of_part, None))
        tasks = [step.task(None) for step in self.table.steps(shared)]
        return of_each(client, tasks, self.table.in_use.tolist(), verbose=self.table.verbose)

    def _job(self, of_part: Callable[..., Any], merged: Any, beside: Sample | None = None) -> Job:
        beside_changes = beside.changes if isinstance(beside, DistributedSample) else None
        layout, weighted = self.table.partitions.layout, self.table.weighted
        return Job(layout, of_part, merged, self.changes, beside_changes, weighted)

    # --- the rows at some places ---

    def mapped(self, function: Callable[[FloatArray], FloatArray]) -> DistributedSample:
        """The same observations, described by what a function makes of their features, where they are."""
        return DistributedSample(self.table, (*self.changes, function))

    def wanted(self, places: np.ndarray) -> None:
        """Have these rows here."""
        self.table.fetch(places)

    def take(self, index: np.ndarray) -> Sample:
        """The rows at some places, on the client."""
        self.table.fetch(index)
        return changed(self.table.held.at(index), self.changes)

    def rows_of(self, places: np.ndarray) -> FloatArray:
        """The rows at some places."""
        return self.take(places).rows

    def weights_of(self, places: np.ndarray) -> FloatArray:
        """How often the rows at some places count."""
        if not self.table.weighted:
            return np.ones(len(places))
        self.table.fetch(places)
        return self.table.held.at(places).weights

    def places_of(self, numbers: np.ndarray | None) -> np.ndarray:
        """Where the rows with these numbers are, of those that have been asked for before."""
        held = self.table.held
        if numbers is None:
            return np.arange(len(self))
        found = np.minimum(np.searchsorted(held.sample.row_numbers, numbers), len(held.places) - 1)
        if not np.array_equal(held.sample.row_numbers[found], numbers):
            raise ValueError("Some of these rows are not in the sample.")
        return held.places[found]

    def after(self, other: Sample) -> Sample:
        """The rows of a sample that is here, and after them these."""
        return JoinedSample(other, self)

    # --- counts ---

    @property
    def row_numbers(self) -> np.ndarray:
        """Not known here: each partition knows its own."""
        raise NotImplementedError("Rows that are elsewhere are numbered there.")

    @property
    def weights(self) -> FloatArray:
        """Not known here: each partition knows its own."""
        raise NotImplementedError("Rows that are elsewhere are weighed there.")

    @property
    def total(self) -> float:
        """How many observations the sample stands for."""
        return float(self.table.totals.sum())

    @property
    def n_observations(self) -> float:
        """How many observations there are."""
        return self.total if self.table.partitions.layout.unit == 1 else float(len(self))

    def observations(self, shares: FloatArray) -> np.ndarray:
        """Places of the observations that have these shares of all up to them."""
        if not self.table.weighted:
            return place_of_share(shares, len(self))
        return self.observations_after(0.0, self.total, shares.ravel()).reshape(shares.shape)

    def observations_after(self, before: float, total: float, shares: FloatArray) -> np.ndarray:
        """The same of rows with weights, where others of some weight come before."""
        ends = before + np.cumsum(self.table.totals)
        offsets = np.concatenate([[before], ends[:-1]])[self.table.in_use]
        found = self.each_part(
            partial(_observed, starts=self.table.starts[self.table.in_use], offsets=offsets, total=total, shares=shares)
        )
        places = np.full(len(shares), len(self) - 1)
        for of_part in reversed(found):  # the first partition that reaches a share has it
            places = np.where(of_part >= 0, of_part, places)
        return places


def _observed(
    part: Sample, start: int, starts: np.ndarray, offsets: FloatArray, total: float, shares: FloatArray
) -> np.ndarray:
    """Places of the observations with these shares that are in a part; -1 for those behind it."""
    offset = offsets[np.searchsorted(starts, start)]
    places = np.searchsorted((offset + np.cumsum(part.weights)) / total, shares)
    return np.where(places < len(part), start + places, -1)


class JoinedSample(Sample):
    """The rows of a sample that is here, and after them those of one that is elsewhere."""

    first: Sample
    second: DistributedSample

    def __init__(self, first: Sample, second: DistributedSample) -> None:
        shape = (len(first) + len(second), second.n_features)
        for name, value in (
            ("first", first),
            ("second", second),
            ("rows", RowsElsewhere(shape)),
            ("log_weights", None),
            ("numbers", None),
        ):
            object.__setattr__(self, name, value)

    @property
    def is_here(self) -> bool:
        """Most of them are not."""
        return False

    def reduced(
        self,
        of_part: Callable[..., Answer],
        merged: Callable[[Answer, Answer], Answer],
        beside: Sample | None = None,
    ) -> Answer:
        """What a function answers for both, merged."""
        if beside is not None:
            raise NotImplementedError("Joined samples have none beside them.")
        elsewhere = self.second.reduced(of_part, merged)  # the functions of joined samples do not ask where rows start
        return merged(self.first.reduced(of_part, merged), elsewhere)

    def wanted(self, places: np.ndarray) -> None:
        """Have these rows here."""
        self.second.wanted(places[places >= len(self.first)] - len(self.first))

    def rows_of(self, places: np.ndarray) -> FloatArray:
        """The rows at some places."""
        return np.asarray(self._picked(places, lambda sample, where: sample.rows_of(where), self.n_features))

    def weights_of(self, places: np.ndarray) -> FloatArray:
        """How often the rows at some places count."""
        return np.asarray(self._picked(places, lambda sample, where: sample.weights_of(where)))

    def _picked(self, places: np.ndarray, of: Callable[[Sample, np.ndarray], FloatArray], *width: int) -> FloatArray:
        n_first = len(self.first)
        in_first = places < n_first
        parts = of(self.first, places[in_first]), of(self.second, places[~in_first] - n_first)
        found = np.empty((len(places), *width), dtype=np.result_type(*parts))
        found[in_first], found[~in_first] = parts
        return found

    @property
    def total(self) -> float:
        """How many observations both stand for."""
        return self.first.total + self.second.total

    @property
    def n_observations(self) -> float:
        """How many observations there are."""
        return self.first.n_observations + self.second.n_observations

    def observations(self, shares: FloatArray) -> np.ndarray:
        """Places of the observations that have these shares of all up to them."""
        if not self.second.table.weighted:
            return place_of_share(shares, len(self))
        flat, total = shares.ravel(), self.total
        in_first = np.searchsorted(np.cumsum(self.first.weights) / total, flat)
        behind = len(self.first) + self.second.observations_after(self.first.total, total, flat)
        return np.where(in_first < len(self.first), in_first, behind).reshape(shares.shape)
