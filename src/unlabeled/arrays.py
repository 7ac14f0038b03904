"""The type of the arrays that rows, scores, weights and kernel sums come in; and rows that are on a card.

Tensors of torch on a card pass through to the engine as they are. Torch is loaded where there is such a tensor, so
nothing here has to load it.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: Numbers (8 bytes each) that stay near the processor while it works on them.
_NEARBY = 1 << 15


def row_blocks(rows: Any) -> Iterator[slice]:
    """Cut a long table into blocks: what is made of each then stays near the processor."""
    step = max(1, _NEARBY // max(1, rows.shape[1]))
    for start in range(0, rows.shape[0], step):
        yield slice(start, start + step)


def has_missing(rows: FloatArray) -> bool:
    """Whether any value is NaN; many times faster than to ask each."""
    return rows.size > 0 and bool(np.isnan(rows.min()))


def is_on_device(array: Any) -> bool:
    """Whether this is a tensor of torch on a card."""
    return bool(getattr(array, "is_cuda", False))


def is_tensor(array: Any) -> bool:
    """Whether this is a tensor of torch, wherever it is."""
    return hasattr(array, "detach")


def beside(like: Any, array: Any) -> Any:
    """The array as a tensor where another is, if that is one; else as it is."""
    return sys.modules["torch"].as_tensor(array, device=like.device) if is_tensor(like) else array


def checked_on_device(rows: Any, name: str) -> Any:
    """Rows on a card, if they are a table of finite floats; whole numbers become floats."""
    if rows.ndim != 2:
        raise ValueError(
            f"Expected 2D {name}, one row for each observation; got a tensor of shape {tuple(rows.shape)}."
        )
    rows = rows.detach()
    if rows.is_complex():
        raise ValueError(f"Complex data not supported: {name} are complex numbers; use their parts as features.")
    if rows.dtype.itemsize < 4 or not rows.is_floating_point():
        rows = rows.double()
    if not bool(rows.isfinite().all()):
        raise ValueError(f"{name} contain NaN or infinity; use finite numbers.")
    return rows


def on_host(array: Any) -> Any:
    """A tensor of torch as an array of NumPy, copied where it is on a card; anything else as it is."""
    if not is_tensor(array):
        return array
    array = array.detach().cpu()
    short = array.is_floating_point() and array.dtype.itemsize < 4  # NumPy does not know all of these
    return (array.float() if short else array).numpy()


def on_device_of(like: Any, array: Any) -> Any:
    """The array as a tensor beside another on its card; as it is where the other is on no card."""
    return beside(like, array) if is_on_device(like) else array
