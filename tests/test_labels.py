"""Labels as people spell them: which value marks positives, what is missing, and how `predict` answers."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    evaluate,
    metrics,
)
from unlabeled.datasets import draw_pu, make_gaussians
from unlabeled.labels import (
    MISSING_WORDS,
    POSITIVE_WORDS,
    UNLABELED_WORDS,
    LabelWarning,
    completed,
    find_classes,
    positives_among,
    surely_positive,
)
from unlabeled.metrics import SCORERS, PUStratifiedKFold, pu_scorer
from unlabeled.priors import PRIORS, compare_priors
from unlabeled.tables import columns, find_labels

CLASSIFIERS = {
    "wmmd": lambda **options: WMMDClassifier(0.5, gamma=0.5, **options),
    "paper": lambda **options: WMMDClassifier.paper(0.5, random_state=0, **options),
    "score": lambda **options: ScoreWMMDClassifier(LogisticRegression(), prior=0.5, **options),
    "pu": lambda **options: PUClassifier(0.5, estimator=LogisticRegression(), **options),
    "convex": lambda **options: ConvexPUClassifier("logistic", 0.5, gamma=0.2, alpha=0.1, **options),
    "elkan-noto": lambda **options: ElkanNotoClassifier(LogisticRegression(), **options),
    "nnpu": lambda **options: NNPUClassifier(0.5, n_epochs=1, random_state=0, **options),
}


@pytest.fixture(scope="module")
def data():
    return make_gaussians(50, 150, 300, random_state=0)


def spelled(data, positive, unlabeled):
    return np.where(data.y == 1, positive, unlabeled)


# --- the reported defect ---


def test_unlabeled_is_not_the_positive_class(data):
    """ "unlabeled" is sorted after "positive", and was taken for the positive value, without a word."""
    model = WMMDClassifier(0.5).fit(data.X, spelled(data, "positive", "unlabeled"))
    expected = WMMDClassifier(0.5).fit(data.X, data.y)
    np.testing.assert_array_equal(model.decision_function(data.test), expected.decision_function(data.test))
    np.testing.assert_array_equal(model.predict(data.test) == "positive", expected.predict(data.test) == 1)
    assert np.mean((model.predict(data.test) == "positive") == data.test_truth) > 0.8
    y, flags = spelled(data, "positive", "unlabeled"), model.predict(data.X)
    of_numbers = metrics.pu_recall(data.y, expected.predict(data.X))
    assert metrics.pu_recall(y, flags) == of_numbers > 0.7


# --- which of two values ---

UNMISTAKABLE = [
    ("positive", "unlabeled"),
    ("Positive", "negative"),
    ("p", "u"),
    ("P", "N"),
    ("yes", ""),
    ("YES ", "no"),
    ("y", "n"),
    ("t", "f"),
    ("true", "false"),
    ("labelled", "unlabelled"),
    ("fraud", "unlabeled"),
    ("fraud", ""),
    ("fraud", "unknown"),
    ("yes", "maybe"),
    ("1", "0"),
    ("1", "-1"),
    ("1.0", ""),
    ("10", "9"),
    (True, False),
    (1, 0),
    (1, -1),
    (0, -1),
    (2, 1),
    (1.5, 0.5),
]


@pytest.mark.parametrize(("positive", "unlabeled"), UNMISTAKABLE)
@pytest.mark.parametrize("as_object", [False, True])
def test_unmistakable_spellings(positive, unlabeled, as_object):
    y = np.array([unlabeled, positive, unlabeled, positive], dtype=object if as_object else None)
    classes, is_positive = find_classes(y)
    assert classes.tolist() == [unlabeled, positive]
    assert is_positive.tolist() == [False, True, False, True]
    assert classes.dtype == y.dtype


@pytest.mark.parametrize(("positive", "unlabeled"), [pair for pair in UNMISTAKABLE if isinstance(pair[0], str)])
def test_the_command_line_reads_them_alike(positive, unlabeled):
    found = find_labels(pl.DataFrame({"y": [unlabeled, positive] * 3}), "y")
    assert found.positive == positive.strip()
    assert found.is_positive.tolist() == [False, True] * 3


@pytest.mark.parametrize("pair", [("one", "two"), ("e", "p"), ("p", "q"), ("n", "s"), ("true", "yes"), ("1", "1.0")])
def test_a_guess_is_told_with_its_remedy(pair):
    with pytest.warns(LabelWarning, match=rf"'{pair[1]}' is taken.*pos_label='{pair[1]}'.*pos_label='{pair[0]}'"):
        classes, _ = find_classes(pair)
    assert classes.tolist() == list(pair)
    assert surely_positive(pair) is None


def test_pos_label_decides_and_silences():
    for value in ("one", "two"):
        classes, is_positive = find_classes(["one", "two", "one"], value)
        assert classes[1] == value
        assert is_positive.tolist() == [label == value for label in ("one", "two", "one")]
    assert find_classes(["positive", "unlabeled"], "unlabeled")[0].tolist() == ["positive", "unlabeled"]
    assert find_classes([1, 0], 0)[0].tolist() == [1, 0]


def test_one_table_of_words():
    assert not POSITIVE_WORDS & UNLABELED_WORDS
    assert MISSING_WORDS <= UNLABELED_WORDS
    assert {word.lower() for word in columns.MISSING_WORDS} <= MISSING_WORDS
    assert all(word == word.lower().strip() for word in POSITIVE_WORDS | UNLABELED_WORDS)


@given(st.sampled_from(sorted(POSITIVE_WORDS)), st.sampled_from(sorted(UNLABELED_WORDS)), st.booleans())
def test_every_pair_of_the_table_is_understood(positive, unlabeled, positive_first):
    pair = (positive, unlabeled) if positive_first else (unlabeled, positive)
    assert surely_positive(pair) == pair.index(positive)
    assert surely_positive([word.upper() for word in pair]) == pair.index(positive)


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        ([1, 1], None, "only one class, 1"),
        ([0, np.nan], None, "no row is labelled positive.*pos_label"),
        (["no", ""], None, "'' and 'no', which says that no row"),
        (["unlabeled", None], None, "no row is labelled positive"),
        ([None, None], None, "missing throughout"),
        (["a", "b", "c"], None, r"multiclass: y has 3 values.*np.where\(y == 'c', 1, 0\)"),
        (["a", "b", "c", None], None, "y has 3 values"),
        ([1, 2, 3, np.nan], "1", "y has 3 values"),
        (["a", "b"], "c", r"pos_label='c' is not in y, whose values are \['a', 'b'\]"),
        (["a", None], "c", "pos_label='c' is not in y"),
        (np.array([1, "a"], dtype=object), None, "mixes values"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), None, "write 1 and 0"),
    ],
)
def test_errors(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        find_classes(y, pos_label)


# --- missing is unlabeled ---

MISSING = {
    "floats": (np.array([1, np.nan, 1, np.nan]), [0, 1]),
    "objects": (np.array([1, None, 1, np.nan], dtype=object), [0, 1]),
    "list": ([1, None, 1, None], [0, 1]),
    "booleans": ([True, None, True, None], [False, True]),
    "words": (["fraud", None, "fraud", np.nan], ["unlabeled", "fraud"]),
    "a larger number": ([7.0, np.nan, 7.0, np.nan], [0, 7]),
    "three": (np.array([1, np.nan, 1, 0]), [0, 1]),
    "three words": (["yes", "no", "yes", None], ["no", "yes"]),
    "an empty word": (["fraud", "", "fraud", None], ["", "fraud"]),
    "words for missing": (["yes", "NA", "yes", "no"], ["no", "yes"]),
    "fixed width": (np.array(["ab", "", "ab", "NA"]), ["unlabeled", "ab"]),
    "pandas floats": (pd.Series([1, None, 1, None]), [0, 1]),
    "pandas integers": (pd.Series([1, pd.NA, 1, 0], dtype="Int64"), [0, 1]),
    "pandas booleans": (pd.Series([True, pd.NA, True, False], dtype="boolean"), [False, True]),
    "pandas strings": (pd.Series(["yes", pd.NA, "yes", pd.NA], dtype="string"), ["unlabeled", "yes"]),
    "pandas objects": (pd.Series(["yes", None, "yes", None], dtype=object), ["unlabeled", "yes"]),
    "pandas categories": (pd.Series(["yes", None, "yes", None], dtype="category"), ["unlabeled", "yes"]),
    "polars integers": (pl.Series([1, None, 1, None]), [0, 1]),
    "polars booleans": (pl.Series([True, None, True, None]), [False, True]),
    "polars strings": (pl.Series(["yes", None, "yes", "no"]), ["no", "yes"]),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_labels_are_unlabeled(name):
    y, expected = MISSING[name]
    classes, is_positive = find_classes(y)
    assert classes.tolist() == expected
    assert [type(value) for value in classes.tolist()] == [type(classes.tolist()[0])] * 2
    assert is_positive.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(positives_among(y, classes), is_positive)


@pytest.mark.parametrize("name", MISSING)
def test_fit_and_predict_with_missing_labels(name, data):
    """As with 1 and 0; what is not positive is answered by a value, not by a hole."""
    y, expected = MISSING[name]
    y = (y if hasattr(y, "dtype") else np.array(y, dtype=object))[np.where(data.y == 1, 0, np.arange(200) % 2 * 2 + 1)]
    model, plain = CLASSIFIERS["wmmd"]().fit(data.X, y), CLASSIFIERS["wmmd"]().fit(data.X, data.y)
    answer = model.predict(data.test)
    assert set(answer.tolist()) == set(expected)
    np.testing.assert_array_equal(answer == expected[1], plain.predict(data.test) == 1)
    assert model.score(data.X, y) == plain.score(data.X, data.y)
    assert metrics.pu_recall(y, model.predict(data.X)) == metrics.pu_recall(data.y, plain.predict(data.X))
    assert evaluate(model, data.X, y) == evaluate(plain, data.X, data.y)


def test_what_is_not_missing_is_passed_on_as_it_came():
    for y in ([1, 0], np.array(["a", "b"]), pd.Series([1, 0], dtype="Int64"), None, 3, [[1], [2, 3]]):
        assert completed(y) is y


# --- every place that reads y ---


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_knows_its_positives(name, data):
    y, wanted = spelled(data, "a fraud", "some row"), CLASSIFIERS[name]().fit(data.X, data.y)
    with pytest.warns(LabelWarning, match="'some row' is taken"):
        CLASSIFIERS[name]().fit(data.X, y)
    model = CLASSIFIERS[name](pos_label="a fraud").fit(data.X, y)
    assert model.classes_.tolist() == ["some row", "a fraud"]
    np.testing.assert_array_equal(model.predict(data.test) == "a fraud", wanted.predict(data.test) == 1)
    np.testing.assert_array_equal(model.predict_proba(data.test), wanted.predict_proba(data.test))
    assert model.score(data.X, y) == wanted.score(data.X, data.y)
    assert clone(model).get_params()["pos_label"] == "a fraud"
    words = CLASSIFIERS[name]().fit(data.X, spelled(data, "positive", "unlabeled"))
    np.testing.assert_array_equal(words.decision_function(data.test), wanted.decision_function(data.test))


def test_parts_speak_as_the_whole(data):
    model = CLASSIFIERS["pu"](pos_label="a fraud").fit(data.X, spelled(data, "a fraud", "some row"))
    for part in model.parts_.values():
        assert part.pos_label == "a fraud"
        assert part.classes_.tolist() == ["some row", "a fraud"]
        assert set(part.predict(data.test)) == {"some row", "a fraud"}


@pytest.mark.parametrize("name", PRIORS)
def test_every_prior_estimator_knows_its_positives(name, data):
    y, expected = spelled(data, "a fraud", "some row"), clone(PRIORS[name]).fit(data.X, data.y).prior_
    assert clone(PRIORS[name]).set_params(pos_label="a fraud").fit(data.X, y).prior_ == expected
    assert clone(PRIORS[name]).fit(data.X, spelled(data, "p", "u")).prior_ == expected
    assert clone(PRIORS[name]).fit(data.X, spelled(data, 1, np.nan)).prior_ == expected


def test_estimates_of_a_spelled_table(data):
    y = spelled(data, "a fraud", "some row")
    names = ["auto", "best-bin"]
    expected = compare_priors(data.X, data.y, names=names)
    assert compare_priors(data.X, y, names=names, pos_label="a fraud") == expected
    with pytest.warns(LabelWarning) as told:
        compare_priors(data.X, y, names=names)
    assert len(told) == 1
    for name in ("wmmd", "elkan-noto"):
        model, plain = CLASSIFIERS[name](pos_label="a fraud").fit(data.X, y), CLASSIFIERS[name]().fit(data.X, data.y)
        expected = evaluate(plain, data.X, data.y)
        assert evaluate(model, data.X, y) == evaluate(model, data.X, y, pos_label="a fraud") == expected
    with pytest.warns(LabelWarning):
        guessed = make_pipeline(StandardScaler(), CLASSIFIERS["elkan-noto"]()).fit(data.X, spelled(data, "z", "a"))
    standard = make_pipeline(StandardScaler(), CLASSIFIERS["elkan-noto"]()).fit(data.X, data.y)
    # The model was told once, and no fold of the evaluation tells again.
    assert evaluate(guessed, data.X, spelled(data, "z", "a")) == evaluate(standard, data.X, data.y)


METRICS = {
    "pu_recall": "predict",
    "pu_flagged_rate": "predict",
    "pu_lee_liu": "predict",
    "pu_precision": "predict",
    "pu_f1": "predict",
    "pu_accuracy": "predict",
    "proxy_accuracy": "predict",
    "pu_roc_auc": "decision_function",
    "pu_average_precision": "decision_function",
    "proxy_roc_auc": "decision_function",
    "pu_risk": "decision_function",
}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_knows_its_positives(name, data):
    function, plain = getattr(metrics, name), CLASSIFIERS["wmmd"]().fit(data.X, data.y)
    options = {} if name in {"pu_recall", "pu_flagged_rate", "pu_lee_liu", "proxy_roc_auc"} else {"prior": 0.5}
    answer = getattr(plain, METRICS[name])(data.X)
    expected = function(data.y, answer, **options)
    for positive, unlabeled, pos_label in (("a", "b", "a"), ("positive", "unlabeled", None), (1, 0, 1)):
        given = np.where(answer == 1, positive, unlabeled) if METRICS[name] == "predict" else answer
        assert function(spelled(data, positive, unlabeled), given, pos_label=pos_label, **options) == expected
    assert set(METRICS) == {name for name in metrics.__all__ if name.startswith(("pu_", "proxy_"))} - {"pu_scorer"}


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("model", [WMMDClassifier(0.5, gamma=0.5), LogisticRegression()], ids=["ours", "theirs"])
def test_every_scorer_knows_its_positives(name, model, data):
    """Classifiers of scikit-learn have their classes sorted, so that their scores are those of "unlabeled"."""
    expected = pu_scorer(name, prior=0.5)(clone(model).fit(data.X, data.y), data.X, data.y)
    y = spelled(data, "positive", "unlabeled")
    fitted = clone(model).fit(data.X, y)
    assert pu_scorer(name, prior=0.5, pos_label="positive")(fitted, data.X, y) == pytest.approx(expected)
    if name.endswith("-risk") or "roc-auc" in name or name == "average-precision":
        with pytest.raises(ValueError, match=r"upside down.*pos_label='positive'"):
            pu_scorer(name, prior=0.5)(fitted, data.X, y)
    else:
        assert pu_scorer(name, prior=0.5)(fitted, data.X, y) == pytest.approx(expected)


def test_searches_and_folds_of_spelled_labels(data):
    y, folds = spelled(data, "a fraud", "some row"), PUStratifiedKFold(3, pos_label="a fraud")
    grid = {"gamma": [0.3, 1e5]}
    expected = GridSearchCV(WMMDClassifier(0.5), grid, cv=PUStratifiedKFold(3)).fit(data.X, data.y)
    for labels, cv in ((y, folds), (spelled(data, 1, np.nan), PUStratifiedKFold(3))):
        model = WMMDClassifier(0.5, pos_label="a fraud" if labels is y else None)
        search = GridSearchCV(model, grid, cv=cv).fit(data.X, labels)
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    assert "pos_label='a fraud'" in repr(folds)
    scorer = pickle.loads(pickle.dumps(pu_scorer("roc-auc", prior=0.5, pos_label="a fraud")))
    found = cross_val_score(CLASSIFIERS["wmmd"](pos_label="a fraud"), data.X, y, scoring=scorer, cv=folds)
    assert (found > 0.6).all()


def test_true_classes_of_a_draw(data):
    truth = np.where(data.test_truth, "a fraud", "some row")
    draws = [
        draw_pu(data.test, labels, 20, 100, 50, 0.5, random_state=0, pos_label=pos_label)
        for labels, pos_label in ((data.test_truth, None), (truth, "a fraud"))
    ]
    np.testing.assert_array_equal(draws[0].X, draws[1].X)
    with pytest.raises(ValueError, match="class of every row"):
        draw_pu(data.test, np.where(data.test_truth, 1, np.nan), 20, 100, 50, 0.5)


def test_models_that_were_saved_before(data):
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    del vars(model)["pos_label"]
    assert model.get_params()["pos_label"] is None
    assert set(model.predict(data.test)) == {0, 1}
    prior = clone(PRIORS["best-bin"]).fit(data.X, data.y)
    for name in ("pos_label", "verbose"):
        del vars(prior)[name]
    assert clone(prior).fit(data.X, data.y).prior_ == prior.prior_


def test_a_guess_is_told_where_fit_was_called(data):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        WMMDClassifier(0.5).fit(data.X, spelled(data, "z", "a"))
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(LabelWarning, match="is not in y") as told:
        cross_val_score(WMMDClassifier(0.5, negative=7), data.X, data.y, cv=2)  # through scikit-learn
    assert {warning.filename for warning in told} == {__file__}


@pytest.mark.parametrize(
    ("weights", "warns"),
    [(10.0, True), (1.0, False), (0.2, False), ("counts", False), ("survey", False), ("of classes", True)],
)
def test_weights_that_are_no_counts(data, weights, warns, rng):
    """A factor in whole numbers would be taken for copies, and a copy tells a row its own label."""
    n = len(data.y)
    weights = {
        "counts": rng.integers(1, 6, n),
        "survey": rng.uniform(1, 20, n),
        "of classes": np.where(data.y == 1, 3, 1),
    }.get(weights, weights)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WMMDClassifier(0.5, smoothing=0).fit(data.X, data.y, sample_weight=weights)
    told = [str(warning.message) for warning in caught if "number of copies" in str(warning.message)]
    assert len(told) == warns
    assert all("Divide weights that are no counts by their largest" in words for words in told)
