"""Saved models: the same answers after loading, and nothing but a clear error from a file that is not one."""

import io
import json
import os
import subprocess
import sys
import warnings
import weakref
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import skops.io as sio
import torch
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from unlabeled import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier, WMMDClassifier
from unlabeled.classifiers.pu import PUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.thresholds import TargetRecall
from unlabeled.files import written_whole
from unlabeled.kernels import Inverse
from unlabeled.metrics import PUStratifiedKFold, pu_scorer
from unlabeled.priors import PRIORS, BestBinPrior
from unlabeled.saving import ModelFileError, load, read_header, save
from unlabeled.saving.header import FORMAT, MAGIC, Header
from unlabeled.saving.plain import PlainDistribution, PlainTree, restored
from unlabeled.saving.trusted import check_trees
from unlabeled.saving.walking import parts_of


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Boosted trees wait for their threads actively, which takes minutes on a machine that is busy otherwise."""
    with threadpool_limits(1, user_api="openmp"):
        yield


@pytest.fixture(scope="module")
def data():
    return make_gaussians(40, 160, 50, n_features=3, random_state=0)


def round_trip(model, folder):
    save(model, folder / "model")
    return load(folder / "model")


MODELS = {
    "wmmd": WMMDClassifier(0.5),
    "wmmd-inverse": WMMDClassifier(0.5, kernel=Inverse()),
    "wmmd-single-sample": WMMDClassifier(0.5, scenario="single-sample", selection="holdout", random_state=0),
    "wmmd-prior-estimator": WMMDClassifier(BestBinPrior()),
    "pipeline": make_pipeline(StandardScaler(), WMMDClassifier(0.5)),
    "columns": make_pipeline(
        ColumnTransformer(
            [("number", StandardScaler(), [0, 1]), ("code", OneHotEncoder(handle_unknown="ignore"), [2])],
            sparse_threshold=0,
        ),
        WMMDClassifier(0.5),
    ),
    "score": ScoreWMMDClassifier(prior=0.5),
    "auto": PUClassifier(),
    "recall": WMMDClassifier(0.5, threshold=TargetRecall(0.8)),
    "convex": ConvexPUClassifier(prior=0.5, gamma=0.5, alpha=0.1),
    "elkan-noto": ElkanNotoClassifier(),
    "boosted": ElkanNotoClassifier(HistGradientBoostingClassifier(max_iter=2), n_folds=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_answers_the_same(name, data, tmp_path):
    model = clone(MODELS[name]).fit(data.X, data.y)
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is type(model)
    np.testing.assert_allclose(loaded.decision_function(data.test), model.decision_function(data.test), atol=2e-6)
    np.testing.assert_array_equal(loaded.predict(data.test), model.predict(data.test))


FAST = WMMDClassifier(0.5, gamma=(0.5, 1.0))
#: Those of which no array is rounded: they answer the same to the bit.
EXACT_MODELS = {
    "network": NNPUClassifier(0.5, n_epochs=2, random_state=0),
    "elkan-noto-paper": ElkanNotoClassifier.paper(random_state=0),
    "score-forest": ScoreWMMDClassifier(RandomForestClassifier(3, random_state=0), prior=0.5, n_folds=2),
    "score-linear": ScoreWMMDClassifier(LogisticRegression(), prior=0.5),
    "forest": ElkanNotoClassifier(RandomForestClassifier(3), n_folds=2),
    "extra-trees": ElkanNotoClassifier(ExtraTreesClassifier(3), n_folds=2),
    "tree": ElkanNotoClassifier(DecisionTreeClassifier(max_leaf_nodes=6), n_folds=2),
    "ada-boost": ElkanNotoClassifier(AdaBoostClassifier(n_estimators=3), n_folds=2),
    "bagging": ElkanNotoClassifier(BaggingClassifier(n_estimators=3, max_features=2), n_folds=2),
    "support-vectors": ElkanNotoClassifier(SVC(), n_folds=2),
    "naive-bayes": ElkanNotoClassifier(GaussianNB(), n_folds=2),
    "descent": ElkanNotoClassifier(SGDClassifier(), n_folds=2),
    "perceptron": ElkanNotoClassifier(MLPClassifier((3,), max_iter=5), n_folds=2),
    "neighbours": ElkanNotoClassifier(KNeighborsClassifier(algorithm="brute"), n_folds=2),
    "random-search-of-forests": RandomizedSearchCV(
        ElkanNotoClassifier(RandomForestClassifier(2), n_folds=2),
        {"estimator__max_depth": randint(1, 4)},
        n_iter=2,
        cv=2,
        scoring="accuracy",
        random_state=0,
    ),
}
SEARCHES = {
    "grid": GridSearchCV(
        FAST, {"kernel": ["rbf", Inverse()]}, scoring=pu_scorer("roc-auc", prior=0.5), cv=PUStratifiedKFold(2)
    ),
    "grid-without-scoring": GridSearchCV(FAST, {"gamma": [0.1, 1.0]}, cv=StratifiedShuffleSplit(2, random_state=0)),
    "several-scorers": GridSearchCV(
        FAST, {"gamma": [0.1, 1.0]}, scoring=["accuracy", "roc_auc"], refit="roc_auc", cv=2
    ),
    "random": RandomizedSearchCV(
        FAST, {"gamma": loguniform(0.1, 1)}, n_iter=2, scoring="accuracy", cv=2, random_state=0
    ),
    "pipeline-in-a-grid": GridSearchCV(
        make_pipeline(StandardScaler(), FAST), {"wmmdclassifier__gamma": [0.1, 1.0]}, scoring="roc_auc", cv=2
    ),
    "calibrated": CalibratedClassifierCV(FAST, cv=2),
    "calibrated-isotonic": CalibratedClassifierCV(FAST, method="isotonic", cv=2),
    "tuned-threshold": TunedThresholdClassifierCV(FAST, cv=2),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::unlabeled.priors.ScarWarning")
@pytest.mark.parametrize("name", EXACT_MODELS)
def test_a_loaded_model_answers_the_same_to_the_bit(name, data, tmp_path):
    model = clone(EXACT_MODELS[name]).fit(data.X, data.y)
    loaded = round_trip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(data.test), model.predict_proba(data.test))
    np.testing.assert_array_equal(loaded.predict(data.test), model.predict(data.test))


@pytest.mark.parametrize("name", SEARCHES)
def test_searches_and_wrappers(name, data, tmp_path):
    model = clone(SEARCHES[name]).fit(data.X, data.y)
    loaded = round_trip(model, tmp_path)
    np.testing.assert_allclose(loaded.predict_proba(data.test), model.predict_proba(data.test), atol=2e-6)
    np.testing.assert_array_equal(loaded.predict(data.test), model.predict(data.test))
    if hasattr(model, "cv_results_"):
        assert repr(loaded.best_params_) == repr(model.best_params_)
        rank = next(key for key in model.cv_results_ if key.startswith("rank"))
        np.testing.assert_array_equal(loaded.cv_results_[rank], model.cv_results_[rank])
        assert loaded.score(data.X, data.y) == pytest.approx(model.score(data.X, data.y))
        clone(loaded).fit(data.X, data.y)  # a search can be run again, its distributions with it


def test_a_network_keeps_its_history_and_the_random_state_of_torch(data, tmp_path):
    model = clone(EXACT_MODELS["network"]).fit(data.X, data.y)
    before = torch.random.get_rng_state()
    loaded = round_trip(model, tmp_path)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert loaded.history_ == model.history_
    assert type(loaded.history_[0]) is type(model.history_[0])
    assert not loaded.network_.training


@pytest.mark.parametrize("name", PRIORS)
def test_fitted_prior_estimators(name, data, tmp_path):
    model = clone(PRIORS[name]).fit(data.X, data.y)
    assert round_trip(model, tmp_path).prior_ == model.prior_


def test_weights_and_labels_survive(data, tmp_path):
    y = np.where(data.y == 1, "fraud", "a row")
    model = WMMDClassifier(0.5, pos_label="fraud").fit(data.X, y, sample_weight=np.arange(1, len(y) + 1))
    loaded = round_trip(model, tmp_path)
    np.testing.assert_allclose(loaded.score_samples(data.test), model.score_samples(data.test), atol=2e-6)
    assert set(loaded.predict(data.test)) <= {"fraud", "a row"}
    assert (loaded.classes_.tolist(), loaded.pos_label) == (["a row", "fraud"], "fraud")


def test_saving_leaves_the_model_alone_and_drops_the_cached_witness(data, tmp_path):
    model = WMMDClassifier(0.5, smoothing=0).fit(data.X, data.y)
    plain = (save(model, tmp_path / "a"), (tmp_path / "a").stat().st_size)[1]
    witness = model.witness(data.test)
    loaded = round_trip(model, tmp_path)
    assert model.sample_.positive.rows.dtype == np.float64
    assert model._witness is not None
    assert (tmp_path / "model").stat().st_size == plain
    np.testing.assert_allclose(loaded.witness(data.test), witness, atol=1e-6)


# --- single precision where it is exact enough ---


@pytest.mark.filterwarnings("ignore:Every column of X is constant")  # so far from 0 that all rows are one
@pytest.mark.parametrize(
    ("shift", "gamma", "dtype"),
    [(0, 0.5, np.float32), (1e6, 0.5, np.float64), (0, 1e6, np.float64), (1e39, 1e-3, np.float64)],
)
def test_rows_are_float32_only_where_scores_agree(data, tmp_path, shift, gamma, dtype):
    """Standardised rows keep their scores; around a million single precision has steps of 1/16, beyond 3e38 none."""
    model = WMMDClassifier(0.5, gamma=gamma).fit(data.X + shift, data.y)
    loaded = round_trip(model, tmp_path)
    assert loaded.sample_.positive.rows.dtype == loaded.sample_.unlabeled.rows.dtype == dtype
    queries = data.test + shift
    if dtype == np.float64:
        np.testing.assert_array_equal(loaded.score_samples(queries), model.score_samples(queries))
    np.testing.assert_allclose(loaded.score_samples(queries), model.score_samples(queries), atol=2e-6)


def test_integers_are_exact_in_single_precision(data, tmp_path):
    rows = np.round(data.X * 40)
    model = WMMDClassifier(0.5, gamma=1.0).fit(rows, data.y)
    loaded = round_trip(model, tmp_path)
    assert loaded.sample_.positive.rows.dtype == np.float32
    np.testing.assert_array_equal(loaded.score_samples(rows), model.score_samples(rows))


def test_four_bytes_a_number(tmp_path):
    """A million rows of 26 features and their numbers are then 108 MB; here a fiftieth of that."""
    data = make_gaussians(1_000, 19_000, 1, n_features=26, random_state=0)
    save(WMMDClassifier(0.5, gamma=0.05, max_evaluations=100).fit(data.X, data.y), tmp_path / "model")
    assert (tmp_path / "model").stat().st_size == pytest.approx(4 * 27 * 20_000, rel=0.025)


# --- files that are not models ---


@pytest.fixture
def saved(data, tmp_path):
    path = tmp_path / "model"
    save(WMMDClassifier(0.5).fit(data.X, data.y), path)
    return path


def test_the_header_tells_what_it_is(saved):
    header = read_header(saved)
    assert header.model == "WMMDClassifier"
    assert header.size == saved.stat().st_size - len(header.to_bytes())


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.01, 0.5, 0.999])
def test_truncated(saved, share):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ModelFileError, match=r"not a model|damaged"):
        load(saved)


def test_every_altered_byte_is_noticed(saved):
    content = saved.read_bytes()
    for place in np.linspace(0, len(content) - 1, 60).astype(int):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 0x15]) + content[place + 1 :])
        with pytest.raises(ModelFileError):
            load(saved)


def test_bytes_appended(saved):
    saved.write_bytes(saved.read_bytes() + b"x")
    with pytest.raises(ModelFileError, match="damaged"):
        load(saved)


@pytest.mark.parametrize(
    "content", [b"", b"\x80\x04", b"PK\x03\x04", MAGIC, MAGIC + b"[]\n", MAGIC + b"{}\n", b"a,b\n1,2\n"]
)
def test_other_files(tmp_path, content):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ModelFileError, match=r"not a model|damaged"):
        load(tmp_path / "model")


@pytest.mark.parametrize("format_", [1, 2])
def test_an_older_format_asks_for_another_fit(saved, format_):
    magic, header, archive = saved.read_bytes().split(b"\n", 2)
    older = json.dumps(json.loads(header) | {"format": format_}).encode()
    saved.write_bytes(b"\n".join([magic, older, archive]))
    message = rf"early.* \(format {format_}; this one reads {FORMAT}\).*Fit the model again"
    with pytest.raises(ModelFileError, match=message):
        load(saved)


def test_a_newer_format_asks_for_an_upgrade(saved):
    header = read_header(saved)
    archive = saved.read_bytes()[len(header.to_bytes()) :]
    newer = json.dumps(vars(header) | {"format": 99, "unlabeled": "9.0", "more": 1}).encode()
    saved.write_bytes(MAGIC + newer + b"\n" + archive)
    with pytest.raises(ModelFileError, match=r"newer unlabeled, 9\.0.*pip install -U"):
        load(saved)


def write_archive(path, archive):
    """A file with a right header and checksum around any archive, as an attacker would write it."""
    path.write_bytes(Header.of(WMMDClassifier(), archive).to_bytes() + archive)


class BuiltError(Exception):
    pass


class Hostile:
    """Tells on itself when it is built in any way."""

    def __new__(cls, *_args):
        if os.environ.get("UNLABELED_TEST_LOADING"):
            raise BuiltError
        return super().__new__(cls)

    def __setstate__(self, _state):
        raise BuiltError


def test_a_hostile_type_is_named_and_never_built(data, tmp_path, monkeypatch):
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    model.extra = Hostile()
    archive = sio.dumps(model)
    write_archive(tmp_path / "model", archive)
    monkeypatch.setenv("UNLABELED_TEST_LOADING", "1")
    with pytest.raises(ModelFileError, match=r"types that a model has no need of: .*Hostile.*Nothing of it was loaded"):
        load(tmp_path / "model")
    with pytest.raises(ModelFileError) as refused:  # the trap works: it springs when the type is accepted
        load(tmp_path / "model", trusted=sio.get_untrusted_types(data=archive))
    assert isinstance(refused.value.__cause__, BuiltError)


@pytest.mark.parametrize("call", ["os.system", "builtins.eval", "subprocess.Popen", "unlabeled.saving.save"])
def test_a_hostile_function_is_named_and_never_called(tmp_path, call):
    module, _, name = call.rpartition(".")
    node = {"__class__": name, "__module__": module, "__loader__": "FunctionNode", "__id__": 1, "content": {}}
    schema = {**node, "protocol": 2, "_skops_version": "0.16"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    write_archive(tmp_path / "model", buffer.getvalue())
    with pytest.raises(ModelFileError, match=name):
        load(tmp_path / "model")


@pytest.mark.parametrize("schema", ["", "[", "{}", "[]", '{"__class__": 3}', "[" * 100_000])
def test_malformed_archives(tmp_path, schema):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", schema)
    write_archive(tmp_path / "model", buffer.getvalue())
    with pytest.raises(ModelFileError, match="not a readable model"):
        load(tmp_path / "model")


def test_a_compressed_archive_is_not_unpacked(data, tmp_path):
    archive = sio.dumps(WMMDClassifier(0.5).fit(data.X, data.y), compression=zipfile.ZIP_DEFLATED)
    write_archive(tmp_path / "model", archive)
    with pytest.raises(ModelFileError, match="compressed"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("field", "value"), [("left", 10_000), ("right", 0), ("feature_idx", 3), ("is_categorical", 1)]
)
def test_trees_that_point_outside_themselves(data, tmp_path, field, value):
    model = HistGradientBoostingClassifier(max_iter=1).fit(data.X, data.y)
    model._predictors[0][0].nodes[field][0] = value
    write_archive(tmp_path / "model", sio.dumps(model))
    with pytest.raises(ModelFileError, match="points outside itself"):
        load(tmp_path / "model")


def point_outside(trees):
    trees._predictors[0][0].nodes["left"][0] = 2_000_000_000
    return trees


def boosted(data):
    return HistGradientBoostingClassifier(max_iter=1).fit(data.X, data.y)


def with_attribute(model, **attributes):
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


PLACES_FOR_TREES = {
    "set": lambda trees: {trees},
    "dictionary key": lambda trees: [({trees: 0},)],
    "object array": lambda trees: np.array([trees, None]),
}


@pytest.mark.parametrize("place", PLACES_FOR_TREES)
def test_trees_are_found_wherever_they_are(data, tmp_path, place):
    model = with_attribute(StandardScaler().fit(data.X), extra=PLACES_FOR_TREES[place](point_outside(boosted(data))))
    with pytest.raises(ModelFileError, match="points outside itself"):
        check_trees(model)
    if place != "dictionary key":  # skops writes no such keys
        write_archive(tmp_path / "model", sio.dumps(model))
        with pytest.raises(ModelFileError):
            load(tmp_path / "model")


class Piece:
    pass


class MadeAnew:
    """Its attribute is another object at each look."""

    made: ClassVar = []

    @property
    def __dict__(self):
        piece = Piece()
        self.made.append(weakref.ref(piece))
        return {"piece": piece}


def test_what_was_seen_is_held_so_that_nothing_takes_its_id():
    for _ in parts_of([MadeAnew(), MadeAnew()]):
        assert all(piece() is not None for piece in MadeAnew.made)
    assert len(MadeAnew.made) == 2


@pytest.mark.parametrize(
    ("attributes", "what"),
    [
        ({"_preprocessor": StandardScaler()}, "encode categories in a pipeline"),
        ({"_in_fit": True}, "within a fit"),
    ],
)
def test_trees_that_do_not_check_the_width_of_rows(data, tmp_path, attributes, what):
    model = with_attribute(boosted(data), n_features_in_=10**9, **attributes)
    model._predictors[0][0].nodes["feature_idx"][0] = 900_000_000
    write_archive(tmp_path / "model", sio.dumps(model))
    with pytest.raises(ModelFileError, match=what):
        load(tmp_path / "model")


def test_trees_that_encode_categories_are_not_saved(data, tmp_path):
    rows = np.column_stack([data.X, data.y])
    model = HistGradientBoostingClassifier(max_iter=1, categorical_features=[3]).fit(rows, data.y)
    with pytest.raises(TypeError, match="encode categories in a pipeline"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "what"),
    [
        (NNPUClassifier(0.5, network=lambda d: torch.nn.Linear(d, 1), n_epochs=1), r"torch\.nn.*torch\.save"),
        (NNPUClassifier(0.5, callback=print, n_epochs=1), r"print.*set_params\(callback=None\)"),
        (ElkanNotoClassifier(GradientBoostingClassifier(n_estimators=2)), "use HistGradientBoostingClassifier"),
        (ElkanNotoClassifier(KNeighborsClassifier()), "KDTree.*algorithm='brute'"),
        (GridSearchCV(FAST, {"gamma": [0.1, 1.0]}, scoring=lambda *_: 0.5, cv=2), "best_estimator_"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(data, tmp_path, model, what):
    with pytest.raises(TypeError, match=what):
        save(model.fit(data.X, data.y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


# --- trees, distributions and networks that are not what they say ---


def plain_tree(data):
    return PlainTree.of(DecisionTreeClassifier(random_state=0).fit(data.X, data.y).tree_)


def altered(tree, **fields):
    """A tree whose first node is another."""
    nodes = tree.nodes.copy()
    for name, value in fields.items():
        nodes[name][0] = value
    return replace(tree, nodes=nodes)


@pytest.mark.parametrize(
    "fields", [{"left_child": 10**9}, {"right_child": 0}, {"left_child": -5}, {"feature": 3}, {"feature": -2}]
)
def test_trees_of_forests_that_point_outside_themselves(data, fields):
    with pytest.raises(ModelFileError, match="points outside itself"):
        altered(plain_tree(data), **fields).restored()


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: {"values": tree.values[:-1]},
        lambda _: {"n_classes": np.array([50])},
        lambda _: {"n_classes": np.array([2, 2])},
        lambda _: {"n_classes": np.array([-1])},
        lambda tree: {"nodes": tree.nodes[:0], "values": tree.values[:0]},
        lambda tree: {"nodes": np.zeros(len(tree.nodes))},
        lambda tree: {"values": tree.values.astype(np.float32)},
    ],
)
def test_trees_of_forests_with_arrays_that_do_not_fit(data, change):
    tree = plain_tree(data)
    with pytest.raises(ModelFileError):
        replace(tree, **change(tree)).restored()


def test_the_depth_of_a_tree_is_counted_and_not_believed(data):
    fitted = DecisionTreeClassifier(random_state=0).fit(data.X, data.y)
    assert PlainTree.of(fitted.tree_).restored().max_depth == fitted.tree_.max_depth > 2


@pytest.mark.parametrize("of", ["tree", "forest"])
def test_trees_for_rows_of_another_width(data, tmp_path, of):
    forest = RandomForestClassifier(2).fit(data.X, data.y)
    wider = DecisionTreeClassifier(max_features=1).fit(np.hstack([data.X] * 9), data.y)
    forest.estimators_[1] = wider
    if of == "tree":
        wider.n_features_in_ = 3
    with pytest.raises(TypeError, match="rows of another width"):
        save(forest, tmp_path / "model")
    with pytest.raises(ModelFileError, match="rows of another width"):
        restored(forest)


def test_a_tree_as_it_is_stays_a_stranger(data, tmp_path):
    """Only its arrays are read: building it from a file could crash the reader."""
    write_archive(tmp_path / "model", sio.dumps(RandomForestClassifier(1).fit(data.X, data.y)))
    with pytest.raises(ModelFileError, match=r"sklearn\.tree\._tree\.Tree.*Nothing of it was loaded"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("plain", "what"),
    [
        (PlainDistribution("eval", (), {}), "no distribution 'eval'"),
        (PlainDistribution("_continuous_distns", (), {}), "no distribution"),
        (PlainDistribution("bootstrap", (1.0,), {}), "no distribution"),
        (PlainDistribution("norm", ("__import__('os')",), {}), "not numbers"),
    ],
)
def test_distributions_are_looked_up_by_name(plain, what, data, tmp_path):
    write_archive(tmp_path / "model", sio.dumps(with_attribute(StandardScaler().fit(data.X), extra=plain)))
    with pytest.raises(ModelFileError, match=what):
        load(tmp_path / "model")


def test_a_distribution_of_scipy_stays_a_stranger(data, tmp_path):
    """It runs a text that is in its state when it is read."""
    write_archive(tmp_path / "model", sio.dumps(with_attribute(StandardScaler().fit(data.X), extra=loguniform(1, 2))))
    with pytest.raises(ModelFileError, match=r"rv_continuous_frozen.*Nothing of it was loaded"):
        load(tmp_path / "model")


@pytest.mark.parametrize("width", [2, 10**12])
def test_weights_of_another_network(data, width):
    state = clone(EXACT_MODELS["network"]).fit(data.X, data.y).__getstate__()
    with pytest.raises(ValueError, match="not those of a network"):
        NNPUClassifier().__setstate__({**state, "n_features_in_": width})


def test_another_version_of_scikit_learn_is_no_noise(saved, monkeypatch):
    monkeypatch.setattr("sklearn.base.__version__", "1.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(saved)


# --- whole or not at all ---


def test_an_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write():
        with written_whole(path) as part:
            part.write_text("half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_finished_write_takes_its_place(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with written_whole(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(tmp_path, monkeypatch, data):
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    monkeypatch.setattr("unlabeled.files._mark", lambda: "x")
    (tmp_path / ".model.x.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_loading_a_model_loads_no_torch(saved):
    """skops would, by its walk through scikit-learn; and afterwards torch can be loaded as ever."""
    code = "import sys, unlabeled.saving as s; s.load(sys.argv[1]); assert 'torch' not in sys.modules; import torch"
    subprocess.run([sys.executable, "-c", code, str(saved)], check=True)
