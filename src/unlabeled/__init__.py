"""Learning a classifier from positive and unlabeled data.

The labelled rows are positive; the others are merely unlabeled. Start with `WMMDClassifier`.
"""

from unlabeled.baselines import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier
from unlabeled.classifier import WMMDClassifier
from unlabeled.score import wmmd

__all__ = ["ConvexPUClassifier", "ElkanNotoClassifier", "NNPUClassifier", "WMMDClassifier", "wmmd"]
__version__ = "0.1.0"
