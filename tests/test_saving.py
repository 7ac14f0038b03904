"""Saved models: the same answers after loading, and nothing but a clear error from a file that is not one."""

import io
import json
import os
import subprocess
import sys
import warnings
import weakref
import zipfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import skops.io as sio
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from unlabeled import ConvexPUClassifier, ElkanNotoClassifier, NNPUClassifier, WMMDClassifier
from unlabeled.classifiers.least_squares import LeastSquaresPUClassifier
from unlabeled.classifiers.pu import PUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.datasets import make_gaussians
from unlabeled.deciding.thresholds import TargetRecall
from unlabeled.files import written_whole
from unlabeled.kernels import Inverse, Linear
from unlabeled.priors import PRIORS, BestBinPrior
from unlabeled.saving import ModelFileError, load, read_header, save
from unlabeled.saving.header import MAGIC, Header
from unlabeled.saving.trusted import check_trees, parts_of


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
    "least-squares": LeastSquaresPUClassifier(0.5),
    "least-squares-linear": LeastSquaresPUClassifier(kernel=Linear(), scenario="single-sample"),
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


@pytest.mark.parametrize("name", PRIORS)
def test_fitted_prior_estimators(name, data, tmp_path):
    model = clone(PRIORS[name]).fit(data.X, data.y)
    assert round_trip(model, tmp_path).prior_ == model.prior_


def test_weights_and_labels_survive(data, tmp_path):
    y = np.where(data.y == 1, "fraud", "a row")
    model = WMMDClassifier(0.5).fit(data.X, y, sample_weight=np.arange(1, len(y) + 1))
    loaded = round_trip(model, tmp_path)
    np.testing.assert_allclose(loaded.score_samples(data.test), model.score_samples(data.test), atol=2e-6)
    assert set(loaded.predict(data.test)) <= {"fraud", "a row"}


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
    assert (tmp_path / "model").stat().st_size == pytest.approx(4 * 27 * 20_000, rel=0.02)


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


def test_an_older_format_asks_for_another_fit(saved):
    magic, header, archive = saved.read_bytes().split(b"\n", 2)
    older = json.dumps(json.loads(header) | {"format": 1}).encode()
    saved.write_bytes(b"\n".join([magic, older, archive]))
    with pytest.raises(ModelFileError, match=r"early unlabeled \(format 1; this one reads 2\).*Fit the model again"):
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
        (NNPUClassifier(0.5, n_epochs=1, random_state=0), r"torch\.nn.*torch\.save"),
        (ElkanNotoClassifier(RandomForestClassifier(2)), r"sklearn\.tree\._tree\.Tree"),
        (GridSearchCV(WMMDClassifier(0.5), {"gamma": [0.1, 1.0]}, scoring="accuracy"), "best_estimator_"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(data, tmp_path, model, what):
    with pytest.raises(TypeError, match=what):
        save(model.fit(data.X, data.y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


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
    monkeypatch.setattr("unlabeled.files.secrets.token_hex", lambda _n: "x")
    (tmp_path / ".model.x.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_loading_a_model_loads_no_torch(saved):
    """skops would, by its walk through scikit-learn; and afterwards torch can be loaded as ever."""
    code = "import sys, unlabeled.saving as s; s.load(sys.argv[1]); assert 'torch' not in sys.modules; import torch"
    subprocess.run([sys.executable, "-c", code, str(saved)], check=True)
