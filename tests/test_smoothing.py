"""Smoothing against a slow oracle that leaves rows out one fold at a time, and against what it promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from unlabeled import WMMDClassifier
from unlabeled.datasets import draw_pu, make_gaussians, make_two_moons
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample
from unlabeled.scoring.folds import LEAST_ROWS, N_FOLDS, Folds, deal, deal_into_folds, members_of_folds
from unlabeled.scoring.ratio import Kernels
from unlabeled.scoring.selection import loo_scores_at
from unlabeled.scoring.smoothing import SMALLEST_PROBABILITY, SumsByFold

# --- the oracle: rows repeated instead of weighted, dense kernel matrices, one left-out fold after the other ---


def kernel(first, second, gamma):
    return np.exp(-gamma * ((first[:, None] - second[None]) ** 2).sum(axis=2))


def voters_of(positive, unlabeled, scenario):
    return np.vstack([positive, unlabeled]) if scenario == "single-sample" else unlabeled


def first_log_ratios(positive, unlabeled, in_positive, in_unlabeled, scenario, gamma):
    """Ratios of the voters by some of the rows, each without itself."""
    voters = voters_of(positive, unlabeled, scenario)
    n_first = len(positive) if scenario == "single-sample" else 0
    found = np.empty(len(voters))
    for place, voter in enumerate(voters):
        p, u = in_positive.copy(), in_unlabeled.copy()
        if place < n_first:
            p[place] = False
        else:
            u[place - n_first] = False
        of_positive = kernel(voter[None], positive[p], gamma)[0]
        of_unlabeled = kernel(voter[None], unlabeled[u], gamma)[0]
        population = np.concatenate([of_positive, of_unlabeled]) if n_first else of_unlabeled
        found[place] = np.log(of_positive.mean() / population.mean())
    return found


def passed_on(queries, voters, probabilities, gamma, skip=None):
    """Log of the mean probability near each query, by the mean probability of all voters."""
    k = kernel(queries, voters, gamma)
    for query, voter in enumerate([] if skip is None else skip):
        k[query, voter] = 0
    return np.log((k @ probabilities) / k.sum(axis=1) / probabilities.mean())


class Oracle:
    """Everything that `WMMDClassifier` finds by smoothing, given its choice of gammas."""

    def __init__(self, model, positive, unlabeled, scenario):
        p_folds, u_folds = deal_into_folds(positive), deal_into_folds(unlabeled)
        positive, unlabeled = model.scaling_.apply(positive), model.scaling_.apply(unlabeled)
        self.voters = voters_of(positive, unlabeled, scenario)
        v_folds = np.concatenate([p_folds, u_folds]) if scenario == "single-sample" else u_folds
        share = len(positive) / (len(positive) + len(unlabeled)) if scenario == "single-sample" else 0.0
        everything = [*range(N_FOLDS), None]
        ratios = {
            fold: first_log_ratios(positive, unlabeled, p_folds != fold, u_folds != fold, scenario, model.gamma_)
            for fold in everything
        }
        plain = WMMDClassifier(
            model.prior, scenario=scenario, smoothing=0, gamma=model.gamma_, scale=model.scaling_.name
        )
        X, y = np.vstack([positive, unlabeled]), np.repeat([1, 0], [len(positive), len(unlabeled)])
        plain.set_params(scale="none").fit(X, y)
        self.honest = [(plain.honest_scores_.positive, plain.honest_scores_.unlabeled)]
        self.log_probabilities = []
        for done in model.rounds_:
            calibration = calibrate(self.scored(self.honest[-1], share), model.prior_)
            chances = {f: np.maximum(calibration.probability(r), SMALLEST_PROBABILITY) for f, r in ratios.items()}
            self.log_probabilities.append(np.log(chances[None]))
            self.honest.append(
                tuple(
                    np.array(
                        [
                            passed_on(
                                row[None], self.voters[v_folds != fold], chances[fold][v_folds != fold], done.gamma
                            )[0]
                            for row, fold in zip(rows, folds, strict=True)
                        ]
                    )
                    for rows, folds in ((positive, p_folds), (unlabeled, u_folds))
                )
            )
            ratios = {fold: self._among_voters(v_folds != fold, chances[fold], done.gamma) for fold in everything}
        self.share = share

    def _among_voters(self, kept, chances, gamma):
        found = np.zeros(len(self.voters))
        found[kept] = passed_on(
            self.voters[kept], self.voters[kept], chances[kept], gamma, skip=np.arange(int(kept.sum()))
        )
        return found

    @staticmethod
    def scored(scores, share):
        return HonestScores(*scores, *(np.ones(len(side)) for side in scores), share)

    def weights(self):
        spreads = []
        for scores in self.honest:
            scored = self.scored(scores, self.share)
            mean = scored.population_mass @ scored.population
            spreads.append(np.sqrt(scored.population_mass @ (scored.population - mean) ** 2))
        each_round = 200 / (200 + len(self.honest[0][0]))  # the more labelled positives, the less a round counts
        weights = np.array([1, each_round, each_round]) / spreads
        return weights / weights.sum()


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("prior", [0.5, "auto"])
def test_rounds_are_those_of_the_oracle(scenario, prior):
    data = make_two_moons(25, 60, 30, prior=0.5, random_state=3)
    model = WMMDClassifier(prior, scenario=scenario).fit(data.X, data.y)
    oracle = Oracle(model, data.positive, data.unlabeled, scenario)
    assert len(model.rounds_) == 2
    for done, expected in zip(model.rounds_, oracle.log_probabilities, strict=True):
        np.testing.assert_allclose(done.log_probabilities, expected, atol=1e-6)
    weights = oracle.weights()
    np.testing.assert_allclose([done.weight for done in model.rounds_], weights[1:], rtol=1e-6)
    for side, name in enumerate(("positive", "unlabeled")):
        expected = sum(w * scores[side] for w, scores in zip(weights, oracle.honest, strict=True))
        np.testing.assert_allclose(getattr(model.honest_scores_, name), expected, atol=1e-6)
    plain = WMMDClassifier(prior, scenario=scenario, smoothing=0).fit(data.X, data.y).score_samples(data.test)
    rows = model.scaling_.apply(data.test)
    rounds = [passed_on(rows, oracle.voters, np.exp(done.log_probabilities), done.gamma) for done in model.rounds_]
    expected = sum(w * scores for w, scores in zip(weights, [plain, *rounds], strict=True))
    np.testing.assert_allclose(model.score_samples(data.test), expected, atol=1e-6)


# --- folds ---


@given(st.integers(0, 10_000))
def test_copies_share_a_fold_and_neither_order_nor_units_matter(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (60, 2)).astype(float)
    folds = deal_into_folds(rows)
    _, inverse = np.unique(rows, axis=0, return_inverse=True)
    for group in np.unique(inverse):
        assert len(set(folds[inverse == group])) == 1
    order = rng.permutation(60)
    np.testing.assert_array_equal(deal_into_folds(rows[order]), folds[order])
    np.testing.assert_array_equal(deal_into_folds(rows * [1000.0, 0.001]), folds)


def test_of_many_rows_each_has_its_fold_by_itself(rng, monkeypatch):
    rows = rng.normal(size=(3000, 3))
    monkeypatch.setattr("unlabeled.scoring.folds.MANY_ROWS", 1000)
    folds = deal_into_folds(rows)
    assert np.bincount(folds).min() > 200
    np.testing.assert_array_equal(np.concatenate([deal_into_folds(rows[:1100]), deal_into_folds(rows[1100:])]), folds)
    same = np.where(rows > 2, -0.0, rows).astype(np.float32)
    np.testing.assert_array_equal(deal_into_folds(same), deal_into_folds(same.astype(np.float64) + 0.0))
    few = deal_into_folds(np.repeat(rows[:30], 100, axis=0))  # of which the hash alone would make uneven folds
    np.testing.assert_array_equal(np.bincount(few), 300)


@given(st.integers(0, 10_000))
def test_the_rows_of_folds(seed):
    folds = np.random.default_rng(seed).integers(0, 5, 40)
    found = members_of_folds(folds, 7)
    assert len(found) == 7
    for fold, members in enumerate(found):
        np.testing.assert_array_equal(members, np.flatnonzero(folds == fold))


def test_folds_are_of_one_size_and_do_not_take_turns(rng):
    rows = rng.normal(size=(1000, 3))
    folds = deal_into_folds(rows)
    assert (np.bincount(folds) == 100).all()
    in_order = folds[np.argsort(rows[:, 0])]
    assert (np.diff(in_order) == 0).mean() == pytest.approx(1 / N_FOLDS, abs=0.04)


# --- what it is for ---


@pytest.mark.slow
def test_it_pays_where_classes_form_clusters():
    X, y = load_digits(return_X_y=True)
    gains = []
    for seed in range(3):
        data = draw_pu(X, y % 2 == 0, n_positive=100, n_unlabeled=700, n_test=700, prior=0.5, random_state=seed)
        accuracy = [
            np.mean(WMMDClassifier(0.5, smoothing=rounds).fit(data.X, data.y).predict(data.test) == data.test_truth)
            for rounds in (0, "auto")
        ]
        gains.append(accuracy[1] - accuracy[0])
    assert np.mean(gains) > 0.015


def test_honest_scores_are_spread_like_those_of_new_rows():
    """Hidden positives among the unlabeled rows, labelled positives, and new positives: all score alike."""
    found = []
    for seed in range(8):
        data = make_gaussians(40, 300, 2000, prior=0.5, random_state=seed)
        model = WMMDClassifier(0.5).fit(data.X, data.y)
        new = model.score_samples(data.test[data.test_truth])
        below = [
            np.mean(scores[:, None] > new)
            for scores in (model.honest_scores_.positive, model.honest_scores_.unlabeled[data.unlabeled_truth])
        ]
        found.append(below)
    np.testing.assert_allclose(np.mean(found, axis=0), 0.5, atol=0.05)


# --- weights, bounds, refusals ---


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
def test_weights_are_repetitions_in_every_round(rng, scenario):
    X = rng.normal(size=(30, 2)) + np.repeat([[1.0], [0.0]], [10, 20], axis=0)
    y, counts = np.repeat([1, 0], [10, 20]), rng.integers(1, 4, 30)
    weighted = WMMDClassifier(0.6, scenario=scenario).fit(X, y, sample_weight=counts)
    repeated = WMMDClassifier(0.6, scenario=scenario).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert [done.gamma for done in weighted.rounds_] == pytest.approx([done.gamma for done in repeated.rounds_])
    np.testing.assert_allclose(weighted.score_samples(X), repeated.score_samples(X), atol=1e-7)


def test_only_scored_rows_vote_and_they_stand_for_all():
    data = make_gaussians(600, 900, 500, prior=0.5, random_state=0)
    y = np.where(np.arange(1500) < 600, 1, 0)
    few = WMMDClassifier(0.7, scenario="single-sample", max_evaluations=200, random_state=0).fit(data.X, y)
    assert [len(done.log_probabilities) for done in few.rounds_] == [400, 400]
    every = WMMDClassifier(0.7, scenario="single-sample").fit(data.X, y)
    assert [len(done.log_probabilities) for done in every.rounds_] == [1500, 1500]
    assert np.corrcoef(few.score_samples(data.test), every.score_samples(data.test))[0, 1] > 0.95


@pytest.mark.parametrize("most", [2, 5, 100])
def test_a_handful_of_voters_passes_nothing_on(most):
    data = make_gaussians(300, 1000, 2000, prior=0.5, random_state=0)
    model = WMMDClassifier(0.5, max_evaluations=most, random_state=0).fit(data.X, data.y)
    assert model.rounds_ == ()
    assert np.isfinite(model.decision_function(data.test)).all()


def test_too_few_different_rows_are_not_smoothed(rng):
    X = np.vstack([np.repeat(rng.normal(size=(LEAST_ROWS - 1, 2)), 5, axis=0), rng.normal(size=(20, 2))])
    y = np.repeat([1, 0], [5 * (LEAST_ROWS - 1), 20])
    model = WMMDClassifier(0.5).fit(X, y)
    assert model.rounds_ == ()
    np.testing.assert_array_equal(model.score_samples(X), WMMDClassifier(0.5, smoothing=0).fit(X, y).score_samples(X))


@pytest.mark.parametrize(
    "options", [{"gamma": 0.5}, {"selection": "holdout"}, {"threshold": "bayes"}, {"calibration": "ratio"}]
)
def test_what_speaks_of_the_ratio_is_not_smoothed_unless_asked(options):
    data = make_gaussians(random_state=0)
    assert WMMDClassifier(0.5, **options).fit(data.X, data.y).rounds_ == ()
    if "gamma" in options:
        assert len(WMMDClassifier(0.5, smoothing=1, **options).fit(data.X, data.y).rounds_) == 1
    else:
        with pytest.raises(ValueError, match="smoothing=0"):
            WMMDClassifier(0.5, smoothing=1, **options).fit(data.X, data.y)


@pytest.mark.parametrize("rounds", [-1, 1.5, True, "always", None])
def test_bad_rounds(rounds):
    data = make_gaussians(random_state=0)
    with pytest.raises(ValueError, match="use 'auto', 0 for none, or a number of rounds"):
        WMMDClassifier(smoothing=rounds).fit(data.X, data.y)


def test_a_smoothed_score_has_no_witness():
    data = make_gaussians(random_state=0)
    model = WMMDClassifier(0.5).fit(data.X, data.y)
    with pytest.raises(ValueError, match="smoothing=0"):
        model.witness(data.test)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(3, 9), st.integers(3, 12), st.sampled_from(["case-control", "single-sample"])
)
def test_few_and_repeated_rows_give_finite_scores(seed, n_positive, n_unlabeled, scenario):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_positive + n_unlabeled, 2)) * 2)
    y = np.repeat([1, 0], [n_positive, n_unlabeled])
    model = WMMDClassifier(0.9, scenario=scenario).fit(X, y)
    assert np.isfinite(model.decision_function(np.vstack([X, [[1e6, -1e6]]]))).all()


@pytest.mark.parametrize("scenario", ["case-control", "single-sample"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_scores_and_smoothing_share_their_sums(scenario, weighted, rng):
    """Sums by fold add up to those over all rows."""
    data = make_gaussians(60, 200, random_state=0)
    weights = [np.log(rng.integers(1, 4, n)) if weighted else None for n in (60, 200)]
    pu = PUSample(Sample(data.positive, weights[0]), Sample(data.unlabeled, weights[1]), scenario)
    scored, kernels = (np.arange(0, 60, 2), np.arange(5, 200, 3)), Kernels("rbf", np.array([0.7]))
    sums = SumsByFold.of(pu, Folds(deal(pu.positive), deal(pu.unlabeled), pu), scored, kernels)
    expected, found = loo_scores_at(pu, kernels, scored), sums.loo_scores()
    np.testing.assert_allclose(found.positive, expected.positive[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.unlabeled, expected.unlabeled[0], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found.unlabeled_rows, scored[1])
