"""Folds that are fitted at once: the same answers, threads that do not meet, and nothing left behind."""

import threading
import warnings

import numpy as np
import pytest
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info

from unlabeled import ScoreWMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring import cross_fitting
from unlabeled.scoring.cross_fitting import cross_fit, side_by_side


@pytest.fixture
def data():
    return make_gaussians(100, 500, 200, n_features=4, random_state=0)


@pytest.fixture
def any_table_is_large(monkeypatch):
    monkeypatch.setattr(cross_fitting, "FEW_ROWS", 10)
    monkeypatch.setattr("unlabeled.classifiers.score_wmmd.FEW_TO_SCORE", 10)


class Threads(ClassifierMixin, BaseEstimator):
    """Remembers which thread fitted it, and how many threads it might have used itself."""

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        self.thread_ = threading.get_ident()
        self.n_inside_ = max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")
        self.config_ = get_config()
        self.all_here_.wait(timeout=10)  # none goes on before as many are at work
        return self

    def decision_function(self, X):
        return X[:, 0]


def samples(rng, n=60):
    return PUSample(Sample(rng.normal(size=(n, 2))), Sample(rng.normal(size=(n, 2))))


@pytest.mark.usefixtures("any_table_is_large")
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
def test_any_number_of_threads_gives_the_same_answers(n_jobs, data, monkeypatch):
    found = ScoreWMMDClassifier(prior=0.5, n_jobs=n_jobs).fit(data.X, data.y)
    scores = found.score_samples(data.test)
    monkeypatch.setattr(cross_fitting, "FEW_ROWS", 10**9)
    expected = ScoreWMMDClassifier(prior=0.5, n_jobs=1).fit(data.X, data.y)
    np.testing.assert_array_equal(found.honest_scores_.unlabeled, expected.honest_scores_.unlabeled)
    np.testing.assert_array_equal(scores, expected.score_samples(data.test))


@pytest.mark.usefixtures("any_table_is_large")
@pytest.mark.parametrize(("n_threads", "at_once", "n_inside"), [(2, 2, 1), (4, 4, 1), (9, 4, 2)])
def test_folds_share_the_threads(n_threads, at_once, n_inside, rng, monkeypatch):
    monkeypatch.setattr(Threads, "all_here_", threading.Barrier(at_once), raising=False)
    with config_context(assume_finite=True):
        fitted, _ = cross_fit(Threads(), samples(rng), 4, n_threads)
    assert len({model.thread_ for model in fitted}) == at_once
    assert threading.get_ident() not in {model.thread_ for model in fitted}
    assert {model.n_inside_ for model in fitted} == {n_inside}
    assert all(model.config_["assume_finite"] for model in fitted)


@pytest.mark.usefixtures("any_table_is_large")
@pytest.mark.parametrize("change", [{"FEW_ROWS": 10**6}, {"MOST_AT_ONCE": 200}])
def test_small_tables_and_huge_ones_go_fold_by_fold(change, rng, monkeypatch):
    """A small one gains nothing; of a huge one several copies would take much memory."""
    monkeypatch.setattr(Threads, "all_here_", threading.Barrier(1), raising=False)
    for name, value in change.items():
        monkeypatch.setattr(cross_fitting, name, value)
    fitted, _ = cross_fit(Threads(), samples(rng), 4, 4)
    assert {model.thread_ for model in fitted} == {threading.get_ident()}
    assert {model.n_inside_ for model in fitted} == {1 if "FEW_ROWS" in change else 4}


@pytest.mark.usefixtures("any_table_is_large")
def test_a_classifier_of_the_user_is_never_fitted_in_another_thread(data, monkeypatch):
    monkeypatch.setattr(Threads, "all_here_", threading.Barrier(1), raising=False)
    model = ScoreWMMDClassifier(Threads(), prior=0.5, n_jobs=4).fit(data.X, data.y)
    assert {inner.thread_ for inner in model.estimators_} == {threading.get_ident()}


def test_an_error_does_not_wait_for_the_parts_in_work():
    go_on, finished = threading.Event(), []

    def work(part):
        if part == 0:
            raise KeyboardInterrupt
        go_on.wait(timeout=10)
        finished.append(part)

    with pytest.raises(KeyboardInterrupt):
        list(side_by_side(work, range(4), 2))
    assert not finished
    go_on.set()


@pytest.mark.usefixtures("any_table_is_large")
def test_filters_of_warnings_are_as_before(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        ScoreWMMDClassifier(prior=0.5, n_jobs=4).fit(data.X, data.y)
        assert warnings.filters == before
