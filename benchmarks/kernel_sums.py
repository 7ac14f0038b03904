"""Billions of kernel evaluations a second, ours and the peers', measured in turn in one run.

    python benchmarks/kernel_sums.py [--dims 2 3 26] [--pairs 1e9] [--repeats 5] [--standardised] [--peers torch numpy]

Ours is `engine="numba"`, all pairs whatever d; benchmarks/tree.py has the engine for few features. Every contender
computes sum_j exp(-gamma |z_i - x_j|^2) for float32 data on all cores. Points are normal with variance 1/d, so that a
squared distance is about 2 whatever d, and the paper's gammas mean the same at each. Contenders take turns and the best
of their turns counts, because the noise of a shared machine only ever slows. KeOps and KernelDensity get fewer queries
where they need more than a few seconds: the figure is a rate. Peers that are not installed are left out. With
--standardised the variance is 1 whatever d: squared distances are about 2 d, sums leave the range of float32 as d
grows, and peers lose digits or underflow. With --one-core each has one thread and its own time counts, not that on the
wall: for machines that others use too, where threads that wait for each other tell of the others.

Which instructions each library uses is printed. To try a processor without AVX-512 on one that has it:

    NUMBA_CPU_NAME=znver3 OPENBLAS_CORETYPE=Zen ATEN_CPU_CAPABILITY=avx2 python benchmarks/kernel_sums.py
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable
from itertools import product

import numpy as np
from sklearn.neighbors import KernelDensity
from threadpoolctl import threadpool_info, threadpool_limits

from unlabeled.engines import log_kernel_sums
from unlabeled.kernels import PAPER_GAMMAS

DIMS = (2, 3, 8, 13, 26, 60, 200, 2000)
GAMMA = 1.0
#: What the project asks of itself: speed relative to the best peer.
TARGETS = {2: 4.0, 3: 4.0, 8: 2.2, 13: 2.2, 26: 2.0, 60: 1.6, 200: 1.15, 2000: 1.0}

#: One gamma in units of torch, without AVX-512, before gammas of a grid shared exponentials.
FORMER = {2: 4.4, 3: 4.2, 13: 2.7, 26: 2.0, 60: 1.4, 200: 0.7}

PEERS = ("numpy", "torch", "KeOps", "KernelDensity")
#: Peers without matrix products can be too slow for the whole job; they get as many queries as take this many seconds.
TREE_OR_PAIRWISE, SECONDS = ("KeOps", "KernelDensity"), 2.0

Sums = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ours(gammas: tuple[float, ...]) -> Sums:
    return lambda z, x: log_kernel_sums(z, x, "rbf", gammas, engine="numba")[0]


def numpy_blocks(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    xx = (x * x).sum(1)
    out = np.zeros(len(z))
    for i, j in product(range(0, len(z), 1024), range(0, len(x), 1024)):
        zi = z[i : i + 1024]
        tile = 2 * (zi @ x[j : j + 1024].T)
        tile -= (zi * zi).sum(1)[:, None]
        tile -= xx[j : j + 1024]
        out[i : i + 1024] += np.exp(GAMMA * tile, out=tile).sum(1)
    return np.log(out)


def torch_blocks(rows: int, columns: int) -> Sums:
    import torch  # noqa: PLC0415

    def sums(z: np.ndarray, x: np.ndarray) -> np.ndarray:
        tz, tx = torch.from_numpy(z), torch.from_numpy(x)
        zz, xx = (tz * tz).sum(1, keepdim=True), (tx * tx).sum(1)
        out = torch.zeros(len(tz))
        for i, j in product(range(0, len(tz), rows), range(0, len(tx), columns)):
            tile = torch.addmm(xx[j : j + columns], tz[i : i + rows], tx[j : j + columns].T, alpha=-2)
            out[i : i + rows] += tile.add_(zz[i : i + rows]).mul_(-GAMMA).exp_().sum(1)
        return np.log(out.numpy())

    return sums


def keops(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    from pykeops.numpy import Genred  # noqa: PLC0415

    d = z.shape[1]
    formula = Genred("Exp(-g * SqDist(x, y))", [f"x = Vi({d})", f"y = Vj({d})", "g = Pm(1)"], "Sum", axis=1)
    return np.log(formula(z, x, np.array([GAMMA], np.float32), backend="CPU")[:, 0])


def kernel_density(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    bandwidth = 1 / np.sqrt(2 * GAMMA)
    density = KernelDensity(bandwidth=bandwidth, rtol=1e-4).fit(x).score_samples(z)
    return density + np.log(len(x)) + z.shape[1] / 2 * np.log(2 * np.pi * bandwidth**2)


def peers(names: list[str]) -> dict[str, Sums]:
    """Those of these names that are installed."""
    found: dict[str, Sums] = {"numpy": numpy_blocks, "KernelDensity": kernel_density}
    if importlib.util.find_spec("torch"):
        for rows, columns in product((64, 256, 1024), (1024, 8192)):
            found[f"torch {rows}x{columns}"] = torch_blocks(rows, columns)
    if importlib.util.find_spec("pykeops"):
        found["KeOps"] = keops
    return {name: sums for name, sums in found.items() if name.split()[0] in names}


def grids(median: float) -> dict[str, tuple[float, ...]]:
    """The paper's five gammas, five up to 20/median, and twelve from 1/8 to 256 over the median squared distance."""
    up_to_20, twelve = 20 / median * 2.0 ** -np.arange(5), 2.0 ** np.arange(-3, 9) / median
    return {"five": PAPER_GAMMAS, "to 20": tuple(up_to_20), "twelve": tuple(twelve)}


def instructions() -> str:
    """What each library was compiled for, as far as it says."""
    from llvmlite import binding  # noqa: PLC0415

    named = os.environ.get("NUMBA_CPU_NAME")
    features = binding.get_host_cpu_features()
    widest = next((name for name in ("avx512f", "avx2", "neon") if features.get(name)), "none")
    words = [f"numba: {named or binding.get_host_cpu_name()}" + ("" if named else f" ({widest})")]
    words += [f"{pool['internal_api']}: {pool['architecture']}" for pool in threadpool_info() if "architecture" in pool]
    if importlib.util.find_spec("torch"):
        import torch  # noqa: PLC0415

        words.append(f"torch: {torch.backends.cpu.get_cpu_capability()}")
    return ", ".join(dict.fromkeys(words))


def use_one_core() -> None:
    """Let every contender have one thread."""
    os.environ["NUMBA_NUM_THREADS"] = "1"
    threadpool_limits(1)
    if importlib.util.find_spec("torch"):
        import torch  # noqa: PLC0415

        torch.set_num_threads(1)


def measure(
    d: int, pairs: float, repeats: int, names: list[str], *, standardised: bool, one_core: bool
) -> dict[str, float]:
    """Billions of pairs a second of every contender, the best of its turns."""
    rng = np.random.default_rng(d)
    n = round(np.sqrt(pairs if d < 200 else pairs / 10))
    scale = np.float32(1 if standardised else 1 / np.sqrt(d))
    z, x = (scale * rng.standard_normal((n, d)).astype(np.float32) for _ in range(2))
    of_grids = {name: ours(gammas) for name, gammas in grids(2 * d * float(scale) ** 2).items()}
    contenders = {"ours": ours((GAMMA,)), **of_grids, **peers(names)}
    expected = log_kernel_sums(z[:20], x, "rbf", GAMMA, engine="reference")[0]
    n_queries = {}
    clock = time.process_time if one_core else time.perf_counter
    for name, sums in contenders.items():  # two short turns: to compile and check the answer, and to see how slow it is
        answer = sums(z[:20], x)
        assert standardised or name in of_grids or np.abs(answer - expected).max() < 1e-3, name
        start = clock()
        sums(z[:20], x)
        affordable = int(SECONDS * 20 / (clock() - start))
        n_queries[name] = min(n, max(20, affordable)) if name in TREE_OR_PAIRWISE else n
    best = dict.fromkeys(contenders, np.inf)
    for _ in range(repeats):
        for name, sums in contenders.items():
            start = clock()
            sums(z[: n_queries[name]], x)
            best[name] = min(best[name], (clock() - start) / (n_queries[name] * n))
    return {name: 1e-9 / seconds for name, seconds in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=DIMS)
    parser.add_argument("--pairs", type=float, default=1e9, help="pairs at d < 200; a tenth of them from there on")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--standardised", action="store_true", help="variance 1 whatever d, instead of 1/d")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--one-core", action="store_true", help="one thread each, by its own time")
    args = parser.parse_args()
    if args.one_core:
        use_one_core()
    print(f"Instructions: {instructions()}")
    print("Billions of pairs a second, one gamma; then how many times faster we are than each peer.")
    print("five, to 20, twelve: time of the paper's five gammas, of five up to 20/median, and of twelve from 1/8 to")
    print("256/median, relative to one gamma; then relative to one gamma as it was before they shared exponentials (at")
    print("most 1.8, 1.8 and 2.5 are wanted).")
    print("Wanted: /best at or above target, /KeOps at or above 8.\n")
    head = ("d", "ours", "numpy", "torch", "KeOps", "KDE", "/numpy", "/torch", "/KeOps", "/KDE", "/best", "target")
    print("".join(f"{word:>8}" for word in (*head, *grids(1.0), *grids(1.0))))
    for d in args.dims:
        rate = measure(d, args.pairs, args.repeats, args.peers, standardised=args.standardised, one_core=args.one_core)
        torch = max((r for name, r in rate.items() if name.startswith("torch")), default=np.nan)
        of_peers = [torch if name == "torch" else rate.get(name, np.nan) for name in PEERS]
        ratios = [rate["ours"] / r for r in (*of_peers, np.nanmax(of_peers))]
        relative = [rate["ours"] / rate[name] for name in grids(1.0)]
        former = [torch * FORMER.get(d, np.nan) / rate[name] for name in grids(1.0)]
        cells = rate["ours"], *of_peers, *ratios, TARGETS.get(d, np.nan), *relative, *former
        print(f"{d:>8}" + "".join(f"{cell:>8.3g}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
