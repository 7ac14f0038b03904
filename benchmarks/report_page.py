"""How large the page of a report is, how long it takes to make, and how soon a browser shows it.

    python benchmarks/report_page.py [--rows 1000 1000000]

A model is fitted to 5,000 rows of five columns, and its report compares them with another table of so many rows.
Opening is the time from the address to the load event, of a browser that runs already: the median of five.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from playwright.sync_api import Browser, sync_playwright

from unlabeled import WMMDClassifier, report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
N_OPENED = 5


def drawn(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of the population, a third of whose positives are labelled."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=n_rows) < 0.2
    X = rng.normal(truth[:, None] * [2.0, 1.0, 0.0, 0.0, 0.0], 1)
    return pd.DataFrame(X, columns=list("abcde")), (truth & (rng.uniform(size=n_rows) < 1 / 3)).astype(int)


def seconds_to_open(browser: Browser, page: Path) -> float:
    """The median over pages of their own."""
    taken = []
    for _ in range(N_OPENED):
        opened = browser.new_page()
        start = time.perf_counter()
        opened.goto(page.as_uri(), wait_until="load")
        taken.append(time.perf_counter() - start)
        opened.close()
    return median(taken)


def main() -> None:
    """Print a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 1_000_000])
    program = next(path for name in BROWSERS if (path := shutil.which(name)))
    X, y = drawn(5_000, 0)
    model = WMMDClassifier(0.2, scenario="single-sample", random_state=0).fit(X, y)
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for n_rows in parser.parse_args().rows:
            new, _ = drawn(n_rows, 1)
            start = time.process_time()
            page = report(model, X, y, new=new).save(Path(folder) / "report.html")
            made = time.process_time() - start
            size, opened = page.stat().st_size / 1e6, seconds_to_open(browser, page)
            print(
                f"{n_rows:9,} rows: {size:.2f} MB, made in {made:.1f} s of a core, open after {opened:.2f} s",
                flush=True,
            )
        browser.close()


if __name__ == "__main__":
    main()
