"""The methods of the paper's tables, each in the paper's configuration, by the names that rows carry."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from unlabeled import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier, WMMDClassifier
from unlabeled.datasets import PUData

Prior = float | str
Build = Callable[[Prior, str, int], Any]


def _log(prior: Prior, kernel: str, seed: int) -> Any:
    return _convex("logistic", prior, kernel, seed)


def _dh(prior: Prior, kernel: str, seed: int) -> Any:
    return _convex("double_hinge", prior, kernel, seed)


def _convex(loss: str, prior: Prior, kernel: str, seed: int) -> Any:
    # a basis at all training points whatever their number: where memory ended, so did the paper's runs
    return ConvexPUClassifier.paper(loss, prior, kernel=kernel, max_basis=sys.maxsize, random_state=seed)


def _nnpu(prior: Prior, kernel: str, seed: int) -> Any:  # noqa: ARG001 (a network has no kernel)
    return NNPUClassifier.paper(prior, random_state=seed)


def _tadj(prior: Prior, kernel: str, seed: int) -> Any:  # noqa: ARG001 (it needs neither prior nor kernel)
    return ElkanNotoClassifier.paper(random_state=seed)


def _wmmd(prior: Prior, kernel: str, seed: int) -> Any:
    return WMMDClassifier.paper(prior, kernel=kernel, random_state=seed)


METHODS: dict[str, Build] = {"log": _log, "dh": _dh, "nnpu": _nnpu, "tadj": _tadj, "wmmd": _wmmd}
#: How each estimates the prior where it is unknown. tADJ uses none: its rows with a known prior serve for both.
PRIOR_ESTIMATORS = {"log": "km1", "dh": "km1", "nnpu": "km1", "wmmd": "density"}
#: Methods with a kernel to choose.
KERNEL_METHODS = ("log", "dh", "wmmd")


def measure(method: str, data: PUData, prior: Prior, seed: int, kernel: str = "rbf") -> dict[str, Any]:
    """Fit a method and measure it on the test sample."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model = METHODS[method](prior, kernel, seed).fit(data.X, data.y)
        fit_seconds = time.perf_counter() - start
        decision = model.decision_function(data.test)
        predicted = model.predict(data.test) == 1
    found: dict[str, Any] = {
        "accuracy": float(np.mean(predicted == data.test_truth)),
        "auc": float(roc_auc_score(data.test_truth, decision)),
        "fit_seconds": fit_seconds,
    }
    if getattr(model, "prior_", None) is not None:
        found["prior"] = float(model.prior_)
    if caught:
        found["note"] = "; ".join(sorted({_first_sentence(str(warning.message)) for warning in caught}))
    return found


def known_or_estimated(method: str, setting_prior: str, true_prior: float) -> Prior:
    """The prior that a method is given: the true one, or the name of its own way to estimate it."""
    if setting_prior == "known" or method not in PRIOR_ESTIMATORS:
        return true_prior
    return PRIOR_ESTIMATORS[method]


def _first_sentence(message: str) -> str:
    return message.strip().split(". ")[0].split("\n")[0].rstrip(".")
