"""How often `adapt` refuses a batch in which only the share of positives has changed, and how well it finds that share.

    python benchmarks/adapting.py [--draws 300] [--classifier wmmd] [--out adapting.jsonl]
    python benchmarks/adapting.py --classifier pu --draws 30

By set-up: the share of the draws that are refused at the 5 % level (none should be), the mean of the new prior and its
standard deviation, how often its interval holds, and how often a batch is refused whose rows were moved by one standard
deviation (all should be). Gaussians; half of the positives of a single sample are labelled, or 60 are added. Rows of
results go to a file, and a run that was stopped goes on where it was; ``docs/bias/adapting.jsonl.xz`` has those behind
``docs/bias.md``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from resumable import filled, wanted

from unlabeled import PUClassifier, WMMDClassifier
from unlabeled.results import Row

LEVEL = 0.05
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


def measure(row: Row) -> dict[str, Any]:
    """The new prior, its interval and the p-value of the check; and the p-value of a batch that was moved."""
    setup, rng = Setup(**row["setting"]), np.random.RandomState(row["draw"])
    model = fitted(setup, row["method"], rng)
    batch = rows(rng, setup.n_batch, setup.new, setup)[0]
    found = model.adapt(batch, check=False).adaptation_
    moved = model.adapt(batch - np.eye(setup.n_features)[0], check=False).adaptation_
    values = {"prior": found.prior, "low": found.low, "high": found.high, "p_value": found.p_value}
    return {name: round(float(value), 6) for name, value in (values | {"moved": moved.p_value}).items()}


def line(setup: Setup, found: Iterable[Row]) -> list[str]:
    """What a table says of the rows of one set-up."""
    metrics = [row["metrics"] for row in found]
    priors = np.array([one["prior"] for one in metrics])
    refused, moved = (np.mean([one[name] < LEVEL for one in metrics]) for name in ("p_value", "moved"))
    holds = np.mean([one["low"] <= setup.new <= one["high"] for one in metrics])
    numbers = (setup.separation, setup.n_features, setup.n_rows, setup.n_batch, setup.old, setup.new)
    measured = [f"{refused:.3f}", f"{priors.mean():.3f} ± {priors.std():.3f}", f"{holds:.2f}", f"{moved:.2f}"]
    return [setup.scenario, *(f"{number:g}" for number in numbers), *measured]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--classifier", choices=CLASSIFIERS, default="wmmd")
    parser.add_argument("--out", default="adapting.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| scenario | separation | features | rows | batch | old prior | new prior | refused | found | holds | moved |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for setup in SETUPS:
        how = ("adapting", "gaussians", options.classifier, setup._asdict())
        found = filled(options.out, [wanted(*how, draw) for draw in range(options.draws)], measure)
        print("|", " | ".join(line(setup, found)), "|", flush=True)


if __name__ == "__main__":
    main()
