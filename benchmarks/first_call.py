"""What a first call waits for: the import, the compiler, and what is left of that in the next process.

    python benchmarks/first_call.py [--processor]

Each job runs in a process of its own with an empty folder for compiled code, then in a second process with what the
first one left there, and there once more for another number of features: what that takes beside the job itself, and
how many loops were compiled for it. The import of the library is not counted, it has a line of its own. With
--processor the time of the processor counts, for machines that others use too.

At the end the time of scoring one row, warm, the best of many.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time

from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.datasets import make_gaussians

#: What the project asks of itself.
MOST_SECONDS, MOST_MILLISECONDS = 3.0, 1.0

SUMS = 'log_kernel_sums(rng.random(({0}, d)), rng.random(({0}, d)), "{1}", {2}, engine="{3}"{4})'
FIT = "{0}(0.5).fit(*table)"
JOBS = {
    "sums of few rows": SUMS.format(50, "rbf", [1.0], "auto", ""),
    "sums of many rows": SUMS.format(2000, "rbf", [1.0], "auto", ""),
    "a wide grid": SUMS.format(2000, "rbf", [2.0**i for i in range(-3, 9)], "auto", ""),
    "with weights": SUMS.format(2000, "rbf", [1.0], "auto", ", log_weights=rng.random(2000)"),
    "inverse kernel": SUMS.format(2000, "inverse", [1.0], "auto", ""),
    "exact": SUMS.format(2000, "rbf", [1.0], "auto", ", exact=True"),
    "tree": SUMS.format(20_000, "rbf", [1.0, 1000.0], "tree", ""),
    "fit of distances": FIT.format("WMMDClassifier"),
    "default fit": FIT.format("PUClassifier"),
}

CODE = """
import sys, time
clock = getattr(time, {clock!r})
start = clock()
import numpy as np
from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.engines import log_kernel_sums
imported = clock() - start

def n_compiled():
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("unlabeled.engines")]
    loops = {{id(loop): loop for names in modules for loop in names.values() if hasattr(loop, "stats")}}
    return sum(sum(loop.stats.cache_misses.values()) for loop in loops.values())

seconds = []
for d in {features}:
    rng, data = np.random.default_rng(0), make_gaussians(100, 400, 10, n_features=d, random_state=0)
    table, before, start = (data.X, data.y), n_compiled(), clock()
    {job}
    seconds.append(clock() - start)
print(imported, *seconds, n_compiled() - before)
"""


def run(job: str, features: tuple[int, ...], folder: str, clock: str) -> list[float]:
    """Seconds of the import, of the job for each number of features, and loops compiled for the last of these."""
    code = CODE.format(job=job, features=features, clock=clock)
    environment = os.environ | {"NUMBA_CACHE_DIR": folder}
    return list(map(float, subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).split()))


def milliseconds_of_one_row() -> dict[str, float]:
    """The best of many scores of one row, warm."""
    data = make_gaussians(100, 400, 10, random_state=0)
    models = {
        "WMMDClassifier(smoothing=0)": WMMDClassifier(0.5, smoothing=0),
        "WMMDClassifier()": WMMDClassifier(0.5),
        "PUClassifier()": PUClassifier(0.5),
    }
    found = {}
    for name, model in models.items():
        model.fit(data.X, data.y)
        times = []
        for _ in range(300):
            start = time.perf_counter()
            model.predict(data.test[:1])
            times.append(time.perf_counter() - start)
        found[name] = 1e3 * min(times)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processor", action="store_true", help="time of the processor, not on the wall")
    clock = "process_time" if parser.parse_args().processor else "perf_counter"
    print(f"Seconds; wanted: the first call at most {MOST_SECONDS:g}, and no loops compiled for other features.")
    heads = ("first call", "next process", "other features", "loops", "import")
    print(" " * 20 + "".join(f"{head:>16}" for head in heads))
    for name, job in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            imported, first, _ = run(job, (3,), folder, clock)
            _, second, other, loops = run(job, (3, 2), folder, clock)
        cells = first, second, other, loops, imported
        print(f"{name:<20}" + "".join(f"{cell:>16.2f}" for cell in cells), flush=True)
    print(f"\nMilliseconds of one row against 500, warm; wanted of WMMDClassifier: at most {MOST_MILLISECONDS:g}.")
    for name, milliseconds in milliseconds_of_one_row().items():
        print(f"{name:<32}{milliseconds:>8.2f}")


if __name__ == "__main__":
    main()
