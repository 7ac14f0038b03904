"""Kernel sums on a CUDA card: milliseconds, errors, and how far they are from what the card can do.

    python benchmarks/gpu.py [--cases higgs twelve three wide] [--tune] [--fit] [--peers] [--stream] [--repeats 20]

Data is on the card before the clock starts, and points were written for the matrix units by an earlier call, as in a
fit; a call writes the queries, sums, and brings the answer back. Times are medians, by the card's own events. Errors
are the largest of log sums of some queries, against float64 differences by torch; "relative" is that in units of a
tenth of the log sum where it is beyond 10. "floor" is the time that the exponentials alone take a card that does
nothing else, as measured, and how many times as long the call took; twelve gammas of ratio 2 need three for each pair.
"matrix" is the rate of the products of rows, 2 x queries x points x features, as a share of the rate at which a plain
Triton kernel multiplies matrices of such a shape in tf32x3, as measured (torch's rates are printed beside it).

With --tune every case is run with each of a list of tile shapes. With --fit classifiers are fitted to a table of the
shape of HIGGS, again and again since the first one compiles, and score 100,000 rows. With --peers torch's blocked
`cdist`, and KeOps where installed, take a turn, and least squares on the processor.
With --stream the points come from the host's memory, once as a whole and once in ten blocks; and 40 million of them,
once with the card empty and once with all but 6 GB of it taken, where they do not fit.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
import triton
import triton.language as tl

from unlabeled.engines import triton as engine
from unlabeled.engines import triton_sums as sums
from unlabeled.engines.ladders import Ladders
from unlabeled.engines.triton_rows import n_columns
from unlabeled.engines.triton_sums import Tiles
from unlabeled.kernels import KERNELS

#: Queries whose sums are compared with float64.
CHECKED = 64


@dataclass(frozen=True)
class Case:
    """A job, and what the project asks of itself, in milliseconds."""

    n_queries: int
    n_points: int
    d: int
    relative_gammas: tuple[float, ...]  # in units of one over the mean squared distance
    target: float
    kernel: str = "rbf"
    own: bool = False
    repeats: int | None = None  # of long ones, fewer than of the others


CASES = {
    "higgs": Case(100_000, 1_000_000, 26, (1.0,), 80),
    "twelve": Case(100_000, 1_000_000, 26, tuple(2.0 ** np.arange(-3, 9)), 220),
    "three": Case(100_000, 100_000, 3, (1.0,), 5.5),
    "twelve-three": Case(100_000, 100_000, 3, tuple(2.0 ** np.arange(-3, 9)), np.nan),
    "wide": Case(100_000, 400_000, 2000, (1.0,), np.nan, repeats=3),
    "inverse": Case(100_000, 1_000_000, 26, (1.0,), np.nan, kernel="inverse"),
    "own": Case(100_000, 1_000_000, 26, (1.0,), np.nan, own=True),
}
SHAPES = [
    Tiles(height, width, warps, stages)
    for height, width, warps, stages in product((64, 128, 256), (64, 128, 256), (4, 8), (2, 3, 4))
    if 4096 <= height * width <= 32768 and height * width // warps <= 4096 and height // warps >= 16
]


def median_ms(call: Callable[[], object], repeats: int) -> float:
    """The median by events, of calls after two that warm up."""
    times = []
    for turn in range(repeats + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if turn >= 2:
            times.append(start.elapsed_time(end))
    return float(np.median(times))


def data(case: Case) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Normal queries and points, and gammas as asked for."""
    generator = torch.Generator("cuda").manual_seed(case.d)
    points = torch.randn((case.n_points, case.d), generator=generator, device="cuda")
    queries = torch.randn((case.n_queries, case.d), generator=generator, device="cuda")
    if case.own:
        queries = points[: case.n_queries].clone()
    gammas = np.array(case.relative_gammas) / (2 * case.d)
    return queries, points, 1 / gammas if case.kernel == "inverse" else gammas


def by_differences(case: Case, queries: torch.Tensor, points: torch.Tensor, gammas: np.ndarray) -> np.ndarray:
    """Log sums in float64 (n_gammas, n_queries)."""
    found = []
    for place, query in enumerate(queries.double()):
        sq_dist = torch.cat([(some.double() - query).square().sum(dim=1) for some in points.split(1 << 16)])
        if case.own:
            sq_dist[place] = torch.inf
        found.append([_log_sum(sq_dist, gamma, case.kernel) for gamma in gammas])
    return np.array(found).T


def _log_sum(sq_dist: torch.Tensor, gamma: float, kernel: str) -> float:
    return torch.logsumexp(-gamma * sq_dist if kernel == "rbf" else -torch.log1p(sq_dist / gamma), dim=0).item()


def cdist_blocks(queries: torch.Tensor, points: torch.Tensor, gamma: float) -> torch.Tensor:
    return torch.cat([
        torch.cdist(some, points).square_().mul_(-gamma).exp_().sum(dim=1) for some in queries.split(2000)
    ])  # fmt: skip


def keops(queries: torch.Tensor, points: torch.Tensor, gamma: float) -> torch.Tensor:
    from pykeops.torch import LazyTensor  # noqa: PLC0415

    sq_dist = LazyTensor(queries[:, None]).sqdist(LazyTensor(points[None]))
    return (-float(gamma) * sq_dist).exp().sum(dim=1)


@triton.jit
def _exponentials(answers, n_rounds, size: tl.constexpr):
    values = tl.arange(0, size).to(tl.float32) * -1e-6
    for _ in range(n_rounds):
        values = tl.exp2(values - 1.0)
    tl.store(answers + tl.program_id(0) * size + tl.arange(0, size), values)


def exponentials_a_ms() -> float:
    """How many exponentials the card takes in a millisecond."""
    programs, size, rounds = 132 * 64, 2048, 2000
    answers = torch.empty(programs * size, device="cuda")
    ms = median_ms(lambda: _exponentials[(programs,)](answers, rounds, size, num_warps=4), 5)
    return programs * size * rounds / ms


def matrix_rate(dtype: torch.dtype, *, tf32: bool = True) -> float:
    """Multiplications and additions of large matrices a millisecond by torch."""
    torch.backends.cuda.matmul.allow_tf32 = tf32
    a, b = (torch.randn((8192, 2048), device="cuda").to(dtype) for _ in range(2))
    return 2 * 8192**2 * 2048 / median_ms(lambda: a @ b.T, 10)


@triton.jit
def _product(a, b, c, n_columns, depth, height: tl.constexpr, width: tl.constexpr, step: tl.constexpr):
    """A @ B.T in tf32x3, neighbours in time sharing rows."""
    across = n_columns // width
    group = tl.program_id(0) // (8 * across)
    rows = (group * 8 + tl.program_id(0) % 8) * height + tl.arange(0, height)
    columns = (tl.program_id(0) % (8 * across)) // 8 * width + tl.arange(0, width)
    features = tl.arange(0, step)
    of_a, of_b = a + rows[:, None] * depth + features[None, :], b + columns[None, :] * depth + features[:, None]
    tile = tl.zeros((height, width), tl.float32)
    for _ in range(0, depth, step):
        tile = tl.dot(tl.load(of_a), tl.load(of_b), tile, input_precision="tf32x3")
        of_a += step
        of_b += step
    tl.store(c + rows[:, None] * n_columns + columns[None, :], tile)


def tf32x3_rate() -> float:
    """The same by a plain Triton kernel in tf32x3, the fastest of some tiles."""
    n, depth = 8192, 2048
    a, b = (torch.randn((n, depth), device="cuda") for _ in range(2))
    c = torch.empty((n, n), device="cuda")
    times = []
    for height, width, warps in ((128, 64, 4), (64, 128, 4), (128, 128, 8)):
        grid = (n // height * (n // width),)
        options = {"num_warps": warps, "num_stages": 3}
        times.append(
            median_ms(lambda grid=grid, shape=(height, width, 32), options=options: _product[grid](
                a, b, c, n, depth, *shape, **options
            ), 5)
        )  # fmt: skip
    return 2 * n**2 * depth / min(times)


def report(name: str, case: Case, args: argparse.Namespace, rates: dict[str, float]) -> None:
    queries, points, gammas = data(case)
    own = np.arange(case.n_queries) if case.own else None

    def call(tensor: torch.Tensor = queries) -> np.ndarray:
        of_queries = None if own is None else own[: len(tensor)]
        return engine.log_sums(
            tensor, points, KERNELS[case.kernel], gammas, of_queries, None, exact=False, n_jobs=None
        )[0]

    if args.tune:
        tune(case, call)
    answer = call()
    ms = median_ms(call, case.repeats or args.repeats)
    exact = by_differences(case, queries[:CHECKED], points, gammas)
    errors = np.abs(answer[:, :CHECKED] - exact).max(axis=1)
    relative = (np.abs(answer[:, :CHECKED] - exact) / np.maximum(1, np.abs(exact) / 10)).max()
    pairs = case.n_queries * case.n_points
    words = [f"{name:12} {case.n_queries:>7} x {case.n_points:>7} d={case.d:<4} gammas={len(gammas):<2} {ms:9.2f} ms"]
    words += [f"target {case.target:g}", f"error {errors.max():.1e} (relative {relative:.1e})"]
    floor = pairs * n_exponentials(case, gammas) / rates["exp"]
    words += [f"floor {floor:.1f} ms = {ms / floor:.1f} x"] if floor else []
    words += [f"matrix {2 * pairs * case.d / ms / rates['tf32x3']:.0%}"]
    if args.peers and case.d <= 100 and case.kernel == "rbf" and not case.own and len(gammas) == 1:
        slow = median_ms(lambda: cdist_blocks(queries, points, gammas[0]), 3)
        words.append(f"torch cdist {slow:.0f} ms = {slow / ms:.1f} x")
        if importlib.util.find_spec("pykeops"):
            slow = median_ms(lambda: keops(queries, points, gammas[0]), 3)
            words.append(f"KeOps {slow:.0f} ms = {slow / ms:.1f} x")
    print(", ".join(words), flush=True)
    if len(gammas) > 1:
        print("  errors by gamma:", " ".join(f"{error:.1e}" for error in errors), flush=True)


def n_exponentials(case: Case, gammas: np.ndarray) -> int:
    """How many each pair takes."""
    return len(Ladders.of(gammas, sums.LADDER).lengths) if case.kernel == "rbf" else 0


def stream() -> None:
    """Points in the host's memory: sent whole, as they are where they fit, and in blocks, as where they do not."""
    case = CASES["higgs"]
    queries, points, gammas = data(case)
    on_host, whole_size = points.cpu().numpy(), engine._block_size

    def call() -> np.ndarray:
        fresh = on_host[:]  # of which nothing is kept
        return engine.log_sums(queries, fresh, KERNELS["rbf"], gammas, None, None, exact=False, n_jobs=None)

    for name, size in (("whole", whole_size), ("in ten blocks", lambda *_: case.n_points // 10)):
        engine._block_size = size
        answer = call()
        ends = f"log sums {answer.min():.6f} to {answer.max():.6f}"
        print(f"points from the host, {name}: {median_ms(call, 5):.0f} ms, {ends}", flush=True)
    engine._block_size = whole_size


def stream_to_a_full_card(n_points: int = 40_000_000, d: int = 26, n_queries: int = 1_000, left: int = 6) -> None:
    """More points than the card has memory for, with ``left`` GiB: what is free decides how they are sent."""
    generator = np.random.default_rng(0)
    points = generator.standard_normal((n_points, d), dtype=np.float32)
    queries, gammas = points[:n_queries] + 0.1, np.array([1 / (2 * d)])
    found = {}
    for name, share in (("with the card empty", 0.0), ("with the card full", 1.0)):
        free, _ = torch.cuda.mem_get_info()
        taken = torch.empty(int(share * max(0, free - (left << 30))), dtype=torch.uint8, device="cuda")
        start, fresh = time.perf_counter(), points[:]
        found[name] = engine.log_sums(queries, fresh, KERNELS["rbf"], gammas, None, None, exact=False, n_jobs=None)
        seconds = time.perf_counter() - start
        n_blocks = -(-n_points // engine._block_size(points, torch.device("cuda")))
        free, _ = torch.cuda.mem_get_info()
        print(f"{n_points:,} points, {name}: {seconds:.1f} s, blocks {n_blocks}, free after it {free / 2**30:.1f} GiB")
        del taken, fresh
        engine._KEPT.clear()
        torch.cuda.empty_cache()
    empty, full = found.values()
    print(f"largest difference of the two {np.abs(empty - full).max():.1e}", flush=True)


def tune(case: Case, call: Callable[[], object]) -> None:
    """The same call with other tiles; the fastest is kept for what follows."""
    columns, block = n_columns(case.d)
    found = {}
    for shape in SHAPES:
        _use(shape, block, whole=columns == block)
        try:
            found[shape] = median_ms(call, 3)
        except Exception as error:  # noqa: BLE001  a shape that does not fit the card
            print(f"  {shape}: {type(error).__name__}", flush=True)
    for shape, ms in sorted(found.items(), key=lambda item: item[1])[:6]:
        print(f"  {ms:9.2f} ms {shape}", flush=True)
    _use(min(found, key=found.__getitem__), block, whole=columns == block)


def _use(shape: Tiles, block: int, *, whole: bool) -> None:
    for tiles in (sums.TILES, sums.FINE_TILES):
        tiles[block, whole] = shape


def fit_and_score(*, peers: bool) -> None:
    """Default classifiers of a million unlabeled rows and ten thousand positives, and 100,000 scores."""
    from unlabeled import LeastSquaresPUClassifier, WMMDClassifier  # noqa: PLC0415

    rng = np.random.default_rng(0)
    unlabeled = rng.standard_normal((1_000_000, 26), dtype=np.float32)
    unlabeled[:400_000] += 0.4
    positive = rng.standard_normal((10_000, 26), dtype=np.float32) + np.float32(0.4)
    rows, labels = np.vstack([positive, unlabeled]), np.repeat([1, 0], [10_000, 1_000_000])
    turns = [(WMMDClassifier, "triton")] * 3 + [(LeastSquaresPUClassifier, "triton")] * 2
    turns += [(LeastSquaresPUClassifier, "reference")] if peers else []
    for kind, name in turns:
        model, start = kind(engine=name, random_state=0), time.perf_counter()
        model.fit(rows, labels)
        fitted = time.perf_counter()
        model.predict(unlabeled[:100_000])
        end = time.perf_counter()
        mean = model.score_samples(unlabeled[:100_000]).mean()
        print(
            f"{kind.__name__} by {name}: fit {fitted - start:.2f} s, 100,000 predictions {end - fitted:.2f} s, prior "
            f"{model.prior_:.3f}, mean score {mean:.12f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--repeats", type=int, default=20)
    for option in ("tune", "fit", "peers", "stream"):
        parser.add_argument(f"--{option}", action="store_true")
    args = parser.parse_args()
    reason = engine.unusable()
    if reason is not None or engine.INTERPRETED:
        raise SystemExit(f"No card to measure: {reason or 'TRITON_INTERPRET=1 is set'}.")
    rates = {"exp": exponentials_a_ms(), "tf32x3": tf32x3_rate()}
    by_torch = {
        "tf32": matrix_rate(torch.float32),
        "fp32": matrix_rate(torch.float32, tf32=False),
        "fp16": matrix_rate(torch.float16),
    }
    print(
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}, "
        f"{os.cpu_count()} cores"
    )
    print(
        f"measured: {rates['exp'] / 1e9:.2f} T exponentials/s; TFLOP/s: tf32x3 by Triton {rates['tf32x3'] / 1e9:.0f}, "
        "by torch " + ", ".join(f"{name} {rate / 1e9:.0f}" for name, rate in by_torch.items())
    )
    for name in args.cases:
        report(name, CASES[name], args, rates)
    if args.stream:
        stream()
        stream_to_a_full_card()
    if args.fit:
        fit_and_score(peers=args.peers)


if __name__ == "__main__":
    main()
