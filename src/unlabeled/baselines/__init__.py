"""The methods the paper compares with, one file for each method."""

from unlabeled.baselines.convex import ConvexPUClassifier
from unlabeled.baselines.elkan_noto import ElkanNotoClassifier
from unlabeled.baselines.nnpu import NNPUClassifier

__all__ = ["ConvexPUClassifier", "ElkanNotoClassifier", "NNPUClassifier"]
