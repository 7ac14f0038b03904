"""How much of the error of an estimated prior lies in the data, and how much in the estimate.

    python benchmarks/prior_limits.py [--draws 4] [--rules logistic shell] [--methods limits PUClassifier]
                                      [--out prior_limits.jsonl]

100 positives and 1,000 unlabeled rows of the six rules of ``development.py`` at five priors. Mean absolute error of

    densities      the likeliest prior, given p(x | y = 1) / p(x | y = 0) itself: nothing of it is learned
    true score     the rule of "auto", and each of its rivals, on the true P(y = 1 | x) as the score: what is learned
                   from the positives is only how this score is spread among them
    all labels     the rule of "auto" on a score that is learned, out of fold, with the true classes of all 1,100 rows
    PUClassifier   the rule of "auto" on the honest scores of the mixture, which are learned from 100 positives

P(y = 1 | x) is known of the logistic model, the Gaussians, the shell and the codes; of the clusters it is learned from
all 20,000 rows of the table, out of fold. And how often the 95 % interval of PUClassifier holds the prior, how wide it
is, and how often the prior lies below it and above it. Rows of results go to a file, and a run that was stopped goes on
where it was.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from development import PRIORS, RULES, table_of
from resumable import filled, wanted
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit, ndtr
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unlabeled import PUClassifier
from unlabeled.datasets import PUData, draw_pu
from unlabeled.deciding.rank_logistic import expected_prior
from unlabeled.deciding.scores import HonestScores
from unlabeled.priors.auto import AutoPrior
from unlabeled.priors.best_bin import best_bin
from unlabeled.priors.dedpul import DedpulPrior
from unlabeled.results import Row

N_POSITIVE, N_UNLABELED, N_TEST = 100, 1000, 100
RULES_LOOKED_AT = tuple(RULES)[:6]
#: Ties, of which a score from the true classes is full, are broken by so much.
JITTER = 1e-3


@cache
def true_probability(rule: str) -> np.ndarray:
    """P(y = 1 | x) of each row of the table."""
    X, truth = table_of(rule)
    if rule == "logistic":
        return np.asarray(expit(1.2 * X[:, :4].sum(axis=1)))
    if rule == "gaussians":
        shift = 2.5 / np.sqrt(5)
        return np.asarray(expit(shift * X.sum(axis=1) - 5 * shift**2 / 2))
    if rule == "shell":
        return truth.astype(float)
    if rule == "codes-and-tails":
        center = X[:, 0] * (X[:, 6] > 1) + np.abs(X[:, 1]) - (X[:, 7] == 2)
        # The threshold is not known here; the one under which as many rows are positive as there are.
        low, high = -10.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if ndtr((center - middle) / 0.5).mean() > truth.mean() else (low, middle)
        return np.asarray(ndtr((center - low) / 0.5))
    trees = HistGradientBoostingClassifier(max_iter=300, learning_rate=0.06, early_stopping=False, random_state=0)
    return np.asarray(cross_val_predict(trees, X, truth, cv=4, method="predict_proba")[:, 1])


def draw(rule: str, prior: float, seed: int) -> tuple[PUData, HonestScores, np.ndarray]:
    """Rows, their true score, and p(x | y = 1) / p(x | y = 0) of the unlabeled ones."""
    X, truth = table_of(rule)
    log_odds = logit(np.clip(true_probability(rule), 1e-9, 1 - 1e-9))
    data = draw_pu(np.c_[X, log_odds], truth, N_POSITIVE, N_UNLABELED, N_TEST, prior, random_state=seed)
    positive, unlabeled = data.positive[:, -1], data.unlabeled[:, -1]
    rows = PUData(
        data.positive[:, :-1], data.unlabeled[:, :-1], data.unlabeled_truth, data.test[:, :-1], data.test_truth
    )
    return rows, scores_of(positive, unlabeled, seed), np.exp(unlabeled - logit(truth.mean()))


def scores_of(positive: np.ndarray, unlabeled: np.ndarray, seed: int) -> HonestScores:
    rng = np.random.default_rng(seed)
    positive, unlabeled = (values + JITTER * rng.normal(size=len(values)) for values in (positive, unlabeled))
    return HonestScores(positive, unlabeled, np.ones(len(positive)), np.ones(len(unlabeled)))


def likeliest(ratios: np.ndarray) -> float:
    """The share of positives under which rows with these ratios of the two densities are likeliest."""
    found = minimize_scalar(
        lambda share: -np.log(share * ratios + 1 - share).mean(), bounds=(1e-6, 1 - 1e-6), method="bounded"
    )
    return float(found.x)


def with_all_labels(data: PUData, seed: int) -> HonestScores:
    """Scores out of fold, learned from the true classes of the very rows: two learners, each in its spread."""
    truth = np.concatenate([np.ones(N_POSITIVE, bool), data.unlabeled_truth])
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    learners: dict[str, Any] = {
        "decision_function": make_pipeline(StandardScaler(), SVC()),
        "predict_proba": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    }
    found = np.zeros(len(truth))
    for method, learner in learners.items():
        values = cross_val_predict(learner, data.X, truth, cv=folds, method=method)
        values = logit(np.clip(values[:, 1], 1e-6, 1 - 1e-6)) if values.ndim == 2 else values
        found += values / values.std()
    return scores_of(found[:N_POSITIVE], found[N_POSITIVE:], seed)


Estimate = Callable[[HonestScores], float]
ON_TRUE_SCORE: dict[str, Estimate] = {
    "true score": lambda scores: AutoPrior()._share(scores),
    "true score, curve": expected_prior,
    "true score, best bin": best_bin,
    "true score, DEDPUL": lambda scores: DedpulPrior()._share(scores),
}
LIMITS, OURS = "limits", "PUClassifier"
COLUMNS = {LIMITS: ("densities", *ON_TRUE_SCORE, "all labels"), OURS: (OURS,)}


def run(row: Row) -> dict[str, float]:
    """The estimates of one draw."""
    data, scores, ratios = draw(row["dataset"], row["setting"]["prior"], row["draw"])
    if row["method"] == OURS:
        model = PUClassifier().fit(data.X, data.y)
        low, high = model.prior_estimator_.interval()
        return {OURS: float(model.prior_), "low": low, "high": high}
    found = {"densities": likeliest(ratios)} | {name: estimate(scores) for name, estimate in ON_TRUE_SCORE.items()}
    found["all labels"] = AutoPrior()._share(with_all_labels(data, row["draw"]))
    return {name: float(value) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--rules", nargs="+", choices=RULES_LOOKED_AT, default=RULES_LOOKED_AT)
    parser.add_argument("--methods", nargs="+", choices=COLUMNS, default=tuple(COLUMNS))
    parser.add_argument("--out", default="prior_limits.jsonl")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        wanted("prior limits", rule, method, {"prior": prior}, draw)
        for draw, prior, rule, method in product(range(options.draws), PRIORS, options.rules, options.methods)
    ]
    errors: dict[tuple[Any, str], list[float]] = defaultdict(list)
    intervals: dict[Any, list[tuple[float, float, float]]] = defaultdict(list)
    for row in filled(options.out, rows, run):
        prior, found = row["setting"]["prior"], row["metrics"]
        for group in (prior, row["dataset"], "all"):
            for name in COLUMNS[row["method"]]:
                errors[group, name].append(abs(found[name] - prior))
            if row["method"] == OURS:
                intervals[group].append((found["low"], prior, found["high"]))
    names = [name for method in options.methods for name in COLUMNS[method]]
    print(f"Mean absolute error (standard error), {options.draws} draws; of the interval coverage / width\n")
    print("| |" + "|".join((*names, "interval")) + "|\n|---|" + "---:|" * len(names) + "---|")
    for group in (*PRIORS, *options.rules, "all"):
        cells = [*(mean(errors[group, name]) for name in names), coverage(intervals[group])]
        print(f"| {group} |" + "|".join(cells) + "|")


def mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.3f})"


def coverage(found: list[tuple[float, float, float]]) -> str:
    """The share of the intervals that hold the prior, their mean width, and how often it lies on either side."""
    if not found:
        return ""
    low, prior, high = np.transpose(found)
    below, above = np.mean(prior < low - 1e-9), np.mean(prior > high + 1e-9)
    return f"{1 - below - above:.2f} / {np.mean(high - low):.2f}, {below:.2f} below, {above:.2f} above"


if __name__ == "__main__":
    main()
