"""Rows on a device: sent once, and written as the half-precision numbers that the matrix units take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from unlabeled.engines.triton_kernels import NORM_UNIT

#: Rows of usual length are this many units long: the products of their whole numbers stay below 2^24.
USUAL_LENGTH = 2048.0
#: The longest row that half precision can write.
LARGEST_LENGTH = 30_000.0
#: Columns beside the features.
EXTRA = 4
#: Columns that are held at once; longer rows are taken in blocks of so many.
BLOCK = 64
#: Numbers that are written at a time (8 bytes each).
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
        lengths = torch.cat([(some.double() - self.centre).norm(dim=1) for some in _some_rows(self.rows)])
        usual, longest = lengths.square().mean().sqrt().item(), lengths.max().item()
        unit = max(min(1.4 * usual, longest) / USUAL_LENGTH, longest / LARGEST_LENGTH)
        return unit if unit > 0 and np.isfinite(unit) else 1.0

    @cached_property
    def written(self) -> Written:
        """The points as the right-hand side of products."""
        written = write(self.rows, self.centre, self.unit, factor=1)
        d = self.rows.shape[1]
        _write_norms(written, -written.norms, first=d)
        written.high[: len(self.rows), d + 2], written.high[: len(self.rows), d + 3] = NORM_UNIT, 1
        return written


def write_queries(rows: torch.Tensor, points: DevicePoints) -> Written:
    """Queries as the left-hand side of products: twice as long, with room for a shift."""
    written = write(rows, points.centre, points.unit, factor=2)
    d = rows.shape[1]
    written.high[: len(rows), d], written.high[: len(rows), d + 1] = NORM_UNIT, 1
    return written


def shift_queries(written: Written, tops: torch.Tensor, n_features: int) -> None:
    """Let exponents be relative to these (in squared units, at most 0 for the nearest point), in place."""
    _write_norms(written, -written.norms - tops, first=n_features + 2)


def write(rows: torch.Tensor, centre: torch.Tensor, unit: float, factor: int) -> Written:
    """Centred rows in these units, padded to whole tiles and columns."""
    n_padded, columns = padded(len(rows)), n_columns(rows.shape[1])[0]
    high, low = (torch.zeros((n_padded, columns), dtype=torch.float16, device=rows.device) for _ in range(2))
    norms = torch.zeros(len(rows), dtype=torch.float64, device=rows.device)
    start = 0
    for some in _some_rows(rows):
        part, features = slice(start, start + len(some)), slice(0, rows.shape[1])
        scaled = ((some.double() - centre) / unit).clamp(-LARGEST_LENGTH, LARGEST_LENGTH)
        whole = scaled.round().half()
        rest = (scaled - whole.double()).half()
        high[part, features], low[part, features] = factor * whole, factor * rest
        norms[part] = (whole.double() + rest.double()).square().sum(dim=1)
        start += len(some)
    return Written(high, low, norms)


def padded(n_rows: int) -> int:
    """The number of rows in whole tiles of any shape."""
    return -(-n_rows // 256) * 256


def _write_norms(written: Written, norms: torch.Tensor, first: int) -> None:
    """A number as three: of `NORM_UNIT`, of one, and the rest, at the columns after the first."""
    rows = slice(0, len(norms))
    norms = norms.clamp(-65504 * NORM_UNIT, 65504 * NORM_UNIT)
    coarse = (norms / NORM_UNIT).round().half()
    left = norms - coarse.double() * NORM_UNIT
    fine = left.round().half()
    written.high[rows, first], written.high[rows, first + 1] = coarse, fine
    written.low[rows, first + 1] = (left - fine.double()).half()


def _some_rows(rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.split(rows, max(1, _CHUNK // max(1, rows.shape[1])))


def as_tensor(rows: Any, device: torch.device) -> torch.Tensor:
    """Rows on the device: those that are there already are used as they are."""
    if isinstance(rows, torch.Tensor):
        return rows.to(device)
    rows = np.ascontiguousarray(rows)
    return torch.from_numpy(rows if rows.flags.writeable else rows.copy()).to(device)
