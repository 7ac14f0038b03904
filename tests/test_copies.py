"""Copies of rows: merged while sums are taken, and nobody can tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled import WMMDClassifier
from unlabeled.samples import PUSample, Sample, distinct_rows
from unlabeled.scoring import copies, selection, smoothing
from unlabeled.scoring.copies import Copies, once_each, without_copies


@given(
    n=st.integers(0, 60), d=st.integers(1, 4), n_values=st.integers(1, 4), seed=st.integers(0, 99), gaps=st.booleans()
)
def test_distinct_rows_are_those_of_numpy(n, d, n_values, seed, gaps):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n_values, (n, d)) / 3.0
    if gaps:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    first, place = distinct_rows(rows)
    np.testing.assert_array_equal(rows[first][place], rows)
    expected = {tuple(None if np.isnan(value) else value for value in row) for row in rows}
    assert len(first) == len(expected)


@pytest.fixture
def lattice(rng, monkeypatch):
    """A sample of whole numbers with many copies, small enough for slow tests."""
    monkeypatch.setattr(copies, "LEAST_ROWS", 100)
    positive, unlabeled = rng.integers(0, 4, (150, 2)) + 1.0, rng.integers(0, 7, (900, 2)) * 1.0
    return PUSample(Sample(positive), Sample(unlabeled, np.log(rng.integers(1, 3, 900) * 1.0)), "single-sample")


def test_merged_rows_count_as_often(lattice):
    found = Copies.of(lattice, lattice)
    merged = found.merged(lattice)
    assert found.n_merged > 800
    assert merged.positive.total == pytest.approx(150)
    assert merged.unlabeled.total == pytest.approx(lattice.unlabeled.total)
    assert len(np.unique(merged.unlabeled.rows, axis=0)) == len(merged.unlabeled)
    values = np.concatenate([merged.positive.rows[:, 0], merged.unlabeled.rows[:, 1]])
    expected = np.concatenate([lattice.positive.rows[:, 0], lattice.unlabeled.rows[:, 1]])
    np.testing.assert_array_equal(found.population_apart(values), expected)


def test_few_copies_stay(rng, monkeypatch):
    monkeypatch.setattr(copies, "LEAST_ROWS", 100)
    rows = rng.standard_normal((500, 2))
    sample = Sample(np.concatenate([rows, rows[:20]]))
    assert without_copies(sample) == [sample]
    np.testing.assert_array_equal(once_each(sample.rows, lambda seen: seen[:, 0]), sample.rows[:, 0])


def test_copies_are_asked_for_once(lattice):
    asked = []

    def total(rows):
        asked.append(len(rows))
        return rows.sum(axis=1)

    rows = lattice.unlabeled.rows
    np.testing.assert_array_equal(once_each(rows, total), rows.sum(axis=1))
    assert asked == [49]


def test_all_rows_are_merged_where_all_are_scored(lattice, monkeypatch):
    monkeypatch.setattr(selection, "JUDGING_ROWS", 100)
    seen = []
    sums = smoothing.SumsByFold.of
    monkeypatch.setattr(
        smoothing.SumsByFold,
        "of",
        lambda pu, *rest: seen.append((len(pu.positive), len(pu.unlabeled))) or sums(pu, *rest),
    )
    for most in (None, 10_000, 800):
        WMMDClassifier(0.4, scenario="single-sample", max_evaluations=most).fit_sample(lattice)
    assert seen == [(16, 49), (16, 49), (150, 900)]


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("n_rounds", [0, 2])
def test_a_fit_is_the_same_with_copies_merged(lattice, monkeypatch, scenario, n_rounds):
    """Not a small fit, which is judged whole: 100 rows are. One gamma, for these are not the same rows."""
    monkeypatch.setattr(selection, "JUDGING_ROWS", 100)
    pu = PUSample(lattice.positive, lattice.unlabeled, scenario)
    settings = {"gamma": 0.5, "scenario": scenario, "smoothing": n_rounds, "max_evaluations": None}
    fits = []
    for least in (100, 10**9):
        monkeypatch.setattr(copies, "LEAST_ROWS", least)
        fits.append(WMMDClassifier(0.4, engine="reference", **settings).fit_sample(pu))
    merged, plain = fits
    assert len(merged._scored_by()[0].unlabeled) == 49 < len(plain._scored_by()[0].unlabeled) == 900
    for found, expected in (
        (merged.honest_scores_.positive, plain.honest_scores_.positive),
        (merged.honest_scores_.unlabeled, plain.honest_scores_.unlabeled),
        (merged.honest_scores_.unlabeled_rows, plain.honest_scores_.unlabeled_rows),
        (merged.honest_scores_.unlabeled_weights, plain.honest_scores_.unlabeled_weights),
        (merged.sample_.unlabeled.rows, plain.sample_.unlabeled.rows),
        (merged.threshold_, plain.threshold_),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    for one, other in zip(merged.rounds_, plain.rounds_, strict=True):
        assert one.gamma == other.gamma
        np.testing.assert_allclose(one.log_probabilities, other.log_probabilities, atol=1e-9)
    rows = np.concatenate([pu.positive.rows, pu.unlabeled.rows + 0.25])
    np.testing.assert_allclose(merged.score_rows(rows), plain.score_rows(rows), atol=1e-9)
