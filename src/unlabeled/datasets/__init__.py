"""Data to learn from and to test on."""

from unlabeled.datasets.draw import draw_pu
from unlabeled.datasets.gaussian_bayes import GaussianBayes
from unlabeled.datasets.labelling import AtRandom, ByColumn, EasyFirst, HardFirst, LogisticIn
from unlabeled.datasets.libsvm import load_libsvm
from unlabeled.datasets.paper import PAPER_DATASETS, PaperDataset, paper_dataset
from unlabeled.datasets.pu_data import PUData
from unlabeled.datasets.synthetic import make_gaussians, make_two_moons

__all__ = [
    "PAPER_DATASETS",
    "AtRandom",
    "ByColumn",
    "EasyFirst",
    "GaussianBayes",
    "HardFirst",
    "LogisticIn",
    "PUData",
    "PaperDataset",
    "draw_pu",
    "load_libsvm",
    "make_gaussians",
    "make_two_moons",
    "paper_dataset",
]
