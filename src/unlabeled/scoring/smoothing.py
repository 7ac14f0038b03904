"""Smoothing: rows of the population pass their probabilities on to their neighbours.

Labelled positives are few, and a ratio of kernel means is only as fine as they are dense; the population is plentiful.
So the ratio first gives rows of the population, the voters, a probability of being positive. A second score of a point
is the kernel mean of the voters weighted by these probabilities, over their plain kernel mean: again a ratio of two
kernel means, with probable positives in place of labelled ones. A further round starts from the scores of the last.

Where the classes form clusters each round is better than the one before; where they do not it can be worse. The mean of
all, each in units of its own spread, has most of the gain and little of the loss. And the more labelled positives
there are the less a round can add, so the less it counts.

Scores that a round is judged by must not know their own row, neither as a neighbour nor through the probabilities of
its neighbours. So rows are dealt into folds, and those of a fold are scored by voters outside of it, whose
probabilities come from rows outside of it as well. Copies of a row are dealt into one fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import logsumexp

from unlabeled.arrays import FloatArray
from unlabeled.deciding.calibration import Calibration, calibrate
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample, some_rows
from unlabeled.scoring.folds import Folds, Hashed, Turns, members_of_folds
from unlabeled.scoring.ratio import Kernels, Ratio, log_ratio, own_in_part
from unlabeled.scoring.selection import JUDGING_POINTS, Places, first_of_best, judging, scores_of

#: With this many labelled positives a round counts half as much as the ratio itself; with few, as much.
HALF_AT = 200
#: Any row of the population may be a positive, whatever its score.
SMALLEST_PROBABILITY = 1e-6

#: What each gamma's scores are worth.
Worth = Callable[[HonestScores], FloatArray]


def scored_places(pu: PUSample, scores: HonestScores) -> Places:
    """Where in the samples the rows of these scores are."""
    return pu.positive.places_of(scores.positive_rows), pu.unlabeled.places_of(scores.unlabeled_rows)


@dataclass(frozen=True)
class _SumsOfSample:
    """Log kernel sums from queries to each fold of a sample, and the weights of these sums (n_folds, n_queries)."""

    log_sums: FloatArray
    totals: FloatArray

    @classmethod
    def of(
        cls,
        sample: Sample,
        complete: Sample,
        dealt: Turns | Hashed,
        n_folds: int,
        queries: FloatArray,
        own: np.ndarray,
        kernels: Kernels,
    ) -> _SumsOfSample:
        """The sums of a query leave out (one unit of) its own row, if ``own`` names one.

        ``complete`` has the rows of the sample as they were dealt.
        """
        of_part = partial(_sums_by_fold, dealt=dealt, n_folds=n_folds, queries=queries, own=own, kernels=kernels)
        log_sums, of_folds = sample.reduced(of_part, _both_sums, complete)
        totals = np.repeat(of_folds[:, None], len(queries), axis=1)
        has_own = np.flatnonzero(own >= 0)
        own_folds = dealt.folds_at(complete, own[has_own])
        totals[own_folds, has_own] -= np.minimum(1, sample.weights_of(own[has_own]))
        return cls(log_sums, totals)

    def without(self, fold: int) -> tuple[FloatArray, FloatArray]:
        """Log sums and weights of all folds but one; of all where there is no such fold."""
        kept = np.arange(len(self.log_sums)) != fold
        return _log_of_sum(self.log_sums[kept]), self.totals[kept].sum(axis=0)


#: Log kernel sums from queries to each fold (n_folds, n_queries), and the weights of the folds (n_folds,).
_ByFold = tuple[FloatArray, FloatArray]


def _sums_by_fold(
    part: Sample,
    start: int,
    complete: Sample,
    dealt: Turns | Hashed,
    n_folds: int,
    queries: FloatArray,
    own: np.ndarray,
    kernels: Kernels,
) -> _ByFold:
    """Sums over the rows of a part by fold; those of a query leave out (one unit of) its own row, if that is here."""
    folds, here = dealt.folds_of(complete, start), own_in_part(own, start, len(part))
    own_fold = np.full(len(queries), -1)
    if len(part):
        own_fold = np.where(here >= 0, folds[here], -1)
    log_sums, totals = np.empty((n_folds, len(queries))), np.empty(n_folds)
    for fold, members in enumerate(members_of_folds(folds, n_folds)):
        own_place = np.where(own_fold == fold, np.searchsorted(members, here), -1)
        log_sums[fold] = kernels.log_sums(queries, part, own_place, among=members)[0]
        totals[fold] = part.total_of(members)
    return log_sums, totals


def _both_sums(one: _ByFold, other: _ByFold) -> _ByFold:
    return np.logaddexp(one[0], other[0]), one[1] + other[1]


@dataclass(frozen=True)
class SumsByFold:
    """Kernel sums from the scored rows of both samples to each fold of both, for one gamma.

    Leave-one-out scores of these rows and the first probabilities of the voters are made of the same sums.
    """

    pu: PUSample
    folds: Folds
    scored: Places
    positive: _SumsOfSample
    unlabeled: _SumsOfSample

    @classmethod
    def of(cls, pu: PUSample, folds: Folds, scored: Places, kernels: Kernels) -> SumsByFold:
        """The sums of a row leave out (one unit of) itself."""
        rows = pu.take(*scored)
        queries = np.concatenate([rows.positive.rows, rows.unlabeled.rows])
        own_positive, own_unlabeled = (np.full(len(queries), -1) for _ in scored)
        own_positive[: len(scored[0])], own_unlabeled[len(scored[0]) :] = scored
        return cls(
            pu,
            folds,
            scored,
            _SumsOfSample.of(
                pu.positive, folds.complete.positive, folds.positive, folds.n, queries, own_positive, kernels
            ),
            _SumsOfSample.of(
                pu.unlabeled, folds.complete.unlabeled, folds.unlabeled, folds.n, queries, own_unlabeled, kernels
            ),
        )

    def log_ratios(self, fold: int) -> FloatArray:
        """Log ratios of the scored rows, positives first, by all folds but one; by all where there is no such fold."""
        (of_positive, n_positive), (of_unlabeled, n_unlabeled) = (
            self.positive.without(fold),
            self.unlabeled.without(fold),
        )
        return log_ratio(self.pu, of_positive, of_unlabeled, n_positive, n_unlabeled)

    def loo_scores(self) -> HonestScores:
        """Leave-one-out scores of the scored rows."""
        return _scores_at(self.pu, self.scored, self.log_ratios(self.folds.n))


@dataclass(frozen=True)
class Round:
    """What a round leaves for scoring new rows: its gamma, log P(y = 1) of the voters, and its weight in the mean."""

    gamma: float
    log_probabilities: FloatArray
    weight: float = 1.0

    def samples(self, voters: Voters) -> PUSample:
        """Probable positives and population."""
        population = voters.population
        return PUSample(_weighted_by(population, self.log_probabilities), population)

    def ratio(self, voters: Voters) -> Ratio:
        """What the round adds to the score of new rows."""
        pu = self.samples(voters)
        return Ratio(self.weight, self.gamma, pu.positive, pu.population)


@dataclass(frozen=True)
class Voters:
    """Rows of the population that pass probabilities on: those with honest scores.

    ``positive`` and ``unlabeled`` are their places in the samples, -1 for a voter of the other sample. Where not all
    rows vote, those of the sample with fewer voters for its size stand for more observations: ``log_shares``.
    """

    sample: Sample
    log_shares: FloatArray  # at most 0
    positive: np.ndarray
    unlabeled: np.ndarray

    @classmethod
    def among(cls, pu: PUSample, scored: Places) -> Voters:
        """The scored rows of the population."""
        positive, unlabeled = scored
        positive = positive if pu.positives_in_population else positive[:0]
        voting = pu.take(positive, unlabeled)
        stands_for = np.repeat(
            [_times(pu.positive, voting.positive), _times(pu.unlabeled, voting.unlabeled)],
            [len(positive), len(unlabeled)],
        )
        return cls(
            voting.population,
            np.log(stands_for / stands_for.max()),
            np.concatenate([positive, np.full(len(unlabeled), -1)]),
            np.concatenate([np.full(len(positive), -1), unlabeled]),
        )

    def __len__(self) -> int:
        return len(self.sample)

    def folds(self, of: Folds) -> np.ndarray:
        """The fold of each voter."""
        return np.concatenate(of.of_places((self.positive[self.positive >= 0], self.unlabeled[self.unlabeled >= 0])))

    @property
    def population(self) -> Sample:
        """The voters, standing for the whole population."""
        return _weighted_by(self.sample, self.log_shares) if self.log_shares.any() else self.sample

    def log_ratios(
        self, queries: FloatArray, log_probabilities: FloatArray, kept: np.ndarray, kernels: Kernels
    ) -> FloatArray:
        """Log ratios of queries by those voters that are kept, for several sets of them and of probabilities.

        ``log_probabilities`` and ``kept`` are (n_sets, n_voters), the answer (n_sets, n_gammas, n_queries).
        """
        used = np.flatnonzero(kept.any(axis=0))
        log_weights = self._log_weights(log_probabilities[:, used], kept[:, used], used)
        return _log_ratios(kernels.log_sums_over(queries, self.sample.rows[used], log_weights), log_weights)

    def log_ratios_of_each_other(self, log_probabilities: FloatArray, kept: np.ndarray, kernels: Kernels) -> FloatArray:
        """The same of the voters, none of whom votes for itself: of a row that counts twice, one votes for the other.

        Engines leave the pair of a row with itself out, all of it if its weight is at most 1; what is to stay of its
        weight is added, the kernel of a row with itself being 1.
        """
        log_weights, rows = self._log_weights(log_probabilities, kept, np.arange(len(self))), self.sample.rows
        top = log_weights.max()
        log_sums = top + kernels.log_sums_over(rows, rows, log_weights - top, np.arange(len(self)))
        with np.errstate(divide="ignore"):  # nothing stays of what counts once
            log_rest = np.log1p(-np.minimum(1, 1 / self.sample.weights))
        return _log_ratios(np.logaddexp(log_sums, (log_weights + log_rest)[:, None]), log_weights)

    def _log_weights(self, log_probabilities: FloatArray, kept: np.ndarray, places: np.ndarray) -> FloatArray:
        """Log weights of voters (2 n_sets, n_places): as probable positives, and after these as the population."""
        plain = np.where(kept, np.log(self.population.weights[places]), -np.inf)
        return np.concatenate([plain + log_probabilities, plain])


@dataclass(frozen=True)
class Smoothing:
    """Log ratios of the voters, without each fold in turn and, last, with all of them (n_folds + 1, n_voters)."""

    pu: PUSample
    folds: Folds
    scored: Places
    voters: Voters
    log_ratios: FloatArray

    @classmethod
    def start(cls, sums: SumsByFold) -> Smoothing:
        """From the ratio of kernel means of labelled positives and population; scored rows of the population vote."""
        pu, voters = sums.pu, Voters.among(sums.pu, sums.scored)
        n_before = len(sums.scored[0]) + len(sums.scored[1]) - len(voters)
        ratios = [sums.log_ratios(fold)[n_before:] for fold in range(sums.folds.n + 1)]
        return cls(pu, sums.folds, sums.scored, voters, np.array(ratios))

    def rounds(
        self, n_rounds: int, plain: HonestScores, prior: float, kernels: Kernels, worth: Worth
    ) -> tuple[HonestScores, tuple[Round, ...]]:
        """Some rounds, each at the gamma that is worth most; and the mean of the plain scores and theirs."""
        state, scores, rounds = self, [plain], []
        while True:
            log_probabilities = state.log_probabilities(calibrate(scores[-1], prior))
            best = first_of_best(worth(state.judged(log_probabilities, kernels)))
            rounds.append(Round(float(kernels.gammas[best]), log_probabilities[-1]))
            if len(rounds) == n_rounds:
                scores.append(state.honest_scores(self.scored, log_probabilities, kernels.only(best)).at(0))
                break
            following = state.passed_on(log_probabilities, kernels.only(best))
            scores.append(state.honest_scores_by(following, log_probabilities, kernels.only(best)))
            state = following
        mean, weights = mean_of_scores(scores, self.pu.positive.n_effective)
        return mean, tuple(replace(done, weight=float(w)) for done, w in zip(rounds, weights[1:], strict=True))

    def log_probabilities(self, calibration: Calibration) -> FloatArray:
        """Log of P(y = 1) of the voters (n_folds + 1, n_voters)."""
        return np.log(np.maximum(calibration.probability(self.log_ratios), SMALLEST_PROBABILITY))

    def judged(self, log_probabilities: FloatArray, kernels: Kernels) -> HonestScores:
        """Scores that a grid is judged by: of some rows by at most `JUDGING_POINTS` voters, as before smoothing."""
        some = np.zeros(len(self.voters), dtype=bool)
        some[some_rows(len(some), JUDGING_POINTS, np.random.RandomState(1))] = True
        return self.honest_scores(judging(self.scored), log_probabilities, kernels, some)

    def honest_scores(
        self, places: Places, log_probabilities: FloatArray, kernels: Kernels, voting: np.ndarray | None = None
    ) -> HonestScores:
        """Log ratios of the rows at these places, for each gamma, that know nothing of their fold."""
        return _scores_at(self.pu, places, self._by_other_folds(places, log_probabilities, kernels, voting))

    def honest_scores_by(self, following: Smoothing, log_probabilities: FloatArray, kernels: Kernels) -> HonestScores:
        """The same of all scored rows, for one gamma, where the voters are scored already."""
        folds, voters = self.voters.folds(self.folds), np.arange(len(self.voters))
        positive, unlabeled = self.scored
        others = positive[: len(positive) + len(unlabeled) - len(voters)]  # positives outside of the population
        of_others = self._by_other_folds((others, unlabeled[:0]), log_probabilities, kernels)[0]
        return _scores_at(self.pu, self.scored, np.concatenate([of_others, following.log_ratios[folds, voters]]))

    def _by_other_folds(
        self, places: Places, log_probabilities: FloatArray, kernels: Kernels, voting: np.ndarray | None = None
    ) -> FloatArray:
        """Log ratios (n_gammas, n_rows) by the voters, or those of them that ``voting`` marks, outside of each fold."""
        scored = self.pu.take(*places)
        queries = np.concatenate([scored.positive.rows, scored.unlabeled.rows])
        folds = np.concatenate(self.folds.of_places(places))
        of_voters = self.voters.folds(self.folds)
        scores = np.empty((len(kernels.gammas), len(queries)))
        for fold in np.unique(folds):
            held, kept = folds == fold, of_voters != fold
            kept = kept if voting is None else kept & voting
            scores[:, held] = self.voters.log_ratios(queries[held], log_probabilities[[fold]], kept[None], kernels)[0]
        return scores

    def passed_on(self, log_probabilities: FloatArray, kernels: Kernels) -> Smoothing:
        """The voters scored by each other, for one gamma."""
        kept = self.voters.folds(self.folds) != np.arange(self.folds.n + 1)[:, None]
        return replace(self, log_ratios=self.voters.log_ratios_of_each_other(log_probabilities, kept, kernels)[:, 0])


def mean_of_scores(parts: Sequence[HonestScores], n_positive: float) -> tuple[HonestScores, FloatArray]:
    """The plain scores and those of rounds, averaged in units of their spread in the population; and the weights.

    The more labelled positives there are, the less the population has to add, and the less a round counts.
    """
    counts = np.append(1, np.full(len(parts) - 1, HALF_AT / (HALF_AT + n_positive)))
    weights = counts / np.array([part.spread for part in parts])
    weights /= weights.sum()
    return HonestScores.stacked(parts).weighted_sum(weights), weights


def _scores_at(pu: PUSample, places: Places, scores: FloatArray) -> HonestScores:
    """Scores (..., n_rows) of the rows at these places, positives first."""
    positive, unlabeled = np.split(scores, [len(places[0])], axis=-1)
    return scores_of(pu.take(*places), (positive, unlabeled), pu.labelled_share)


def _log_ratios(log_sums: FloatArray, log_weights: FloatArray) -> FloatArray:
    """Log ratios of kernel means (n_sets, ...) from sums and weights of both, those of the numerators first."""
    above, below = np.split(log_sums, 2)
    of_above, of_below = np.split(logsumexp(log_weights, axis=1), 2)
    return above - below - (of_above - of_below)[:, None, None]


def _log_of_sum(log_terms: FloatArray) -> FloatArray:
    """Log of the sum along the first axis; scipy's takes many times as long where that axis is short."""
    top = np.maximum(log_terms.max(axis=0), -np.finfo(np.float64).max)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(log_terms - top).sum(axis=0)))


def _times(whole: Sample, part: Sample) -> float:
    """How many observations of the whole sample one observation of the part stands for."""
    return whole.total / part.total if len(part) else 1.0


def _weighted_by(sample: Sample, log_factors: FloatArray) -> Sample:
    log_weights = log_factors if sample.log_weights is None else log_factors + sample.log_weights
    return replace(sample, log_weights=log_weights)
