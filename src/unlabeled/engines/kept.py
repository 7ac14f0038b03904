"""What an engine has made of an array, kept for as long as the array lives.

A fit sums over the same points many times: a copy on a device, or their order in a tree, is made once and found again
by the identity of the array. So an array that is handed to `checked_log_kernel_sums` must not be changed afterwards.
The arrays of a sample are not, and where users' arrays come in (`log_kernel_sums`, the checks of estimators) a new view
of them is handed on, with which all that was kept goes. Should an array be changed all the same, a glance at some of
its numbers tells as a rule.
"""

from __future__ import annotations

import threading
import weakref
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np

_Made = TypeVar("_Made")


#: Rows that a glance takes in.
_GLANCE = 64


class Kept(Generic[_Made]):
    """The last few things made of arrays, each found by its array until that is collected.

    Parameters
    ----------
    make : callable
        Makes the thing of an array, and of what else it depends on.
    most : int
        How many are kept; the one that was not asked for the longest goes first.
    """

    def __init__(self, make: Callable[..., _Made], most: int) -> None:
        self._make, self._most = make, most
        self._lock = threading.RLock()
        self._made: OrderedDict[Hashable, tuple[weakref.ref[Any], Hashable, _Made]] = OrderedDict()

    def of(self, array: Any, *details: Hashable) -> _Made:
        """The thing made of an array: as it was kept, or made now."""
        key, state = (id(array), *details), _state(array)
        with self._lock:
            owner, before, made = self._made.get(key, (None, None, None))
            if owner is None or owner() is not array or before != state or made is None:
                made = self._make(array, *details)
                self._made[key] = weakref.ref(array, lambda _: self._forget(key)), state, made
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            owner, _, _ = self._made.get(key, (None, None, None))
            if owner is not None and owner() is None:  # and not another array that has its address now
                del self._made[key]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)


def _state(array: Any) -> Hashable:
    """What changes with the contents of an array: torch counts changes of a tensor; of others some rows are read."""
    if not isinstance(array, np.ndarray):
        return getattr(array, "_version", None)
    some = array[:: max(1, len(array) // _GLANCE)]
    return array.shape, array.dtype.str, zlib.crc32(some.tobytes())
