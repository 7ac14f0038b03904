"""The classifiers that `unlabeled fit --method` knows; the first is the default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unlabeled.baselines import ElkanNotoClassifier
from unlabeled.classifiers import LeastSquaresPUClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier

#: From a prior (a number or "auto") and a scenario to an unfitted classifier of encoded features.
METHODS: dict[str, Callable[[float | str, str], Any]] = {
    "auto": lambda prior, scenario: PUClassifier(prior, scenario=scenario, random_state=0),
    "wmmd": lambda prior, scenario: WMMDClassifier(prior, scenario=scenario, random_state=0),
    "least-squares": lambda prior, scenario: LeastSquaresPUClassifier(prior, scenario=scenario, random_state=0),
    "score": lambda prior, scenario: ScoreWMMDClassifier(prior=prior, scenario=scenario, random_state=0),
    "elkan-noto": lambda prior, scenario: ElkanNotoClassifier(prior=prior, scenario=scenario, random_state=0),
}
DEFAULT_METHOD = next(iter(METHODS))
