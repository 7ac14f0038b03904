"""How often `adapt` refuses a batch in which only the share of positives has changed, and how well it finds that share.

    python benchmarks/adapting.py [--draws 200] [--classifier wmmd]

By set-up: the share of the draws that are refused at the 5 % level (none should be), the mean of the new prior and its
standard deviation, how often its interval holds, and how often a batch is refused whose rows were moved by one standard
deviation (all should be). Gaussians; half of the positives of a single sample are labelled, or 60 are added.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any, NamedTuple

import numpy as np

from unlabeled import PUClassifier, WMMDClassifier

CLASSIFIERS: dict[str, Any] = {"wmmd": WMMDClassifier, "pu": PUClassifier}


class Setup(NamedTuple):
    """A table of so many rows with a prior, and a batch with another."""

    scenario: str
    separation: float
    n_features: int
    n_rows: int
    old: float
    new: float
    n_batch: int


SETUPS = (
    Setup("single-sample", 3, 2, 400, 0.1, 0.5, 400),
    Setup("single-sample", 3, 2, 400, 0.5, 0.1, 400),
    Setup("single-sample", 5, 8, 300, 0.5, 0.1, 300),
    Setup("case-control", 3, 4, 400, 0.3, 0.3, 1000),
    Setup("case-control", 2, 2, 400, 0.3, 0.6, 2000),
    Setup("case-control", 3, 2, 400, 0.1, 0.5, 200),
)


def rows(rng: np.random.RandomState, n_rows: int, prior: float, setup: Setup) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.uniform(size=n_rows) < prior
    X = rng.normal(size=(n_rows, setup.n_features))
    X[:, 0] += setup.separation * truth
    return X, truth


def fitted(setup: Setup, classifier: str, rng: np.random.RandomState) -> Any:
    X, truth = rows(rng, setup.n_rows, setup.old, setup)
    if setup.scenario == "single-sample":
        y = truth & (rng.uniform(size=len(X)) < 0.5)
    else:
        X, y = np.vstack([rows(rng, 60, 1.1, setup)[0], X]), np.repeat([True, False], [60, len(X)])
    options = {"scenario": setup.scenario, "random_state": 0, "n_jobs": 1}
    return CLASSIFIERS[classifier](setup.old, **options).fit(X, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--classifier", choices=CLASSIFIERS, default="wmmd")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| scenario | separation | features | rows | batch | old prior | new prior | refused | found | holds | moved |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for setup in SETUPS:
        found, moved = [], []
        for draw in range(options.draws):
            rng = np.random.RandomState(draw)
            model = fitted(setup, options.classifier, rng)
            batch = rows(rng, setup.n_batch, setup.new, setup)[0]
            found.append(model.adapt(batch, check=False).adaptation_)
            moved.append(model.adapt(batch - np.eye(setup.n_features)[0], check=False).adaptation_.p_value < 0.05)
        refused, holds = (
            np.mean(values)
            for values in ([a.p_value < 0.05 for a in found], [a.low <= setup.new <= a.high for a in found])
        )
        priors = np.array([a.prior for a in found])
        print(
            f"| {setup.scenario} | {setup.separation:g} | {setup.n_features} | {setup.n_rows} | {setup.n_batch} | "
            f"{setup.old:g} | {setup.new:g} | {refused:.3f} | {priors.mean():.3f} ± {priors.std():.3f} | {holds:.2f} | "
            f"{np.mean(moved):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
