"""Error of the prior estimators on Gaussians, against the hidden truth.

    python benchmarks/priors.py [--dims 1 2 5 10] [--draws 10] [--methods best-bin km2]

Two normal distributions 2, 3 or 4 apart, 400 positives and 1,100 unlabeled rows; mean absolute error for each prior.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
from sklearn.base import clone

from unlabeled.datasets import make_gaussians
from unlabeled.priors import PRIORS

SEPARATIONS = (2.0, 3.0, 4.0)
TRUE_PRIORS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def errors(name: str, d: int, n_draws: int) -> tuple[np.ndarray, float]:
    """Absolute errors (n_priors, n_separations * n_draws), and seconds a fit."""
    start = time.perf_counter()
    found = np.array(
        [
            [
                abs(clone(PRIORS[name]).fit(data.X, data.y).prior_ - prior)
                for data in (
                    make_gaussians(400, 1100, 1, prior=prior, n_features=d, separation=separation, random_state=seed)
                    for separation, seed in product(SEPARATIONS, range(n_draws))
                )
            ]
            for prior in TRUE_PRIORS
        ]
    )
    return found, (time.perf_counter() - start) / found.size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 2, 5, 10])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=sorted(PRIORS), default=sorted(PRIORS))
    args = parser.parse_args()
    print(f"Mean absolute error over separations {SEPARATIONS} and {args.draws} draws; .1-.7: over those priors.\n")
    print(f"{'d':>3} {'method':12}" + "".join(f"{prior:>8}" for prior in TRUE_PRIORS) + f"{'.1-.7':>8}{'s/fit':>8}")
    for d, name in product(args.dims, args.methods):
        found, seconds = errors(name, d, args.draws)
        middle = found[1:-1].mean()
        print(
            f"{d:>3} {name:12}" + "".join(f"{e:>8.3f}" for e in found.mean(axis=1)) + f"{middle:>8.3f}{seconds:>8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
