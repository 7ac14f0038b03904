"""A progress bar on the terminal: rich where it is installed, a plain line where it is not, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic

#: Bytes below which a bar would only flash.
_SHORT = 1 << 24
_SECONDS_BETWEEN_LINES = 0.5

#: To be called with the bytes done so far.
Reach = Callable[[int], None]


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Reach]:
    """Show bytes done out of a total (None: not known); the answer is called with the bytes done so far."""
    if not sys.stderr.isatty() or (total is not None and total < _SHORT):
        yield lambda _: None
    elif find_spec("rich") is not None:
        with _rich_bar(title, total) as reach:
            yield reach
    else:
        with _plain_line(title, total) as reach:
            yield reach


@contextmanager
def _rich_bar(title: str, total: int | None) -> Iterator[Reach]:
    # Loaded here: rich is not a requirement, and whoever has no terminal should not wait for it.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def _plain_line(title: str, total: int | None) -> Iterator[Reach]:
    of_total = f" of {total / 1e6:.0f}" if total else ""
    shown_at = -_SECONDS_BETWEEN_LINES

    def reach(done: int) -> None:
        nonlocal shown_at
        if monotonic() - shown_at >= _SECONDS_BETWEEN_LINES:
            shown_at = monotonic()
            sys.stderr.write(f"\r{title}: {done / 1e6:.0f}{of_total} MB")
            sys.stderr.flush()

    try:
        yield reach
    finally:
        sys.stderr.write("\n")
