"""How a command fails: a short message on the error output, a documented exit code, no traceback unless asked for."""

from __future__ import annotations

import errno
import json
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from unlabeled.cli.stopping import INTERRUPTED, STOPPED, stopped
from unlabeled.files import check_writable

__all__ = ["EXIT_CODES", "INTERRUPTED", "OutputError", "check_output", "explain_failure", "run"]

BAD_INPUT, USAGE, BAD_OUTPUT, CHECK_FAILED, BUG = 1, 2, 3, 4, 70
EXIT_CODES = (
    "**Exit codes**: 0 done; 1 a table, a model or a value in it cannot be used; 2 wrong usage; 3 the output cannot be "
    "written, or exists (`--force`); 4 a check of `report --fail-on` has found something; 70 an error of ours; 130 "
    "stopped by Ctrl-C, 143 by a kill. No half-written file is left behind."
)


class OutputError(Exception):
    """An output that cannot be written."""


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command and answer with its exit code. ``--debug`` may stand anywhere."""
    debug, as_json = "--debug" in arguments, "--json" in arguments
    words = [argument for argument in arguments if argument != "--debug"]
    try:
        ended = app(words, prog_name="unlabeled", standalone_mode=not as_json)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else BAD_INPUT
        return _ended(code)
    except BaseException as error:  # noqa: BLE001 (the last line of defence before a person; polars panics beyond Exception)
        if stopped or "interrupt" in str(error).lower():  # libraries dress a Ctrl-C up as errors of their own
            return _ended(INTERRUPTED)
        if debug:
            traceback.print_exc()
        message, code = explain_failure(error)
        _tell_json(message, code) if as_json else _tell(message)
        return code
    return ended if isinstance(ended, int) else 0  # for machines an exit code is an answer, and no SystemExit


def _ended(code: int) -> int:
    """The exit code; that of the signal which came, whatever a library made of it."""
    code = stopped[0] if stopped else code
    if code == INTERRUPTED:
        _tell(STOPPED)
    return code


def explain_failure(error: BaseException) -> tuple[str, int]:
    """What to tell, and the exit code."""
    if isinstance(error, OutputError):
        return str(error), BAD_OUTPUT
    if callable(usage := getattr(error, "format_message", None)):  # Typer's, which has no public name
        return usage(), USAGE
    if isinstance(error, OSError):
        return _explain_os_error(error)
    if isinstance(error, (ValueError, ImportError)):  # in the library's own words, as are errors of tables and models
        return str(error), BAD_INPUT
    if isinstance(error, MemoryError):
        return "The memory does not suffice for this table. Use fewer rows or columns.", BAD_INPUT
    return f"An error of ours, {type(error).__name__}: {error}. With --debug it says where; please report it.", BUG


def _explain_os_error(error: OSError) -> tuple[str, int]:
    name = error.filename or "the output"
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
    if str(path) == "-":
        raise OutputError("A model is a file, and not for the standard output; give a name for it.")
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file.")
    if not path.parent.is_dir():
        raise OutputError(f"There is no folder {path.parent} to write {path.name} to.")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is not a file but a device or the like; give the name of a file.")
    try:
        check_writable(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}. Give another place.") from error
    if path.exists() and any(path.samefile(other) for other in inputs if other.exists()):
        raise OutputError(f"{path} is read by this command; give another name for the output.")
    if path.exists() and not force:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise OutputError(f"{path} exists. To replace it: --force.")
        if not typer.confirm(f"{path} exists. Replace it?", err=True):
            raise OutputError(f"{path} was left as it is.")


def _tell_json(message: str, code: int) -> None:
    """The same for machines: one JSON object on the error output, so that the standard output has answers only."""
    typer.echo(json.dumps({"error": message, "exit_code": code}, ensure_ascii=False), err=True)


def _tell(message: Any) -> None:
    typer.echo(f"unlabeled: {message}", err=True)
