"""The GPU engine: one fused kernel in which the matrix of pairs never leaves the registers.

The sums of a query are computed by the first of these ways that can do it well:

1. products of half-precision numbers, exact where it matters (`unlabeled.engines.triton_kernels`), with exponents
   relative to about that of the nearest of some points: one pass over all points;
2. the same, relative to the nearest of all points, for queries whose sums left the range of float32;
3. differences in float64: small jobs, ``exact=True``, and what the first two cannot do within `TOLERANCE`.

Points stay on the device for as long as their array lives (`unlabeled.engines.kept`). More of them than a share of the
device's memory are sent in blocks, one ahead of the sums, and the log sums of blocks are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from triton.runtime.interpreter import InterpretedFunction

from unlabeled.arrays import FloatArray
from unlabeled.engines import triton_kernels as loops
from unlabeled.engines.kept import Kept
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.triton_rows import (
    DevicePoints,
    Written,
    as_tensor,
    n_columns,
    padded,
    shift_queries,
    write_queries,
)
from unlabeled.kernels import Kernel

#: Jobs of fewer pairs take a processor no longer than the way to the card and back.
LEAST_PAIRS = 10_000_000
#: Jobs of fewer pairs are computed in float64.
EXACT_PAIRS = 1_000_000
#: Log sums are within this, or within a tenth of it for each unit of theirs, of what float64 would answer.
TOLERANCE = 1e-5
#: Gammas that share an exponential, each twice the last.
LADDER = 4
#: Sums that a program can hold; more are taken in several passes.
MOST_SUMS = 12
#: Points a program sums over at most: float32 sums of more would lose digits.
POINTS_A_PART = 131_072
#: Points among which the nearest is looked for first.
SCOUTED = 4096
#: Where on the scale of float32, as a power of two, the nearest of these points is put.
ROOM = -40.0
#: Terms below 2^this are lost.
LOWEST = -126
#: The share of free memory that a block of points may take; the next one is sent beside it.
MEMORY_SHARE = 0.2
_LOG2E = 1 / np.log(2)

INTERPRETED = isinstance(loops.kernel_sums, InterpretedFunction)
#: By the names of `unlabeled.kernels`: whether it is the exponential.
LOOPS = {"rbf": True, "inverse": False}


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
#: Cards with the memory beside their processors that these need, by compute capability, and tiles for all others.
ROOMY, SMALL_TILES = {(8, 0), (9, 0), (10, 0), (10, 3)}, Tiles(64, 64, 4, 2)
EXACT_TILES = Tiles(32, 64, 4, 2)
INTERPRETED_TILES = Tiles(256, 256, 4, 1)
INTERPRETED_EXACT_TILES = Tiles(256, 2048, 4, 1)


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
    def log_top_weights(self) -> torch.Tensor:
        """Log of the largest weight of each weighting: float32 sums are relative to it."""
        if self.log_weights is None:
            return torch.zeros(1, dtype=torch.float64, device=self.points.rows.device)
        return self.log_weights.max(dim=1).values.clamp(min=-1e300)


def unusable() -> str | None:
    """Why this engine cannot be used on this machine; None where it can."""
    if INTERPRETED:
        return None
    if not torch.cuda.is_available():
        return (
            f"torch {torch.__version__} sees no CUDA card: check that nvidia-smi lists one and that torch was "
            "installed with CUDA (torch.version.cuda is not None)"
        )
    major, minor = torch.cuda.get_device_capability()
    if major < 8:
        return (
            f"the card, {torch.cuda.get_device_name()}, has compute capability {major}.{minor}, and Triton needs 8.0 "
            "(Ampere) or later"
        )
    return None


def unsuited(kernel: Kernel, n_queries: int, n_points: int, n_features: int, *, exact: bool) -> str | None:  # noqa: ARG001
    """Why a job should not come here by itself; None where it should."""
    if INTERPRETED:
        return "Triton's interpreter (TRITON_INTERPRET=1) is for tests"
    if n_queries * n_points < LEAST_PAIRS:
        return f"{n_queries * n_points:.3g} pairs are no faster on a card"
    return unusable()


def log_sums(
    queries: Any,
    points: Any,
    kernel: Kernel,
    gammas: FloatArray,
    own: np.ndarray | None,
    log_weights: FloatArray | None,
    *,
    exact: bool,
    n_jobs: int | None,  # noqa: ARG001  a card has one queue
) -> FloatArray:
    """Log kernel sums for each weighting, or the plain ones; see `unlabeled.engines.log_kernel_sums`."""
    if kernel.name not in LOOPS:
        raise ValueError(
            f"engine='triton' has no loops for the kernel {kernel.name!r}, only for {sorted(LOOPS)}; use "
            "engine='reference'."
        )
    device = _device(queries, points)
    exact = exact or len(queries) * len(points) < EXACT_PAIRS
    merged: torch.Tensor | None = None
    for block, on_device in _blocks(points, device):
        weights = None if log_weights is None else as_tensor(log_weights[:, block], device)
        own_here = None if own is None else np.where((own >= block.start) & (own < block.stop), own - block.start, -1)
        job = Job(on_device, LOOPS[kernel.name], gammas, weights)
        with np.errstate(all="ignore"):  # the interpreter computes by NumPy, which warns of the log of an empty sum
            sums = _sums_of_queries(job, queries, own_here, exact=exact)
        merged = sums if merged is None else torch.logaddexp(merged, sums)
    assert merged is not None  # noqa: S101  there are points
    return merged.cpu().numpy()


def _device(*arrays: Any) -> torch.device:
    """Where the data is, or the card in use."""
    reason = unusable()
    if reason is not None:
        raise RuntimeError(f"engine='triton' cannot be used: {reason}; or use engine='auto'.")
    for array in arrays:
        if isinstance(array, torch.Tensor) and array.is_cuda:
            return array.device
    return torch.device("cpu") if INTERPRETED else torch.device("cuda", torch.cuda.current_device())


# --- memory ----------------------------------------------------------------------------------------------------------


def _to_device(array: Any, name: str) -> DevicePoints:
    return DevicePoints(as_tensor(array, torch.device(name)))


_KEPT: Kept[DevicePoints] = Kept(_to_device, most=8)


def _blocks(points: Any, device: torch.device) -> Iterator[tuple[slice, DevicePoints]]:
    """The points, on the device: kept there where they fit, else block by block, each sent while the last is used."""
    size = _block_size(points, device)
    if size >= len(points):
        yield slice(0, len(points)), _KEPT.of(points, str(device))
        return
    blocks = [slice(start, min(start + size, len(points))) for start in range(0, len(points), size)]
    stream = None if device.type == "cpu" else torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    following = _sent(points, blocks[0], device, stream)
    for place, block in enumerate(blocks):
        ready = following
        if stream is not None:
            torch.cuda.current_stream(device).wait_stream(stream)
            ready.record_stream(torch.cuda.current_stream(device))
        if place + 1 < len(blocks):
            following = _sent(points, blocks[place + 1], device, stream)
        yield block, DevicePoints(ready)


def _sent(points: Any, block: slice, device: torch.device, stream: Any) -> torch.Tensor:
    if stream is None:
        return as_tensor(points[block], device)
    rows = points[block]
    rows = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(rows))
    with torch.cuda.stream(stream):
        return rows.pin_memory().to(device, non_blocking=True) if rows.device.type == "cpu" else rows.to(device)


def _block_size(points: Any, device: torch.device) -> int:
    """Points that may be on the device at once: as they are, by feature, and written twice."""
    if device.type == "cpu" or (isinstance(points, torch.Tensor) and points.is_cuda):
        return len(points)
    row = 2 * points.shape[1] * points.dtype.itemsize + 4 * n_columns(points.shape[1])[0]
    free, _ = torch.cuda.mem_get_info(device)
    free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return max(1, int(MEMORY_SHARE * free) // row)


def _sums_of_queries(job: Job, queries: Any, own: np.ndarray | None, *, exact: bool) -> torch.Tensor:
    """Log sums (n_weightings, n_gammas, n_queries), some queries at a time."""
    device = job.points.rows.device
    n_sums = job.n_weightings * len(job.gammas)
    rows = max(256, (1 << 28) // max(1, 4 * n_sums + 8 * queries.shape[1]))
    parts = []
    for start in range(0, len(queries), rows):
        some = slice(start, start + rows)
        whole = len(queries) <= rows
        of_queries = _KEPT.of(queries, str(device)).rows if whole else as_tensor(queries[some], device)
        own_here = None if own is None else torch.from_numpy(own[some]).to(device)
        compute = _exact if exact else _best
        parts.append(compute(job, of_queries, own_here))
    return torch.cat(parts, dim=-1)


# --- choosing --------------------------------------------------------------------------------------------------------


def _best(job: Job, queries: torch.Tensor, own: torch.Tensor | None) -> torch.Tensor:
    """Each query by the first way that suffices for all its sums."""
    written = write_queries(queries, job.points)
    tops = _tops(job, written, own, scouted=True)
    sums, done = _tried(job, written, own, tops)
    if job.is_rbf and not done.all():
        left = torch.nonzero(~done)[:, 0]
        some, own_of_some = _rows_of(written, left), None if own is None else own[left]
        tops = _tops(job, some, own_of_some, scouted=False)
        sums[..., left], done[left] = _tried(job, some, own_of_some, tops)
    if not done.all():
        left = torch.nonzero(~done)[:, 0]
        sums[..., left] = _exact(job, queries[left], None if own is None else own[left])
    return sums


def _rows_of(written: Written, rows: torch.Tensor) -> Written:
    """Some of the queries, again in whole tiles."""
    padding = padded(len(rows)) - len(rows)
    high, low = (torch.nn.functional.pad(part[rows], (0, 0, 0, padding)) for part in (written.high, written.low))
    return Written(high, low, written.norms[rows])


def _tops(job: Job, written: Written, own: torch.Tensor | None, *, scouted: bool) -> torch.Tensor:
    """What exponents are to be relative to, in squared units: about the nearest of some, or of all, points."""
    n_queries = len(written.norms)
    tops = torch.zeros(n_queries, dtype=torch.float64, device=written.norms.device)
    shift_queries(written, tops, job.points.rows.shape[1])
    if not job.is_rbf:  # its terms fall slowly
        return tops
    n_points = len(job.points.rows)
    stride = max(1, n_points // SCOUTED) if scouted else 1
    found = _nearest(job, written, own, stride)
    room = ROOM / (job.gammas.max() * job.points.unit**2 * _LOG2E)
    return torch.where(torch.isfinite(found), found - room, tops)


def _tried(
    job: Job, written: Written, own: torch.Tensor | None, tops: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Log sums by products, and which queries have all of them within the tolerance."""
    shift_queries(written, tops, job.points.rows.shape[1])
    sums, shifts = _products(job, written, own, tops)  # (n_weightings, n_gammas, n_queries)
    lost = len(job.points.rows) * 2.0 ** (LOWEST + 20) if job.is_rbf else 0.0
    in_range = (sums > lost) & torch.isfinite(sums)
    log_sums = torch.log(sums) + shifts
    good = in_range & (_error(job, written, log_sums) <= _allowed(log_sums))
    return log_sums + job.log_top_weights[:, None, None], good.all(dim=0).all(dim=0)


def _allowed(log_sums: torch.Tensor) -> torch.Tensor:
    """Errors of many terms average out, so a sum S of kernels may have terms that are off sqrt(S) times as much."""
    return TOLERANCE * torch.maximum(torch.exp(log_sums.clamp(0, 100) / 2), -log_sums / 10)


def _error(job: Job, written: Written, log_sums: torch.Tensor) -> torch.Tensor:
    """How far off the log of a kernel may be, where it matters to the sum.

    A row is written to within 2^-13 units, which moves a distance of r units by some 1e-4 r; and where lengths exceed
    `USUAL_LENGTH` their product is rounded to 2^-24 of itself.
    """
    gammas = torch.as_tensor(job.gammas, device=log_sums.device)[:, None]
    lengths, sq_unit = written.norms.sqrt(), job.points.unit**2
    if job.is_rbf:
        slope = gammas * sq_unit
        reach = ((3 - log_sums).clamp(min=3) / slope).sqrt()
    else:
        slope = sq_unit / gammas
        reach = slope.rsqrt()
    product = 2 * lengths * (lengths + reach)
    rounding = torch.where(product > 2.0**24, product * 2.0**-23, 0.0)
    return slope * (4e-4 * reach + rounding)


# --- products --------------------------------------------------------------------------------------------------------


def _tiles(job: Job) -> tuple[Tiles, int, int]:
    """The tiles for these points, the number of columns, and how many are taken at a time."""
    columns, block = n_columns(job.points.rows.shape[1])
    if INTERPRETED:
        return INTERPRETED_TILES, columns, block
    roomy = torch.cuda.get_device_capability(job.points.rows.device) in ROOMY
    return TILES[block, columns == block] if roomy else SMALL_TILES, columns, block


def _own_places(own: torch.Tensor | None, n_padded: int, stride: int = 1) -> torch.Tensor | None:
    """Each query's own point among every so many points, -1 where it is none, in whole tiles."""
    if own is None:
        return None
    places = torch.where((own >= 0) & (own % stride == 0), own // stride, -1)
    return torch.nn.functional.pad(places.int(), (0, n_padded - len(own)), value=-1)


def _nearest(job: Job, written: Written, own: torch.Tensor | None, stride: int) -> torch.Tensor:
    tiles, columns, block = _tiles(job)
    n_queries, n_points = len(written.norms), -(-len(job.points.rows) // stride)
    points = job.points.written.high[: len(job.points.rows) : stride]
    points = torch.nn.functional.pad(points, (0, 0, 0, padded(n_points) - n_points)).contiguous()
    places = _own_places(own, len(written.high), stride)
    found = torch.empty(n_queries, dtype=torch.float32, device=written.norms.device)
    grid = (-(-n_queries // tiles.height),)
    loops.nearest[grid](
        written.high, points, written.high if places is None else places, found, n_queries, n_points,
        columns, block, places is not None, tiles.height, tiles.width,
        **tiles.options,
    )  # fmt: skip
    return found.double()


def _products(
    job: Job, written: Written, own: torch.Tensor | None, tops: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums of kernels, and the logs that they are relative to (n_weightings, n_gammas, n_queries)."""
    grid = Ladders.of(job.gammas, LADDER if job.is_rbf else 1)
    order = np.argsort(-np.repeat(grid.lengths, grid.lengths), kind="stable")  # ladders first, then those alone
    gammas = grid.base * grid.steps[order]
    n_ladders, n_alone = int((grid.lengths > 1).sum()), int((grid.lengths == 1).sum())
    found = torch.empty((job.n_weightings, len(gammas), len(tops)), dtype=torch.float64, device=tops.device)
    for weightings, slots, of_ladders, of_alone in _passes(job.n_weightings, n_ladders, n_alone):
        found[weightings, slots] = _pass(job, written, own, gammas[slots], weightings, of_ladders, of_alone)
    of_grid = torch.as_tensor(np.argsort(order)[grid.slots], device=tops.device)
    shifts = torch.as_tensor(job.gammas, device=tops.device)[:, None] * job.points.unit**2 * tops
    return found[:, of_grid], shifts if job.is_rbf else torch.zeros_like(shifts)


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
    own: torch.Tensor | None,
    gammas: FloatArray,
    weightings: slice,
    n_ladders: int,
    n_alone: int,
) -> torch.Tensor:
    """One pass over all points: sums (n_weightings, n_gammas, n_queries)."""
    tiles, columns, block = _tiles(job)
    points, device = job.points.written, job.points.rows.device
    n_queries, n_points = len(written.norms), len(job.points.rows)
    n_blocks = -(-n_queries // tiles.height)
    part = _points_a_part(n_points, n_blocks, tiles, device)
    n_parts = -(-n_points // part)
    steps = gammas * job.points.unit**2 * _LOG2E if job.is_rbf else job.points.unit**2 / gammas
    weights = _weights(job, weightings)
    n_weightings = 0 if weights is None else len(weights)
    places = _own_places(own, len(written.high))
    answers = torch.empty((n_parts, len(gammas), max(1, n_weightings), n_queries), dtype=torch.float32, device=device)
    on_device = torch.as_tensor(steps, dtype=torch.float32, device=device)
    loops.kernel_sums[(n_blocks * n_parts,)](
        written.high, written.low, points.high, points.low, on_device if places is None else places, on_device,
        on_device if weights is None else weights, answers, n_queries, n_points, part, len(points.high),
        columns, block, job.is_rbf, n_ladders, LADDER, n_alone, n_weightings, places is not None,
        tiles.height, tiles.width, **tiles.options,
    )  # fmt: skip
    return answers.sum(dim=0, dtype=torch.float64).transpose(0, 1)


def _points_a_part(n_points: int, n_blocks: int, tiles: Tiles, device: torch.device) -> int:
    """Points that a program takes: few enough to keep all processors busy to the end, in whole tiles."""
    busy = 1 if device.type == "cpu" else 24 * torch.cuda.get_device_properties(device).multi_processor_count
    n_parts = max(-(-n_points // POINTS_A_PART), min(-(-busy // n_blocks), -(-n_points // 2048)))
    return -(-n_points // (n_parts * tiles.width)) * tiles.width


def _weights(job: Job, weightings: slice) -> torch.Tensor | None:
    """Weights relative to the largest of each weighting, in whole tiles."""
    if job.log_weights is None:
        return None
    weights = torch.exp(job.log_weights[weightings] - job.log_top_weights[weightings, None]).float()
    return torch.nn.functional.pad(weights, (0, padded(weights.shape[1]) - weights.shape[1])).contiguous()


# --- differences -----------------------------------------------------------------------------------------------------


def _exact(job: Job, queries: torch.Tensor, own: torch.Tensor | None) -> torch.Tensor:
    """Log sums by differences in float64 (n_weightings, n_gammas, n_queries)."""
    tiles = INTERPRETED_EXACT_TILES if INTERPRETED else EXACT_TILES
    device, n_queries, n_points = queries.device, len(queries), len(job.points.rows)
    gammas = torch.as_tensor(job.gammas, device=device)
    answers = torch.empty((job.n_weightings, len(gammas), n_queries), dtype=torch.float64, device=device)
    weights = job.log_weights
    loops.exact_sums[(-(-n_queries // tiles.height), len(gammas) * job.n_weightings)](
        queries.T.contiguous(), job.points.by_feature, gammas if own is None else own.int(), gammas,
        gammas if weights is None else weights, answers, n_queries, n_points, len(gammas), queries.shape[1], n_points,
        job.is_rbf, weights is not None, own is not None, tiles.height, tiles.width,
        **tiles.options,
    )  # fmt: skip
    return answers
