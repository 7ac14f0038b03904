"""Threads of the processor: how many, and how work is handed to them."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any

import joblib
from joblib.parallel import get_active_backend

#: The most threads where none are asked for; None: all cores.
_limit: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def at_most_threads(limit: int) -> Iterator[None]:
    """Within it, no more threads than these are used, unless a number is asked for."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def n_threads(n_jobs: int | None) -> int:
    """Threads to use: what was asked for, else all cores, or one inside a worker thread of joblib or of a process pool.

    joblib tells its own worker processes by NUMBA_NUM_THREADS how many threads each may use.
    """
    check_n_jobs(n_jobs)
    import numba  # noqa: PLC0415 (who asks does so before much work, and who does not need not wait for it)

    available = min(joblib.cpu_count(), numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if n_jobs is None and (limit := _limit.get()) is not None:
        return min(limit, available)
    if n_jobs is None:
        backend, _ = get_active_backend()
        in_worker_thread = backend.nesting_level and threading.current_thread() is not threading.main_thread()
        return 1 if in_worker_thread or multiprocessing.current_process().daemon else available
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what is no number of threads."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} has no meaning; use a whole number of threads, -1 for all cores, or None.")


def on_threads(function: Callable[[Any], Any], parts: Any, n_threads: int) -> Iterator[Any]:
    """Call a function for each part on some threads; the answers in order."""
    if n_threads == 1 or len(parts) == 1:
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(function, part) for part in parts]
        try:
            for future in futures:
                yield future.result()
        finally:  # an interrupt must not wait for the parts that have not begun
            pool.shutdown(wait=True, cancel_futures=True)
