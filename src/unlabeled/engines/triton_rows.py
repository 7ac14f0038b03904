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
#: Digits of two that tell rows apart.
COARSE = 16
#: Numbers whose squares are held at a time (8 bytes each).
_CHUNK = 1 << 25


def n_columns(n_features: int) -> tuple[int, int]:
    """How many columns the written rows have, and how many of them are taken at a time."""
    needed = n_features + EXTRA
    block = next((width for width in (16, 32, BLOCK) if needed <= width), BLOCK)
    return -(-needed // block) * block, block


@dataclass(frozen=True)
class Written:
    """Rows as whole numbers (``high``) and rests (``low``), and their squared lengths in these units.

    ``finest`` is what half precision leaves of the rests, where it is needed.
    """

    high: torch.Tensor
    low: torch.Tensor
    finest: torch.Tensor | None
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
    def _lengths(self) -> tuple[float, float]:
        """The usual and the largest distance from the centre."""
        sq_lengths = torch.cat([(some.double() - self.centre).square_().sum(dim=1) for some in _some_rows(self.rows)])
        usual, longest = torch.stack([sq_lengths.mean(), sq_lengths.max()]).sqrt_().tolist()
        return usual, longest

    @cached_property
    def most_copies(self) -> int:
        """The most points whose coordinates agree to 2^-`COARSE` of their length: these are rounded alike."""
        factors = np.random.default_rng(0).integers(1, 2**63, self.rows.shape[1] + 1)
        of_exponents, of_columns = int(factors[0]), torch.from_numpy(factors[1:]).to(self.rows.device)
        keys = []
        for some in _some_rows(self.rows):
            rows = some.double() - self.centre
            _, exponents = torch.frexp(rows.square().sum(dim=1).sqrt_())
            whole = (rows * torch.exp2((COARSE - exponents).double())[:, None]).round_().long()
            keys.append(whole.mul_(of_columns).sum(dim=1) + exponents.long() * of_exponents)
        _, counts = torch.unique_consecutive(torch.cat(keys).sort().values, return_counts=True)
        return int(counts.max())

    def unit(self, *, finely: bool) -> float:
        """The length of one unit. Lengths of most points decide it, and those of the longest where they must.

        Rows that are written finely have digits to spare, so that longer ones may decide.
        """
        usual, longest = self._lengths
        unit = max(min((4 if finely else 1.4) * usual, longest) / USUAL_LENGTH, longest / LARGEST_LENGTH)
        return unit if unit > 0 and np.isfinite(unit) else 1.0

    def frame(self, *, finely: bool) -> torch.Tensor:
        """The centre and, last, the unit: what rows are written by."""
        return torch.nn.functional.pad(self.centre, (0, 1), value=self.unit(finely=finely))

    def written(self, *, finely: bool) -> Written:
        """The points as the right-hand side of products."""
        return self._written_finely if finely else self._written

    @cached_property
    def _written(self) -> Written:
        return write(self.rows, self, are_queries=False, finely=False)

    @cached_property
    def _written_finely(self) -> Written:
        return write(self.rows, self, are_queries=False, finely=True)


def write(rows: torch.Tensor, points: DevicePoints, *, are_queries: bool, finely: bool) -> Written:
    """Rows centred at the points and in their units, padded to whole tiles and columns.

    Queries are the left-hand side of products: twice as long, with room for a shift.
    """
    (n_rows, d), (columns, block) = rows.shape, n_columns(rows.shape[1])
    n_padded = padded(n_rows)
    shape: dict[str, Any] = {"size": (n_padded, columns), "dtype": torch.float16, "device": rows.device}
    high, low, finest = torch.empty(**shape), torch.empty(**shape), torch.empty(**shape) if finely else None
    norms = torch.empty(n_rows, dtype=torch.float64, device=rows.device)
    height = TILE if rows.device.type == "cpu" else HEIGHT
    ends.write_rows[(n_padded // height,)](
        rows, points.frame(finely=finely), high, low, low if finest is None else finest, norms, n_rows, d,
        *rows.stride(), columns, block, are_queries, finely, height,
    )  # fmt: skip
    return Written(high, low, finest, norms)


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
