"""A way through everything inside a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def parts_of(value: Any, seen: dict[int, Any] | None = None) -> Iterator[Any]:
    """Every object inside a model, through attributes and containers, each once."""
    seen = {} if seen is None else seen
    if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None))):
        return
    seen[id(value)] = value  # held, so that no other object gets its id
    inside = list(getattr(value, "__dict__", {}).values())
    if isinstance(value, dict):
        inside += [*value, *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)) or (isinstance(value, np.ndarray) and value.dtype == object):
        inside += list(value)
    else:
        yield value
    for part in inside:
        yield from parts_of(part, seen)


def type_name(value: Any) -> str:
    """The full name of an object's type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"
