import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

torch = pytest.importorskip("torch")

from unlabeled.baselines.nnpu import LOSSES, OPTIMIZERS, NNPUClassifier, fit_together  # noqa: E402
from unlabeled.baselines.nnpu_network import LOSSES as LOSS_FUNCTIONS  # noqa: E402
from unlabeled.baselines.nnpu_network import OPTIMIZERS as OPTIMIZER_CLASSES  # noqa: E402
from unlabeled.baselines.nnpu_network import (  # noqa: E402
    Epoch,
    PURisk,
    Rows,
    Schedule,
    _train_epoch,
    paper_network,
    select_device,
    stratified_batches,
    train,
)
from unlabeled.datasets import make_gaussians, make_two_moons  # noqa: E402

FAST = {"n_epochs": 5, "random_state": 0}


def small_network(n_features):
    return torch.nn.Sequential(torch.nn.Linear(n_features, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))


def flat_network(n_features):
    return torch.nn.Sequential(small_network(n_features), torch.nn.Dropout(0.2), torch.nn.Flatten(0))


def two_outputs(n_features):
    return torch.nn.Linear(n_features, 2)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small batches: more threads only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def data():
    return make_gaussians(random_state=0)


@pytest.fixture(scope="module")
def model(data):
    return NNPUClassifier(prior=0.5, **FAST).fit(data.X, data.y)


# --- scikit-learn ---


# Those checks hand over classes in place of labels: no positive is unlabeled, so the prior is near 0, and 1/10 is near
# enough. With 1/2 the method is right to look for positives among the unlabeled rows, and fails the check's score.
@parametrize_with_checks([NNPUClassifier(n_epochs=30, learning_rate=0.1)])
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([NNPUClassifier(), NNPUClassifier(prior=0.1)])
@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
def test_scikit_learn_checks_as_constructed_by_default(estimator, check):
    check(estimator)


def test_clone_pickle_and_copy(data):
    for network in (None, small_network):
        model = NNPUClassifier(prior=0.4, network=network, **FAST).fit(data.X, data.y)
        for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(data.X, data.y)):
            np.testing.assert_array_equal(twin.decision_function(data.test), model.decision_function(data.test))


def test_data_frames(data, model):
    table = pd.DataFrame(data.X, columns=["height", "weight"])
    framed = NNPUClassifier(prior=0.5, **FAST).fit(table, data.y)
    assert framed.feature_names_in_.tolist() == ["height", "weight"]
    np.testing.assert_array_equal(framed.predict(table), model.predict(data.X))


# --- without PyTorch ---


def test_importing_the_classifier_does_not_load_pytorch():
    code = "import sys, unlabeled.baselines.nnpu as nnpu; nnpu.NNPUClassifier.paper(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_pytorch_is_named_with_the_remedy(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "unlabeled.baselines.nnpu_network")
    with pytest.raises(ImportError, match=r"pip install 'unlabeled\[torch\]'"):
        NNPUClassifier(prior=0.5).fit(data.X, data.y)


# --- Algorithm 1 on a batch worked by hand ---
# Outputs on P: 0 and log 3; on U: -log 3 and 0. The sigmoid loss is 1/2 at 0, 1/4 at log 3, 3/4 at -log 3; its slope
# is -1/4 at 0 and -3/16 at both others. Hence
#   R_p^+ = (1/2 + 1/4)/2 = 3/8, by each output of P: (-1/8, -3/32)
#   R_p^- = (1/2 + 3/4)/2 = 5/8, by each output of P: (+1/8, +3/32)
#   R_u^- = (1/4 + 1/2)/2 = 3/8, by each output of U: (+3/32, +1/8)

LOG_3 = float(np.log(3))


@pytest.mark.parametrize(
    ("options", "parts", "reported", "slope_positive", "slope_unlabeled"),
    [
        # prior 0.4: negative part 3/8 - 1/4 = 1/8; the plain gradient
        ({"prior": 0.4}, (0.15, 0.125), 0.275, (-0.1, -0.075), (3 / 32, 1 / 8)),
        # prior 0.8: negative part 3/8 - 1/2 = -1/8; reported as 0, its gradient turned
        ({"prior": 0.8}, (0.3, -0.125), 0.3, (0.1, 0.075), (-3 / 32, -1 / 8)),
        ({"prior": 0.8, "gamma": 0.5}, (0.3, -0.125), 0.3, (0.05, 0.0375), (-3 / 64, -1 / 16)),
        # ... -1/8 is tolerated; reported is still the non-negative risk
        ({"prior": 0.8, "beta": 0.13}, (0.3, -0.125), 0.3, (-0.2, -0.15), (3 / 32, 1 / 8)),
        # uPU reports and follows the plain sum
        ({"prior": 0.8, "nonnegative": False}, (0.3, -0.125), 0.175, (-0.2, -0.15), (3 / 32, 1 / 8)),
        # single-sample, half of the population labelled: R_u^- = (5/8 + 3/8)/2 = 1/2; prior 0.6: 1/2 - 3/8 = 1/8
        # by outputs of P: 0.6 (-) + (1/2 - 0.6)(+) = -0.7 of (1/8, 3/32)
        (
            {"prior": 0.6, "labelled_share": 0.5},
            (0.225, 0.125),
            0.35,
            (-0.7 / 8, -0.7 * 3 / 32),
            (3 / 64, 1 / 16),
        ),
    ],
)
def test_what_is_reported_and_what_is_followed(options, parts, reported, slope_positive, slope_unlabeled):
    positive, unlabeled = (
        torch.tensor(values, dtype=torch.float64, requires_grad=True) for values in ([0, LOG_3], [-LOG_3, 0])
    )
    risk = PURisk(loss=LOSS_FUNCTIONS["sigmoid"], **options)
    worked = risk.parts(positive, unlabeled)
    assert [part.item() for part in worked] == pytest.approx(parts)
    assert risk.reported(*worked).item() == pytest.approx(reported)
    risk.followed(*worked).backward()
    assert positive.grad.tolist() == pytest.approx(slope_positive)
    assert unlabeled.grad.tolist() == pytest.approx(slope_unlabeled)


@pytest.mark.parametrize(("prior", "gamma", "slope"), [(0.4, 1.0, -0.075 - 3 / 32), (0.8, 0.5, 0.0375 + 3 / 64)])
def test_a_step_follows_the_gradient_and_reports_the_objective(prior, gamma, slope):
    """The same batch through g(x) = w x with w = log 3, rows 0 and 1 in P, -1 and 0 in U."""
    network = torch.nn.Linear(1, 1, bias=False).double()
    with torch.no_grad():
        network.weight.fill_(LOG_3)
    kept = Rows(torch.tensor([[0.0], [1.0]]).double(), torch.tensor([[-1.0], [0.0]]).double())
    risk = PURisk(prior, LOSS_FUNCTIONS["sigmoid"], gamma=gamma)
    sgd = torch.optim.SGD(network.parameters(), lr=0.1)
    objective = _train_epoch(network, kept, risk, sgd, 4, np.random.RandomState(0))
    assert objective == pytest.approx({0.4: 0.275, 0.8: 0.3}[prior])
    assert network.weight.item() == pytest.approx(LOG_3 - 0.1 * slope)


def test_losses():
    margins = torch.tensor([-1.0, 0.0, 2.0])
    assert LOSS_FUNCTIONS["sigmoid"](margins).tolist() == pytest.approx((1 / (1 + np.exp([-1, 0, 2]))).tolist())
    assert LOSS_FUNCTIONS["logistic"](margins).tolist() == pytest.approx(np.log1p(np.exp([1, 0, -2])).tolist())


def test_names_on_both_sides_agree():
    """The classifier checks names without loading PyTorch."""
    assert set(LOSSES) == set(LOSS_FUNCTIONS)
    assert set(OPTIMIZERS) == set(OPTIMIZER_CLASSES)


# --- batches and training ---


@pytest.mark.parametrize(("n_positive", "n_unlabeled", "batch_size"), [(80, 320, 100), (3, 500, 20), (1, 1, 64)])
def test_batches_hold_both_samples_in_proportion(n_positive, n_unlabeled, batch_size):
    batches = list(stratified_batches(n_positive, n_unlabeled, batch_size, np.random.RandomState(0)))
    assert len(batches) == -(-(n_positive + n_unlabeled) // batch_size)
    positive, unlabeled = (torch.cat(side).numpy() for side in zip(*batches, strict=True))
    np.testing.assert_array_equal(np.sort(unlabeled), np.arange(n_unlabeled))
    counts = np.bincount(positive, minlength=n_positive)
    assert counts.min() == counts.max()  # equally often
    sizes = [len(part) for part, _ in batches]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


def test_the_paper_network():
    network = paper_network(7)
    kinds = [type(layer).__name__ for layer in network]
    assert kinds == ["Linear", "BatchNorm1d", "ReLU"] * 3 + ["Linear"]
    assert [(layer.in_features, layer.out_features) for layer in network if isinstance(layer, torch.nn.Linear)] == [
        (7, 300),
        (300, 300),
        (300, 300),
        (300, 1),
    ]


def test_the_paper_configuration():
    params = NNPUClassifier.paper(prior=0.3, random_state=7).get_params()
    expected = {
        "prior": 0.3,
        "random_state": 7,
        "network": None,
        "loss": "sigmoid",
        "optimizer": "sgd",
        "learning_rate": 0.01,
        "n_epochs": 100,
        "patience": None,
        "nonnegative": True,
        "beta": 0.0,
        "gamma": 1.0,
    }
    assert {name: params[name] for name in expected} == expected
    assert NNPUClassifier.paper(0.3, n_epochs=2).n_epochs == 2
    assert NNPUClassifier.paper().prior == "km1"  # the paper's Experiment 3


def test_the_best_weights_are_kept(data):
    seen = []
    model = NNPUClassifier(prior=0.5, n_epochs=12, learning_rate=0.1, callback=seen.append, random_state=0)
    model.fit(data.X, data.y)
    assert seen == model.history_
    assert [epoch.epoch for epoch in seen] == list(range(1, 13))
    assert model.best_epoch_ == 1 + int(np.argmin([epoch.validation_risk for epoch in seen]))
    shorter = clone(model).set_params(n_epochs=model.best_epoch_, callback=None).fit(data.X, data.y)
    np.testing.assert_array_equal(shorter.decision_function(data.test), model.decision_function(data.test))
    assert isinstance(seen[0], Epoch)


def test_the_last_weights_are_kept_on_demand(data):
    options = {"prior": 0.5, "n_epochs": 12, "learning_rate": 0.1, "random_state": 0}
    last, best = (NNPUClassifier(**options, keep=keep).fit(data.X, data.y) for keep in ("last", "best"))
    assert last.history_ == best.history_
    assert best.best_epoch_ < last.best_epoch_ == 12  # else this would tell nothing
    assert np.abs(last.decision_function(data.test) - best.decision_function(data.test)).max() > 1e-3
    until_best = clone(last).set_params(n_epochs=best.best_epoch_).fit(data.X, data.y)
    np.testing.assert_array_equal(until_best.decision_function(data.test), best.decision_function(data.test))


def test_a_model_of_before_there_was_a_choice_kept_the_best():
    model = NNPUClassifier(prior=0.5)
    del model.__dict__["keep"]
    assert clone(model).keep == model.get_params()["keep"] == "best"


def test_patience_stops(data):
    patient = NNPUClassifier(prior=0.5, n_epochs=40, learning_rate=0.1, patience=3, random_state=0).fit(data.X, data.y)
    assert len(patient.history_) == patient.best_epoch_ + 3 < 40


@pytest.mark.parametrize("keep_last", [False, True])
def test_divergence_is_named(keep_last):
    rows = Rows(torch.full((2, 1), torch.nan), torch.zeros(2, 1))
    network = small_network(1)
    sgd = torch.optim.SGD(network.parameters(), lr=0.1)
    risk, schedule = PURisk(0.5, LOSS_FUNCTIONS["sigmoid"]), Schedule(2, 4, keep_last=keep_last)
    words = rf"{'the last' if keep_last else 'no'} epoch has .*finite validation risk\. Lower learning_rate"
    with pytest.raises(ValueError, match=words):
        train(network, rows, rows, risk, sgd, schedule, np.random.RandomState(0))


def test_an_end_that_diverged_is_not_kept_though_there_was_a_better_epoch():
    rows, network = Rows(torch.ones(2, 1), torch.zeros(2, 1)), small_network(1)
    sgd, risk = torch.optim.SGD(network.parameters(), lr=0.1), PURisk(0.5, LOSS_FUNCTIONS["sigmoid"])

    def spoil(epoch):
        if epoch.epoch == 1:
            next(network.parameters()).data.fill_(torch.nan)

    schedule = Schedule(2, 4, callback=spoil, keep_last=True)
    with pytest.raises(ValueError, match="the last epoch has no finite validation risk"):
        train(network, rows, rows, risk, sgd, schedule, np.random.RandomState(0))


def test_same_seed_same_result_and_the_global_state_is_left_alone(data):
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    first = NNPUClassifier(prior=0.5, network=flat_network, **FAST).fit(data.X, data.y)
    torch.testing.assert_close(torch.rand(4), expected, rtol=0, atol=0)
    second = clone(first).fit(data.X, data.y)
    np.testing.assert_array_equal(first.decision_function(data.test), second.decision_function(data.test))
    other = clone(first).set_params(random_state=1).fit(data.X, data.y)
    assert (first.decision_function(data.test) != other.decision_function(data.test)).any()


def test_auto_takes_cuda_where_there_is_one(model, monkeypatch):
    assert model.device_ == ("cuda" if torch.cuda.is_available() else "cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert select_device("auto").type == "cuda"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert select_device("auto").type == "cpu"
    with pytest.raises(ValueError, match="no CUDA device"):
        select_device("cuda")


# --- the contract ---


@pytest.mark.parametrize(("unlabeled", "positive"), [(-1, 1), (False, True), ("maybe", "yes"), (2, 4)])
def test_predict_answers_in_the_spelling_of_y(data, model, unlabeled, positive):
    other = NNPUClassifier(prior=0.5, **FAST).fit(data.X, np.where(data.y == 1, positive, unlabeled))
    assert other.classes_.tolist() == [unlabeled, positive]
    np.testing.assert_array_equal(other.predict(data.test) == positive, model.predict(data.test) == 1)


def test_decision_probability_and_class_agree(data, model):
    decision, proba = model.decision_function(data.test), model.predict_proba(data.test)
    with torch.no_grad():
        rows = torch.as_tensor(model.scaler_.transform(data.test))
        np.testing.assert_allclose(model.network_(rows)[:, 0].numpy(), decision, atol=1e-12)
    np.testing.assert_allclose(proba[:, 1], expit(decision), atol=1e-12)
    np.testing.assert_array_equal(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    np.testing.assert_array_equal(model.predict(data.test) == 1, decision > 0)


def test_a_row_is_answered_alike_alone_and_in_company(data, model):
    for i in range(5):
        assert model.decision_function(data.test[[i]])[0] == pytest.approx(
            model.decision_function(data.test)[i], abs=1e-10
        )


@pytest.mark.parametrize("network", [small_network, flat_network])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_other_networks_losses_and_upu(data, network, loss, nonnegative):
    model = NNPUClassifier(
        0.5, network=network, loss=loss, nonnegative=nonnegative, optimizer="adam", n_epochs=30, random_state=0
    ).fit(data.X, data.y)
    assert roc_auc_score(data.test_truth, model.decision_function(data.test)) > 0.85


# --- how well ---


@pytest.mark.parametrize("n_draws", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_accuracy_on_the_papers_gaussians(n_draws):
    """Prior 0.5 known; the Bayes classifier has 0.841."""
    accuracies = []
    for seed in range(n_draws):
        data = make_gaussians(random_state=seed)
        model = NNPUClassifier(prior=0.5, random_state=seed).fit(data.X, data.y)
        accuracies.append(np.mean((model.predict(data.test) == 1) == data.test_truth))
    assert np.mean(accuracies) > 0.80


def test_the_paper_configuration_learns(data):
    model = NNPUClassifier.paper(prior=0.5, random_state=0).fit(data.X, data.y)
    assert len(model.history_) == 100
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.77


def test_two_moons():
    data = make_two_moons(50, 1000, 1000, random_state=0)
    model = NNPUClassifier(prior=0.5, random_state=0, n_epochs=40).fit(data.X, data.y)
    assert np.mean((model.predict(data.test) == 1) == data.test_truth) > 0.95


def test_raw_scales_do_no_harm(data):
    scale, shift = np.array([1e4, 1e-3]), np.array([1e6, -5.0])
    plain = NNPUClassifier(prior=0.5, n_epochs=30, random_state=0).fit(data.X, data.y)
    scaled = clone(plain).fit(data.X * scale + shift, data.y)
    aucs = [
        roc_auc_score(data.test_truth, model.decision_function(rows))
        for model, rows in ((plain, data.test), (scaled, data.test * scale + shift))
    ]
    assert aucs[1] == pytest.approx(aucs[0], abs=0.01)
    assert min(aucs) > 0.85


def test_single_sample_prior_speaks_of_the_whole_population():
    """One sample, three quarters of its positives labelled: few unlabeled rows are positive, and case-control errs."""
    data = make_gaussians(1, 3000, 3000, prior=0.4, separation=3.0, random_state=0)
    labelled = data.unlabeled_truth & (np.random.RandomState(0).uniform(size=3000) < 0.75)
    options = {"prior": 0.4, "n_epochs": 10, "random_state": 0}
    called = {}
    for scenario in ("single-sample", "case-control"):
        model = NNPUClassifier(scenario=scenario, **options).fit(data.unlabeled, labelled)
        called[scenario] = np.mean(model.predict(data.test))
    assert called["single-sample"] == pytest.approx(0.4, abs=0.03)
    assert called["case-control"] > 0.45


# --- input that must work ---


def test_two_of_each(data):
    rows = [0, 1, 200, 300]
    model = NNPUClassifier(prior=0.5, **FAST).fit(data.X[rows], data.y[rows])
    assert np.isfinite(model.decision_function(data.test)).all()


def test_rows_far_from_all_data_get_an_answer(model):
    far = np.array([[1e3, 1e3], [1e30, -1e30], [-1e300, 1e300]])
    assert np.isfinite(model.decision_function(far)).all()


@pytest.mark.filterwarnings("ignore:Every column of X is constant")
def test_all_rows_identical_and_a_constant_feature(data):
    with pytest.warns(UserWarning, match="constant"):
        model = NNPUClassifier(prior=0.5, **FAST).fit(np.ones((20, 3)), np.repeat([1, 0], 10))
    assert len(set(model.decision_function(np.ones((4, 3))))) == 1
    X = np.column_stack([data.X, np.full(len(data.X), 7.0)])
    assert np.isfinite(NNPUClassifier(prior=0.5, **FAST).fit(X, data.y).decision_function(X)).all()


# --- bad input ---

X, Y = np.arange(20.0).reshape(10, 2), np.repeat([1, 0], 5)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.where(X == 3, np.nan, X), Y, {}, "NaN"),
        (np.where(X == 3, np.inf, X), Y, {}, "infinity"),
        (X, np.zeros(10), {}, "only one class"),
        (X, np.arange(10) == 0, {}, "[Oo]nly one labelled positive"),
        (X, np.arange(10) > 0, {}, "[Oo]nly one unlabeled row"),
        (X, np.arange(10) % 3, {}, "3 values.*Use two"),
        (X, Y[:9], {}, "inconsistent"),
        (X, Y, {"prior": 0}, "strictly between 0 and 1"),
        (X, Y, {"prior": 1.5}, "strictly between 0 and 1"),
        (X, Y, {"prior": np.nan}, "strictly between 0 and 1"),
        (X, Y, {"prior": "densty"}, "densty"),
        (X, Y, {"prior": 0.2, "scenario": "single-sample"}, "labelled share"),
        (X, Y, {"scenario": "censoring"}, "case-control.*single-sample"),
        (X, Y, {"loss": "hinge"}, "sigmoid.*logistic"),
        (X, Y, {"optimizer": "rmsprop"}, "sgd.*adam"),
        (X, Y, {"learning_rate": 0}, "learning_rate.*above 0"),
        (X, Y, {"learning_rate": np.inf}, "learning_rate.*above 0"),
        (X, Y, {"n_epochs": 0}, "n_epochs.*whole number"),
        (X, Y, {"batch_size": 2.5}, "batch_size.*whole number"),
        (X, Y, {"patience": 0}, "patience.*whole number"),
        (X, Y, {"beta": -0.1}, "beta.*0 or more"),
        (X, Y, {"gamma": 1.1}, r"gamma.*\[0, 1\]"),
        (X, Y, {"network": "mlp"}, "network must be callable"),
        (X, Y, {"callback": 3}, "callback must be callable"),
        (X, Y, {"device": "abacus"}, "device='abacus'"),
        (X, Y, {"keep": "first"}, r"keep='first' is not known; use one of \['best', 'last'\]"),
        (X, Y, {"network": two_outputs}, r"shape \(8, 2\) for 8 rows"),
    ],
)
def test_bad_input(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        NNPUClassifier(**{"prior": 0.9} | options).fit(X, y)


def test_a_factory_that_makes_no_network():
    with pytest.raises(TypeError, match=r"torch\.nn\.Module; it returned int"):
        NNPUClassifier(prior=0.5, network=int).fit(X, Y)


def test_predict_before_fit_and_with_other_features(model):
    with pytest.raises(NotFittedError):
        NNPUClassifier().predict(X)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(ValueError, match="3 features"):
            getattr(model, method)(np.zeros((2, 3)))


# --- many at once ---


@pytest.mark.parametrize("keep", ["best", "last"])
def test_networks_trained_together_are_those_trained_alone(keep):
    tables = [make_gaussians(20, 90, prior=0.5, random_state=seed) for seed in range(3)]
    build = [
        lambda s=s: NNPUClassifier.paper(
            0.2 + 0.3 * s, n_epochs=3, batch_size=40, keep=keep, random_state=s, device="cpu"
        )
        for s in range(3)
    ]
    alone = [make().fit(table.X, table.y) for make, table in zip(build, tables, strict=True)]
    together = fit_together([make() for make in build], [(t.X, t.y) for t in tables], "cpu")
    for one, other, table in zip(alone, together, tables, strict=True):
        assert one.best_epoch_ == other.best_epoch_
        np.testing.assert_allclose(np.array(one.history_), np.array(other.history_), atol=1e-5)
        np.testing.assert_allclose(one.decision_function(table.test), other.decision_function(table.test), atol=1e-4)


def test_networks_that_cannot_be_trained_together_are_refused():
    tables = [make_gaussians(20, 60, prior=0.5, random_state=seed) for seed in range(2)]
    samples = [(table.X, table.y) for table in tables]
    first = NNPUClassifier.paper(0.5, n_epochs=1)
    for other, words in (
        (NNPUClassifier.paper(0.5, n_epochs=2), "must agree in n_epochs"),
        (NNPUClassifier.paper(0.5, n_epochs=1, patience=3), "patience=3 cannot"),
        (NNPUClassifier.paper(0.5, n_epochs=1, keep="last"), "must agree in keep"),
    ):
        with pytest.raises(ValueError, match=words):
            fit_together([first, other], samples)
    smaller = make_gaussians(19, 60, prior=0.5, random_state=0)
    with pytest.raises(ValueError, match="equal numbers of columns"):
        fit_together([first, first], [samples[0], (smaller.X, smaller.y)])
