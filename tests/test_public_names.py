"""The public list, pinned: a name that appears or disappears is a decision."""

import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import unlabeled
import unlabeled.bias
import unlabeled.datasets
import unlabeled.displays
import unlabeled.distributed
import unlabeled.engines
import unlabeled.priors

MODULES = [
    f"unlabeled{name}"
    for name in (
        "",
        ".bias",
        ".bounds",
        ".datasets",
        ".displays",
        ".distributed",
        ".engines",
        ".metrics",
        ".priors",
        ".reports",
        ".tables",
        ".wipm",
    )
]


def test_public_names():
    assert unlabeled.__all__ == [
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
    assert unlabeled.bias.__all__ == ["Choice", "ColumnDifference", "ScarTest", "choose_classifier"]
    assert unlabeled.displays.__all__ == [
        "ExplanationDisplay",
        "GammaDisplay",
        "PUCalibrationDisplay",
        "PUDecisionBoundaryDisplay",
        "PUPrecisionRecallDisplay",
        "PURocCurveDisplay",
        "PriorDisplay",
        "ScoreDistributionDisplay",
        "ThresholdDisplay",
    ]
    assert unlabeled.distributed.__all__ == ["DaskPUClassifier", "DaskWMMDClassifier"]
    assert unlabeled.engines.__all__ == [
        "ENGINES",
        "Choice",
        "choose_engine",
        "kernel_matrix",
        "log_kernel_sums",
        "select_engine",
    ]
    assert unlabeled.datasets.__all__ == [
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
    assert unlabeled.priors.__all__ == [
        "PRIORS",
        "AutoPrior",
        "BestBinPrior",
        "DedpulPrior",
        "DensityPrior",
        "ElkanNotoPrior",
        "KernelMeanPrior",
        "PriorComparison",
        "PriorEstimate",
        "PriorEstimator",
        "PriorWarning",
        "ResolvedPrior",
        "ScarWarning",
        "compare_priors",
        "density_prior",
        "resolve_prior",
    ]


def test_every_public_name_is_documented():
    for module in (
        unlabeled,
        unlabeled.bias,
        unlabeled.displays,
        unlabeled.engines,
        unlabeled.datasets,
        unlabeled.priors,
    ):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name


def test_versions_are_shown(capsys):
    unlabeled.show_versions()
    told = capsys.readouterr().out
    for words in ("python: 3", f"unlabeled: {unlabeled.__version__}", "scikit-learn: 1", "engine: numba", "threads: "):
        assert words in told
    assert "/" not in told.split("Packages")[1]  # no paths of the machine


def test_nothing_heavy_is_loaded_before_it_is_asked_for():
    """Scikit-learn takes seconds to import; `unlabeled --help` and Ctrl-C should not wait for it."""
    program = (
        "import sys, unlabeled; assert 'sklearn' not in sys.modules; unlabeled.priors; unlabeled.WMMDClassifier; "
        "assert set(unlabeled.__all__) <= set(dir(unlabeled)); assert 'sklearn' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="no attribute 'WMMDClasifier'"):
        _ = unlabeled.WMMDClasifier


def test_every_public_docstring_has_an_example():
    """Examples in docstrings are run by the tests; here is that there is one."""
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            public = getattr(module, name)
            if inspect.isclass(public) or inspect.isroutine(public):
                assert ">>>" in inspect.getdoc(public), f"{module.__name__}.{name}"


def test_every_public_name_is_in_the_reference():
    """The pages of docs/api list names by hand, so that they stand in an order that helps."""
    pages = Path(__file__).parents[1] / "docs" / "api"
    for module in map(importlib.import_module, MODULES):
        listed = (pages / f"{module.__name__.rsplit('.', 1)[-1]}.rst").read_text(encoding="utf-8").split()
        at_home = set(unlabeled.__all__) if module is not unlabeled else set()
        for name in set(module.__all__) - at_home:
            public = getattr(module, name)
            if inspect.isclass(public) or inspect.isroutine(public):
                assert name in listed, f"{module.__name__}.{name}"
