"""Runs cells in worker processes and keeps every answer.

The main process alone writes to the results file. A worker has one cell at a time, so when one dies (out of memory,
say) it is known which cell did it: that is recorded, a new worker takes its place, and the run goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from multiprocessing.connection import Connection, wait
from typing import Any

from unlabeled.experiments.cell import Cell
from unlabeled.results import ResultsFile, Row

#: An experiment's work on one cell: its metrics, and a "note" where there is something to say.
Run = Callable[[Cell], dict[str, Any]]
#: Libraries with threads of their own are held to one in a worker: the workers are the parallelism.
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
DEFAULT_MEMORY_GB = 12.0  # the paper's limit


def run_cells(
    cells: Iterable[Cell],
    results: ResultsFile,
    run: Run,
    *,
    jobs: int = 1,
    memory_gb: float = DEFAULT_MEMORY_GB,
    on_row: Callable[[Row], None] = lambda _: None,
) -> int:
    """Run the cells that have no row yet, and append their rows. Answers how many rows were written.

    ``on_row`` hears of every row when it is written. An interrupt ends the workers and is raised again.
    """
    results.refresh()
    waiting = iter([cell for cell in cells if cell.key not in results])
    n_written = 0
    with _workers(jobs, run, memory_gb) as crew:
        for row in _answers(waiting, crew, results):
            if results.append(row):
                n_written += 1
                on_row(row)
    return n_written


def _answers(waiting: Iterator[Cell], crew: list[_Worker], results: ResultsFile) -> Iterator[Row]:
    """Rows as they come in, while all workers are kept busy."""
    for worker in crew:
        worker.take_next(waiting, results)
    while busy := [worker for worker in crew if worker.cell is not None]:
        ready = wait([worker.connection for worker in busy])
        for worker in busy:
            if worker.connection in ready:
                row = worker.answer()
                worker.take_next(waiting, results)
                yield row


class _Worker:
    """A process that answers one cell at a time, replaced when it dies."""

    def __init__(self, run: Run, memory_gb: float) -> None:
        self.run, self.memory_gb = run, memory_gb
        self.cell: Cell | None = None
        self._start()

    def _start(self) -> None:
        # "spawn": a forked copy of a process with threads may hang
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.run, self.memory_gb), daemon=True)
        self.process.start()
        theirs.close()

    def take_next(self, waiting: Iterator[Cell], results: ResultsFile) -> None:
        """Begin the next cell that no other run has done meanwhile."""
        results.refresh()
        self.cell = next((cell for cell in waiting if cell.key not in results), None)
        if self.cell is not None:
            with suppress(BrokenPipeError):  # a worker that died meanwhile is noticed when it is asked for its answer
                self.connection.send(self.cell)

    def answer(self) -> Row:
        """The row of the cell in hand. A worker that died gives one that says so."""
        assert self.cell is not None  # noqa: S101 (asked only of busy workers)
        try:
            return dict(self.connection.recv())
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            self.connection.close()
            self._start()
            return row_of(self.cell, failure=f"killed: the process ended with code {code}")

    def stop(self) -> None:
        self.process.terminate()
        self.process.join()
        self.connection.close()


@contextmanager
def _workers(jobs: int, run: Run, memory_gb: float) -> Iterator[list[_Worker]]:
    held = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # read by the workers' libraries when they load
    crew: list[_Worker] = []
    try:
        crew += [_Worker(run, memory_gb) for _ in range(jobs)]
        yield crew
    finally:
        for worker in crew:
            worker.stop()
        for name, value in held.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(connection: Connection, run: Run, memory_gb: float) -> None:
    """The life of a worker process: cells in, rows out, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the main process's affair
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            cell = connection.recv()
        except EOFError:
            return
        try:
            connection.send(run_one(cell, run, memory_gb))
        except BrokenPipeError:
            return


def _end_with_parent() -> None:
    """Leave no worker behind in a long cell when the main process was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def run_one(cell: Cell, run: Run, memory_gb: float = DEFAULT_MEMORY_GB) -> Row:
    """The row of one cell: its metrics, or why there are none."""
    start = time.perf_counter()
    try:
        with _memory_bound(memory_gb):
            metrics = run(cell)
        json.dumps(metrics, allow_nan=False)  # what cannot be written is a failure of the cell, not of the run
    except MemoryError:
        failure = f"memory: more than {memory_gb:g} GB"
    except Exception as error:  # noqa: BLE001 (whatever a method does, the run goes on and the row says what)
        out_of_memory = "allocate" in str(error) and "memory" in str(error)  # torch's way of saying it
        where = traceback.extract_tb(error.__traceback__)[-1]
        failure = (
            f"memory: more than {memory_gb:g} GB"
            if out_of_memory
            else f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
        )
    else:
        return row_of(cell, metrics=metrics, seconds=time.perf_counter() - start)
    return row_of(cell, failure=failure, seconds=time.perf_counter() - start)


def row_of(
    cell: Cell, metrics: dict[str, Any] | None = None, failure: str | None = None, seconds: float | None = None
) -> Row:
    """A cell with what came of it, as it is kept."""
    row: Row = {**cell.identity(), "seed": cell.seed, "data_seed": cell.data_seed}
    if metrics is not None:
        note = metrics.pop("note", None)
        row["metrics"] = metrics
        if note:
            row["note"] = note
    if failure is not None:
        row["failure"] = failure
    if seconds is not None:
        row["seconds"] = round(seconds, 4)
    row["version"] = version("unlabeled")
    return row


@contextmanager
def _memory_bound(memory_gb: float) -> Iterator[None]:
    """Let this process allocate at most ``memory_gb`` more than it has now, where the system can enforce that."""
    try:
        import resource  # noqa: PLC0415 (not on Windows)
    except ImportError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    bound = _allocated_bytes() + int(memory_gb * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (bound if hard == resource.RLIM_INFINITY else min(bound, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _allocated_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
