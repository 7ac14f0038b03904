"""The console command ``unlabeled``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from unlabeled.cli.stopping import end_tidily, leave


def main() -> None:
    """Entry point of the console command."""
    arguments = sys.argv[1:]
    command = next((word for word in arguments if not word.startswith("-")), "")
    end_tidily(command)
    # Not before: loading the libraries takes seconds, in which Ctrl-C is to be heard too.
    commands, failures = import_module("unlabeled.cli.commands"), import_module("unlabeled.cli.failures")
    leave(command, failures.run(commands.app, arguments))


def __getattr__(name: str) -> Any:
    """The Typer application ``app``, loaded when it is asked for."""
    if name == "app":
        return import_module("unlabeled.cli.commands").app
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
