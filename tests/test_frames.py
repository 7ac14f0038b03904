"""Data frames as people have them: numbers, categories, words, booleans, dates and gaps, of pandas and of polars."""

import subprocess
import sys
from datetime import UTC, date, time, timedelta
from datetime import datetime as moment
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    evaluate,
    explain,
    load,
    save,
)
from unlabeled.cli.commands import app
from unlabeled.cli.failures import run
from unlabeled.frames import columns_of_words, is_frame
from unlabeled.priors import DensityPrior
from unlabeled.tables import TableEncoder, TableError, TableModel
from unlabeled.tables.conversion import as_table
from unlabeled.tables.cycles import find_cycles, on_circles

N = 150
GAPS = {"amount": 7, "visits": 11, "member": 13, "city": 17, "joined": 19}


@pytest.fixture(scope="module")
def values():
    """Columns as lists, with gaps, and labels: positives are older, live in Bonn, and write of refunds."""
    rng = np.random.default_rng(0)
    positive = rng.random(N) < 0.5
    words = np.array(["refund", "stolen", "card", "order", "thanks", "late", "again", "please"])
    chances = np.array([[1, 1, 1, 3, 3, 3, 3, 3], [4, 4, 4, 1, 1, 1, 1, 1]]) / np.array([[18], [17]])
    columns = {
        "amount": (rng.normal(50, 10, N) + 15 * positive).tolist(),
        "visits": (rng.poisson(4, N) + 2 * positive).tolist(),
        "member": (rng.random(N) < np.where(positive, 0.8, 0.3)).tolist(),
        "city": np.where(positive, "Bonn", rng.choice(["Oslo", "Rome"], N)).tolist(),
        "joined": [moment(2021, 1, 1) + timedelta(minutes=int(m)) for m in rng.integers(0, 1_500_000, N)],
        "note": [" ".join(rng.choice(words, 6, p=chances[int(p)])) for p in positive],
        "plan": rng.choice(["free", "pro"], N).tolist(),
    }
    for name, every in GAPS.items():
        columns[name] = [None if i % every == 0 else value for i, value in enumerate(columns[name])]
    return columns, (positive & (rng.random(N) < 0.6)).astype(int)


@pytest.fixture(scope="module")
def y(values):
    return values[1]


@pytest.fixture(scope="module")
def in_pandas(values):
    columns = values[0]
    return pd.DataFrame(
        {
            "amount": np.array(columns["amount"], dtype=float),
            "visits": pd.array(columns["visits"], dtype="Int64"),
            "member": pd.array(columns["member"], dtype="boolean"),
            "city": columns["city"],
            "joined": pd.Series(columns["joined"], dtype="datetime64[us]")
            .dt.tz_localize("UTC")
            .dt.tz_convert("Asia/Tokyo"),
            "note": pd.Series(columns["note"], dtype=object),
            "plan": pd.Categorical(columns["plan"]),
        }
    ).set_axis(np.arange(N) * 3)


@pytest.fixture(scope="module")
def in_polars(values):
    frame = pl.DataFrame(values[0])
    joined = pl.col("joined").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    return frame.with_columns(joined, pl.col("plan").cast(pl.Categorical))


@pytest.fixture(scope="module")
def model(in_pandas, y):
    return WMMDClassifier(prior=0.5).fit(in_pandas, y)


# --- what a data frame is ---


def test_frames_are_told_by_their_type(in_pandas, in_polars):
    class Derived(pd.DataFrame):
        pass

    for frame in (in_pandas, in_polars, Derived(in_pandas)):
        assert is_frame(frame)
        assert columns_of_words(frame) == ["city", "joined", "note", "plan"]
    for other in (np.ones((2, 2)), [[1, 2]], {"a": [1]}, in_pandas["city"], None):
        assert not is_frame(other)
        assert columns_of_words(other) == []


def test_numbers_of_any_type_are_no_words():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": pd.array([1, None], dtype="Int64"), "d": [1.5, None]})
    assert columns_of_words(frame) == []
    assert columns_of_words(frame.astype(object)) == []  # as one row of it is
    assert columns_of_words(pl.DataFrame({"a": [1], "b": [True], "c": [None]})) == []
    assert columns_of_words(pd.DataFrame({"a": ["1", "2"], 3: pd.Categorical([1, 2])})) == ["a", "3"]


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_a_frame_of_numbers_is_what_its_array_is(library, rng):
    X, labels = rng.normal(size=(60, 2)), np.r_[np.ones(20), np.zeros(40)]
    of_frame = WMMDClassifier(prior=0.5).fit(library.DataFrame({"a": X[:, 0], "b": X[:, 1]}), labels)
    assert of_frame.encoder_ is None
    expected = WMMDClassifier(prior=0.5).fit(X, labels).score_samples(X)
    np.testing.assert_array_equal(of_frame.score_samples(library.DataFrame({"a": X[:, 0], "b": X[:, 1]})), expected)


def test_without_polars_the_error_says_what_to_install():
    program = (
        "import sys; sys.modules['polars'] = None\n"
        "import numpy as np, pandas as pd\n"
        "from unlabeled import WMMDClassifier\n"
        "frame = pd.DataFrame({'x': np.arange(8.0), 'w': list('abababab')})\n"
        "WMMDClassifier(prior=0.5).fit(frame[['x']], [1, 1, 0, 0] * 2)\n"
        "try: WMMDClassifier(prior=0.5).fit(frame, [1, 1, 0, 0] * 2)\n"
        "except ImportError as error: assert \"('w')\" in str(error) and \"'unlabeled[tables]'\" in str(error), error\n"
        "else: raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --- classifiers ---


def test_pandas_and_polars_have_the_same_answers(model, in_pandas, in_polars, y):
    other = WMMDClassifier(prior=0.5).fit(in_polars, y)
    expected = model.score_samples(in_pandas)
    for frame in (in_pandas, in_polars, {name: in_polars[name] for name in in_polars.columns}):
        np.testing.assert_array_equal(model.score_samples(frame), expected)
        np.testing.assert_array_equal(other.score_samples(frame), expected)
    assert model.n_features_in_ == 7
    assert model.feature_names_in_.tolist() == list(in_pandas.columns)
    assert evaluate(model, in_pandas, y).roc_auc.value > 0.8
    assert model.n_missing_[:2].tolist() == in_pandas.iloc[:, :2].isna().sum().tolist()


def test_the_order_of_rows_and_columns_does_not_matter(in_pandas, y):
    order = np.random.default_rng(1).permutation(N)
    columns = [*reversed(in_pandas.columns)]
    plain = WMMDClassifier(prior=0.5, smoothing=0)  # its folds would follow the last digit of a feature
    model, other = clone(plain).fit(in_pandas, y), clone(plain).fit(in_pandas.iloc[order][columns], y[order])
    expected = model.score_samples(in_pandas)
    np.testing.assert_allclose(other.score_samples(in_pandas), expected, atol=1e-6)
    np.testing.assert_array_equal(model.score_samples(in_pandas[columns].assign(more="x")), expected)


def test_one_row_at_a_time_is_all_at_once(model, in_pandas, in_polars, values):
    expected = model.score_samples(in_pandas)[:25]
    by_row = [model.score_samples(in_pandas.iloc[[place]])[0] for place in range(25)]
    np.testing.assert_allclose(by_row, expected, rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(in_polars[3]), expected[3], rtol=1e-12)
    mapping = {name: column[3] for name, column in values[0].items()}
    np.testing.assert_allclose(model.score_samples(mapping), expected[3], rtol=1e-12)


def test_what_was_not_there_before(model, in_pandas):
    row = in_pandas.iloc[[3]].assign(city="Atlantis", note="qwertz", plan="gold", visits=pd.NA)
    assert np.isfinite(model.score_samples(row)).all()
    with pytest.raises(
        TableError, match="The table lacks 2 of the 7 columns that the model was fitted to: 'member', 'city'"
    ):
        model.predict(in_pandas.drop(columns=["city", "member"]))
    with pytest.warns(UserWarning, match="Column 'amount': 1 values cannot be read, such as 'much'; taken as missing"):
        model.predict(in_pandas.iloc[[3]].assign(amount="much"))


@pytest.mark.parametrize(
    "classifier",
    [
        ScoreWMMDClassifier(prior=0.5, n_folds=2),
        ElkanNotoClassifier(prior=0.5),
        ConvexPUClassifier(prior=0.5),
        DensityPrior(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_takes_a_mixed_frame(classifier, in_pandas, in_polars, y):
    fitted = clone(classifier).fit(in_pandas, y)
    assert fitted.n_features_in_ == 7
    again = clone(classifier).fit(in_polars, y)
    if hasattr(fitted, "predict"):
        np.testing.assert_array_equal(fitted.predict(in_polars), again.predict(in_pandas))
        assert fitted.predict(in_pandas)[y == 1].mean() > 0.8
    else:
        assert fitted.prior_ == again.prior_


def test_importances_and_explanations_are_of_columns(in_pandas, in_polars, y, tmp_path):
    model = PUClassifier(0.5, n_folds=2).fit(in_pandas, y)
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_allclose(loaded.score_samples(in_polars), model.score_samples(in_pandas), atol=1e-6)
    for row in (in_pandas.iloc[[3]], in_pandas.iloc[3], in_polars[3]):
        found = explain(model, row)
        assert found.columns == tuple(in_pandas.columns)
        for reasons in found.reasons:
            if reasons.by == "distances":
                parts = reasons.made_of
                assert parts.by_feature.shape == (7,)
                assert parts.by_feature.sum() + parts.crowding == pytest.approx(parts.score, abs=1e-5)
            elif reasons.by == "fitted ratio":
                assert reasons.made_of.by_feature.shape == (7,)
            else:
                assert reasons.made_of.importances.shape == (7,)
                assert reasons.made_of.importances.sum() == pytest.approx(1)
    assert found.score == pytest.approx(model.score_samples(in_pandas)[3])
    for part in model.parts_.values():  # they answer for the frame as well
        assert part.score_samples(in_polars).shape == (N,)
        assert part.n_features_in_ == 7


def test_a_network_of_a_frame_is_saved(in_pandas, y, tmp_path):
    pytest.importorskip("torch")
    model = NNPUClassifier(0.5, n_epochs=2, random_state=0).fit(in_pandas, y)
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(in_pandas), model.predict(in_pandas))


def test_a_fit_to_other_data_forgets_the_encoder(in_pandas, y, rng):
    model = WMMDClassifier(prior=0.5).fit(in_pandas, y).fit(rng.normal(size=(N, 2)), y)
    assert model.encoder_ is None
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")


# --- the transformer ---


@parametrize_with_checks([TableEncoder()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_names_of_features(in_polars, in_pandas):
    encoder = TableEncoder(max_text_features=2).fit(in_polars)
    names = encoder.get_feature_names_out().tolist()
    of_joined = [f"joined_{cycle}_{side}" for cycle in ("hour", "weekday", "year") for side in ("sin", "cos")]
    assert names == [
        *("amount", "visits", "joined", "amount_missing", "visits_missing", "joined_missing"),
        *("member_false", "member_true", "member_missing", "city_Bonn", "city_Oslo", "city_Rome", "city_missing"),
        *("plan_free", "plan_pro", *of_joined, "note_text0", "note_text1"),
    ]
    as_frame = clone(encoder).set_output(transform="pandas").fit_transform(in_pandas)
    assert as_frame.columns.tolist() == names
    assert as_frame.index.tolist() == in_pandas.index.tolist()
    as_polars = clone(encoder).set_output(transform="polars").fit(in_pandas).transform(in_polars)
    np.testing.assert_array_equal(as_polars.to_numpy(), as_frame.to_numpy())
    sums = encoder.by_column(np.ones(len(names)))
    np.testing.assert_array_equal(sums, [2, 2, 3, 4, 8, 2, 2])


def test_features_that_would_have_one_name_have_two():
    table = {"a": [1.0, None, 3.0], "a_missing": [4.0, 5.0, 7.0]}
    assert TableEncoder().fit(table).get_feature_names_out().tolist() == ["a", "a_missing", "a_missing_2"]


def test_in_a_pipeline_and_a_search(in_pandas, in_polars, y):
    pipeline = make_pipeline(TableEncoder(), WMMDClassifier(prior=0.5, smoothing=0))
    alone = WMMDClassifier(prior=0.5, smoothing=0).fit(in_pandas, y)
    fitted = clone(pipeline).fit(in_polars, y)
    np.testing.assert_array_equal(fitted.score_samples(in_pandas), alone.score_samples(in_pandas))
    found, expected = explain(fitted, in_pandas.iloc[[3]]), explain(alone, in_pandas.iloc[[3]])
    assert found.columns == expected.columns
    np.testing.assert_allclose(found.reasons[0].made_of.by_feature, expected.reasons[0].made_of.by_feature)
    for frame in (in_pandas, in_polars):
        assert cross_val_score(alone, frame, y, cv=2).shape == (2,)
    search = GridSearchCV(pipeline, {"tableencoder__max_text_features": [1, 3]}, cv=2).fit(in_polars, y)
    assert search.predict(in_pandas).shape == (N,)


def test_a_pipeline_of_other_steps_is_explained_by_their_features(rng):
    X, labels = rng.normal(size=(60, 2)), np.r_[np.ones(20), np.zeros(40)]
    pipeline = make_pipeline(StandardScaler(), WMMDClassifier(prior=0.5)).fit(
        pd.DataFrame(X, columns=["a", "b"]), labels
    )
    assert explain(pipeline, pd.DataFrame(X[:1], columns=["a", "b"])).columns == ("a", "b")


def test_saved_and_loaded(in_polars, tmp_path):
    streets = [f"{name} Street {number}" for name in ("Main", "Park", "Mill") for number in range(25)] * 2
    frame = in_polars.with_columns(street=pl.Series(streets))
    encoder = TableEncoder(kinds={"visits": "category"}).fit(frame)
    save(encoder, tmp_path / "m")
    loaded = load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(frame), encoder.transform(frame))
    assert loaded.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()
    assert loaded.columns_ == encoder.columns_


def test_categories_of_which_there_are_many_are_spelled():
    """Those that are spelled alike are near each other, new ones too; and how frequent each is, is a feature."""
    jobs = [f"{word} {number}" for word in ("driver", "teacher") for number in range(40)]
    table = {"job": jobs * 2 + ["driver 7"] * 40}
    encoder = TableEncoder(kinds={"job": "category"}).fit(table)
    names = encoder.get_feature_names_out()
    spelled = [name.startswith("job_text") for name in names]
    rows = encoder.transform({"job": ["driver 3", "driver 99", "teacher 3", "driver 7", None, "Zürich"]})
    distances = np.linalg.norm(rows[:, None, spelled] - rows[None, :, spelled], axis=2)
    assert distances[0, 1] < 0.6 * distances[0, 2]
    often = rows[:, names == "job_frequency"].ravel()
    assert often[3] > often[0] == often[2] > often[1] == often[5]
    assert often[4] == 0
    assert not rows[4, spelled].any()


def test_kinds_are_said_in_python():
    table = {"code": ["1", "2", "x", "4", "5", "6"]}
    with pytest.raises(
        TableError, match=r"mixes numbers and words: 'x' on row 3.*TableEncoder\(kinds=\{'code': 'number'\}\)"
    ):
        TableEncoder().fit(table)
    with pytest.warns(UserWarning, match="1 of 6 values are not a number"):
        encoder = TableEncoder({"code": "number"}).fit(table)
    assert encoder.get_feature_names_out().tolist() == ["code", "code_missing"]


@pytest.mark.parametrize(("name", "value"), [("max_categories", 1), ("max_text_features", 0), ("max_categories", "a")])
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number"):
        TableEncoder(**{name: value}).fit({"a": [1, 2, 3]})


def test_tables_that_cannot_be_used():
    with pytest.raises(TableError, match=r"No column says anything about the rows.*a: left out: always 1"):
        TableEncoder().fit({"a": [1, 1]})
    with pytest.raises(TableError, match="has 1 columns and no rows"):
        TableEncoder().fit(pl.DataFrame({"a": []}))
    with pytest.raises(TableError, match="has 2 columns called 'a'"):
        TableEncoder().fit(pd.DataFrame([[1, "x"], [2, "y"]], columns=["a", "a"]))
    with pytest.raises(TableError, match="different numbers of values: 'a' has 2, 'b' has 1"):
        TableEncoder().fit({"a": [1, 2], "b": [1]})


def test_columns_without_names_go_by_their_place(in_pandas):
    numbered = in_pandas.set_axis(range(7), axis=1)
    encoder = TableEncoder().fit(numbered)
    assert not hasattr(encoder, "feature_names_in_")
    expected = TableEncoder().fit_transform(in_pandas)
    np.testing.assert_array_equal(encoder.transform(numbered), expected)
    np.testing.assert_array_equal(encoder.transform(in_pandas.to_numpy(dtype=object)), expected)


# --- columns of Python's and pandas' types ---


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, None, 2.5], pl.Float64, [1.0, None, 2.5]),
        ([Decimal("1.5"), np.float64("nan")], pl.Float64, [1.5, None]),
        ([True, None, np.False_], pl.Boolean, [True, None, False]),
        (["a", None, float("nan")], pl.String, ["a", None, None]),
        (["a", 1, date(2024, 1, 2)], pl.String, ["a", "1", "2024-01-02"]),
        (
            [date(2024, 1, 2), moment(2024, 1, 2, 3, tzinfo=UTC)],
            pl.Datetime,
            [moment(2024, 1, 2), moment(2024, 1, 2, 3)],
        ),
        ([time(1, 2), None], pl.Time, [time(1, 2), None]),
        ([timedelta(hours=1)], pl.Duration, [timedelta(hours=1)]),
        ([None, None], pl.Null, [None, None]),
        ([{"a": 1}, None], pl.Object, [{"a": 1}, None]),
    ],
    ids=str,
)
def test_columns_of_values(values, dtype, expected):
    of_list, of_pandas = (
        as_table({"x": values})["x"],
        as_table(pd.DataFrame({"x": pd.Series(values, dtype=object)}))["x"],
    )
    for column in (of_list, of_pandas):
        assert column.dtype == dtype
        assert column.to_list() == expected


def test_columns_of_pandas():
    frame = pd.DataFrame(
        {
            "month": pd.period_range("2024-01", periods=2, freq="M"),
            "span": pd.to_timedelta([1, None], unit="D"),
            "day": np.array(["2024-01-01", "NaT"], dtype="datetime64[s]"),
            "bin": pd.Categorical([pd.Interval(0, 1), None]),
            "sparse": pd.arrays.SparseArray([0.0, 1.0]),
            "float": pd.array([1.5, None], dtype="Float32"),
        }
    )
    assert as_table(frame).to_dicts() == [
        {
            "month": moment(2024, 1, 1),
            "span": timedelta(days=1),
            "day": moment(2024, 1, 1),
            "bin": "(0, 1]",
            "sparse": 0.0,
            "float": 1.5,
        },
        {
            "month": moment(2024, 2, 1),
            "span": None,
            "day": None,
            "bin": None,
            "sparse": 1.0,
            "float": pytest.approx(np.nan, nan_ok=True),
        },
    ]


def test_a_category_of_numbers_has_one_spelling():
    whole = {"code": ["a", "b", "a", "b"] * 2, "x": np.array([1, 2, 3, 1, 2, 3, 1, 2])}
    encoder = TableEncoder({"x": "category"}).fit(whole)
    row = {"code": ["a", "a"], "x": [2.0, None]}
    np.testing.assert_array_equal(encoder.transform(row)[0], encoder.transform({"code": "a", "x": 2})[0])


# --- dates ---


def test_cycles_are_found_where_dates_go_round_them():
    day = np.arange(10.0)
    assert find_cycles(day) == []
    assert find_cycles(day * 2) == ["weekday"]
    assert find_cycles(day * 100) == ["weekday", "year"]
    assert find_cycles(day * 100 + 0.3) == ["hour", "weekday", "year"]
    assert find_cycles(np.array([np.nan])) == []


@given(st.integers(-20_000, 40_000), st.integers(0, 23))
def test_a_day_is_where_it_was_a_week_before(day, hour):
    days = np.array([day, day + 7]) + hour / 24
    circle = on_circles(days, ["hour", "weekday"])
    np.testing.assert_allclose(circle[0], circle[1], atol=1e-8)
    np.testing.assert_allclose(np.hypot(circle[:, ::2], circle[:, 1::2]), 1)
    np.testing.assert_array_equal(on_circles(np.array([np.nan]), ["year"]), [[0, 0]])


def test_spans_of_time_are_of_one_unit_and_times_of_day_go_round():
    seconds = [10, 20, 40, 90]
    spans = {"span": pl.Series([timedelta(seconds=s) for s in seconds], dtype=pl.Duration("ms"))}
    encoder = TableEncoder().fit(spans)
    other = {"span": np.array(seconds, dtype="timedelta64[s]").astype("timedelta64[ns]")}
    np.testing.assert_allclose(encoder.transform(other), encoder.transform(spans), atol=1e-12)
    clock = TableEncoder().fit({"at": [time(h) for h in (0, 6, 12, 23)]})
    assert clock.get_feature_names_out().tolist() == ["at", "at_hour_sin", "at_hour_cos"]
    points = clock.transform({"at": [time(0), time(23), time(12)]})[:, 1:]
    assert np.linalg.norm(points[0] - points[1]) < np.linalg.norm(points[0] - points[2])


def test_columns_of_one_name_are_refused(in_pandas, y):
    frame = pd.concat([in_pandas, in_pandas.iloc[:, :1]], axis=1)
    name = frame.columns[0]
    with pytest.raises(ValueError, match=f"several columns called '{name}': rename all but one"):
        WMMDClassifier(0.5).fit(frame, y)


# --- the command line's model ---


def test_the_shells_model_is_an_estimator_and_has_the_same_scores(in_polars, in_pandas, y, tmp_path, monkeypatch):
    """What `unlabeled fit` saves, and a fit to the same frame in Python, are one model."""
    monkeypatch.chdir(tmp_path)
    typed = in_polars.with_columns(pl.col("joined").dt.convert_time_zone("UTC").dt.replace_time_zone(None))
    typed.with_columns(known=pl.Series(y)).write_parquet("table.parquet")
    assert run(app, ["fit", "table.parquet", "--label", "known", "--method", "wmmd", "--prior", "0.5", "--json"]) == 0
    model = load("table.model")
    assert isinstance(model, TableModel)
    alone = WMMDClassifier(0.5, scenario="single-sample", random_state=0).fit(in_pandas, y)
    expected = alone.score_samples(in_pandas)
    for frame in (in_pandas, in_polars, {name: in_polars[name].to_list() for name in in_polars.columns}):
        np.testing.assert_allclose(model.score_samples(frame), expected, atol=1e-5)
        np.testing.assert_array_equal(model.predict(frame), alone.predict(in_pandas))
        np.testing.assert_allclose(model.predict_proba(frame), alone.predict_proba(in_pandas), atol=1e-5)
        np.testing.assert_allclose(model.decision_function(frame), alone.decision_function(in_pandas), atol=1e-5)
    found = explain(model, in_pandas.iloc[[3]])
    assert found.columns == tuple(in_pandas.columns)
    assert found.score == pytest.approx(expected[3], abs=1e-5)
    again = clone(model).fit(in_pandas, y)
    assert (again.label, again.positive, again.facts) == ("known", "1", model.facts)
    np.testing.assert_allclose(again.score_samples(in_pandas), expected)
