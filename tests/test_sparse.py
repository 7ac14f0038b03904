"""Sparse tables: the same answers as dense ones where these are small, and never dense where they are not."""

import resource
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from unlabeled import (
    ConvexPUClassifier,
    ElkanNotoClassifier,
    NNPUClassifier,
    PUClassifier,
    ScoreWMMDClassifier,
    WMMDClassifier,
    explain,
    load,
    save,
)
from unlabeled.priors import PRIORS
from unlabeled.samples import PUSample, Sample, order_by_values
from unlabeled.scoring.forms import N_COMPONENTS, ROWS_A_COMPONENT, Reduction

CLASSIFIERS = {
    "auto": PUClassifier(0.4),
    "wmmd": WMMDClassifier(0.4),
    "score": ScoreWMMDClassifier(prior=0.4),
    "elkan-noto": ElkanNotoClassifier(LogisticRegression(), prior=0.4),
}


def documents(n_rows, rng, n_words=800, n_topics=12):
    """Texts of a topic model, of which positives prefer some topics; and which are positive."""
    common = 1 / np.arange(1, n_words + 1)
    topics = np.random.default_rng(5).gamma(0.1, size=(n_topics, n_words)) * common
    topics = 0.6 * topics / topics.sum(axis=1, keepdims=True) + 0.4 * common / common.sum()
    positive = rng.uniform(size=n_rows) < 0.4
    taste = np.where(positive[:, None] == (np.arange(n_topics) < n_topics // 2), 0.6, 0.05)
    shares = rng.gamma(taste) + 1e-9
    counts = rng.multinomial(60, shares / shares.sum(axis=1, keepdims=True) @ topics)
    return [" ".join(np.repeat([f"w{word}" for word in range(n_words)], of_row)) for of_row in counts], positive


@pytest.fixture(scope="module")
def text():
    """Texts, labels of the first 600, and the truth of all."""
    texts, truth = documents(1100, np.random.default_rng(0))
    labels = (truth & (np.random.default_rng(1).uniform(size=1100) < 0.3)).astype(int)
    return texts, labels[:600], truth


@pytest.fixture(scope="module")
def tables(text):
    vectorizer = TfidfVectorizer(sublinear_tf=True).fit(text[0][:600])
    return vectorizer.transform(text[0][:600]), vectorizer.transform(text[0][600:])


@pytest.fixture(scope="module", params=CLASSIFIERS)
def model(request, text, tables):
    return CLASSIFIERS[request.param].set_params(scenario="single-sample").fit(tables[0], text[1])


@pytest.fixture(scope="module")
def small():
    """A table of few columns, with empty rows and a column of zeros only."""
    rng = np.random.default_rng(0)
    y = np.repeat([1, 0], [60, 240])
    rows = rng.poisson(0.4 + 0.6 * (y[:, None] | (rng.uniform(size=(300, 1)) < 0.3)), size=(300, 8)).astype(float)
    rows[:, 3], rows[[0, 70]] = 0, 0
    return rows, y


@pytest.fixture
def never_dense(monkeypatch):
    """A table made dense is an error."""

    def refuse(*_args, **_kwargs):
        raise AssertionError("The table was made dense.")

    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, refuse)


# --- text ---


def test_positives_are_found(model, text, tables):
    """The learned score alone has an area of 0.9 or more here, and so have distances in the reduced table."""
    assert roc_auc_score(text[2][600:], model.score_samples(tables[1])) > 0.87
    assert set(model.predict(tables[1])) == {0, 1}


@pytest.mark.usefixtures("never_dense")
def test_never_dense(model, text, tables):
    again = clone(model).fit(tables[0], text[1])
    np.testing.assert_array_equal(again.predict(tables[1]), model.predict(tables[1]))
    assert tables[0].shape[1] > N_COMPONENTS


def test_a_row_does_not_depend_on_those_beside_it(model, tables):
    np.testing.assert_allclose(model.score_samples(tables[1][7:8]), model.score_samples(tables[1])[7:8])


def test_all_kinds_of_sparse_tables_are_one(model, tables):
    expected = model.score_samples(tables[1])
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csc_matrix):
        np.testing.assert_allclose(model.score_samples(kind(tables[1])), expected)
    np.testing.assert_allclose(model.score_samples(tables[1][:5].toarray()), expected[:5])


def test_saved_and_loaded(model, tables, tmp_path):
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_allclose(loaded.score_samples(tables[1]), model.score_samples(tables[1]), atol=2e-6)
    np.testing.assert_array_equal(loaded.predict(tables[1]), model.predict(tables[1]))


def test_explained(text, tables):
    model = PUClassifier(0.4, scenario="single-sample").fit(tables[0], text[1])
    found = explain(model, tables[1][3:4])
    assert found.score == pytest.approx(model.score_samples(tables[1][3:4])[0])
    for reasons in found.reasons:
        if reasons.by == "learned score":
            assert reasons.made_of.importances.shape == (tables[0].shape[1],)
        elif reasons.by == "fitted ratio":
            assert reasons.made_of.by_feature.shape == model.parts_["least-squares"].column_means_.shape
        else:
            parts = reasons.made_of
            assert parts.by_feature.sum() + parts.crowding == pytest.approx(parts.score, abs=1e-5)


def test_in_a_pipeline_from_text_to_answers(text):
    model = make_pipeline(TfidfVectorizer(), ScoreWMMDClassifier(prior=0.4)).fit(text[0][:600], text[1])
    assert roc_auc_score(text[2][600:], model.score_samples(text[0][600:])) > 0.87


def test_single_precision(text, tables):
    single, test = (table.astype(np.float32) for table in tables)
    for double in (WMMDClassifier(0.4, smoothing=0), ScoreWMMDClassifier(prior=0.4)):
        expected = double.fit(tables[0], text[1]).score_samples(tables[1])
        assert np.corrcoef(double.fit(single, text[1]).score_samples(test), expected)[0, 1] > 0.999


def test_the_learned_score_does_not_depend_on_units(text, tables):
    found, scaled = (
        ScoreWMMDClassifier(prior=0.4).fit(factor * tables[0], text[1]).score_samples(factor * tables[1])
        for factor in (1, 8)
    )
    np.testing.assert_allclose(found, scaled, atol=0.02)


# --- the reduction ---


def test_the_reduction_is_the_singular_value_decomposition():
    rows = sparse.random(300, 200, density=0.05, random_state=0, format="csr")
    rows.data *= 1 + 20 * (rows.indices % 7 == 0)
    form = Reduction.of(PUSample(Sample(rows[:100]), Sample(rows[100:])))
    assert form.components.shape == (200, 300 // ROWS_A_COMPONENT)
    exact = np.linalg.svd(rows.toarray())[2][:5].T
    angles = np.linalg.svd(exact.T @ form.components[:, :10])[1]
    assert angles.min() > 0.99
    np.testing.assert_allclose(form.components.T @ form.components, np.eye(30), atol=1e-8)


def test_weights_count_as_repetitions_in_the_reduction(rng):
    rows = sparse.random(400, 150, density=0.1, random_state=0, format="csr")
    rows.data *= 1 + 9 * (rows.indices < 10)
    counts = rng.integers(1, 4, 400)
    weighted = Reduction.of(PUSample(Sample(rows[:50], np.log(counts[:50])), Sample(rows[50:], np.log(counts[50:]))))
    again = np.repeat(np.arange(400), counts)
    repeated = Reduction.of(PUSample(Sample(rows[again[:80]]), Sample(rows[again[80:]])))
    angles = np.linalg.svd(weighted.components[:, :5].T @ repeated.components)[1]
    assert angles.min() > 0.99


# --- few columns: as dense ---


def test_distances_of_few_columns_are_those_of_the_dense_table(small):
    rows, y = small
    dense, found = (WMMDClassifier(0.4).fit(X, y) for X in (rows, sparse.csr_array(rows)))
    np.testing.assert_allclose(found.score_samples(sparse.csr_array(rows)), dense.score_samples(rows))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_explicit_zeros_and_entries_in_parts_change_nothing(small, name):
    rows, y = small
    plain = sparse.csr_array(rows)
    place = plain.tocoo()
    more = np.zeros(50, dtype=int), np.arange(50) % 8
    odd = sparse.csr_array(
        (
            np.concatenate([place.data / 2, place.data / 2, np.zeros(50)]),
            (np.concatenate([place.row, place.row, more[0]]), np.concatenate([place.col, place.col, more[1]])),
        ),
        shape=plain.shape,
    )
    unsorted = sparse.csr_array((odd.data.copy(), odd.indices.copy(), odd.indptr.copy()), shape=odd.shape)
    before = unsorted.nnz
    model = CLASSIFIERS[name]
    expected = model.fit(plain, y).score_samples(plain)
    np.testing.assert_allclose(model.fit(unsorted, y).score_samples(unsorted), expected, atol=1e-6)
    assert unsorted.nnz == before  # the caller's stays as it is


@pytest.mark.filterwarnings("ignore::unlabeled.priors.ScarWarning")
def test_a_table_of_zeros(small):
    empty = sparse.csr_array((300, 500))
    model = PUClassifier(0.4).fit(empty, small[1])
    assert len(set(model.score_samples(empty))) == 1


@pytest.mark.parametrize("name", PRIORS)
def test_estimates_of_the_prior(name, small):
    found = WMMDClassifier(name, smoothing=0).fit(sparse.csr_array(small[0]), small[1])
    assert 0 < found.prior_ <= 1


# --- what is refused ---


@pytest.mark.parametrize("model", [ConvexPUClassifier(), NNPUClassifier(), ElkanNotoClassifier()])
def test_the_error_says_what_to_do(model, small):
    with pytest.raises(TypeError, match=r"X is sparse.*takes dense tables only.*TruncatedSVD"):
        model.fit(sparse.csr_array(small[0]), small[1])
    assert not get_tags(model).input_tags.sparse


def test_samples_of_two_kinds(small):
    samples = PUSample(Sample(small[0][:60]), Sample(sparse.csr_array(small[0][60:])))
    with pytest.raises(ValueError, match="sparse and the other is dense"):
        WMMDClassifier(0.4).fit_sample(samples)


def test_sparse_rows_for_a_model_of_dense_ones(small):
    model = WMMDClassifier(0.4, smoothing=0).fit(*small)
    with pytest.raises(TypeError, match=r"fitted to a dense table.*toarray"):
        model.predict(sparse.csr_array(small[0]))


@pytest.mark.parametrize(("value", "what"), [(np.nan, "is sparse and contains NaN"), (np.inf, "infinity")])
def test_numbers_that_are_none(small, value, what):
    table = sparse.csr_array(small[0])
    table.data[3] = value
    with pytest.raises(ValueError, match=what):
        PUClassifier(0.4).fit(table, small[1])


# --- order ---


@given(st.integers(0, 10_000))
def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows = sparse.csr_array(rng.poisson(0.3, size=(40, 6)).astype(float))
    shuffled = rows[rng.permutation(40)]
    found = [table[order_by_values(table)].toarray() for table in (rows, shuffled)]
    np.testing.assert_array_equal(*found)
    values = [tuple(row) for row in found[0]]
    changes = sum(one != other for one, other in pairwise(values))
    assert changes == len(set(values)) - 1  # copies are next to each other


# --- memory ---


@pytest.mark.slow
def test_twenty_thousand_by_fifty_thousand_in_two_gigabytes():
    """The peak of a process of its own; a dense table would be 8 GB."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from sparse import measured; "
        "print(measured('PUClassifier')['peak memory'])"
    )
    folder = Path(__file__).parents[1] / "benchmarks"
    found = subprocess.run([sys.executable, "-c", program, folder], check=True, capture_output=True, text=True)
    assert int(found.stdout.split()[0]) < 2_000
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 2_000_000
