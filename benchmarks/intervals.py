"""How often the intervals of prior, recall, precision and counts hold the truth, and how wide they are.

    python benchmarks/intervals.py [--draws 2] [--shapes gaussians moons customers] [--classifier wmmd] [--seed 0]
                                   [--out intervals.jsonl]

Tables with hidden classes, 3 to 100 labelled positives, priors from 0.1 to 0.5, both scenarios. What is true of a
fitted classifier is counted on fresh rows, 2,000 of each class. By number of positives, shape, scenario and prior:
coverage / mean width of the 95 % intervals. Rows of results go to a file, and a run that was stopped goes on where it
was.

The limits of the prior were developed on Gaussians in 2 and 10 dimensions, 2, 3 and 4 standard deviations apart, with
500 rows; the shapes here are others.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from resumable import filled, wanted

from unlabeled import PUClassifier, WMMDClassifier, evaluate
from unlabeled.cli.demo import make_customers
from unlabeled.datasets import make_gaussians, make_two_moons
from unlabeled.evaluation import Estimate
from unlabeled.metrics.estimate import proportion
from unlabeled.priors import PriorEstimate
from unlabeled.results import Row

N_POSITIVE = (3, 5, 10, 20, 50, 100)
TRUE_PRIORS = (0.1, 0.2, 0.5)
SCENARIOS = ("case-control", "single-sample")
#: Features and separations of the Gaussians.
GAUSSIANS = tuple(product((3, 6), (2.5, 3.5)))
SHAPES = ("gaussians", "moons", "customers")
CLASSIFIERS: dict[str, Any] = {"wmmd": WMMDClassifier, "pu": PUClassifier}
SHOWN = ("prior", "recall", "precision", "flagged_rate", "roc_auc", "n_positives", "n_flagged_positives")
N_FRESH = 2_000


class Setting(NamedTuple):
    """One table."""

    shape: str
    n_positive: int
    prior: float
    scenario: str
    seed: int


@dataclass(frozen=True)
class Table:
    """Rows, labels, hidden classes, and fresh rows of each class."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    fresh_positive: np.ndarray
    fresh_negative: np.ndarray


class Answer(NamedTuple):
    """An estimate, what it is an estimate of, and the most it could be."""

    name: str
    estimate: Estimate
    truth: float
    scale: float


def settings(shapes: Sequence[str], n_draws: int, seed: int = 0) -> Iterator[Setting]:
    for draw, shape, n_positive, prior, scenario in product(range(n_draws), shapes, N_POSITIVE, TRUE_PRIORS, SCENARIOS):
        if shape != "customers" or prior == 0.1:  # the demo has one prior
            yield Setting(shape, n_positive, prior, scenario, seed + draw)


def draw_table(setting: Setting) -> Table:
    rng = np.random.RandomState([setting.seed, setting.n_positive, int(100 * setting.prior), len(setting.scenario)])
    single = setting.scenario == "single-sample"
    n_rows = int(max(600, 2 * setting.n_positive / setting.prior)) if single else 600
    positive, negative = _classes(setting, rng, setting.n_positive + n_rows + N_FRESH)
    truth = rng.uniform(size=n_rows) < setting.prior
    while single and truth.sum() < setting.n_positive:  # that are to be labelled
        truth = rng.uniform(size=n_rows) < setting.prior
    rows = np.where(truth[:, None], positive[:n_rows], negative[:n_rows])
    fresh = positive[-N_FRESH:], negative[-N_FRESH:]
    y = np.zeros(n_rows)
    if single:
        y[rng.choice(np.flatnonzero(truth), setting.n_positive, replace=False)] = 1
        return Table(rows, y, truth, *fresh)
    added = np.ones(setting.n_positive)
    labelled = positive[n_rows : n_rows + setting.n_positive]
    return Table(np.vstack([labelled, rows]), np.append(added, y), np.append(added > 0, truth), *fresh)


def _classes(setting: Setting, rng: np.random.RandomState, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """So many rows of each class."""
    if setting.shape == "customers":
        rows, truth = _customers(rng, n_rows)
    elif setting.shape == "moons":
        data = make_two_moons(1, 1, 3 * n_rows, noise=1.0, random_state=rng)
        rows, truth = data.test, data.test_truth
    else:
        n_features, separation = GAUSSIANS[setting.seed % len(GAUSSIANS)]
        data = make_gaussians(1, 1, 3 * n_rows, n_features=n_features, separation=separation, random_state=rng)
        rows, truth = data.test, data.test_truth
    return rows[truth][:n_rows], rows[~truth][:n_rows]


def _customers(rng: np.random.RandomState, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of enough demo tables, as numbers."""
    pages, truths = [], []
    while sum(truth.sum() for truth in truths) < n_rows:
        table, answers = make_customers(rng.randint(2**31))
        amount = table["mean_amount"].fill_null(table["mean_amount"].median())
        numbers = [table["age"], amount, table["transfers"], table["joined"].to_physical(), table["verified"]]
        numbers += [table["channel"] == channel for channel in ("branch", "phone", "web")]
        pages.append(np.column_stack([column.to_numpy().astype(float) for column in numbers]))
        truths.append(answers["fraud"].to_numpy() == 1)
    return np.concatenate(pages), np.concatenate(truths)


def answers(setting: Setting, classifier: str = "wmmd") -> list[Answer]:
    """All estimates of one fit, and the truths."""
    table = draw_table(setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that labels do not look random, by chance
        model = CLASSIFIERS[classifier]("auto", scenario=setting.scenario, random_state=0).fit(table.X, table.y)
    found = evaluate(model, table.X, table.y)
    recall, fall_out = (np.mean(model.predict(rows) == 1) for rows in (table.fresh_positive, table.fresh_negative))
    flagged = setting.prior * recall + (1 - setting.prior) * fall_out
    scores = [model.score_samples(rows) for rows in (table.fresh_positive, table.fresh_negative)]
    in_population = np.ones(len(table.y), bool) if setting.scenario == "single-sample" else table.y == 0
    n_rows = float(in_population.sum())
    prior = PriorEstimate.of(model.prior_estimator_, "auto")
    result = [
        Answer("prior", Estimate(prior.value, *prior.ends), setting.prior, 1),
        Answer("recall", found.recall, recall, 1),
        Answer("flagged_rate", found.flagged_rate, flagged, 1),
        Answer("roc_auc", found.roc_auc, float(np.mean(scores[0][:500, None] > scores[1][None, :500])), 1),
        Answer("n_positives", found.n_positives, float(table.truth[in_population].sum()), n_rows),
    ]
    if flagged == 0:
        return result
    result.append(Answer("precision", found.precision, setting.prior * recall / flagged, 1))
    hits, n_flagged = _honest_hits(model, table)
    return [*result, Answer("n_flagged_positives", found.n_flagged_positives, hits, n_flagged)]


def _honest_hits(model: Any, table: Table) -> tuple[float, float]:
    """Positives among the rows of the population that are flagged, each scored without itself; and the flagged."""
    honest = model.honest_scores_
    rows = honest.unlabeled_rows
    if honest.labelled_share:
        rows = np.concatenate([honest.positive_rows, rows])
    flagged = rows[honest.population > model.threshold_]
    return float(table.truth[flagged].sum()), float(max(len(flagged), 1))


def holds(answer: Answer) -> bool:
    """Whether the interval holds the truth; a billionth more or less is rounding."""
    return answer.estimate.low - 1e-9 <= answer.truth <= answer.estimate.high + 1e-9


def coverage(found: Sequence[Answer]) -> tuple[float, float]:
    """The share of the intervals that hold, and their mean width as a share of all there could be."""
    width = np.mean([(one.estimate.high - one.estimate.low) / one.scale for one in found])
    return float(np.mean([holds(one) for one in found])), float(width)


def as_row(setting: Setting, classifier: str) -> Row:
    """What a table and a classifier are called in the file of results."""
    within = {"n_positive": setting.n_positive, "prior": setting.prior, "scenario": setting.scenario}
    return wanted("intervals", setting.shape, classifier, within, setting.seed)


def run(row: Row) -> dict[str, Any]:
    """Value, ends, truth and scale of all estimates of one fit."""
    within = row["setting"]
    setting = Setting(row["dataset"], within["n_positive"], within["prior"], within["scenario"], row["draw"])
    return {
        one.name: [one.estimate.value, *map(float, (one.estimate.low, one.estimate.high, one.truth, one.scale))]
        for one in answers(setting, row["method"])
    }


def read(row: Row) -> list[Answer]:
    """The answers that a row holds."""
    return [
        Answer(name, Estimate(value, low, high), truth, scale)
        for name, (value, low, high, truth, scale) in row["metrics"].items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    parser.add_argument("--classifier", choices=CLASSIFIERS, default="wmmd")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="intervals.jsonl")
    options = parser.parse_args()
    by_group: dict[tuple[str, str], list[Answer]] = {}
    asked = [as_row(one, options.classifier) for one in settings(options.shapes, options.draws, options.seed)]
    for row in filled(options.out, asked, run):
        within = row["setting"]
        groups = (f"{within['n_positive']} positives", row["dataset"], within["scenario"], f"prior {within['prior']}")
        for answer, group in product(read(row), groups):
            by_group.setdefault((group, answer.name), []).append(answer)
    print(f"{len(asked)} fits; coverage / mean width, as a share of all there could be")
    print("| |", " | ".join(SHOWN), "|")
    print("|---|", "---|" * len(SHOWN))
    for group in dict.fromkeys(group for group, _ in by_group):
        cells = [coverage(by_group[group, name]) for name in SHOWN]
        print(f"| {group} |", " | ".join(f"{share:.2f} / {width:.2f}" for share, width in cells), "|")
    worst = min(proportion(sum(map(holds, found)), len(found)).high for found in by_group.values())
    print(f"the least coverage that a group may have, by the upper end of its own interval: {worst:.2f}")


if __name__ == "__main__":
    main()
