"""The GPU engine: one fused kernel in which the matrix of pairs never leaves the registers.

This file says what comes here, and what lies on the card: points stay there for as long as their array lives
(`unlabeled.engines.kept`), and of points that are there some can be taken (`taken`) without sending them again. More
points than a share of the card's memory are sent in blocks, one ahead of the sums, and the log sums of blocks are
merged. How sums are computed is told in `unlabeled.engines.triton_sums`.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch

from unlabeled.arrays import FloatArray
from unlabeled.engines.kept import Kept
from unlabeled.engines.triton_matrices import kernel_matrix, solve_lower
from unlabeled.engines.triton_rows import DevicePoints, as_tensor, n_columns
from unlabeled.engines.triton_sums import INTERPRETED, POINTS_A_PART, Job, best, exact_sums
from unlabeled.kernels import Kernel

__all__ = ["kernel_matrix", "log_sums", "on_card", "solve_lower", "taken", "unsuited", "unusable"]

#: Jobs of fewer pairs take a processor no longer than the way to the card and back.
LEAST_PAIRS = 10_000_000
#: Jobs of fewer pairs are computed in float64.
EXACT_PAIRS = 1_000_000
#: Points that take less than this share of a card's memory are sent without asking how much is free.
SMALL_SHARE = 0.01
#: The share of free memory that a block of points may take; the next one is sent beside it.
MEMORY_SHARE = 0.2
#: Bytes that some queries and their sums over each part of the points may take; more queries are taken in turns.
ANSWER_BYTES = 1 << 28
#: By the names of `unlabeled.kernels`: whether it is the exponential.
LOOPS = {"rbf": True, "inverse": False}


def unusable(device: torch.device | None = None) -> str | None:
    """Why this engine cannot be used, on a card or on the one in use; None where it can."""
    if INTERPRETED:
        return None
    if not torch.cuda.is_available():
        return (
            f"torch {torch.__version__} sees no CUDA card: check that nvidia-smi lists one and that torch was "
            "installed with CUDA (torch.version.cuda is not None)"
        )
    major, minor = torch.cuda.get_device_capability(device)
    if major < 8:
        return (
            f"the card, {torch.cuda.get_device_name(device)}, has compute capability {major}.{minor}, and Triton needs "
            "8.0 (Ampere) or later"
        )
    return None


def unsuited(kernel: Kernel, n_queries: int, n_points: int, n_features: int, *, exact: bool) -> str | None:  # noqa: ARG001
    """Why a job should not come here by itself; None where it should."""
    if INTERPRETED:
        return "Triton's interpreter is for tests (unset TRITON_INTERPRET, and start anew, to use a card)"
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
    with _in_use(device):
        for block, on_device in _blocks(points, device):
            weights = None if log_weights is None else as_tensor(log_weights[:, block], device)
            own_here = None if own is None else _own_in(block, own)
            job = Job(on_device, LOOPS[kernel.name], gammas, weights)
            with np.errstate(all="ignore"):  # the interpreter computes by NumPy, which warns of the log of an empty sum
                sums = _sums_of_queries(job, queries, own_here, exact=exact)
            merged = sums if merged is None else torch.logaddexp(merged, sums)
    assert merged is not None  # noqa: S101  there are points
    return merged.cpu().numpy()


def _own_in(block: slice, own: np.ndarray) -> np.ndarray:
    """Each query's own point among those of a block, -1 for one that is elsewhere."""
    return np.where((own >= block.start) & (own < block.stop), own - block.start, -1)


def _device(*arrays: Any) -> torch.device:
    """Where the data is, or the card in use."""
    device = next((array.device for array in arrays if isinstance(array, torch.Tensor) and array.is_cuda), None)
    reason = unusable(device)
    if reason is not None:
        remedy = "engine='auto'" if device is None else "tensor.cpu()"
        raise RuntimeError(f"engine='triton' cannot be used: {reason}; or use {remedy}.")
    if device is not None:
        return device
    return torch.device("cpu") if INTERPRETED else torch.device("cuda", torch.cuda.current_device())


def _in_use(device: torch.device) -> AbstractContextManager[Any]:
    """Triton starts its kernels on the card in use, wherever the tensors are: make it theirs."""
    return nullcontext() if device.type == "cpu" else torch.cuda.device(device)


# --- memory ----------------------------------------------------------------------------------------------------------


def _to_device(array: Any, name: str) -> DevicePoints:
    # A view: what is kept of a tensor must not keep the tensor itself.
    return DevicePoints(as_tensor(array, torch.device(name)).detach())


_KEPT: Kept[DevicePoints] = Kept(_to_device, most=32)


def taken(points: Any, places: np.ndarray) -> Any:
    """Some of the points, for `log_sums`: on the card where all of them are there or can be, else from the array."""
    rows = on_card(points)
    return rows[torch.from_numpy(places).to(rows.device) if isinstance(rows, torch.Tensor) else places]


def on_card(points: Any) -> Any:
    """The points on the card, kept there for as long as their array lives; as they are where they do not fit."""
    device = _device(points)
    return points if _block_size(points, device) < len(points) else _KEPT.of(points, str(device)).rows


def _blocks(points: Any, device: torch.device) -> Iterator[tuple[slice, DevicePoints]]:
    """The points, on the device: kept there where they fit, else block by block, each sent while the last is used."""
    size = _block_size(points, device)
    if size >= len(points):
        yield slice(0, len(points)), _KEPT.of(points, str(device))
        return
    blocks = [slice(start, min(start + size, len(points))) for start in range(0, len(points), size)]
    stream = None if device.type == "cpu" else torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    with ThreadPoolExecutor(1) as sender:
        following = sender.submit(_sent, points, blocks[0], device, stream)
        for place, block in enumerate(blocks):
            ready = following.result()
            if place + 1 < len(blocks):
                following = sender.submit(_sent, points, blocks[place + 1], device, stream)
            if stream is not None:
                ready.record_stream(torch.cuda.current_stream(device))
            yield block, DevicePoints(ready)


def _sent(points: Any, block: slice, device: torch.device, stream: Any) -> torch.Tensor:
    """A block of points on the device, from memory that the card reads by itself."""
    if stream is None:
        return as_tensor(points[block], device)
    rows = points[block]
    rows = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(rows))
    with torch.cuda.stream(stream):
        sent = rows.pin_memory().to(device, non_blocking=True) if rows.device.type == "cpu" else rows.to(device)
        stream.synchronize()
    return sent


def _block_size(points: Any, device: torch.device) -> int:
    """Points that may be on the device at once: as they are, by feature, and written in both ways (4 + 6 bytes)."""
    if device.type == "cpu" or (isinstance(points, torch.Tensor) and points.is_cuda):
        return len(points)
    row = 2 * points.shape[1] * points.dtype.itemsize + 10 * n_columns(points.shape[1])[0]
    if row * len(points) < SMALL_SHARE * torch.cuda.get_device_properties(device).total_memory:
        return len(points)
    if _free_memory(device) * MEMORY_SHARE < row * len(points):
        _KEPT.clear()
    return max(1, int(MEMORY_SHARE * _free_memory(device)) // row)


def _free_memory(device: torch.device) -> int:
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def _sums_of_queries(job: Job, queries: Any, own: np.ndarray | None, *, exact: bool) -> torch.Tensor:
    """Log sums (n_weightings, n_gammas, n_queries), some queries at a time."""
    compute = exact_sums if exact else best
    n_sums = job.n_weightings * len(job.gammas) * -(-job.n_points // POINTS_A_PART)
    rows = max(256, ANSWER_BYTES // (4 * n_sums + 8 * queries.shape[1]))
    if len(queries) <= rows:
        of_queries = _KEPT.of(queries, str(job.device)).rows
        return compute(job, of_queries, None if own is None else torch.from_numpy(own).to(job.device))
    parts = []
    for start in range(0, len(queries), rows):
        some = slice(start, start + rows)
        own_here = None if own is None else torch.from_numpy(own[some]).to(job.device)
        parts.append(compute(job, as_tensor(queries[some], job.device), own_here))
    return torch.cat(parts, dim=-1)
