import os

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.metrics import roc_auc_score

from unlabeled.datasets import (
    PAPER_DATASETS,
    GaussianBayes,
    folders,
    load_libsvm,
    make_gaussians,
    make_two_moons,
    paper_dataset,
)
from unlabeled.datasets.synthetic import moon_curve

MAKERS = [make_two_moons, make_gaussians]


@pytest.mark.parametrize("make", MAKERS)
def test_shapes_and_labels(make):
    data = make(7, 30, 11, random_state=0)
    assert data.X.shape == (37, 2)
    assert data.y.tolist() == [1] * 7 + [0] * 30
    assert data.unlabeled_truth.shape == (30,)
    assert data.test.shape == (11, 2)
    assert data.test_truth.dtype == bool


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides(make):
    first, same, other = (make(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.X, same.X)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", MAKERS)
def test_prior_is_the_share_of_positives(make):
    data = make(10, 20_000, 20_000, prior=0.3, random_state=0)
    assert data.unlabeled_truth.mean() == pytest.approx(0.3, abs=0.015)
    assert data.test_truth.mean() == pytest.approx(0.3, abs=0.015)


def test_gaussians_have_the_papers_means_and_bayes_risk():
    data = make_gaussians(50_000, 50_000, 50_000, random_state=0)
    np.testing.assert_allclose(data.positive.mean(axis=0), [1 / np.sqrt(2)] * 2, atol=0.02)
    np.testing.assert_allclose(np.cov(data.positive.T), np.eye(2), atol=0.03)
    bayes = ((data.test.sum(axis=1) > 0) == data.test_truth).mean()
    assert bayes == pytest.approx(norm.cdf(1), abs=0.006)


def test_moons_lie_around_their_curves():
    data = make_two_moons(2000, 2000, 1, random_state=0)
    curve = moon_curve(np.linspace(0, 1, 500), 1)
    nearest = np.sqrt(((data.positive[:, None] - curve[None]) ** 2).sum(axis=2).min(axis=1))
    assert nearest.mean() < 0.4
    # The paper's formula at u = 0 and u = 1/2: positives from (0, 2), negatives from (4, 0).
    np.testing.assert_allclose(moon_curve(np.array([0.0, 0.5]), 1), [[0, 2], [4, -2]], atol=1e-12)
    np.testing.assert_allclose(moon_curve(np.array([0.0, 0.5]), -1), [[4, 0], [0, 4]], atol=1e-12)


@pytest.mark.parametrize("prior", [0, 1, -0.5, np.nan])
def test_bad_prior(prior):
    with pytest.raises(ValueError, match="between 0 and 1"):
        make_gaussians(prior=prior)


# The Bayes classifier of the Gaussians


@pytest.mark.parametrize(
    ("prior", "n_features", "separation"), [(0.5, 2, 2.0), (0.1, 2, 2.0), (0.95, 2, 2.0), (0.3, 5, 1.0), (0.7, 1, 3.0)]
)
def test_bayes_risk_and_auc_are_those_of_the_data(prior, n_features, separation):
    bayes = GaussianBayes(prior, n_features, separation)
    shape = {"prior": prior, "n_features": n_features, "separation": separation}
    data = make_gaussians(1, 1, 200_000, **shape, random_state=0)
    # Standard deviations of the two estimates: at most 0.0011 and 0.0025.
    assert (bayes.predict(data.test) != data.test_truth).mean() == pytest.approx(bayes.risk, abs=0.004)
    assert roc_auc_score(data.test_truth, bayes.log_odds(data.test)) == pytest.approx(bayes.auc, abs=0.008)


def test_bayes_log_odds_are_those_of_the_densities():
    X = np.random.RandomState(0).normal(scale=3, size=(50, 3))
    mean = np.full(3, 1.5 / 2 / np.sqrt(3))
    densities = [multivariate_normal(sign * mean, np.eye(3)).logpdf(X) for sign in (1, -1)]
    expected = np.log(0.2 / 0.8) + densities[0] - densities[1]
    np.testing.assert_allclose(GaussianBayes(0.2, 3, 1.5).log_odds(X), expected, rtol=1e-9, atol=1e-9)


def test_bayes_risk_is_below_that_of_any_other_cut():
    bayes = GaussianBayes(prior=0.2, separation=1.5)
    cuts = np.linspace(-5, 5, 2001)
    risks = 0.2 * norm.cdf(cuts - 0.75) + 0.8 * norm.sf(cuts + 0.75)
    assert bayes.risk == pytest.approx(risks.min(), abs=1e-6)
    assert bayes.risk <= risks.min()


def test_bayes_of_the_paper():
    assert GaussianBayes().risk == pytest.approx(norm.cdf(-1))
    assert GaussianBayes().auc == pytest.approx(norm.cdf(np.sqrt(2)))


@pytest.mark.parametrize(
    ("arguments", "message"), [({"prior": 1}, "between 0 and 1"), ({"separation": 0}, "separation must be positive")]
)
def test_bayes_needs_two_classes(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianBayes(**arguments)


def test_bayes_needs_the_same_columns():
    with pytest.raises(ValueError, match="expected rows with 2 columns"):
        GaussianBayes().log_odds(np.zeros((4, 3)))


# The paper's Table 2

#: d, rows, positives, n_positive, n_unlabeled, n_test, prior; the table gives no positives, LIBSVM's labels do.
TABLE_2 = {
    "heart_scale": (12, 122, 76, 10, 60, 60, 0.62),
    "sonar_scale": (60, 207, 97, 10, 100, 100, 0.47),
    "australian_scale": (12, 449, 227, 20, 220, 220, 0.51),
    "australian_scale2": (12, 449, 227, 10, 130, 130, 0.15),
    "breast-cancer_scale": (10, 683, 239, 20, 340, 340, 0.35),
    "breast-cancer_scale2": (10, 683, 444, 40, 340, 340, 0.65),
    "diabetes_scale": (8, 759, 496, 50, 380, 370, 0.65),
    "skin_nonskin": (3, 245_057, 194_198, 1000, 100_000, 100_000, 0.79),
    "skin_nonskin2": (3, 245_057, 50_859, 1000, 100_000, 100_000, 0.21),
    "epsilon_normalized": (2000, 500_000, None, 1000, 400_000, 100_000, 0.5),
    "HIGGS": (26, 8_786_441, None, 1000, 1_000_000, 100_000, 0.5),
}
needs_files = pytest.mark.skipif(
    not os.environ.get("UNLABELED_DATA_HOME"), reason="UNLABELED_DATA_HOME names no folder with the LIBSVM files"
)


@pytest.fixture(autouse=True, scope="module")
def platform_cache(tmp_path_factory):
    """Keep away from the folders of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("platform")
        patch.setattr(folders, "platform_cache", lambda: folder)
        yield


def load_or_skip(load, name, **options):
    try:
        return load(name, **options, download=False)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def test_the_names_are_those_of_the_table():
    assert tuple(TABLE_2) == PAPER_DATASETS


@needs_files
@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_table_2(name):
    data = load_or_skip(paper_dataset, name)
    n_features, n_rows, n_positives, *sizes = TABLE_2[name]
    assert data.X.shape[1] == n_features
    assert data.prior == sizes[-1]
    if "extracts" in data.note:
        return
    assert len(data.X) == n_rows
    assert n_positives is None or data.is_positive.sum() == n_positives
    if not data.note:  # else the note says that the sizes are others, because the classes are not of the same size
        assert [data.n_positive, data.n_unlabeled, data.n_test, data.prior] == sizes
    if name != "epsilon_normalized":
        assert data.note == ""
    # The share of positives in the file is the paper's prior, but where the paper set another.
    if name not in ("australian_scale2", "HIGGS"):
        assert data.is_positive.mean() == pytest.approx(data.prior, abs=0.005)


@needs_files
@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_draws_have_the_sizes_of_the_data_set(name):
    data = load_or_skip(paper_dataset, name)
    drawn = data.draw(0)
    assert [len(sample) for sample in (drawn.positive, drawn.unlabeled, drawn.test)] == [
        data.n_positive,
        data.n_unlabeled,
        data.n_test,
    ]
    assert drawn.unlabeled_truth.mean() == pytest.approx(data.prior, abs=0.51 / data.n_unlabeled)
    assert drawn.test_truth.mean() == pytest.approx(data.prior, abs=0.51 / data.n_test)
    np.testing.assert_array_equal(drawn.unlabeled, data.draw(0).unlabeled)


@needs_files
@pytest.mark.parametrize(
    ("name", "n_rows", "n_positives", "sizes"),
    [("HIGGS", 18_360, 9337, (1000, 15_158, 1515)), ("epsilon_normalized", 200, 82, (20, 101, 25))],
)
def test_extracts_shrink_the_sizes_and_say_so(name, n_rows, n_positives, sizes):
    data = load_or_skip(paper_dataset, name)
    if "extracts" not in data.note:
        pytest.skip(f"the whole of {name} was found")
    if len(data.X) != n_rows:
        pytest.skip(f"other extracts of {name} were found")
    assert data.is_positive.sum() == n_positives
    assert (data.n_positive, data.n_unlabeled, data.n_test) == sizes
    assert f"n_unlabeled={sizes[1]:,}, n_test={sizes[2]:,}, the largest these rows allow" in data.note
    # P, U and the test sample are disjoint; no row occurs twice in the data, so equal rows are one row drawn twice.
    drawn = data.draw(0)
    rows = np.concatenate([drawn.positive, drawn.unlabeled, drawn.test])
    assert len(np.unique(rows, axis=0)) == len(rows)


@needs_files
@pytest.mark.parametrize(
    ("name", "shape", "n_positives"),
    [
        ("heart_scale", (270, 13), 120),
        ("sonar_scale", (208, 60), 97),
        ("australian_scale", (690, 14), 307),
        ("breast-cancer_scale", (683, 10), 239),
        ("diabetes_scale", (768, 8), 500),
        ("skin_nonskin", (245_057, 3), 194_198),
        ("HIGGS", (22_974, 28), None),
    ],
)
def test_indexed_layout_has_every_row(name, shape, n_positives):
    loaded = load_or_skip(load_libsvm, name)
    if name == "HIGGS" and "extracts" not in loaded.note:
        shape = (11_000_000, 28)
    assert loaded.data.shape == shape
    assert loaded.target.shape == shape[:1]
    assert n_positives is None or loaded.target.sum() == n_positives


def test_unknown_paper_dataset():
    with pytest.raises(ValueError, match=r"name='heart' is not known; use one of \['heart_scale'"):
        paper_dataset("heart")
