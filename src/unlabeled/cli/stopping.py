"""Ctrl-C and a polite kill: no half-written file, the exit code of the signal, and no traceback.

Python runs the handler of a signal between any two steps of the main thread: inside a callback of a library too, or
while an object is being deleted. An exception raised there cannot get out; it is printed, and the work goes on. So the
handler raises none. It removes what is half-written, and ends the process on the spot.

Nothing heavy is imported here: this is in place before the libraries are loaded.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from unlabeled.files import remove_unfinished

INTERRUPTED, TERMINATED = 130, 143
STOPPED = "Stopped. No half-written file is left behind."
#: Commands that have more to see to than files (worker processes, downloads), and so are unwound by an exception.
UNWOUND = ("datasets", "reproduce")
_STDERR = 2
_SHOW_CURSOR = "\x1b[?25h\n"  # a progress bar hides it

#: The exit codes of signals that came while a command was unwound.
stopped: list[int] = []


def end_tidily(command: str) -> None:
    """See to SIGINT and SIGTERM from here on, as it suits the command."""
    handler = _unwind if command in UNWOUND else _end_at_once
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handler)


def leave(command: str, code: int) -> NoReturn:
    """End the process: where nothing needs unwinding, without taking the libraries apart, which takes half a second."""
    if command in UNWOUND:
        sys.exit(code)
    remove_unfinished()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody may be listening any more
            stream.flush()
    os._exit(code)


def _end_at_once(number: int, _frame: FrameType | None) -> NoReturn:
    words = f"unlabeled: {STOPPED}\n" if number == signal.SIGINT else ""
    if os.isatty(_STDERR):
        words = _SHOW_CURSOR + words
    with suppress(OSError):  # nobody may be listening any more
        os.write(_STDERR, words.encode())
    try:
        remove_unfinished()
    finally:
        os._exit(_exit_code(number))


def _unwind(number: int, frame: FrameType | None) -> None:
    stopped.append(_exit_code(number))
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    sys.exit(_exit_code(number))


def _exit_code(number: int) -> int:
    return INTERRUPTED if number == signal.SIGINT else TERMINATED
