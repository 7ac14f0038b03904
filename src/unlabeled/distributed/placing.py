"""Where tasks run, so that partitions stay where they are.

Dask gives a task to the worker that is free, and sends it what it takes; a partition is then sent rather than waited
for. Two things keep partitions in their place. Those that the cluster keeps (``persist``) are worked on in lanes, each
of partitions of one worker, and their tasks name that worker. Others may run them all the same, so that a lost worker
does not stop the work; what else made use of that, Dask's work stealing, is told to leave these tasks alone. Those that
are made anew for each pass are made inside of the task that reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import dask
from dask.core import get_dependencies
from dask.utils import ensure_dict
from distributed import Client, Future, stealing

#: What tasks are called that belong to the worker that keeps a partition.
AT_HOME = "unlabeled-at-home"
#: What makes a partition: its rows, labels and weights.
Inputs = tuple[Any, Any, Any]


class Recipe:
    """The tasks that make a partition, for another task to carry out; no data class, which Dask would look into."""

    def __init__(self, graph: dict[Any, Any], keys: tuple[Any, ...]) -> None:
        self.graph = graph
        self.keys = keys  # of rows, labels and weights; None where there is none

    def made(self) -> Inputs:
        """Carry it out, here."""
        wanted = [key for key in self.keys if key is not None]
        found = dict(zip(wanted, dask.get(self.graph, wanted), strict=True))
        rows, labels, weights = (None if key is None else found[key] for key in self.keys)
        return rows, labels, weights


def made(block: Any, labels: Any, weights: Any) -> Inputs:
    """The inputs of a task as they are, or made from the recipe that stands for them, by this task or another."""
    if isinstance(block, Recipe):
        return block.made()
    return block if isinstance(block, tuple) else (block, labels, weights)


@dataclass(frozen=True)
class Origin:
    """What a partition is made of: tasks, and keys of what the cluster keeps."""

    tasks: dict[Any, Any]
    kept: frozenset[Any]


def origins(inputs: Sequence[Inputs]) -> list[Origin]:
    """What each of some partitions is made of."""
    graphs: dict[int, dict[Any, Any]] = {}
    return [_origin(each, graphs) for each in inputs]


def _origin(inputs: Inputs, graphs: dict[int, dict[Any, Any]]) -> Origin:
    tasks: dict[Any, Any] = {}
    kept = set()
    for one in inputs:
        if one is None:
            continue
        whole = one.__dask_graph__()
        graph = graphs.setdefault(id(whole), ensure_dict(whole))
        waiting = [one.key]
        while waiting:
            key = waiting.pop()
            if key in tasks or key in kept:
                continue
            task = graph.get(key)
            if task is None or isinstance(task, Future) or isinstance(getattr(task, "value", None), Future):
                kept.add(key)
                continue
            tasks[key] = task
            waiting.extend(task.dependencies if hasattr(task, "dependencies") else get_dependencies(graph, key))
    return Origin(tasks, frozenset(kept))


def with_recipes(inputs: Sequence[Inputs]) -> list[Inputs]:
    """The same partitions, by recipes where tasks can make them: where nothing is kept, and nothing shared by two."""
    found = origins(inputs)
    times = Counter(key for origin in found for key in origin.tasks)
    if any(origin.kept or any(times[key] > 1 for key in origin.tasks) for origin in found):
        return list(inputs)
    return [
        (Recipe(origin.tasks, tuple(None if one is None else one.key for one in each)), None, None)
        for origin, each in zip(found, inputs, strict=True)
    ]


def homes(client: Client, kept: Sequence[frozenset[Any]]) -> list[str | None]:
    """The worker that keeps most of what each of some partitions is made of; None where nothing is kept."""
    keys = frozenset().union(*kept)
    if not keys:
        return [None] * len(kept)
    client.run_on_scheduler(_leave_alone)
    has = client.sync(client.scheduler.who_has, keys=list(keys))
    times = [Counter(worker for key in of_one for worker in has.get(key, ())) for of_one in kept]
    return [min(counted, key=lambda worker: (-counted[worker], worker)) if counted else None for counted in times]


def _leave_alone() -> None:
    """On the scheduler: tasks of this name are none that an idle worker takes from another, with what they read.

    Dask keeps a list of such names, of tasks that take less time than taking them.
    """
    stealing.fast_tasks.add(AT_HOME)


@contextmanager
def at_home(home: str | None) -> Iterator[dict[str, str]]:
    """A task that is made in here, by these keywords, runs on a worker, or on others if it is lost."""
    if home is None:
        yield {}
        return
    with dask.annotate(workers=[home], allow_other_workers=True):
        yield {"dask_key_name": f"{AT_HOME}-{uuid4().hex}"}
