"""What an engine has made of an array, kept for as long as the array lives.

A fit sums over the same points many times: a copy on a device, or a tree, is made once and found again by the identity
of the array. So an array that is handed to `checked_log_kernel_sums` must not be changed afterwards. The arrays of a
sample are not, and `log_kernel_sums` hands on a new view of what it was given, with which all that was kept goes.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

_Made = TypeVar("_Made")


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
        self._made: OrderedDict[Hashable, tuple[weakref.ref[Any], _Made]] = OrderedDict()

    def of(self, array: Any, *details: Hashable) -> _Made:
        """The thing made of an array: as it was kept, or made now."""
        key = (id(array), *details)
        with self._lock:
            owner, made = self._made.get(key, (None, None))
            if owner is None or owner() is not array or made is None:
                made = self._make(array, *details)
                self._made[key] = weakref.ref(array, lambda _: self._forget(key)), made
            self._made.move_to_end(key)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return made

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            owner, _ = self._made.get(key, (None, None))
            if owner is not None and owner() is None:  # and not another array that has its address now
                del self._made[key]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._made.clear()

    def __len__(self) -> int:
        return len(self._made)
