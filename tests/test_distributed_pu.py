"""`DaskPUClassifier` against `PUClassifier`, and what it learns from more rows than one worker should have."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from unlabeled import LeastSquaresPUClassifier, PUClassifier  # noqa: E402
from unlabeled.datasets import make_gaussians  # noqa: E402
from unlabeled.distributed import DaskPUClassifier  # noqa: E402
from unlabeled.distributed.least_squares import ClusterLeastSquares  # noqa: E402
from unlabeled.samples import split_samples  # noqa: E402

pytestmark = pytest.mark.usefixtures("client")
LENGTHS = [170, 0, 430]
OPTIONS = {"prior": 0.4, "max_evaluations": 300, "random_state": 0, "n_folds": 2}


@pytest.fixture(scope="module")
def client():
    """Workers as threads: quick to start, and what is patched here is patched there."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as connected:
        yield connected


@pytest.fixture(scope="module")
def data():
    return make_gaussians(60, 540, random_state=0)


def in_parts(values, lengths=LENGTHS):
    return da.from_array(values, chunks=(tuple(lengths), -1) if values.ndim == 2 else (tuple(lengths),))


def fitted(data, **options):
    model = DaskPUClassifier(**OPTIONS | options)
    return model.fit(in_parts(data.X), in_parts(data.y))


@pytest.mark.parametrize(
    "options",
    [
        {"max_evaluations": 540},
        {"max_evaluations": 540, "scenario": "single-sample"},
        {"max_evaluations": 300, "parts": {"least-squares": "drop"}},
    ],
    ids=["case-control", "single-sample", "some evaluated"],
)
def test_a_table_that_fits_one_worker_gives_the_numbers_of_one_machine(data, options):
    local = PUClassifier(**OPTIONS | options).fit(data.X, data.y)
    model = fitted(data, **options)
    assert model.chosen_ == local.chosen_
    assert model.n_sampled_ == 540
    assert model.threshold_ == pytest.approx(local.threshold_, abs=2e-6)
    assert list(model.weights_.values()) == pytest.approx(list(local.weights_.values()), abs=1e-5)
    rows = data.test[:200]
    parted = in_parts(rows, [150, 0, 50])
    np.testing.assert_allclose(model.score_samples(parted).compute(), local.score_samples(rows), rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(parted).compute(), local.predict_proba(rows), rtol=0, atol=1e-5)
    brought = model.to_local()
    assert type(brought) is PUClassifier
    np.testing.assert_allclose(brought.score_samples(rows), local.score_samples(rows), rtol=0, atol=1e-5)


@pytest.mark.parametrize(("scenario", "weighted"), [("case-control", True), ("single-sample", False)])
def test_the_fitted_ratio_has_the_moments_of_all_rows(data, scenario, weighted):
    """However they are partitioned; landmarks and weights of kernels are those of the rows that are evaluated."""
    weights = np.random.default_rng(0).integers(1, 4, len(data.y)).astype(float) if weighted else None
    options = OPTIONS | {"max_evaluations": 200, "scenario": scenario, "parts": {"wmmd": "drop", "score": "drop"}}
    X = np.where(np.random.default_rng(1).random(data.X.shape) < 0.05, np.nan, data.X)
    whole = split_samples(X, data.y == 1, None if weights is None else np.log(weights), scenario)
    models = []
    for lengths in ([600], [1, 299, 0, 300]):
        rows, labels = in_parts(X, lengths), in_parts(data.y, lengths)
        counts = None if weights is None else in_parts(weights, lengths)
        models.append(DaskPUClassifier(**options).fit(rows, labels, counts).parts_["least-squares"])
    # The same on one machine, where all rows are in one part.
    models.append(ClusterLeastSquares(**models[0].get_params(deep=False)).fit_partitions(whole, None))
    ratios = [model.density_ratio(data.test[:200]) for model in models]
    for found in ratios[1:]:
        np.testing.assert_allclose(found, ratios[0], rtol=0, atol=1e-9)
    assert len(models[0].honest_scores_.unlabeled) == 200
    np.testing.assert_allclose(models[0].honest_scores_.unlabeled, models[2].honest_scores_.unlabeled, atol=1e-9)
    # The constant is not penalised, and so the mean over the population is 1: over all of it.
    population = whole.population
    mean = np.average(models[0].density_ratio(population.rows), weights=population.weights)
    assert mean == pytest.approx(1, abs=1e-9)
    of_some = LeastSquaresPUClassifier(**models[0].get_params(deep=False)).fit_sample(whole)
    assert abs(np.average(of_some.density_ratio(population.rows), weights=population.weights) - 1) > 1e-4


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_a_sample_of_a_larger_table_knows_how_many_rows_there_are(scenario):
    """A third of the unlabeled rows give about the score of all of them, in either scenario."""
    data = make_gaussians(200, 3800, random_state=1)
    lengths, options = (
        [1500, 2500],
        OPTIONS | {"scenario": scenario, "parts": {"wmmd": "drop", "least-squares": "drop"}},
    )
    model = DaskPUClassifier(**options, max_sample=1000).fit(in_parts(data.X, lengths), in_parts(data.y, lengths))
    whole = PUClassifier(**options).fit(data.X, data.y)
    assert 1000 <= model.n_sampled_ <= 1300
    assert model.chosen_ == "score"
    honest = model.honest_scores_
    assert honest.labelled_share == pytest.approx(whole.honest_scores_.labelled_share)
    np.testing.assert_array_equal(honest.unlabeled_weights, 1)
    rows = data.test[:500]
    scores, expected = model.score_samples(in_parts(rows, [500])).compute(), whole.score_samples(rows)
    assert np.corrcoef(scores, expected)[0, 1] > 0.9
    assert abs(np.median(scores - expected)) < 0.15


@pytest.mark.parametrize("learner", ["lightgbm", "xgboost"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_learner_on_all_of_the_cluster(learner):
    pytest.importorskip(learner)
    data = make_gaussians(200, 800, random_state=0)
    options = OPTIONS | {"prior": 0.5, "parts": {"wmmd": "drop", "least-squares": "drop"}}
    lengths = [200, 0, 800]  # the positives in a partition of their own, and on a worker of their own
    model = DaskPUClassifier(**options, estimator=learner).fit(in_parts(data.X, lengths), in_parts(data.y, lengths))
    assert type(model.parts_["score"]).__name__ == "ScoreWMMDClassifier"
    assert [type(one).__module__.split(".")[0] for one in model.parts_["score"].estimators_] == [learner] * 2
    found = model.predict(in_parts(data.test, [len(data.test)])).compute()
    assert (found == data.test_truth).mean() > 0.75
    np.testing.assert_array_equal(model.to_local().predict(data.test), found)


def test_learners_that_are_not_there(monkeypatch, data):
    monkeypatch.setattr("unlabeled.distributed.learners.find_spec", lambda _: None)
    with pytest.raises(ImportError, match="lightgbm or xgboost: pip install lightgbm"):
        fitted(data, estimator="dask")
    with pytest.raises(ValueError, match="'catboost' is not known"):
        fitted(data, estimator="catboost")
    with pytest.raises(ValueError, match="max_sample"):
        fitted(data, max_sample=0)


def test_a_classifier_of_yours_and_pickling(client, data):
    model = fitted(data, estimator=LogisticRegression(), parts={"least-squares": "drop"}, client=client)
    assert clone(model).client is client
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None
    parted = in_parts(data.test[:50], [50])
    np.testing.assert_array_equal(copied.predict(parted).compute(), model.predict(parted).compute())
    assert all(part.client is None for part in copied.parts_.values() if hasattr(part, "client"))
