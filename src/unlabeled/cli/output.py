"""What a command says: lines for people, JSON for machines, and neither colour nor progress where it is piped."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from unlabeled.stages import listening

_KEY_WIDTH = 12


def say(key: str, *lines: str) -> None:
    """A line under a short heading, and more lines below it."""
    console = Console(highlight=False, soft_wrap=True)
    for number, line in enumerate(lines):
        heading = f"[bold]{escape(key)}[/]".ljust(_KEY_WIDTH + 10) if number == 0 else " " * _KEY_WIDTH
        if not console.is_terminal:
            heading = (key if number == 0 else "").ljust(_KEY_WIDTH)
        console.print(f"{heading}{escape(line)}" if console.is_terminal else escape(f"{heading}{line}"))


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
def shown_stages() -> Iterator[None]:
    """Show what a fit is doing, and how long already, on the error output if that is a terminal."""
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("Reading the table")

        def show(name: str, how_far: str, seconds: float | None) -> None:
            if seconds is None:
                bar.update(task, description=f"Learning: {name}{how_far and f', {how_far}'}")

        with listening(show):
            yield


@contextmanager
def progress(what: str) -> Iterator[Any]:
    """A function to call with the number of rows done; a bar on the error output if that is a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=None)
        yield lambda n_rows: bar.advance(task, n_rows)
