"""What a command says: lines for people, JSON for machines, and neither colour nor progress where it is piped."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from unlabeled.stages import Listener, listening

_KEY_WIDTH = 12


def say(key: str, *lines: str) -> None:
    """A line under a short heading, and more lines below it."""
    console = Console(highlight=False, soft_wrap=True)
    for number, line in enumerate(lines):
        heading = f"[bold]{escape(key)}[/]".ljust(_KEY_WIDTH + 10) if number == 0 else " " * _KEY_WIDTH
        if not console.is_terminal:
            heading = (key if number == 0 else "").ljust(_KEY_WIDTH)
        console.print(f"{heading}{escape(line)}" if console.is_terminal else escape(f"{heading}{line}"))


def remark(words: str, *, as_json: bool) -> None:
    """Something to know before the work is done, on the error output; for machines it is in the answer."""
    if not as_json:
        Console(stderr=True, highlight=False, soft_wrap=True).print(escape(f"unlabeled: {words}"))


def say_json(answer: dict[str, Any]) -> None:
    """One JSON object on the standard output; dates and the like are text in it."""
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()  # a full disk says so here


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table: framed on a terminal, in plain columns elsewhere."""
    console = Console(highlight=False)
    if console.is_terminal:
        table = Table(*headings)
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
        return
    widths = [max(len(cell) for cell in column) for column in zip(headings, *rows, strict=True)]
    for row in (headings, *rows):
        sys.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    sys.stdout.flush()


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Gather what the library warns of, each once, to be told at the end in plain lines."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield told
    told += dict.fromkeys(str(warning.message) for warning in caught)


@contextmanager
def shown_progress(doing: str) -> Iterator[Callable[[str], None]]:
    """Show what a command is doing, and how long already, on the error output if that is a terminal.

    Stages of reading and learning are shown as they come; the function says what else is to be shown.
    """
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as line:
        task = line.add_task(doing)

        def show(words: str) -> None:
            line.update(task, description=escape(words))

        with listening(_in_words(show)):
            yield show


def _in_words(show: Callable[[str], None]) -> Listener:
    """A listener that says what was read and learned so far."""
    read, n_done = "", 0

    def listener(name: str, how_far: str, seconds: float | None) -> None:
        nonlocal read, n_done
        if name == "reading":
            read = how_far or read
            show(f"Reading{read and f': {read}'}")
        elif seconds is not None:
            n_done += 1
        else:
            so_far = f" from {read}" if read else ""
            steps = f" ({n_done} steps done)" if n_done else ""
            show(f"Learning{so_far}: {name}{how_far and f', {how_far}'}{steps}")

    return listener
