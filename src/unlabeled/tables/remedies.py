"""How to say what a column is, in the words of whoever is to say it: an option of the command line, or Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_IN_PYTHON: ContextVar[bool] = ContextVar("in_python", default=False)


def say_kind(name: str, kind: str) -> str:
    """What to write so that a column is taken for a kind."""
    return (
        f"TableEncoder(kinds={{{name!r}: {kind!r}}})"
        if _IN_PYTHON.get()
        else f"--column {shlex.quote(f'{name}={kind}')}"
    )


@contextmanager
def said_in_python() -> Iterator[None]:
    """Speak of parameters (of `TableEncoder`) instead of options while this lasts."""
    before = _IN_PYTHON.set(True)
    try:
        yield
    finally:
        _IN_PYTHON.reset(before)
