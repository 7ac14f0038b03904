import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from unlabeled import WMMDClassifier
from unlabeled.datasets import draw_pu
from unlabeled.datasets.draw import Sizes


def table(n_positives, n_negatives):
    """Rows that carry their own number, so that a drawn row tells where it came from; positives and negatives mixed."""
    y = np.random.RandomState(0).permutation(np.repeat([1, 0], [n_positives, n_negatives]))
    number = np.arange(len(y), dtype=float)
    return np.column_stack([number, number % 7]), y


def numbers(rows):
    return set(rows[:, 0].astype(int).tolist())


@st.composite
def requests(draw):
    n_positives, n_negatives = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    sizes = [draw(st.integers(1, 30)) for _ in range(3)]
    return n_positives, n_negatives, Sizes(*sizes, draw(st.floats(0.05, 0.95)))


@given(requests(), st.integers(0, 10))
@settings(deadline=None)
def test_case_control_keeps_the_papers_rule_or_says_what_is_missing(request, seed):
    n_positives, n_negatives, sizes = request
    X, y = table(n_positives, n_negatives)
    arguments = sizes.n_positive, sizes.n_unlabeled, sizes.n_test, sizes.prior
    in_unlabeled, in_test = (round(sizes.prior * n) for n in (sizes.n_unlabeled, sizes.n_test))
    in_both = in_unlabeled + in_test
    if (
        in_both > n_positives
        or sizes.n_unlabeled + sizes.n_test - in_both > n_negatives
        or (in_test + sizes.n_positive > n_positives)
    ):
        with pytest.raises(ValueError, match=f"the data have {n_positives} and {n_negatives}"):
            draw_pu(X, y, *arguments, random_state=seed)
        return
    data = draw_pu(X, y, *arguments, random_state=seed)
    positive, unlabeled, test = numbers(data.positive), numbers(data.unlabeled), numbers(data.test)
    # No row twice in a sample.
    assert (len(positive), len(unlabeled), len(test)) == (sizes.n_positive, sizes.n_unlabeled, sizes.n_test)
    assert not test & (positive | unlabeled)
    if n_positives - in_both >= sizes.n_positive:
        assert not positive & unlabeled
    assert data.unlabeled_truth.sum() == in_unlabeled
    assert data.test_truth.sum() == in_test
    assert all(y[sorted(positive)] == 1)
    np.testing.assert_array_equal(data.unlabeled_truth, y[data.unlabeled[:, 0].astype(int)] == 1)
    np.testing.assert_array_equal(data.test_truth, y[data.test[:, 0].astype(int)] == 1)


@given(requests())
@settings(deadline=None)
def test_the_largest_sizes_fit_and_one_row_more_does_not(request):
    n_positives, n_negatives, sizes = request
    assume(not sizes.fit(n_positives, n_negatives) and sizes.n_positive <= n_positives)
    largest = sizes.shrunk(n_positives, n_negatives)
    assert largest.fit(n_positives, n_negatives)
    total = sizes.n_unlabeled + sizes.n_test
    # The same proportion, to within a row, and no total between it and the one asked for fits.
    assert abs(largest.n_test - (largest.n_unlabeled + largest.n_test) * sizes.n_test / total) <= 1
    for more in range(largest.n_unlabeled + largest.n_test + 1, total + 1):
        n_test = more * sizes.n_test // total
        assert not Sizes(sizes.n_positive, more - n_test, n_test, sizes.prior).fit(n_positives, n_negatives)


def test_too_few_rows_name_the_largest_sizes():
    X, y = table(30, 40)
    with pytest.raises(ValueError, match="need 60 positives and 60 negatives; the data have 30 and 40") as error:
        draw_pu(X, y, 5, 100, 20, 0.5)
    assert "n_unlabeled=50, n_test=10" in str(error.value)
    draw_pu(X, y, 5, 50, 10, 0.5)
    with pytest.raises(ValueError, match="n_positive=31 alone asks for too many: at most 30"):
        draw_pu(X, y, 31, 1, 0, 0.5)
    with pytest.raises(ValueError, match="n_positive=31 alone asks for too many: at most 30"):
        draw_pu(X, y, 31, 0, 0, 0.5)


def test_the_seed_decides():
    X, y = table(50, 50)
    first, same, other = (draw_pu(X, y, 5, 20, 20, 0.5, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.X, same.X)
    np.testing.assert_array_equal(first.test, same.test)
    assert numbers(first.unlabeled) != numbers(other.unlabeled)


def test_every_row_is_as_likely_as_any_other_of_its_class():
    X, y = table(20, 20)
    in_test, in_unlabeled = np.zeros(40), np.zeros(40)
    for seed in range(2000):
        data = draw_pu(X, y, 3, 8, 8, 0.5, random_state=seed)
        in_test[data.test[:, 0].astype(int)] += 1
        in_unlabeled[data.unlabeled[:, 0].astype(int)] += 1
    # Chance 1/5 in each draw: a standard deviation of 0.009, and 80 counts.
    np.testing.assert_allclose(in_test / 2000, 0.2, atol=0.04)
    np.testing.assert_allclose(in_unlabeled / 2000, 0.2, atol=0.04)


def test_the_order_of_rows_gives_no_class_away():
    X, y = table(500, 500)
    data = draw_pu(X, y, 10, 400, 400, 0.5, random_state=0)
    for truth in (data.unlabeled_truth, data.test_truth):
        assert 60 < truth[:200].sum() < 140


@pytest.mark.parametrize("y_of", [lambda y: y == 1, lambda y: 2 * y - 1, lambda y: np.where(y == 1, "yes", "no")])
def test_spellings_of_y(y_of):
    X, y = table(30, 30)
    expected = draw_pu(X, y, 5, 20, 20, 0.4, random_state=0)
    np.testing.assert_array_equal(draw_pu(X, y_of(y), 5, 20, 20, 0.4, random_state=0).X, expected.X)


def test_memory_mapped_rows_are_those_in_memory(tmp_path):
    X, y = table(15_000, 15_000)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    # More rows than are copied at a time.
    found = draw_pu(mapped, y, 100, 18_000, 9000, 0.5, random_state=3)
    expected = draw_pu(X, y, 100, 18_000, 9000, 0.5, random_state=3)
    for sample in ("positive", "unlabeled", "test"):
        assert type(getattr(found, sample)) is np.ndarray
        assert getattr(found, sample).dtype == np.float32
        np.testing.assert_array_equal(getattr(found, sample), getattr(expected, sample))


@given(requests(), st.floats(0, 1), st.integers(0, 10))
@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_single_sample_is_one_sample_of_the_population(request, propensity, seed):
    n_positives, n_negatives, sizes = request
    n_rows = sizes.n_positive + sizes.n_unlabeled
    assume(Sizes(0, n_rows, sizes.n_test, sizes.prior).fit(n_positives, n_negatives))
    assume(round(sizes.prior * n_rows) > 0)

    def one_surely(rows):
        return np.r_[1.0, np.full(len(rows) - 1, propensity)]

    X, y = table(n_positives, n_negatives)
    arguments = sizes.n_positive, sizes.n_unlabeled, sizes.n_test, sizes.prior
    data = draw_pu(X, y, *arguments, scenario="single-sample", propensity=one_surely, random_state=seed)
    positive, unlabeled, test = numbers(data.positive), numbers(data.unlabeled), numbers(data.test)
    assert data.scenario == "single-sample"
    assert len(positive | unlabeled) == n_rows
    assert len(test) == sizes.n_test
    assert not positive & unlabeled
    assert not test & (positive | unlabeled)
    assert len(positive) + data.unlabeled_truth.sum() == round(sizes.prior * n_rows)
    assert data.test_truth.sum() == round(sizes.prior * sizes.n_test)
    assert all(y[sorted(positive)] == 1)


def test_single_sample_labels_with_the_propensity():
    X, y = table(5000, 5000)
    data = draw_pu(X, y, 0, 8000, 0, 0.5, scenario="single-sample", propensity=0.3, random_state=0)
    assert len(data.positive) == pytest.approx(0.3 * 4000, abs=120)
    assert len(data.unlabeled) == 8000 - len(data.positive)


def test_single_sample_without_propensity_labels_as_many_as_asked():
    X, y = table(50, 50)
    data = draw_pu(X, y, 12, 48, 10, 0.5, scenario="single-sample", random_state=0)
    assert (len(data.positive), len(data.unlabeled), data.unlabeled_truth.sum()) == (12, 48, 18)


def test_propensity_may_depend_on_features():
    X, y = table(5000, 5000)

    def early(rows):
        return np.where(rows[:, 0] < 5000, 0.8, 0.1)

    data = draw_pu(X, y, 0, 8000, 0, 0.5, scenario="single-sample", propensity=early, random_state=0)
    hidden = data.unlabeled[data.unlabeled_truth]
    labelled_early, hidden_early = (data.positive[:, 0] < 5000).sum(), (hidden[:, 0] < 5000).sum()
    labelled_late, hidden_late = len(data.positive) - labelled_early, len(hidden) - hidden_early
    assert labelled_early / (labelled_early + hidden_early) == pytest.approx(0.8, abs=0.04)
    assert labelled_late / (labelled_late + hidden_late) == pytest.approx(0.1, abs=0.04)


def test_a_classifier_learns_from_a_draw():
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=600)
    data = draw_pu(rng.normal(3 * y[:, None], 1, size=(600, 2)), y, 40, 150, 150, 0.5, random_state=0)
    predicted = WMMDClassifier(prior=0.5, random_state=0).fit(data.X, data.y).predict(data.test)
    assert ((predicted == 1) == data.test_truth).mean() > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scenario": "both"}, "scenario='both' is not known; use one of"),
        ({"propensity": 0.5}, "needs scenario='single-sample'"),
        ({"prior": 1.0}, "strictly between 0 and 1"),
        ({"n_test": -1}, "n_test=-1 is negative"),
        ({"scenario": "single-sample", "propensity": 1.5}, "a probability, from 0 to 1"),
        ({"scenario": "single-sample", "propensity": np.nan}, "a probability, from 0 to 1"),
        ({"scenario": "single-sample", "propensity": 0.0}, "raise the propensity"),
        ({"scenario": "single-sample", "propensity": lambda rows: rows}, "one a row"),
        ({"scenario": "single-sample", "propensity": "easy"}, r"propensity='easy' is not known; .* EasyFirst\(0.2\)"),
        ({"scenario": "single-sample", "n_positive": 20, "n_unlabeled": 2}, "n_positive=20 positives are to be"),
        ({"y": np.zeros(60)}, "only one class"),
        ({"y": np.arange(50) % 2}, "one class for each row"),
        ({"X": np.arange(60)}, "rows and columns"),
    ],
)
def test_errors_name_the_remedy(changes, message):
    X, y = table(30, 30)
    arguments = {"X": X, "y": y, "n_positive": 5, "n_unlabeled": 20, "n_test": 10, "prior": 0.5, "random_state": 0}
    with pytest.raises(ValueError, match=message):
        draw_pu(**(arguments | changes))


def test_sparse_rows_are_refused():
    X, y = table(30, 30)
    with pytest.raises(TypeError, match="toarray"):
        draw_pu(csr_array(X), y, 5, 20, 10, 0.5)
