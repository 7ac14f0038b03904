"""The one type for honest scores: its views, and how several of them are put together."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unlabeled.deciding.scores import HonestScores
from unlabeled.metrics import proxy_roc_auc


def scores(rng, n_positive=5, n_unlabeled=8, share=0.0, n_scores=None):
    leading = () if n_scores is None else (n_scores,)
    return HonestScores(
        rng.normal(size=(*leading, n_positive)),
        rng.normal(size=(*leading, n_unlabeled)),
        rng.integers(1, 4, n_positive).astype(float),
        rng.integers(1, 4, n_unlabeled).astype(float),
        share,
        np.arange(n_positive),
        np.arange(n_positive, n_positive + n_unlabeled),
    )


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_population(rng, share):
    found = scores(rng, share=share)
    assert found.population_mass.sum() == pytest.approx(1)
    assert found.positive_mass.sum() == pytest.approx(1)
    assert len(found.population) == (13 if share else 8)
    assert found.n_population == found.n_unlabeled + (found.n_positive if share else 0)
    mean = found.population_mass @ found.population
    by_hand = np.average(found.unlabeled, weights=found.unlabeled_weights) * (1 - share)
    by_hand += np.average(found.positive, weights=found.positive_weights) * share
    assert mean == pytest.approx(by_hand)
    assert len(found.against_unlabeled().population) == 8


def test_one_of_several(rng):
    several = scores(rng, n_scores=3)
    assert several.n_scores == len(several.each()) == 3
    np.testing.assert_array_equal(several.at(1).positive, several.positive[1])
    weights = np.array([0.2, 0.5, 0.3])
    mean = several.weighted_sum(weights)
    np.testing.assert_allclose(mean.unlabeled, weights @ several.unlabeled)
    np.testing.assert_allclose(several.recall(np.zeros(3)), [_share_above(one) for one in several.each()])


def _share_above(one):
    return one.positive_weights[one.positive > 0].sum() / one.n_positive


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_stacked_scores_belong_to_the_same_rows(seed, n_parts):
    """Parts with other rows, in another order, some with copies: each observation has its own score of every part."""
    rng = np.random.default_rng(seed)
    n, of_row, parts = 12, [], []
    for _ in range(n_parts):
        rows = rng.permutation(n)[: rng.integers(6, n + 1)]
        value = rng.normal(size=n)
        parts.append(HonestScores(value[rows], value[rows], np.ones(len(rows)), np.ones(len(rows)), 0.1, rows, rows))
        of_row.append(value)
    stacked = HonestScores.stacked(parts)
    common = set.intersection(*(set(part.positive_rows) for part in parts))
    for numbers, values in (
        (stacked.positive_rows, stacked.positive),
        (stacked.unlabeled_rows, stacked.unlabeled),
    ):
        assert set(numbers) == common
        np.testing.assert_array_equal(values, np.array([value[numbers] for value in of_row]))
    assert stacked.labelled_share == 0.1


def test_copies_stay_apart_where_another_part_has_a_weight():
    rows = np.array([0, 1, 2])
    weighted = HonestScores(
        np.array([1.0, 2, 3]), np.array([4.0, 5, 6]), np.array([2.0, 1, 1]), np.ones(3), 0, rows, rows
    )
    copies = HonestScores(
        np.array([30.0, 10, 11, 20]), np.array([40.0, 50]), np.ones(4), np.ones(2), 0, np.array([2, 0, 0, 1]), rows[:2]
    )
    for place, order in enumerate(([weighted, copies], [copies, weighted])):
        stacked = HonestScores.stacked(order)
        np.testing.assert_array_equal(stacked.positive[1 - place], [30, 10, 11, 20])
        np.testing.assert_array_equal(stacked.positive[place], [3, 1, 1, 2])
        np.testing.assert_array_equal(stacked.positive_weights, np.ones(4))
        assert stacked.unlabeled[place].tolist() == [4, 5]


def test_without_numbers_rows_are_known_by_their_places(rng):
    plain = replace(scores(rng), positive_rows=None, unlabeled_rows=None)
    stacked = HonestScores.stacked([plain, plain])
    np.testing.assert_array_equal(stacked.positive, [plain.positive, plain.positive])


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_area_is_that_of_the_metrics(rng, share):
    found = replace(scores(rng), labelled_share=share)
    found = replace(found, unlabeled=np.append(found.unlabeled[1:], found.positive[0]))  # a tie
    parts = (
        (found.positive, found.unlabeled),
        (share * found.positive_mass, found.population_mass[-len(found.unlabeled) :]),
    )
    labels = np.repeat([1, 0], [len(part) for part in parts[0]])
    weights = np.concatenate(parts[1]) if share else np.concatenate([found.positive_mass, parts[1][1]])
    scenario = "single-sample" if share else "case-control"
    expected = proxy_roc_auc(labels, np.concatenate(parts[0]), scenario=scenario, sample_weight=weights)
    assert found.area == pytest.approx(expected)


def test_one_score_is_the_first_of_one(rng):
    one = scores(rng)
    assert one.n_scores == 1
    assert one.at(0) is one
    assert one.each() == [one]


@pytest.mark.parametrize(
    "change", [{"positive": np.zeros(4)}, {"unlabeled_rows": np.arange(3)}, {"positive": np.zeros((2, 5))}]
)
def test_scores_weights_and_rows_belong_together(rng, change):
    with pytest.raises(ValueError, match="must"):
        replace(scores(rng), **change)
