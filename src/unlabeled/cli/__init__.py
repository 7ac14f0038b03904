"""The console command ``unlabeled``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from unlabeled.cli.stopping import end_tidily, leave

_EMPTY_LINE = "\r\x1b[2K"


def main() -> None:
    """Entry point of the console command."""
    arguments = sys.argv[1:]
    command = next((word for word in arguments if not word.startswith("-")), "")
    end_tidily(command)
    # Not before: loading the libraries takes seconds, in which Ctrl-C is to be heard too.
    with _shown_loading():
        commands, failures = import_module("unlabeled.cli.commands"), import_module("unlabeled.cli.failures")
    leave(command, failures.run(commands.app, arguments))


@contextmanager
def _shown_loading() -> Iterator[None]:
    """A word on the error output, if that is a terminal, until there is more to tell."""
    is_shown = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if is_shown:
        sys.stderr.write("Loading the libraries")
        sys.stderr.flush()
    yield
    if is_shown:
        sys.stderr.write(_EMPTY_LINE)


def __getattr__(name: str) -> Any:
    """The Typer application ``app``, loaded when it is asked for."""
    if name == "app":
        return import_module("unlabeled.cli.commands").app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
