"""What a fit is doing, told to whoever listens: a person before a terminal, or a benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

#: Called with the name of a stage and how far it is, when it begins and as it goes on, and with its seconds when it is
#: done.
Listener = Callable[[str, str, float | None], None]

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())


@contextmanager
def stage(name: str, how_far: str = "") -> Iterator[None]:
    """Tell that something begins, and when it is done."""
    listeners, start = _listeners.get(), perf_counter()
    for listener in listeners:
        listener(name, how_far, None)
    yield
    for listener in listeners:
        listener(name, how_far, perf_counter() - start)


def tell(name: str, how_far: str) -> None:
    """Tell how far something is that has begun."""
    for listener in _listeners.get():
        listener(name, how_far, None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have a listener told of all stages inside."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


def printing(who: str) -> Listener:
    """A listener that prints a line for each stage that is done, as scikit-learn's ``verbose`` does."""

    def listener(name: str, how_far: str, seconds: float | None) -> None:
        if seconds is not None:
            print(f"[{who}] {name}{how_far and f', {how_far}'}: {seconds:.2f} s", flush=True)  # noqa: T201

    return listener
