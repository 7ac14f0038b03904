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


#: Methods whose examples stand elsewhere: of classes that need a cluster, in those of the local classes; of the classes
#: that the command line reads tables with, in those of the classes; and what a part of `PUClassifier` answers with,
#: which whoever writes one reads in CONTRIBUTING.md and whoever fits one never calls.
EXAMPLES_ELSEWHERE = {
    "DaskPUClassifier",
    "DaskWMMDClassifier",
    "Columns",
    "Notices",
    "Table",
    "TableEncoder.encode",
    "TableEncoder.fit_columns",
    "adapted_to_scores",
    "score_complete",
    "score_rows",
    "score_rows_like_honest",
    "scores_like_honest",
    "scores_of",
    "scores_of_like_honest",
}


def test_every_public_method_has_an_example():
    """In its own docstring, or in that of the method of a base class that it stands for."""
    lacking = set()
    for module in map(importlib.import_module, MODULES):
        for public in (getattr(module, name) for name in module.__all__):
            if inspect.isclass(public):
                lacking |= {f"{public.__name__}.{name}" for name in methods_of(public) if not has_example(public, name)}
    excepted = {name for name in lacking if {name, *name.split(".")} & EXAMPLES_ELSEWHERE}
    assert lacking == excepted
    assert all(any({exception} & {name, *name.split(".")} for name in excepted) for exception in EXAMPLES_ELSEWHERE)


def methods_of(kind):
    """The public methods that this package has written, class methods among them."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        written = getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(written) and written.__module__.startswith("unlabeled"):
            yield name


def has_example(kind, name):
    docs = [getattr(vars(base).get(name), "__doc__", None) or "" for base in kind.__mro__]
    return any(">>>" in doc for doc in docs)


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
