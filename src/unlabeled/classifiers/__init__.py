"""The classifiers of this library's own: a score, and the decisions that are read off it."""

from unlabeled.classifiers.least_squares import LeastSquaresPUClassifier
from unlabeled.classifiers.propensity_em import PropensityEMClassifier
from unlabeled.classifiers.propensity_wmmd import PropensityWMMDClassifier
from unlabeled.classifiers.pu import PUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.classifiers.wmmd import WMMDClassifier

__all__ = [
    "LeastSquaresPUClassifier",
    "PUClassifier",
    "PropensityEMClassifier",
    "PropensityWMMDClassifier",
    "ScoreWMMDClassifier",
    "WMMDClassifier",
]
