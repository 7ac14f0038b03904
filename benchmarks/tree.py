"""Kernel sums in few dimensions: the tree engine, our own brute force, scikit-learn's KernelDensity and mlpack's KDE.

    python benchmarks/tree.py [--dims 1 2 3 4] [--rows 1e6] [--data mixture skin] [--peers] [--growth] [--fit] [--busy]
                              [--repeats 1] [--first wide|narrow|grid]

n queries against n points for each gamma of a grid of twelve (1/8 to 256 over the median squared distance) and for the
gamma that leave-one-out cross-validation takes (the log likelihood of the density, marked cv). Contenders that need all
pairs get as many queries as take about two seconds; their time is scaled up. The error is that of the log sum at some
queries against the definition. With --peers, KernelDensity and mlpack (if it is installed; PyPI has it) answer at
the cv gamma with a relative error of 1e-6 asked of them: mlpack all queries, for two trees leave out more of many than
of few, and KernelDensity, which takes them one by one, fewer. With --growth, the time at n / 10 and at n and the
power of n it grows with. With --fit, a fit to all colours of skin_nonskin and their scores instead. With --busy,
seconds are those of the processors and not those on the wall, for machines that others use too. With --repeats, the two
ways are taken in turns and the median of each is shown. With --first, the first call alone, of 10,000 x 10,000 rows in
two features and a wide gamma, a narrow one or the grid: set NUMBA_CACHE_DIR to an empty folder to see what compiling
takes.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity

from unlabeled import WMMDClassifier
from unlabeled.datasets import load_libsvm
from unlabeled.engines import log_kernel_sums

SECONDS = 2.0
#: What seconds are read off.
CLOCK = [time.perf_counter]
#: Pairs that brute force computes in a second, about: to choose how many queries it gets.
PAIRS_A_SECOND = 1e9


def mixture(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Ten Gaussians of different widths."""
    centres, widths = 3 * rng.standard_normal((10, d)), rng.uniform(0.3, 1.5, 10)
    of_row = rng.integers(0, 10, n)
    return centres[of_row] + widths[of_row, None] * rng.standard_normal((n, d))


def skin(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Colours of skin_nonskin in standard units, copies moved within a step; a fourth feature is shuffled."""
    colours = load_libsvm("skin_nonskin").data
    rows = colours[rng.integers(0, len(colours), n)] + rng.uniform(-0.5, 0.5, (n, 3))
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return rows[:, :d] if d <= 3 else np.hstack([rows, rows[rng.permutation(n)[:, None], [0]]])


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = CLOCK[0]()
    answer = work()
    return CLOCK[0]() - start, answer


def cv_gamma(x: np.ndarray, gammas: np.ndarray) -> int:
    """Place of the gamma under which left-out rows are most likely."""
    places = np.linspace(0, len(x) - 1, 2000).astype(int)
    log_sums = log_kernel_sums(x[places], x, "rbf", gammas, own=places)
    return int((log_sums.mean(axis=1) + x.shape[1] / 2 * np.log(gammas)).argmax())


def brute_force(z: np.ndarray, x: np.ndarray, gamma: float) -> float:
    n = max(50, min(len(z), int(SECONDS * PAIRS_A_SECOND / len(x))))
    return seconds(lambda: log_kernel_sums(z[:n], x, "rbf", gamma, engine="numba"))[0] * len(z) / n


def kernel_density(z: np.ndarray, x: np.ndarray, gamma: float) -> float:
    model = KernelDensity(bandwidth=1 / np.sqrt(2 * gamma), rtol=1e-6).fit(x)
    return _extrapolated(model.score_samples, z)


def mlpack_kde(z: np.ndarray, x: np.ndarray, gamma: float) -> float:
    from mlpack import kde  # noqa: PLC0415

    options = {"bandwidth": 1 / np.sqrt(2 * gamma), "rel_error": 1e-6, "algorithm": "dual-tree"}
    return seconds(lambda: kde(reference=x, query=z, **options))[0]


def _extrapolated(work: Callable[[np.ndarray], np.ndarray], z: np.ndarray) -> float:
    """Time for all queries, from as many as take some seconds."""
    n = 5
    while True:
        elapsed, _ = seconds(lambda n=n: work(z[:n]))
        if elapsed > SECONDS / 4 or n == len(z):
            return elapsed * len(z) / n
        n = min(len(z), 4 * n)


def both_ways(z: np.ndarray, x: np.ndarray, gamma: float, n_repeats: int) -> tuple[float, float, np.ndarray]:
    """Seconds by the tree and by brute force, taken in turns, and the answer of the tree."""
    of_tree, of_pairs = [], []
    for _ in range(n_repeats):
        elapsed, answer = seconds(lambda: log_kernel_sums(z, x, "rbf", gamma, engine="tree"))
        of_tree.append(elapsed)
        of_pairs.append(brute_force(z, x, gamma))
    return float(np.median(of_tree)), float(np.median(of_pairs)), answer[0]


def measure(name: str, d: int, n: int, *, with_peers: bool, growth: bool, n_repeats: int = 1) -> None:
    rng = np.random.default_rng(d)
    make = {"mixture": mixture, "skin": skin}[name]
    both = make(2 * n, d, rng)
    z, x = np.ascontiguousarray(both[::2]), np.ascontiguousarray(both[1::2])
    gammas = 2.0 ** np.arange(-3, 9) / np.median(((z[:5000] - x[:5000]) ** 2).sum(axis=1))
    chosen = cv_gamma(x[: min(n, 200_000)], gammas)
    checked = np.linspace(0, n - 1, max(20, min(200, 20_000_000 // n))).astype(int)
    exact = log_kernel_sums(z[checked], x, "rbf", gammas, engine="reference")
    print(f"\n{name}, d = {d}, n = m = {n:,}")
    print(f"{'gamma x median':>16}{'tree s':>9}{'numba s':>10}{'ratio':>8}{'error':>10}")
    for place, gamma in enumerate(gammas):
        tree, numba, answer = both_ways(z, x, gamma, n_repeats)
        error = np.abs(answer[checked] - exact[place]).max()
        mark = " cv" if place == chosen else "   "
        print(f"{2.0 ** (place - 3):>13}{mark}{tree:>9.2f}{numba:>10.1f}{numba / tree:>8.3g}{error:>10.1e}", flush=True)
    gamma = float(gammas[chosen])
    tree, _ = seconds(lambda: log_kernel_sums(z, x, "rbf", gamma, engine="tree"))
    if growth:
        less, _ = seconds(lambda: log_kernel_sums(z[: n // 10], x[: n // 10], "rbf", gamma, engine="tree"))
        print(f"time from n / 10 to n: {less:.3f} s, {tree:.3f} s, n^{np.log10(tree / less):.2f}")
    if with_peers:
        peers = {"KernelDensity": kernel_density}
        peers |= {"mlpack": mlpack_kde} if importlib.util.find_spec("mlpack") else {}
        for peer, work in peers.items():
            elapsed = work(z, x, gamma)
            print(f"{peer} at cv, rtol 1e-6: {elapsed:.0f} s, {elapsed / tree:.0f} times ours", flush=True)


def fit_skin(n_positive: int = 1000) -> None:
    """Fit to all colours, every row with an honest score, and score them all; once before on some, to compile."""
    data = load_libsvm("skin_nonskin")
    rng = np.random.default_rng(0)
    is_positive = data.target == 1
    y = np.zeros(len(is_positive))
    y[rng.choice(np.flatnonzero(is_positive), n_positive, replace=False)] = 1
    model = WMMDClassifier(max_evaluations=None, scenario="single-sample")
    some = np.concatenate([np.flatnonzero(y), rng.choice(len(y), 50_000)])
    model.fit(data.data[some], y[some])
    of_fit, _ = seconds(lambda: model.fit(data.data, y))
    of_scores, scores = seconds(lambda: model.decision_function(data.data))
    print(f"skin_nonskin, {len(y):,} rows: fit {of_fit:.1f} s, scores {of_scores:.1f} s")
    print(f"accuracy {np.mean((scores > 0) == is_positive):.4f}, AUC {roc_auc_score(is_positive, scores):.4f}")


def first_call(gammas: str) -> None:
    """The first call and the same again, in one thread."""
    z, x = np.random.default_rng(0).standard_normal((2, 10_000, 2))
    relative = {"wide": [0.4], "narrow": [4e4], "grid": list(2.0 ** np.arange(-3, 9))}[gammas]
    calls = [
        seconds(lambda: log_kernel_sums(z, x, "rbf", np.array(relative) / 4, engine="tree", n_jobs=1))[0]
        for _ in range(2)
    ]
    print(f"{gammas}: first call {calls[0]:.2f} s, second {calls[1]:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=(1, 2, 3, 4))
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--data", nargs="+", choices=("mixture", "skin"), default=("mixture", "skin"))
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--first", choices=("wide", "narrow", "grid"))
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    CLOCK[0] = time.process_time if args.busy else time.perf_counter
    if args.first:
        first_call(args.first)
        return
    if args.fit:
        fit_skin()
        return
    rng = np.random.default_rng(0)
    log_kernel_sums(rng.standard_normal((6000, 3)), rng.standard_normal((6000, 3)), "rbf", [0.1, 30.0], engine="tree")
    log_kernel_sums(rng.standard_normal((6000, 3)), rng.standard_normal((6000, 3)), "rbf", [0.1, 30.0], engine="numba")
    for name in args.data:
        for d in args.dims:
            measure(name, d, int(args.rows), with_peers=args.peers, growth=args.growth, n_repeats=args.repeats)


if __name__ == "__main__":
    main()
