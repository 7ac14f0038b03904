"""How a command fails: a short message on the error output, a documented exit code, no traceback unless asked for."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import typer

from unlabeled.saving import ModelFileError
from unlabeled.tables import TableError

BAD_INPUT, USAGE, BAD_OUTPUT, BUG, INTERRUPTED, TERMINATED = 1, 2, 3, 70, 130, 143
EXIT_CODES = (
    "**Exit codes**: 0 done; 1 a table, a model or a value in it cannot be used; 2 wrong usage; 3 the output cannot be "
    "written, or exists (`--force`); 70 an error of ours; 130 stopped by Ctrl-C. No half-written file is left behind."
)


class OutputError(Exception):
    """An output that cannot be written."""


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command and answer with its exit code. ``--debug`` may stand anywhere."""
    debug = "--debug" in arguments
    try:
        app([argument for argument in arguments if argument != "--debug"], prog_name="unlabeled")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else BAD_INPUT
        return _ended(code)
    except BaseException as error:  # noqa: BLE001 (the last line of defence before a person; polars panics beyond Exception)
        if _stopped or "interrupt" in str(error).lower():  # libraries dress a Ctrl-C up as errors of their own
            return _ended(INTERRUPTED)
        if debug:
            traceback.print_exc()
        message, code = explain_failure(error)
        _tell(message)
        return code
    return 0


def _ended(code: int) -> int:
    """The exit code; that of the signal which came, whatever a library made of it."""
    code = _stopped[0] if _stopped else code
    if code == INTERRUPTED:
        _tell("Stopped. No half-written file is left behind.")
    return code


def explain_failure(error: BaseException) -> tuple[str, int]:
    """What to tell, and the exit code."""
    if isinstance(error, (TableError, ModelFileError)):
        return str(error), BAD_INPUT
    if isinstance(error, OutputError):
        return str(error), BAD_OUTPUT
    if isinstance(error, OSError):
        return _explain_os_error(error)
    if isinstance(error, (ValueError, ImportError)):  # the library's own words: what was given, and what to do
        return str(error), BAD_INPUT
    if isinstance(error, MemoryError):
        return "The memory does not suffice for this table. Use fewer rows or columns.", BAD_INPUT
    return f"An error of ours, {type(error).__name__}: {error}. With --debug it says where; please report it.", BUG


def _explain_os_error(error: OSError) -> tuple[str, int]:
    name = error.filename or "the file"
    known = {
        errno.ENOSPC: (f"The disk is full: {name} was not written.", BAD_OUTPUT),
        errno.EDQUOT: (f"Your share of the disk is full: {name} was not written.", BAD_OUTPUT),
        errno.EROFS: (f"The disk of {name} is read-only.", BAD_OUTPUT),
        errno.EACCES: (f"You have no permission for {name}.", BAD_INPUT),
        errno.ENOENT: (f"{name} does not exist.", BAD_INPUT),
        errno.EISDIR: (f"{name} is a folder, not a file.", BAD_INPUT),
    }
    return known.get(error.errno or 0, (str(error), BAD_INPUT))


def check_output(path: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Before the work: an output that exists is asked about, or needs ``--force``; its folder must be there.

    One of the inputs is never replaced, whatever it is called here.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise OutputError(f"There is no folder {path.parent} to write {path.name} to.")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"You have no permission to write to {path.parent}.")
    if path.exists() and any(path.samefile(other) for other in inputs if other.exists()):
        raise OutputError(f"{path} is read by this command; give another name for the output.")
    if path.exists() and not force:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise OutputError(f"{path} exists. To replace it: --force.")
        if not typer.confirm(f"{path} exists. Replace it?", err=True):
            raise OutputError(f"{path} was left as it is.")


#: The exit code of a signal that came.
_stopped: list[int] = []


def end_tidily() -> None:
    """Let Ctrl-C and a polite kill unwind, so that half-written files are removed; and remember that they came."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        _stopped.append(INTERRUPTED)
        signal.default_int_handler(number, frame)

    def stop(_number: int, _frame: FrameType | None) -> NoReturn:
        _stopped.append(TERMINATED)
        sys.exit(TERMINATED)

    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, stop)


def _tell(message: Any) -> None:
    typer.echo(f"unlabeled: {message}", err=True)
