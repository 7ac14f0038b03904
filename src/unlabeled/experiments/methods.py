"""The methods that are compared, by the names that rows carry: the paper's five, configured as there, and our own."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled.baselines import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier
from unlabeled.classifiers import PUClassifier, ScoreWMMDClassifier, WMMDClassifier
from unlabeled.datasets import PUData
from unlabeled.experiments.calibration import calibration_error
from unlabeled.priors import KernelMeanPrior, PriorEstimator

Prior = float | str | PriorEstimator
#: The paper is silent on NNPU's batches. With 100 rows, the default, a fit takes many minutes from here on.
LARGE_SAMPLE, LARGE_BATCH = 50_000, 1_000
#: Added to the mean over positives by the authors' released program.
RELEASED_FLOOR = 1e-8


@dataclass(frozen=True)
class Task:
    """What a method is built for."""

    prior: Prior
    kernel: str
    seed: int
    n_rows: int


def _convex(loss: str, reading: str, task: Task) -> Any:
    # a basis at all training points whatever their number: where memory ended, so did the paper's runs
    return ConvexPUClassifier.paper(
        loss, task.prior, reading=reading, kernel=task.kernel, max_basis=sys.maxsize, random_state=task.seed
    )


def _nnpu(task: Task) -> Any:
    options = {"batch_size": LARGE_BATCH} if task.n_rows > LARGE_SAMPLE else {}
    return NNPUClassifier.paper(task.prior, random_state=task.seed, **options)


def _tadj(task: Task, *, standardised: bool = False, **parameters: Any) -> Any:
    inner = ElkanNotoClassifier.paper(class_weight=None).estimator.set_params(**parameters)
    estimator = make_pipeline(StandardScaler(), inner) if standardised else inner
    return ElkanNotoClassifier.paper(estimator=estimator, random_state=task.seed)


def _nnpu_with(task: Task, **options: Any) -> Any:
    return NNPUClassifier.paper(task.prior, random_state=task.seed, **options)


Build = Callable[[Task], Any]
PAPER_METHODS: dict[str, Build] = {
    "log-released": partial(_convex, "logistic", "released"),
    "dh-released": partial(_convex, "double_hinge", "released"),
    "nnpu": _nnpu,
    "tadj-balanced": lambda task: ElkanNotoClassifier.paper(random_state=task.seed),
    "wmmd": lambda task: WMMDClassifier.paper(task.prior, kernel=task.kernel, random_state=task.seed),
}
#: Other readings: the plainest of the text where the authors' released program fills what it leaves open, what that
#: program does where the text says otherwise, and tADJ with scikit-learn's defaults where balanced classes are nearer.
PLAIN_METHODS: dict[str, Build] = {
    "log": partial(_convex, "logistic", "plain"),
    "dh": partial(_convex, "double_hinge", "plain"),
    "wmmd-floor": lambda task: WMMDClassifier.paper(
        task.prior, kernel=task.kernel, floor=RELEASED_FLOOR, random_state=task.seed
    ),
    "tadj": lambda task: ElkanNotoClassifier.paper(class_weight=None, random_state=task.seed),
}
#: Against the text, but tried on all draws of the small data sets.
SMALL_METHODS: dict[str, Build] = {
    "nnpu-last": partial(_nnpu_with, keep="last"),
}
#: Readings of what the paper leaves open that were tried on a few draws of the small data sets.
TRIED_METHODS: dict[str, Build] = {
    "tadj-standardised": partial(_tadj, standardised=True),
    "tadj-liblinear": partial(_tadj, solver="liblinear"),
    "tadj-log-loss": partial(_tadj, scoring="neg_log_loss"),
    "tadj-auc": partial(_tadj, scoring="roc_auc"),
    "nnpu-standardised": partial(_nnpu_with, standardize=True),
    "nnpu-20": partial(_nnpu_with, batch_size=20),
}
#: What a user of this library gets by default.
OUR_METHODS: dict[str, Build] = {
    "wmmd-auto": lambda task: WMMDClassifier(task.prior, random_state=task.seed),
    "wmmd-score": lambda task: ScoreWMMDClassifier(prior=task.prior, random_state=task.seed),
    "pu-auto": lambda task: PUClassifier(task.prior, random_state=task.seed),
}
METHODS = PAPER_METHODS | PLAIN_METHODS | OUR_METHODS | SMALL_METHODS | TRIED_METHODS
#: How each estimates the prior where it is unknown. tADJ uses none: its rows with a known prior are used for both.
PRIOR_ESTIMATORS = (
    dict.fromkeys(
        ("log-released", "dh-released", "nnpu", "log", "dh", "nnpu-last", "nnpu-standardised", "nnpu-20"), "km1"
    )
    | {"wmmd": "density", "wmmd-floor": "density"}
    | dict.fromkeys(OUR_METHODS, "auto")
)
#: Priors that a setting names, whatever the method's own way is: estimators, and numbers far below the truth.
SMALL_PRIORS = ("0.05", "0.1")
NAMED_PRIORS: dict[str, Callable[[], Prior]] = {
    "km1": lambda: KernelMeanPrior("km1"),
    "km2": lambda: KernelMeanPrior("km2"),
    "km1-released": lambda: KernelMeanPrior("km1", released=True, max_points=sys.maxsize),
    "km2-released": lambda: KernelMeanPrior("km2", released=True, max_points=sys.maxsize),
    **{name: partial(float, name) for name in SMALL_PRIORS},
}
#: The methods that are run with them.
METHODS_BY_PRIOR: dict[str, tuple[str, ...]] = {
    "km1": ("wmmd",),
    "km2": ("wmmd",),
    "km1-released": ("log-released", "dh-released", "nnpu", "nnpu-last", "wmmd"),
    "km2-released": ("wmmd",),
    **dict.fromkeys(SMALL_PRIORS, ("log-released", "dh-released", "nnpu")),
}
#: Methods with a kernel to choose.
KERNEL_METHODS = ("log-released", "dh-released", "wmmd", "log", "dh", "wmmd-floor")


def measure(method: str, data: PUData, prior: Prior, seed: int, kernel: str = "rbf") -> dict[str, Any]:
    """Fit a method and measure it on the test sample."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model = METHODS[method](Task(prior, kernel, seed, len(data.y))).fit(data.X, data.y)
        found = measured(method, model, data, time.perf_counter() - start)
    return _with_notes(method, data, found, caught)


def measured(method: str, model: Any, data: PUData, fit_seconds: float) -> dict[str, Any]:
    """What a fitted model does on the test sample."""
    decision = model.decision_function(data.test)
    found: dict[str, Any] = {
        "accuracy": _rounded(np.mean((decision > 0) == data.test_truth)),  # `predict` is where the decision is above 0
        "auc": _rounded(roc_auc_score(data.test_truth, decision)),
        "fit_seconds": _rounded(fit_seconds),
    }
    if getattr(model, "prior_", None) is not None:
        found["prior"] = _rounded(model.prior_)
    return found | (_of_ours(model, data) if method in OUR_METHODS else {})


def _with_notes(
    method: str, data: PUData, found: dict[str, Any], caught: Iterable[warnings.WarningMessage]
) -> dict[str, Any]:
    notes = sorted({_first_sentence(str(warning.message)) for warning in caught})
    if method == "nnpu" and len(data.y) > LARGE_SAMPLE:
        notes.append(f"NNPU in batches of {LARGE_BATCH:,} rows")
    if notes:
        found["note"] = "; ".join(notes)
    return found


def _of_ours(model: Any, data: PUData) -> dict[str, Any]:
    """What only our methods promise: probabilities that mean what they say, and a word on what was chosen."""
    probability = model.predict_proba(data.test)[:, 1]
    found: dict[str, Any] = {"ece": _rounded(calibration_error(probability, data.test_truth))}
    if hasattr(model, "chosen_"):
        found["chosen"] = str(model.chosen_)
    return found


def known_or_estimated(method: str, setting_prior: str, true_prior: float) -> Prior:
    """The prior that a method is given: the true one, or the name of its own way to estimate it."""
    if setting_prior == "known" or method not in PRIOR_ESTIMATORS:
        return true_prior
    if setting_prior in NAMED_PRIORS:
        return NAMED_PRIORS[setting_prior]()
    return PRIOR_ESTIMATORS[method]


def _rounded(value: float) -> float:
    return round(float(value), 6)


def _first_sentence(message: str) -> str:
    return message.strip().split(". ")[0].split("\n")[0].rstrip(".")
