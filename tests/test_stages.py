"""What a fit tells of itself, and that it can be stopped without harm."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    LeastSquaresPUClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    load,
    save,
)
from unlabeled.callbacks import _Tasks
from unlabeled.datasets import make_gaussians
from unlabeled.priors import PRIORS
from unlabeled.scoring import cross_fitting, smoothing
from unlabeled.stages import listening, stage, tell


@pytest.fixture(scope="module")
def data():
    return make_gaussians(random_state=0)


def test_listeners_are_told_of_what_begins_and_ends():
    told = []
    with listening(lambda *given: told.append(given)):
        with stage("outer"), stage("inner", "1 of 2"):
            pass
        with pytest.raises(ZeroDivisionError), stage("failing"):
            1 / 0  # noqa: B018
    with stage("unheard"):
        pass
    assert [(name, how_far, seconds is None) for name, how_far, seconds in told] == [
        ("outer", "", True),
        ("inner", "1 of 2", True),
        ("inner", "1 of 2", False),
        ("outer", "", False),
        ("failing", "", True),
    ]


@pytest.mark.parametrize("model", [LeastSquaresPUClassifier, PUClassifier, ScoreWMMDClassifier, WMMDClassifier])
def test_verbose_tells_and_quiet_does_not(model, data, capsys):
    model(prior=0.5).fit(data.X, data.y)
    assert capsys.readouterr().out == ""
    model(prior=0.5, verbose=True).fit(data.X, data.y)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith(f"[{model.__name__}] ") and line.endswith(" s") for line in lines)
    told = " ".join(lines)
    if model in (PUClassifier, WMMDClassifier):
        assert "units and gamma: " in told
        assert "smoothing: " in told
    if model is LeastSquaresPUClassifier:
        assert "kernels and penalties: " in told
    if model in (PUClassifier, ScoreWMMDClassifier):
        assert "learned score, fold 1 of 5: " in told
    assert "calibration: " in told
    assert "compression" not in told  # which was not asked for


@pytest.mark.parametrize(
    ("model", "stages"),
    [
        (ConvexPUClassifier(prior=0.5, gamma=(0.5, 0.1), alpha=0.1), ["prior", "alpha, gamma 2 of 2", "final fit"]),
        (ElkanNotoClassifier(LogisticRegression()), ["held-out scores, candidate 1 of 1", "final fit"]),
        (NNPUClassifier(0.5, n_epochs=2, random_state=0), ["prior", "training, epoch 2 of at most 2"]),
        *((prior, ["prior from "]) for prior in PRIORS.values()),
    ],
)
def test_verbose_of_baselines_and_prior_estimators(model, stages, data, capsys):
    clone(model).fit(data.X, data.y)
    assert capsys.readouterr().out == ""
    clone(model).set_params(verbose=True).fit(data.X, data.y)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith(f"[{type(model).__name__}] ") and line.endswith(" s") for line in lines)
    for told in stages:
        assert any(told in line for line in lines)


@pytest.mark.parametrize(
    ("model", "place", "name"),
    [
        (WMMDClassifier, smoothing.Smoothing, "rounds"),
        (ScoreWMMDClassifier, cross_fitting, "fit_clone"),
        (PUClassifier, cross_fitting, "fit_clone"),
    ],
)
def test_an_interrupt_leaves_the_model_as_it_was(model, place, name, data, monkeypatch):
    fitted, fresh = model(prior=0.5).fit(data.X, data.y), model(prior=0.5)
    expected = fitted.decision_function(data.test)

    def stop(*_given, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(place, name, stop)
    for estimator in (fitted, fresh):
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(-data.X, data.y)
    np.testing.assert_array_equal(fitted.decision_function(data.test), expected)
    assert vars(fresh) == vars(model(prior=0.5))


class Noting:
    """A callback that notes what it is told, and raises an error in one task."""

    max_propagation_depth = None  # so that searches pass it on

    def __init__(self, failing=None):
        self.failing, self.told = failing, []

    def setup(self, estimator, context):  # noqa: ARG002
        self.told.append("setup")

    def teardown(self, estimator, context):  # noqa: ARG002
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
        self.told.append(f"begin {context.task_name}")
        if context.task_name == self.failing:
            raise KeyboardInterrupt

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):  # noqa: ARG002
        self.told.append(f"end {context.task_name}")
        if fitted_estimator is not None:
            self.prior = fitted_estimator.prior_


@pytest.fixture
def noting():
    pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
    return Noting


def test_callbacks_are_told_of_stages(noting, data):
    callback = noting()
    model = PUClassifier(prior=0.5).set_callbacks(callback).fit(data.X, data.y)
    assert callback.told[:3] == ["setup", "begin fit", "begin checks of the table"]
    assert callback.told[-3:] == ["end calibration", "end fit", "teardown"]
    begun, ended = (
        [told.removeprefix(kind) for told in callback.told if told.startswith(kind)] for kind in ("begin ", "end ")
    )
    assert sorted(begun) == sorted(ended)
    assert {"units and gamma", "smoothing", "learned score, fold 5 of 5", "weighing"} <= set(begun)
    assert callback.prior == model.prior_
    assert callback is clone(model)._skl_callbacks[0]


def test_stages_are_tasks_inside_tasks(noting, data):
    callback = noting()
    ConvexPUClassifier(prior="dedpul", gamma=0.5, alpha=0.1).set_callbacks(callback).fit(data.X, data.y)
    inside = callback.told[callback.told.index("begin prior") + 1 : callback.told.index("end prior")]
    assert inside[::2] == ["begin scores for the prior", "begin prior from scores"]


def test_callbacks_of_a_search_reach_its_classifier(noting, data):
    callback = noting()
    search = GridSearchCV(WMMDClassifier(prior=0.5), {"kernel": ["rbf", "inverse"]}, cv=2).set_callbacks(callback)
    search.fit(data.X, data.y)
    assert callback.told.count("begin smoothing") == 5
    assert not any("callback" in name for name in vars(search.best_estimator_))


def test_an_interrupt_ends_callbacks_and_leaves_the_model(noting, data):
    model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    expected, callback = model.decision_function(data.test), noting(failing="smoothing")
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(callback).fit(-data.X, data.y)
    assert callback.told[-2:] == ["begin smoothing", "teardown"]
    np.testing.assert_array_equal(model.decision_function(data.test), expected)
    assert {name for name in vars(model) if "callback" in name} == {"_skl_callbacks"}


def test_a_stage_that_an_error_ended_ends_with_the_one_around_it(noting):
    callback = noting()
    root = pytest.importorskip("sklearn.callback").CallbackSupportMixin().set_callbacks(callback)
    tasks = _Tasks(root, root._init_callback_context(max_subtasks=None))
    with listening(tasks), stage("outer"):
        tell("outer", "half way")
        with pytest.raises(ZeroDivisionError), stage("inner"):
            1 / 0  # noqa: B018
    assert callback.told == ["setup", "begin outer", "begin inner", "end inner", "end outer"]


def test_callbacks_are_not_saved(noting, data, tmp_path):
    model = WMMDClassifier(prior=0.5).set_callbacks(noting()).fit(data.X, data.y)
    save(model, tmp_path / "model.unl")
    assert not load(tmp_path / "model.unl")._skl_callbacks
    assert model._skl_callbacks


_INTERRUPTED = """
import os, signal, threading
import numpy as np
from unlabeled import ScoreWMMDClassifier
from unlabeled.stages import listening

rng = np.random.default_rng(0)
X, y = rng.normal(size=(30_000, 5)), np.repeat([1, 0], [1000, 29_000])
model = ScoreWMMDClassifier(prior=0.5, n_jobs=2).fit(X[700:1300], y[700:1300])
expected, begun = model.decision_function(X[:9]), []

def interrupt(name, how_far, seconds):
    if name == "learned score" and not begun:
        begun.append(how_far)
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

try:
    with listening(interrupt):
        model.fit(-X, y)
except KeyboardInterrupt:
    print("stopped after", *begun, np.array_equal(model.decision_function(X[:9]), expected))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a signal ends the process there")
def test_a_signal_stops_a_fit_whose_folds_are_in_threads():
    """Of more than 20,000 rows several folds are fitted at once, and the main thread waits for them."""
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "stopped after fold 1 of 5 True\n", done.stderr
