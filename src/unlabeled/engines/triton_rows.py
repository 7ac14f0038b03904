"""Rows on a device: sent once, and written as the half-precision numbers that the matrix units take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from unlabeled.engines import triton_ends as ends
from unlabeled.engines.triton_ends import EXTRA, LARGEST_LENGTH

#: Rows of usual length are this many units long: the products of their whole numbers stay below 2^24.
USUAL_LENGTH = 2048.0
#: Columns that are held at once; longer rows are taken in blocks of so many.
BLOCK = 64
#: Rows that a program writes.
HEIGHT = 64
#: Rows of all tiles are a multiple of this many.
TILE = 256
#: Numbers whose squares are held at a time (8 bytes each).
_CHUNK = 1 << 25


def n_columns(n_features: int) -> tuple[int, int]:
    """How many columns the written rows have, and how many of them are taken at a time."""
    needed = n_features + EXTRA
    block = next((width for width in (16, 32, BLOCK) if needed <= width), BLOCK)
    return -(-needed // block) * block, block


@dataclass(frozen=True)
class Written:
    """Rows as whole numbers (``high``) and rests (``low``), and their squared lengths in these units."""

    high: torch.Tensor
    low: torch.Tensor
    norms: torch.Tensor  # float64

    def take(self, rows: torch.Tensor) -> Written:
        """Some of the rows, again in whole tiles."""
        padding = padded(len(rows)) - len(rows)
        high, low = (torch.nn.functional.pad(part[rows], (0, 0, 0, padding)) for part in (self.high, self.low))
        return Written(high, low, self.norms[rows])


@dataclass(frozen=True)
class DevicePoints:
    """Points on a device, and as written for the matrix units when first asked for."""

    rows: torch.Tensor

    @cached_property
    def by_feature(self) -> torch.Tensor:
        """Features first."""
        return self.rows.T.contiguous()

    @cached_property
    def centre(self) -> torch.Tensor:
        """The mean of the points: distances do not change, and norms are smallest."""
        return self.rows.mean(dim=0, dtype=torch.float64)

    @cached_property
    def unit(self) -> float:
        """The length of one unit. Lengths of most points decide it, and those of the longest where they must."""
        sq_lengths = torch.cat([(some.double() - self.centre).square_().sum(dim=1) for some in _some_rows(self.rows)])
        usual, longest = torch.stack([sq_lengths.mean(), sq_lengths.max()]).sqrt_().tolist()
        unit = max(min(1.4 * usual, longest) / USUAL_LENGTH, longest / LARGEST_LENGTH)
        return unit if unit > 0 and np.isfinite(unit) else 1.0

    @cached_property
    def frame(self) -> torch.Tensor:
        """The centre and, last, the unit: what rows are written by."""
        return torch.nn.functional.pad(self.centre, (0, 1), value=self.unit)

    @cached_property
    def written(self) -> Written:
        """The points as the right-hand side of products."""
        return write(self.rows, self, are_queries=False)


def write(rows: torch.Tensor, points: DevicePoints, *, are_queries: bool) -> Written:
    """Rows centred at the points and in their units, padded to whole tiles and columns.

    Queries are the left-hand side of products: twice as long, with room for a shift.
    """
    (n_rows, d), (columns, block) = rows.shape, n_columns(rows.shape[1])
    n_padded = padded(n_rows)
    high, low = (torch.empty((n_padded, columns), dtype=torch.float16, device=rows.device) for _ in range(2))
    norms = torch.empty(n_rows, dtype=torch.float64, device=rows.device)
    height = TILE if rows.device.type == "cpu" else HEIGHT
    ends.write_rows[(n_padded // height,)](
        rows, points.frame, high, low, norms, n_rows, d, *rows.stride(), columns, block, are_queries, height
    )
    return Written(high, low, norms)


def padded(n_rows: int) -> int:
    """The number of rows in whole tiles of any shape."""
    return -(-n_rows // TILE) * TILE


def _some_rows(rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.split(rows, max(1, _CHUNK // max(1, rows.shape[1])))


def as_tensor(rows: Any, device: torch.device) -> torch.Tensor:
    """Rows on the device: those that are there already are used as they are."""
    if isinstance(rows, torch.Tensor):
        return rows.to(device)
    rows = np.ascontiguousarray(rows)
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy()).to(device)
