"""Times of a whole fit and of a prediction, where the time goes, and the peers' times in the same run.

    python benchmarks/fit.py [--sizes 500x30 10000x20 100000x20 1000000x20] [--repeats 3] [--beside 0]
                             [--plot docs/images/fit.png]

Each size runs in a process of its own, so that its peak memory is its own. Rows are normal in two classes, three tenths
of the population positive; a fifth of a small table and 1,000 rows of a large one are labelled. "trees" is what the
inner boosted trees cost when they are fitted plainly: as many folds of the same rows, no weights, no classes balanced,
in scikit-learn alone. "fit/trees" is a whole fit in units of that. "read" is the reading of the same table from a CSV
file, as the command line does it: a fit is given arrays, and has no such stage. Predictions are of 10,000 rows;
"predict/parts" is their time over that of the kernel sums and the trees inside, called one by one. Peers that are not
installed are left out. The best of some repeats counts, except for the largest sizes, which run once. With --beside 4
as many processes keep the cores busy meanwhile: threads that wait for each other then wait for these.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold

from unlabeled import PUClassifier
from unlabeled.classifiers.score_wmmd import default_estimator
from unlabeled.scoring.ratio import log_score
from unlabeled.stages import listening
from unlabeled.tables import Table

SIZES = ("500x30", "1000x20", "10000x20", "100000x20", "1000000x20")
#: What the project asks of itself: seconds and megabytes.
TARGETS = {"500x30": (1, None), "10000x20": (4, None), "100000x20": (20, 1000), "1000000x20": (180, 4000)}
N_PREDICTED = 10_000
#: Larger tables run once.
FEW_ROWS = 100_000


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels and new rows."""
    rng = np.random.default_rng(0)
    n_labelled = min(n // 5, 1000)
    truth = np.r_[np.ones(n_labelled, dtype=bool), rng.random(n - n_labelled + N_PREDICTED) < 0.3]
    rows = rng.standard_normal((len(truth), d)) + truth[:, None] * 3.6 / np.sqrt(d)
    return rows[:n], np.repeat([1, 0], [n_labelled, n - n_labelled]), rows[n:]


def seconds_of(function: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def seconds_of_reading(X: np.ndarray) -> float:
    """Of the table in a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        pl.DataFrame(X, schema=[f"x{place}" for place in range(X.shape[1])]).write_csv(path)
        return seconds_of(lambda: Table.open(path).read(), 1)


def plain_trees(X: np.ndarray, y: np.ndarray) -> None:
    """The inner classifiers of a fit, by scikit-learn alone."""
    plain = default_estimator().set_params(class_weight=None)
    for kept, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        clone(plain).fit(X[kept], y[kept])


def peers() -> dict[str, Callable[[np.ndarray, np.ndarray], Any]]:
    found: dict[str, Any] = {"HGB": lambda X, y: HistGradientBoostingClassifier().fit(X, y)}
    if importlib.util.find_spec("pulearn"):
        from pulearn import BaggingPuClassifier, ElkanotoPuClassifier  # noqa: PLC0415

        signed = lambda y: np.where(y == 1, 1, -1)  # noqa: E731
        found["pulearn bagging"] = lambda X, y: BaggingPuClassifier(n_estimators=15).fit(X, signed(y))
        found["pulearn Elkan-Noto"] = lambda X, y: ElkanotoPuClassifier(
            HistGradientBoostingClassifier(), hold_out_ratio=0.2
        ).fit(X, signed(y))
    return found


def parts_alone(model: PUClassifier, ratios: list[Any], rows: np.ndarray) -> None:
    """The kernel sums and the trees of a prediction, and nothing else."""
    if "wmmd" in model.parts_:
        part = model.parts_["wmmd"]
        log_score(ratios, part.scaling_.apply(rows), part._kernels(part.gamma_))
    if "score" in model.parts_:
        part = model.parts_["score"]
        stepped = part.steps_.apply(rows)
        for trees in part.estimators_:
            trees.predict_proba(stepped)
    if "least-squares" in model.parts_:
        part = model.parts_["least-squares"]
        part.ratio_.at(part.form_.apply(rows), part.engine)


def measure(size: str, repeats: int) -> dict[str, Any]:
    n, d = map(int, size.split("x"))
    X, y, new = table(n, d)
    PUClassifier().fit(*table(500, 3)[:2])  # compiled code is loaded once a process
    stages: dict[str, float] = defaultdict(float)

    def listener(name: str, _how_far: str, seconds: float | None) -> None:
        stages[name] += seconds or 0.0

    repeats = 1 if n > FEW_ROWS else repeats
    model = PUClassifier()
    with listening(listener):
        fit = seconds_of(lambda: model.fit(X, y), repeats)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    model.predict(new)
    ratios = model.parts_["wmmd"]._ratios() if "wmmd" in model.parts_ else []
    return {
        "size": size,
        "fit": fit,
        "peak": peak,
        "predict": seconds_of(lambda: model.predict(new), 3),
        "parts": seconds_of(lambda: parts_alone(model, ratios, new), 3),
        "trees": seconds_of(lambda: plain_trees(X, y), repeats),
        "read": seconds_of_reading(X),
        "stages": {name: seconds / repeats for name, seconds in stages.items()},
        "peers": {
            name: seconds_of(lambda peer=peer: peer(X, y), 1)
            for name, peer in peers().items()
            if n <= FEW_ROWS or name != "pulearn bagging"  # minutes
        },
    }


def tell(row: dict[str, Any]) -> None:
    seconds, megabytes = TARGETS.get(row["size"], (None, None))
    wanted = f"(at most {seconds} s{f', {megabytes:,} MB' if megabytes else ''})" if seconds else ""
    print(
        f"{row['size']:>11}  fit {row['fit']:.2f} s, {row['peak']:,.0f} MB {wanted}; trees {row['trees']:.2f} s, "
        f"fit/trees {row['fit'] / row['trees']:.2f} (at most 2); predict {N_PREDICTED:,} rows {row['predict']:.3f} s, "
        f"predict/parts {row['predict'] / row['parts']:.2f} (at most 1.15); read {row['read']:.2f} s"
    )
    row["stages"]["other"] = row["fit"] - sum(row["stages"].values())
    total = row["fit"]
    shares = sorted(row["stages"].items(), key=lambda item: -item[1])
    print(
        " " * 13
        + "of the fit: "
        + ", ".join(f"{name} {value / total:.0%}" for name, value in shares if value > 0.01 * total)
    )
    print(
        " " * 13 + "peers: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in row["peers"].items()),
        flush=True,
    )


def plot(rows: list[dict[str, Any]], path: str) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
    n_rows = [int(row["size"].split("x")[0]) for row in rows]
    axes.plot(n_rows, [row["fit"] for row in rows], "o-", color="C0", lw=2, label="PUClassifier, the whole fit")
    axes.plot(n_rows, [row["trees"] for row in rows], "s--", color="C1", label="its boosted trees alone")
    for place, name in enumerate(dict.fromkeys(name for row in rows for name in row["peers"])):
        values = [row["peers"].get(name, np.nan) for row in rows]
        axes.plot(n_rows, values, ".:", color=f"C{place + 2}", label=name)
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="ROWSxFEATURES")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beside", type=int, default=0, metavar="PROCESSES", help="that keep the cores busy meanwhile")
    parser.add_argument("--plot", metavar="PNG")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.repeats)))
        return
    rows = []
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(args.beside)]
    try:
        for size in args.sizes:
            command = [sys.executable, __file__, "--one", size, "--repeats", str(args.repeats)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append(json.loads(answer.stdout.splitlines()[-1]))
            tell(rows[-1])
    finally:
        for other in others:
            other.kill()
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
