"""Learning a classifier from positive and unlabeled data.

The labelled rows are positive; the others are merely unlabeled. Start with `PUClassifier`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unlabeled.baselines import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier
    from unlabeled.classifiers import (
        LeastSquaresPUClassifier,
        PropensityEMClassifier,
        PropensityWMMDClassifier,
        PUClassifier,
        ScoreWMMDClassifier,
        WMMDClassifier,
    )
    from unlabeled.deciding.thresholds import Balanced, Costs, TargetPrecision, TargetRecall, TwoClusters
    from unlabeled.evaluation import evaluate
    from unlabeled.explanations import explain
    from unlabeled.reports import report
    from unlabeled.saving import load, save
    from unlabeled.scoring.witness import wmmd
    from unlabeled.versions import show_versions

__all__ = [
    "Balanced",
    "ConvexPUClassifier",
    "Costs",
    "ElkanNotoClassifier",
    "LeastSquaresPUClassifier",
    "NNPUClassifier",
    "PUClassifier",
    "PropensityEMClassifier",
    "PropensityWMMDClassifier",
    "ScoreWMMDClassifier",
    "TargetPrecision",
    "TargetRecall",
    "TwoClusters",
    "WMMDClassifier",
    "evaluate",
    "explain",
    "load",
    "report",
    "save",
    "show_versions",
    "wmmd",
]
__version__ = "0.1.0"

#: Where each name lives. Loaded when it is asked for: scikit-learn takes seconds, in which Ctrl-C is to be heard.
_HOMES = {
    "Balanced": "deciding.thresholds",
    "ConvexPUClassifier": "baselines",
    "Costs": "deciding.thresholds",
    "ElkanNotoClassifier": "baselines",
    "LeastSquaresPUClassifier": "classifiers",
    "NNPUClassifier": "baselines",
    "PUClassifier": "classifiers",
    "PropensityEMClassifier": "classifiers",
    "PropensityWMMDClassifier": "classifiers",
    "ScoreWMMDClassifier": "classifiers",
    "TargetPrecision": "deciding.thresholds",
    "TargetRecall": "deciding.thresholds",
    "TwoClusters": "deciding.thresholds",
    "WMMDClassifier": "classifiers",
    "evaluate": "evaluation",
    "explain": "explanations",
    "load": "saving",
    "report": "reports",
    "save": "saving",
    "show_versions": "versions",
    "wmmd": "scoring.witness",
}

#: Modules that are there without an import of their own.
_MODULES = ("bias", "bounds", "datasets", "displays", "engines", "kernels", "metrics", "priors", "wipm")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
