"""Kernel sums of queries that are on a card, over points that are there.

The sums of a query are computed by the first of these ways that can do it well:

1. products of half-precision numbers, exact where it matters (`unlabeled.engines.triton_kernels`), with exponents
   relative to about that of the nearest of some points: one pass over all points;
2. the same written finely and relative to the nearest of all points, for queries whose sums left the range of float32,
   or that narrow kernels ask more digits of than two half-precision numbers have;
3. differences in float64: what the first two cannot do within `TOLERANCE`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from triton.runtime.interpreter import InterpretedFunction

from unlabeled.arrays import FloatArray
from unlabeled.engines import triton_ends as ends
from unlabeled.engines import triton_kernels as loops
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.triton_rows import DevicePoints, Written, n_columns, padded, write

#: Log sums are within this, or within a tenth of it for each unit of theirs, of what float64 would answer.
TOLERANCE = 1e-5
#: Gammas that share an exponential, each twice the last.
LADDER = 4
#: Sums that a program can hold; more are taken in several passes.
MOST_SUMS = 12
#: Points a program sums over at most: float32 sums of more would lose digits.
POINTS_A_PART = 131_072
#: Points a program takes at least, as far as there are so many.
LEAST_POINTS = 2048
#: Points among which the nearest is looked for first.
SCOUTED = 4096
#: How far below one, as a power of two, the nearest of these points is put, where one could be nearer.
ROOM = 40.0
#: Kernels that fall by more than this over a unit of squared distance are narrow: rows are written finely for them.
NARROW = 4e-6
#: Terms below 2^this are lost.
LOWEST = -126
_LOG2E = 1 / np.log(2)

INTERPRETED = isinstance(loops.kernel_sums, InterpretedFunction)


@dataclass(frozen=True)
class Tiles:
    """How many queries and points a program takes at a time, by how many warps, and how far ahead points are read."""

    height: int
    width: int
    warps: int
    stages: int

    @property
    def options(self) -> dict[str, Any]:
        """As the launch of a kernel takes them; without fused multiplications each exponent takes a step more."""
        return {"num_warps": self.warps, "num_stages": self.stages, "enable_fp_fusion": True}


#: By the number of columns that are taken at a time, and whether these are all; and for float64.
TILES = {
    (16, True): Tiles(128, 64, 4, 3),
    (32, True): Tiles(128, 64, 4, 3),
    (64, True): Tiles(128, 64, 8, 3),
    (64, False): Tiles(128, 128, 8, 3),
}
#: The same for rows that are written finely, which take more of everything.
FINE_TILES = {
    (16, True): Tiles(64, 64, 4, 3),
    (32, True): Tiles(64, 64, 4, 3),
    (64, True): Tiles(64, 64, 4, 3),
    (64, False): Tiles(128, 128, 8, 2),
}
#: Cards with the memory beside their processors that these need, by compute capability, and tiles for all others.
ROOMY, SMALL_TILES, SMALL_FINE_TILES = {(8, 0), (9, 0), (10, 0), (10, 3)}, Tiles(64, 64, 4, 2), Tiles(64, 32, 4, 2)
EXACT_TILES = Tiles(32, 64, 4, 2)
INTERPRETED_TILES = Tiles(256, 256, 4, 1)
INTERPRETED_EXACT_TILES = Tiles(256, 2048, 4, 1)
#: Queries that a program of `triton_ends` takes.
HEIGHT = 256


@dataclass(frozen=True)
class Job:
    """What stays the same for all queries."""

    points: DevicePoints
    is_rbf: bool
    gammas: FloatArray
    log_weights: torch.Tensor | None  # (n_weightings, n_points), float64

    @property
    def n_weightings(self) -> int:
        """How many sums each gamma has."""
        return 1 if self.log_weights is None else len(self.log_weights)

    @property
    def n_points(self) -> int:
        """How many points are summed over."""
        return len(self.points.rows)

    @property
    def device(self) -> torch.device:
        """Where they are."""
        return self.points.rows.device

    @property
    def is_narrow(self) -> bool:
        """Whether the narrowest kernel asks for rows that are written finely."""
        sharpest = float(self.gammas.max()) if self.is_rbf else 1 / float(self.gammas.min())
        return sharpest * self.points.unit(finely=False) ** 2 > NARROW

    def sq_unit(self, written: Written) -> float:
        """The square of the unit that rows are written in."""
        return self.points.unit(finely=written.finest is not None) ** 2

    @cached_property
    def log_top_weights(self) -> torch.Tensor:
        """Log of the largest weight of each weighting: float32 sums are relative to it."""
        if self.log_weights is None:
            return torch.zeros(1, dtype=torch.float64, device=self.device)
        return self.log_weights.max(dim=1).values.clamp(min=-1e300)

    @cached_property
    def weights(self) -> torch.Tensor | None:
        """Weights relative to the largest of each weighting, in whole tiles."""
        if self.log_weights is None:
            return None
        weights = torch.exp(self.log_weights - self.log_top_weights[:, None]).float()
        return torch.nn.functional.pad(weights, (0, padded(self.n_points) - self.n_points)).contiguous()

    def tiles(self, *, finely: bool) -> tuple[Tiles, int, int]:
        """The tiles for these points, the number of columns, and how many are taken at a time."""
        columns, block = n_columns(self.points.rows.shape[1])
        if INTERPRETED:
            return INTERPRETED_TILES, columns, block
        if torch.cuda.get_device_capability(self.device) not in ROOMY:
            return SMALL_FINE_TILES if finely else SMALL_TILES, columns, block
        return (FINE_TILES if finely else TILES)[block, columns == block], columns, block


@cache
def _n_processors(device: torch.device) -> int:
    return 1 if device.type == "cpu" else torch.cuda.get_device_properties(device).multi_processor_count


def _points_a_part(n_points: int, n_programs: int, width: int, device: torch.device, most: int | None = None) -> int:
    """Points that a program takes: few enough to keep all processors busy to the end, in whole tiles."""
    busy = 1 if device.type == "cpu" else 24 * _n_processors(device)
    n_parts = min(-(-busy // n_programs), -(-n_points // LEAST_POINTS))
    if most is not None:
        n_parts = max(n_parts, -(-n_points // most))
    return -(-n_points // (n_parts * width)) * width


# --- choosing --------------------------------------------------------------------------------------------------------


def best(job: Job, queries: torch.Tensor, own: torch.Tensor | None) -> torch.Tensor:
    """Log sums (n_weightings, n_gammas, n_queries), each query by the first way that suffices for all its sums."""
    stride = max(1, job.n_points // SCOUTED)
    sums, left = _tried(job, queries, own, stride, finely=job.is_narrow)
    if len(left) and not (job.is_narrow and (stride == 1 or not job.is_rbf)):
        own_of_some = None if own is None else own[left]
        sums[..., left], still_left = _tried(job, queries[left], own_of_some, stride=1, finely=True)
        left = left[still_left]
    if len(left):
        sums[..., left] = exact_sums(job, queries[left], None if own is None else own[left])
    return sums


def _tried(
    job: Job, queries: torch.Tensor, own: torch.Tensor | None, stride: int, *, finely: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log sums by products, and which queries do not have all of them within the tolerance."""
    written, n_queries = write(queries, job.points, are_queries=True, finely=finely), len(queries)
    tops = _shift(job, written, _nearest(job, written, own, stride) if job.is_rbf else None)
    sums, slots = _products(job, written, own)
    least = job.n_points * 2.0 ** (LOWEST + 20) if job.is_rbf else 0.0
    of_all = [job.sq_unit(written), least, TOLERANCE, np.log(job.points.most_copies)]
    numbers = _sent(np.concatenate([of_all, job.gammas]), job.device)
    log_sums = torch.empty((job.n_weightings, len(job.gammas), n_queries), dtype=torch.float64, device=job.device)
    done = torch.empty(n_queries, dtype=torch.int8, device=job.device)
    ends.finish[(-(-n_queries // HEIGHT),)](
        sums, numbers, _sent(slots.astype(np.int32), job.device), job.log_top_weights, written.norms, tops, log_sums,
        done, n_queries, len(job.gammas), sums.shape[1], job.n_weightings, job.is_rbf, finely, HEIGHT,
    )  # fmt: skip
    return log_sums, torch.nonzero(done == 0)[:, 0]


def _sent(numbers: np.ndarray, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(numbers).to(device)


def _shift(job: Job, written: Written, nearest: torch.Tensor | None) -> torch.Tensor:
    """Let exponents be relative to about the nearest points, or to a distance of 0; answers to what, squared units."""
    n_queries = len(written.norms)
    if nearest is None:  # as they were written
        return torch.zeros(n_queries, dtype=torch.float32, device=job.device)
    tops = torch.empty(n_queries, dtype=torch.float32, device=job.device)
    room = ROOM / (float(job.gammas.max()) * job.sq_unit(written) * _LOG2E)
    ends.write_shifts[(-(-n_queries // HEIGHT),)](
        nearest, written.norms, written.high, written.low, tops, n_queries, len(nearest), room,
        job.points.rows.shape[1], written.high.shape[1], HEIGHT,
    )  # fmt: skip
    return tops


# --- products --------------------------------------------------------------------------------------------------------


def _own_places(own: torch.Tensor | None, n_padded: int, stride: int = 1) -> torch.Tensor | None:
    """Each query's own point among every so many points, -1 where it is none, in whole tiles."""
    if own is None:
        return None
    places = torch.where((own >= 0) & (own % stride == 0), own // stride, -1)
    return torch.nn.functional.pad(places.int(), (0, n_padded - len(own)), value=-1)


def _nearest(job: Job, written: Written, own: torch.Tensor | None, stride: int) -> torch.Tensor:
    """Minus the squared distance of the nearest of every so many points (n_parts, n_queries)."""
    finely = written.finest is not None
    (tiles, columns, block), points = job.tiles(finely=finely), job.points.written(finely=finely)
    n_queries, n_points = len(written.norms), -(-job.n_points // stride)
    places = _own_places(own, len(written.high), stride)
    n_blocks = -(-n_queries // tiles.height)
    part = _points_a_part(n_points, n_blocks, tiles.width, job.device)
    n_parts = -(-n_points // part)
    found = torch.empty((n_parts, n_queries), dtype=torch.float32, device=job.device)
    loops.nearest[(n_blocks * n_parts,)](
        written.high, points.high, written.high if places is None else places, found, n_queries, n_points,
        part, stride, columns, block, places is not None, tiles.height, tiles.width, **tiles.options,
    )  # fmt: skip
    return found


def _products(job: Job, written: Written, own: torch.Tensor | None) -> tuple[torch.Tensor, np.ndarray]:
    """Sums of kernels (n_weightings, n_slots, n_queries), relative to the queries' shift, and each gamma's slot."""
    grid = Ladders.of(job.gammas, LADDER if job.is_rbf else 1)
    order = np.argsort(-np.repeat(grid.lengths, grid.lengths), kind="stable")  # ladders first, then those alone
    gammas = grid.base * grid.steps[order]
    sq_unit = job.sq_unit(written)
    steps = gammas * sq_unit * _LOG2E if job.is_rbf else sq_unit / gammas
    on_device = _sent(steps.astype(np.float32), job.device)
    n_ladders, n_alone = int((grid.lengths > 1).sum()), int((grid.lengths == 1).sum())
    places = _own_places(own, len(written.high))
    slots = np.argsort(order)[grid.slots]
    passes = list(_passes(job.n_weightings, n_ladders, n_alone))
    if len(passes) == 1:
        return _pass(job, written, places, on_device, slice(0, job.n_weightings), n_ladders, n_alone), slots
    shape = job.n_weightings, len(gammas), len(written.norms)
    found = torch.empty(shape, dtype=torch.float64, device=job.device)
    for weightings, some, of_ladders, of_alone in passes:
        found[weightings, some] = _pass(job, written, places, on_device[some], weightings, of_ladders, of_alone)
    return found, slots


def _passes(n_weightings: int, n_ladders: int, n_alone: int) -> Iterator[tuple[slice, slice, int, int]]:
    """Weightings and gammas that are taken together: ladders and gammas that are alone, in few passes."""
    together = min(n_weightings, MOST_SUMS)
    for start in range(0, n_weightings, together):
        weightings = slice(start, min(start + together, n_weightings))
        room = MOST_SUMS // (weightings.stop - weightings.start)
        slot, ladders, alone = 0, n_ladders, n_alone
        while ladders or alone:
            of_ladders = min(ladders, max(room // LADDER, 0 if alone and not ladders else 1))
            of_alone = min(alone, max(room - of_ladders * LADDER, 0 if of_ladders else 1))
            n_slots = of_ladders * LADDER + of_alone
            yield weightings, slice(slot, slot + n_slots), of_ladders, of_alone
            slot, ladders, alone = slot + n_slots, ladders - of_ladders, alone - of_alone


def _pass(
    job: Job,
    written: Written,
    places: torch.Tensor | None,
    steps: torch.Tensor,
    weightings: slice,
    n_ladders: int,
    n_alone: int,
) -> torch.Tensor:
    """One pass over all points: sums (n_weightings, n_steps, n_queries)."""
    finely, n_queries = written.finest is not None, len(written.norms)
    (tiles, columns, block), points = job.tiles(finely=finely), job.points.written(finely=finely)
    n_blocks = -(-n_queries // tiles.height)
    part = _points_a_part(job.n_points, n_blocks, tiles.width, job.device, most=POINTS_A_PART)
    n_parts = -(-job.n_points // part)
    weights = None if job.weights is None else job.weights[weightings]
    n_weightings = 0 if weights is None else len(weights)
    shape = n_parts, len(steps), max(1, n_weightings), n_queries
    answers = torch.empty(shape, dtype=torch.float32, device=job.device)
    loops.kernel_sums[(n_blocks * n_parts,)](
        written.high, written.low, written.finest if finely else written.low, points.high, points.low,
        points.finest if finely else points.low, steps if places is None else places, steps,
        steps if weights is None else weights, answers, n_queries, job.n_points, part, len(points.high),
        columns, block, job.is_rbf, n_ladders, LADDER, n_alone, n_weightings, places is not None, finely,
        tiles.height, tiles.width, **tiles.options,
    )  # fmt: skip
    return answers.sum(dim=0, dtype=torch.float64).transpose(0, 1).contiguous()


# --- differences -----------------------------------------------------------------------------------------------------


def exact_sums(job: Job, queries: torch.Tensor, own: torch.Tensor | None) -> torch.Tensor:
    """Log sums by differences in float64 (n_weightings, n_gammas, n_queries)."""
    tiles = INTERPRETED_EXACT_TILES if INTERPRETED else EXACT_TILES
    n_queries, gammas = len(queries), _sent(job.gammas, job.device)
    grid = -(-n_queries // tiles.height), len(gammas) * job.n_weightings
    part = _points_a_part(job.n_points, grid[0] * grid[1], tiles.width, job.device)
    n_parts = -(-job.n_points // part)
    shape = n_parts, job.n_weightings, len(gammas), n_queries
    answers = torch.empty(shape, dtype=torch.float64, device=job.device)
    weights = job.log_weights
    loops.exact_sums[(*grid, n_parts)](
        queries.T.contiguous(), job.points.by_feature, gammas if own is None else own.int(), gammas,
        gammas if weights is None else weights, answers, n_queries, job.n_points, len(gammas), queries.shape[1],
        job.n_points, part, job.is_rbf, weights is not None, own is not None, tiles.height, tiles.width,
        **tiles.options,
    )  # fmt: skip
    return answers[0] if n_parts == 1 else torch.logsumexp(answers, dim=0)
