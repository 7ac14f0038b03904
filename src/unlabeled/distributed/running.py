"""Work on a cluster: one answer for each partition, or one for all of them, and errors that say which partition."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cloudpickle
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future, as_completed, default_client, progress

from unlabeled.distributed.placing import at_home
from unlabeled.engines.threads import at_most_threads

#: What is sent to all workers travels in the graph up to this many bytes, where a lost worker cannot lose it; more is
#: scattered to every worker.
_IN_GRAPH = 4_000_000
#: Partial results that are merged at once, at the end.
_MERGED_AT_ONCE = 8


def running_client(client: Client | None) -> Client:
    """The client given, or the current one; an error where there is none that is connected."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client. Start one, as in `from distributed import Client; client = Client()`, or "
                "give one: client=..."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a client of Dask, as in client=Client({client!r}); got {client!r} itself.")
    if client.status != "running":
        raise ValueError(
            f"The Dask client is {client.status}, and a connected one is needed. Start a new one: client=Client(...)."
        )
    return client


def n_threads_of(client: Client) -> int:
    """How many tasks the cluster can run at once."""
    return max(1, sum(client.nthreads().values()))


def for_all_workers(client: Client, value: Any) -> Delayed | Future:
    """Something that many tasks need, sent once."""
    blob = cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    if len(blob) <= _IN_GRAPH:
        return delayed(_loaded, name="unlabeled-shared")(blob)
    scattered: Future = client.scatter(value, broadcast=True, hash=False)
    return scattered


def _loaded(blob: bytes) -> Any:
    return pickle.loads(blob)


def of_each(client: Client, tasks: Sequence[Delayed], numbers: Sequence[int], *, verbose: bool = False) -> list[Any]:
    """The answers of some tasks, one for each of the partitions with these numbers; the first error ends them all."""
    futures: list[Future] = client.compute(list(tasks), optimize_graph=True)
    number_of = dict(zip(futures, numbers, strict=True))
    with _gone_at_the_end(client, futures):
        _show(futures, verbose=verbose)
        for future in as_completed(futures):
            if future.status != "finished":
                raise with_number(_error_of(future), number_of[future])
        answers: list[Any] = client.gather(futures)
        return answers


def of_all(client: Client, task: Delayed, *, verbose: bool = False) -> Any:
    """The answer of one task that depends on all partitions."""
    future: Future = client.compute(task, optimize_graph=True)
    with _gone_at_the_end(client, [future]):
        _show([future], verbose=verbose)
        return future.result()


def _error_of(future: Future) -> BaseException:
    if future.status == "error":
        error: BaseException = future.exception()
        return error
    return RuntimeError(f"The work was {future.status} on the cluster before it was done.")


def with_number(error: BaseException, number: int) -> BaseException:
    """The same kind of error, whose message says in which partition it came up."""
    if str(error).startswith("Partition "):
        return error
    try:
        named = type(error)(f"Partition {number} (counted from 0): {error}")
    except Exception:  # noqa: BLE001  # an error of another make than most
        error.add_note(f"This came up in partition {number} (counted from 0).")
        return error
    named.__cause__ = error
    return named


@contextmanager
def _gone_at_the_end(client: Client, futures: list[Future]) -> Iterator[None]:
    """Leave nothing behind on the cluster, least of all where somebody has stopped waiting."""
    try:
        yield
    except BaseException:
        if client.status == "running":
            client.cancel(futures, force=True)
        raise
    finally:
        for future in futures:
            future.release()


def _show(futures: list[Future], *, verbose: bool) -> None:
    if verbose:
        progress(futures, notebook=False)


@dataclass(frozen=True)
class Step:
    """A task that takes what came before and adds to it, and the worker that has what it reads, if one has."""

    make: Callable[..., Delayed]
    home: str | None = None

    def task(self, so_far: Any) -> Delayed:
        """The task."""
        with at_home(self.home) as named:
            return self.make(so_far, **named)


def merged_over(steps: Sequence[Step], merge: Callable[[Delayed, Delayed], Delayed], n_lanes: int) -> Delayed:
    """Steps one after the other in some lanes that run beside each other; then a tree of merges.

    A lane has steps of one worker, and what it has so far stays there: only the sums of lanes move.
    """
    lanes: list[Delayed] = []
    of_homes: dict[str | None, list[Step]] = {}
    for step in steps:
        of_homes.setdefault(step.home, []).append(step)
    for of_home in of_homes.values():
        here = max(1, min(-(-n_lanes // len(of_homes)), len(of_home)))
        for lane in range(here):
            so_far: Any = None
            for step in of_home[lane * len(of_home) // here : (lane + 1) * len(of_home) // here]:
                so_far = step.task(so_far)
            lanes.append(so_far)
    while len(lanes) > 1:
        lanes = [
            _merged(lanes[start : start + _MERGED_AT_ONCE], merge) for start in range(0, len(lanes), _MERGED_AT_ONCE)
        ]
    return lanes[0]


def _merged(lanes: list[Delayed], merge: Callable[[Delayed, Delayed], Delayed]) -> Delayed:
    found = lanes[0]
    for lane in lanes[1:]:
        found = merge(found, lane)
    return found


def limited_to_a_slot() -> Any:
    """One thread for a task: a worker runs as many tasks at once as it was given threads."""
    return at_most_threads(1)
