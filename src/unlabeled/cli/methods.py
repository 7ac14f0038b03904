"""The classifiers that `unlabeled fit --method` knows; the first is the default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unlabeled.auto import PUClassifier
from unlabeled.baselines import ElkanNotoClassifier
from unlabeled.classifier import WMMDClassifier
from unlabeled.priors.auto import AutoPrior
from unlabeled.score_classifier import ScoreWMMDClassifier


def _elkan_noto(prior: float | str, scenario: str) -> ElkanNotoClassifier:
    return ElkanNotoClassifier(prior=AutoPrior() if prior == "auto" else prior, scenario=scenario, random_state=0)


#: From a prior (a number or "auto") and a scenario to an unfitted classifier of encoded features.
METHODS: dict[str, Callable[[float | str, str], Any]] = {
    "auto": lambda prior, scenario: PUClassifier(prior, scenario=scenario, random_state=0),
    "wmmd": lambda prior, scenario: WMMDClassifier(prior, scenario=scenario, random_state=0),
    "score": lambda prior, scenario: ScoreWMMDClassifier(prior=prior, scenario=scenario, random_state=0),
    "elkan-noto": _elkan_noto,
}
DEFAULT_METHOD = next(iter(METHODS))


def scoring_parts(classifier: Any) -> list[tuple[Any, float]]:
    """The classifiers that give the scores, and what each one's score is multiplied by."""
    if isinstance(classifier, PUClassifier):
        return [(part, classifier.weights_[name]) for name, part in classifier.parts_.items()]
    return [(classifier, 1.0)]


def describe(classifier: Any) -> str:
    """What scores the rows, in words."""
    return ", and ".join(_describe_part(part) for part, _ in scoring_parts(classifier))


def _describe_part(part: Any) -> str:
    if isinstance(part, WMMDClassifier):
        return f"distances to the training rows (WMMD, gamma {part.gamma_:.3g})"
    if isinstance(part, ScoreWMMDClassifier):
        return "a learned score (WMMD in the score of boosted trees)"
    return type(part).__name__
