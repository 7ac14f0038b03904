"""How often `ScarTest` rejects: with labels at random, where it should not, and with labels that are biased.

    python benchmarks/bias_size.py [--draws 2000] [--setups gaussians-6 wine ...] [--out bias_size.jsonl]
    python benchmarks/bias_size.py --power --draws 500
    python benchmarks/bias_size.py --leave-one-out --setups gaussians-6 gaussians-6-case-control --draws 1000
    python benchmarks/bias_size.py --error 1.2 --draws 500
    python benchmarks/bias_size.py --warning --draws 200

Twenty set-ups with labels at random, made up and real, tested at their true prior: the hardest prior that the null
hypothesis allows. The size is the share of the draws with a p-value of at most 0.05. Rows of results go to a file, 50
draws a row, and a run that was stopped goes on where it was. ``--power`` labels easy or hard cases first instead, at
growing strengths, in three of the set-ups. ``--leave-one-out`` shows why the test splits the table: the same p-value,
of the scores that `WMMDClassifier` gives each row without itself. ``--error`` tests labels at random at a prior that is
wrong by a factor, which shows how much the test rests on it. ``--warning`` has the p-value by which estimators of the
prior warn, where it is below 0.001: with labels at random and just so many hidden positives as the warning takes for
granted, which is its hardest case.

``docs/bias/scar_test.jsonl.xz`` has the rows behind ``docs/bias.md``, of all these commands (``--draws 0 --out
docs/bias/scar_test.jsonl.xz`` shows them); ``bias_figures.py --power`` draws those of the second.

The tables of the LIBSVM collection are read from UNLABELED_DATA_HOME, or downloaded.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons

from unlabeled import WMMDClassifier
from unlabeled.bias import ScarTest
from unlabeled.datasets import AtRandom, EasyFirst, HardFirst, paper_dataset
from unlabeled.datasets.labelling import Labelling
from unlabeled.deciding.top_counts import Share, TopCounts
from unlabeled.metrics.estimate import Estimate, proportion
from unlabeled.priors import BestBinPrior
from unlabeled.priors.scar import FEWEST_POSITIVES, evidence_against_scar
from unlabeled.results import ResultsFile, row_key

A_ROW = 50
LEVELS = (0.05, 0.01, 0.001)
STRENGTHS = (0.5, 1.0, 2.0, 4.0, 8.0)
POWER_SETUPS = ("gaussians-4", "gaussians-6", "breast-cancer")
N_SIMULATED = 999
LEAVE_ONE_OUT, WARNING = ", leave-one-out scores", ", p-value of the warning"
Table = tuple[np.ndarray, np.ndarray]
#: So many rows, at a prior, of a population without end.
Maker = Callable[[np.random.RandomState, int, float], Table]


@dataclass(frozen=True)
class Setup:
    """A population, and how samples are drawn from it: so many rows, a prior and a label frequency.

    In the case-control scenario the labelled positives are as many, and come on top.
    """

    make: Maker
    n_rows: int = 300
    prior: float = 0.3
    frequency: float = 0.3
    scenario: str = "single-sample"


def gaussians(separation: float, n_features: int = 2) -> Maker:
    def make(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
        truth = rng.uniform(size=n_rows) < prior
        X = rng.normal(size=(n_rows, n_features))
        X[:, 0] += separation * truth
        return X, truth

    return make


def moons(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
    truth = rng.uniform(size=n_rows) < prior
    X, y = make_moons((n_rows, n_rows), noise=0.15, random_state=rng)
    return np.where(truth[:, None], X[y == 1], X[y == 0]), truth


def heavy_tails(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
    truth = rng.uniform(size=n_rows) < prior
    return rng.standard_t(2, size=(n_rows, 3)) + 5 * truth[:, None] * np.array([1, 0, 0]), truth


def steps(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
    """Whole numbers: many rows are copies."""
    X, truth = gaussians(4)(rng, n_rows, prior)
    return np.round(X), truth


def two_clusters(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
    """Positives on both sides of the negatives, one side rarer."""
    truth = rng.uniform(size=n_rows) < prior
    X = rng.normal(size=(n_rows, 2))
    X[:, 0] += truth * rng.choice([-6, 6], size=n_rows, p=[0.2, 0.8])
    return X, truth


@cache
def real(name: str) -> Table:
    if name == "wine":
        X, y = load_wine(return_X_y=True)
        return X, y == 1
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y == 8
    if name == "wisconsin":
        X, y = load_breast_cancer(return_X_y=True)
        return X, y == 0
    data = paper_dataset(f"{name}_scale", layout="indexed")
    return np.asarray(data.X, dtype=np.float64), data.is_positive


def of_table(name: str) -> Maker:
    """Rows of a real table, each class drawn with replacement: the table is the population."""

    def make(rng: np.random.RandomState, n_rows: int, prior: float) -> Table:
        X, y = real(name)
        truth = rng.uniform(size=n_rows) < prior
        positives, negatives = (rng.choice(np.flatnonzero(y == value), n_rows) for value in (True, False))
        return X[np.where(truth, positives, negatives)], truth

    return make


SETUPS: dict[str, Setup] = {
    "gaussians-2": Setup(gaussians(2)),
    "gaussians-4": Setup(gaussians(4)),
    "gaussians-6": Setup(gaussians(6)),
    "gaussians-6-case-control": Setup(gaussians(6), scenario="case-control"),
    "gaussians-4-ten-features": Setup(gaussians(4, 10), prior=0.5),
    "gaussians-8-ten-features-case-control": Setup(gaussians(8, 10), prior=0.5, frequency=0.5, scenario="case-control"),
    "gaussians-6-few-labels": Setup(gaussians(6), prior=0.5, frequency=0.07),
    "gaussians-6-most-labelled": Setup(gaussians(6), prior=0.2, frequency=0.8),
    "gaussians-6-rare": Setup(gaussians(6), n_rows=600, prior=0.08, frequency=0.4),
    "moons": Setup(moons, prior=0.5),
    "heavy-tails": Setup(heavy_tails),
    "steps": Setup(steps, prior=0.4),
    "two-clusters": Setup(two_clusters),
    "wine": Setup(of_table("wine"), prior=0.4),
    "digits": Setup(of_table("digits"), prior=0.2, frequency=0.4),
    "wisconsin": Setup(of_table("wisconsin"), prior=0.37),
    "breast-cancer": Setup(of_table("breast-cancer"), prior=0.35),
    "breast-cancer-case-control": Setup(of_table("breast-cancer"), prior=0.35, scenario="case-control"),
    "australian": Setup(of_table("australian"), prior=0.45),
    "diabetes": Setup(of_table("diabetes"), prior=0.65, frequency=0.2),
}


def draw(setup: Setup, labelling: Labelling, rng: np.random.RandomState) -> Table:
    """Rows and labels, at least four of them."""
    while True:
        X, truth = setup.make(rng, setup.n_rows, setup.prior)
        source, known = (X, truth) if setup.scenario == "single-sample" else setup.make(rng, setup.n_rows, setup.prior)
        y = np.zeros(len(known), dtype=bool)
        y[known] = rng.uniform(size=known.sum()) < labelling.propensities(source, known)
        if y.sum() >= 4:
            break
    if setup.scenario == "single-sample":
        return X, y
    return np.vstack([source[y], X]), np.repeat([True, False], [y.sum(), len(X)])


def p_value(setup: Setup, labelling: Labelling, rng: np.random.RandomState, error: float = 1.0) -> float:
    X, y = draw(setup, labelling, rng)
    prior = error * setup.prior
    if setup.scenario == "single-sample" and y.mean() >= prior:
        return 1.0  # more are labelled than the prior allows for, by chance: nothing is hidden
    test = ScarTest(prior, scenario=setup.scenario, n_simulated=N_SIMULATED, random_state=rng, n_jobs=1)
    return test.fit(X, y).p_value_


def leave_one_out_p_value(
    setup: Setup,
    labelling: Labelling,
    rng: np.random.RandomState,
    error: float = 1.0,  # noqa: ARG001 (as of `p_value`)
) -> float:
    """The p-value of one table of scores that is not split."""
    X, y = draw(setup, labelling, rng)
    single = setup.scenario == "single-sample"
    if single and y.mean() >= setup.prior:
        return 1.0
    model = WMMDClassifier(setup.prior, scenario=setup.scenario, smoothing=0, random_state=0, n_jobs=1).fit(X, y)
    counts, null = TopCounts.of(model.honest_scores_), Share(setup.prior, single)
    n_labelled, n_unlabeled = int(y.sum()), int((~y).sum())
    hidden = null.draws(n_labelled, n_unlabeled, N_SIMULATED, rng)
    return counts.p_value(hidden, null.expected(n_labelled, n_unlabeled), rng)


def p_value_of_warning(
    setup: Setup,
    labelling: Labelling,  # noqa: ARG001 (as of `p_value`)
    rng: np.random.RandomState,
    error: float = 1.0,  # noqa: ARG001
) -> float:
    """As many labels as the set-up has on average, and beside them the fewest hidden positives."""
    n_labelled = round(setup.prior * setup.frequency * setup.n_rows)
    n_positive = n_labelled + FEWEST_POSITIVES
    n_negative = setup.n_rows - (n_positive if setup.scenario == "single-sample" else FEWEST_POSITIVES)
    positives, negatives = (setup.make(rng, setup.n_rows, prior)[0] for prior in (1.0, 0.0))
    X = np.vstack([positives[:n_positive], negatives[:n_negative]])
    fitted = BestBinPrior(scenario=setup.scenario, n_jobs=1).fit(X, np.arange(len(X)) < n_labelled)
    return evidence_against_scar(fitted.honest_scores_, FEWEST_POSITIVES).p_value


def generator(name: str, batch: int, place: int) -> np.random.RandomState:
    """The random numbers of one table: the place of a draw in a row of them."""
    return np.random.RandomState([batch, place, sum(map(ord, name))])


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str, Labelling, int]]:
    """Set-up, the way to label in words, that way, and the number of a row of draws; all set-ups take turns."""
    for batch in range(-(-options.draws // A_ROW)):
        for name in options.setups or (POWER_SETUPS if options.power else SETUPS):
            frequency = SETUPS[name].frequency
            if not options.power:
                words = "at random" + LEAVE_ONE_OUT * options.leave_one_out + WARNING * options.warning
                if options.error != 1:
                    words += f", {options.error:g} times the prior"
                yield name, words, AtRandom(frequency), batch
                continue
            for strength in STRENGTHS:
                yield name, f"easy first, {strength:g}", EasyFirst(frequency, strength), batch
                yield name, f"hard first, {strength:g}", HardFirst(frequency, strength), batch


def run(options: argparse.Namespace, results: ResultsFile) -> None:
    results.refresh()
    for name, words, labelling, batch in cells(options):
        row: dict[str, Any] = {
            "experiment": "scar-test",
            "dataset": name,
            "method": words,
            "setting": {"rows": A_ROW},
            "draw": batch,
        }
        if row_key(row) in results:
            continue
        rngs = [generator(name, batch, place) for place in range(A_ROW)]
        of_draw = p_value
        if options.leave_one_out or options.warning:
            of_draw = leave_one_out_p_value if options.leave_one_out else p_value_of_warning
        row["p_values"] = [of_draw(SETUPS[name], labelling, rng, options.error) for rng in rngs]
        results.append(row)


def p_values_of(rows: Iterable[dict[str, Any]]) -> dict[tuple[str, str], np.ndarray]:
    """By set-up and the way to label in words."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        found[row["dataset"], row["method"]] += row["p_values"]
    return {key: np.array(p_values) for key, p_values in found.items()}


def rejected(p_values: np.ndarray, level: float = LEVELS[0]) -> Estimate:
    """The share at a level, and its 95 % interval."""
    return proportion(float((p_values <= level).sum()), len(p_values))


def tell(results: ResultsFile) -> None:
    print("| set-up | labels | draws | rejected at 0.05 | 95 % interval | at 0.01 | at 0.001 |")
    print("|---|---|---|---|---|---|---|")
    for (name, words), p_values in p_values_of(results.rows()).items():
        first, *others = (rejected(p_values, level) for level in LEVELS)
        print(
            f"| {name} | {words} | {len(p_values):,} | {first.value:.3f} | {first.low:.3f} to {first.high:.3f} | "
            f"{' | '.join(f'{other.value:.4f}' for other in others)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--setups", nargs="+", choices=SETUPS)
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--warning", action="store_true")
    parser.add_argument("--error", type=float, default=1.0, help="the tested prior by the true one")
    parser.add_argument("--out", default="bias_size.jsonl")
    options = parser.parse_args()
    results = ResultsFile(options.out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(options, results)
    tell(results)


if __name__ == "__main__":
    main()
