"""Learning a classifier from positive and unlabeled data.

The labelled rows are positive; the others are merely unlabeled. Start with `PUClassifier`.
"""

from unlabeled.auto import PUClassifier
from unlabeled.baselines import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier
from unlabeled.classifier import WMMDClassifier
from unlabeled.saving import load, save
from unlabeled.score import wmmd
from unlabeled.score_classifier import ScoreWMMDClassifier

__all__ = [
    "ConvexPUClassifier",
    "ElkanNotoClassifier",
    "NNPUClassifier",
    "PUClassifier",
    "ScoreWMMDClassifier",
    "WMMDClassifier",
    "load",
    "save",
    "wmmd",
]
__version__ = "0.1.0"
