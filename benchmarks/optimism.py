"""How much honest scores flatter the part that they are of, and what the shares of `PUClassifier` lose by that.

    UNLABELED_DATA_HOME=folder python benchmarks/optimism.py [--draws 2] [--first 100] [--small]
                                                             [--tables hastie ...] [--out optimism.jsonl]

A gamma is chosen by the scores that it gives, so these may look better than scores of new rows. On the tables of
``development.py``, for each part and for the mixture: the area of honest scores (positives against the population) less
that of the test rows. And what there is to win by shares that know nothing of it: in the place of the honest scores
as many test rows give the shares, the other half of the test rows judges both mixtures. (Not where that half has too
few positives.) Rows of results go to a file, and a run that was stopped goes on where it was. The rows behind
``docs/method.md`` are kept: ``--out docs/accuracy/optimism.jsonl.xz`` makes its table of these.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from itertools import product

import numpy as np
from development import tables
from resumable import filled, wanted

from unlabeled import PUClassifier
from unlabeled.classifiers.pu import PARTS
from unlabeled.classifiers.weighing import Comparison
from unlabeled.deciding.scores import HonestScores
from unlabeled.results import Row, read_rows

#: Tables by their number of labelled positives.
GROUPS = {"up to 20 positives": (0, 20), "up to 100": (20, 100), "more": (100, np.inf)}
EVERY = (*PARTS, "mixture")


def run(row: Row) -> dict[str, float]:
    """Areas of honest scores less those of new rows; and the area won by shares from new rows, if these suffice."""
    data = tables(small=False)[row["dataset"]](row["draw"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = [part.make(PUClassifier()).set_params(random_state=0).fit(data.X, data.y) for part in PARTS.values()]
        new = np.array([part.score_samples(data.test) for part in parts])
    honest, test = HonestScores.stacked([part.honest_scores_ for part in parts]), scores_of(new, data.test_truth)
    found = {f"{name} flatters": h.area - t.area for name, h, t in zip(PARTS, honest.each(), test.each(), strict=True)}
    weights = weights_by(honest, honest)
    found["mixture flatters"] = honest.weighted_sum(weights).area - test.weighted_sum(weights).area
    asked, judges = (scores_of(new[:, half::2], data.test_truth[half::2]) for half in (0, 1))
    n_positive, n_unlabeled = int(honest.n_positive), int(honest.n_unlabeled)
    if asked.n_positive >= n_positive:
        asked = HonestScores(
            asked.positive[:, :n_positive],
            asked.unlabeled[:, :n_unlabeled],
            np.ones(n_positive),
            np.ones(min(n_unlabeled, asked.unlabeled.shape[1])),
        )
        found["won"] = judges.weighted_sum(weights_by(asked, honest)).area - judges.weighted_sum(weights).area
        found["won"] /= 1 - float(np.mean(data.test_truth))  # of positives against negatives
    return {"n_positive": float(n_positive), **found}


def scores_of(scores: np.ndarray, truth: np.ndarray) -> HonestScores:
    """Scores of new rows, whose classes are known: the population is all of them."""
    return HonestScores(scores[:, truth], scores, np.ones(truth.sum()), np.ones(len(truth)))


def weights_by(scores: HonestScores, units: HonestScores) -> np.ndarray:
    """What to multiply each score by, with shares by some rows and in units of the spreads in others."""
    shares = Comparison.of(tuple(PARTS), scores).in_use()
    return np.array([shares.get(name, 0.0) / one.spread for name, one in zip(PARTS, units.each(), strict=True)])


def lines(rows: Iterable[Row]) -> Iterable[str]:
    """The table: groups by the number of positives, means and standard errors in points of AUC."""
    found = [row["metrics"] for row in rows]
    yield "| labelled | fits | " + " | ".join(EVERY) + " | fits | won by shares from new rows |"
    yield "|---|---:|" + "---:|" * (len(EVERY) + 2)
    for name, (low, high) in GROUPS.items():
        of_group = [metrics for metrics in found if low < metrics["n_positive"] <= high]
        won = [metrics["won"] for metrics in of_group if "won" in metrics]
        flatters = [mean_and_error([metrics[f"{part} flatters"] for metrics in of_group]) for part in EVERY]
        cells = [name, str(len(of_group)), *flatters, str(len(won)), mean_and_error(won)]
        yield f"| {' | '.join(cells)} |"


def mean_and_error(values: list[float]) -> str:
    """Mean and its standard error, in percent."""
    if len(values) < 2:
        return ""
    return f"{100 * np.mean(values):+.1f} ({100 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--small", action="store_true", help="leave out skin, HIGGS and tables with 1,000 positives")
    parser.add_argument("--tables", nargs="+", choices=tables(small=False))
    parser.add_argument("--out", default="optimism.jsonl")
    options = parser.parse_args()
    names = options.tables or list(tables(small=options.small))
    draws = range(options.first, options.first + options.draws)
    rows = [wanted("optimism", name, "PUClassifier", {}, draw) for draw, name in product(draws, names)]
    print("\n".join(lines(read_rows(options.out) if options.out.endswith(".xz") else filled(options.out, rows, run))))


if __name__ == "__main__":
    main()
