"""Known negatives: two fits of the same classifier, one score.

A PU score needs no negatives: it is an estimate of p(x | y = 1) / p(x), with p(x) seen in the population. Where some
rows are known to be negative, p(x) can be had in a second way, from both classes:

    p(x) = eta p(x) + (1 - eta) (prior p(x | y = 1) + (1 - prior) p(x | y = 0)),     0 <= eta <= 1.

For the ratio of kernel means this is a third kernel mean, mu_p / (eta mu_u + (1 - eta)(prior mu_p + (1 - prior) mu_n)).
For any classifier it takes two fits: one to positives and population, one to positives and negatives, who together are
a population all of whose positives are labelled. With P(y = 1 | x) by each of them, the formula above reads

    1 / P = eta / P_u + (1 - eta) / P_n.

A score that is no ratio of densities, as after smoothing, is made one: log odds that are linear in it, of the slope
that suits its honest scores. ``eta`` is the mean over a grid, each value counted by how well the scores that it makes
tell positives from the population, and from the negatives as far as these are a random choice of all negatives.

Every honest score stays honest. A positive is left out by both fits. An unlabeled row is left out by the first and is
unknown to the second. A negative is left out by the second; by the first too in the single-sample scenario, where it is
one more row of the population, and in the case-control scenario it is unknown to the first.

How far negatives are a random choice of all negatives is what somebody says, or a check
(`unlabeled.deciding.choice_of_negatives`). If they are, the unlabeled rows are a mixture of positives and negatives in
the scores of the second fit, which tells the prior (`unlabeled.deciding.adapting`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logit, ndtri, softmax

from unlabeled.arrays import FloatArray, on_host
from unlabeled.deciding.adapting import FEWEST_ROWS, Adaptation, adaptation
from unlabeled.deciding.calibration import calibrate
from unlabeled.deciding.choice_of_negatives import weight_of
from unlabeled.deciding.isotonic import IsotonicRatio
from unlabeled.deciding.scores import HonestScores
from unlabeled.samples import PUSample, Sample

#: With this many negatives they have as much say in the prior as positives and population.
HALF_AT = 20.0
#: With this many negatives they have at most half of the say in the score.
HALF_OF_SCORE_AT = 5.0
ETAS: FloatArray = np.linspace(0, 1, 11)
#: Slopes of log odds, in units of a score's spread.
SLOPES: FloatArray = np.geomspace(0.25, 16, 19)
#: Before any data are seen a slope is held to be about 3, up to a factor of e.
_LOG_PRIOR_OF_SLOPES: FloatArray = -0.5 * np.log(SLOPES / 3) ** 2
_CLOSEST = 1e-9
#: Below it a log ratio is as good as minus infinity beside 1.
_FAR = -30.0


@dataclass(frozen=True)
class Line:
    """Log of p(x | y = 1) / p(x | y = 0) as a line in a score."""

    slope: float
    intercept: float

    @classmethod
    def fit(cls, scores: HonestScores, prior: float) -> Line:
        """The likeliest line for honest scores of positives and of a population with this prior.

        For every slope one intercept makes the mean of P(y = 1 | score) over the population the prior.
        """
        slopes, prior = SLOPES / scores.spread, float(np.clip(prior, _CLOSEST, 1 - _CLOSEST))
        center = float(scores.population @ scores.population_mass)
        intercepts = _intercepts(slopes, scores.population - center, scores.population_mass, prior)
        lines = intercepts[:, None] + np.outer(slopes, scores.positive - center)
        best = int(np.argmax(log_expit(lines) @ scores.positive_weights + _LOG_PRIOR_OF_SLOPES))
        return cls(float(slopes[best]), float(intercepts[best] - slopes[best] * center - logit(prior)))

    def log_inverse(self, scores: FloatArray, prior: float) -> FloatArray:
        """Log of 1 / P(y = 1 | score)."""
        return np.logaddexp(0.0, -(logit(prior) + self.intercept + self.slope * scores))


@dataclass(frozen=True)
class PlainRatio:
    """A score that is itself the log of p(x | y = 1) over a mixture in which positives have this share."""

    share: float | FloatArray

    def without(self, units: FloatArray, total: float, *, is_positive: bool) -> PlainRatio:
        """The same of scores that leave out each one's own row, so many units of the total."""
        return PlainRatio((self.share * total - units * is_positive) / (total - units))

    def log_inverse(self, scores: FloatArray, prior: float) -> FloatArray:
        """Log of 1 / P(y = 1 | score), of which noise can make less than 0."""
        factor, rest = (1 - prior) / (1 - self.share), (prior - self.share) / (1 - self.share)
        near = np.log(np.maximum(rest + factor * np.exp(-np.maximum(scores, _FAR)), _CLOSEST))
        return np.where(scores < _FAR, np.log(factor) - scores, near) - np.log(prior)


@dataclass(frozen=True)
class KnownNegatives:
    """How known negatives enter a fitted classifier's score.

    Attributes
    ----------
    model : classifier
        The same classifier, fitted to the positives and the known negatives.
    eta : float
        The share of the population's own mean in the score; 1 without negatives.
    weight : float
        How far the negatives were taken for a random choice of all negatives: from 0, not at all, to 1.
    p_value : float or None
        How probable so few unlabeled rows where the negatives lie are, if these are a random choice of all negatives
        and the prior is at most the given one, or the upper end of the interval of the estimated one; None where rows
        are too few to tell.
    n_negatives : float
        How many there are.
    scores : array of shape (n_negatives,)
        Their honest scores.
    prior : float
        The prior that the score was made with.
    without : HonestScores
        The classifier's honest scores when nobody knows of the negatives.
    """

    model: Any
    eta: float
    weight: float
    p_value: float | None
    n_negatives: float
    scores: FloatArray
    prior: float
    of_population: Line | PlainRatio
    of_negatives: Line | PlainRatio
    without: HonestScores

    def combined(self, by_population: FloatArray, by_negatives: FloatArray) -> FloatArray:
        """Log ratios from the scores of both fits."""
        return mixed(
            self.eta,
            self.of_population.log_inverse(by_population, self.prior),
            self.of_negatives.log_inverse(by_negatives, self.prior),
            self.prior,
        )


def mixed(eta: float, log_inverse: FloatArray, other_log_inverse: FloatArray, prior: float) -> FloatArray:
    """Log of P / prior, where 1 / P is the weighted mean of two such inverses."""
    with np.errstate(divide="ignore"):
        shares = np.log(eta), np.log1p(-eta)
    return np.asarray(-np.logaddexp(shares[0] + log_inverse, shares[1] + other_log_inverse) - np.log(prior))


Maps = tuple[Line | PlainRatio, Line | PlainRatio]
#: Of positives, unlabeled rows and negatives.
Samples = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True)
class TwoScores:
    """Honest scores of positives, unlabeled rows and negatives by both fits, each (2, n): population's, negatives'.

    ``positive_units`` and ``negative_units`` are how many observations of these samples a row leaves out with itself.
    """

    positive: FloatArray
    unlabeled: FloatArray
    negative: FloatArray
    positive_weights: FloatArray
    unlabeled_weights: FloatArray
    negative_weights: FloatArray
    positive_rows: np.ndarray
    unlabeled_rows: np.ndarray
    negative_rows: np.ndarray
    positive_units: FloatArray
    negative_units: FloatArray
    negatives_in_population: bool
    labelled_share: float

    @classmethod
    def of(cls, model: Any, other: Any, pu: PUSample) -> TwoScores:
        """From a classifier fitted to positives and population, and one fitted to positives and negatives.

        Where not all rows have honest scores, those that have both.
        """
        own, theirs = model.honest_scores_, other.honest_scores_
        single, negative = pu.positives_in_population, pu.negative
        if negative is None:
            raise ValueError("There are no known negatives.")
        of_positives = _places(theirs.positive_rows, own.positive_rows)
        kept = of_positives >= 0
        others = ~np.isin(own.unlabeled_rows, negative.row_numbers)
        unlabeled_rows = own.unlabeled_rows[others]
        unlabeled = pu.unlabeled.rows[pu.unlabeled.places_of(unlabeled_rows)]
        if single:
            of_negatives = _places(own.unlabeled_rows, theirs.unlabeled_rows)
            scored = of_negatives >= 0
            by_population = own.unlabeled[of_negatives[scored]]
            weights = own.unlabeled_weights[of_negatives[scored]]  # in proportion to those of unlabeled rows
        else:
            scored, weights = np.ones(len(theirs.unlabeled), dtype=bool), theirs.unlabeled_weights
            rows = negative.rows[negative.places_of(theirs.unlabeled_rows)]
            by_population = on_host(model.score_rows_like_honest(rows))
        positive_rows, negative_rows = own.positive_rows[kept], theirs.unlabeled_rows[scored]
        return cls(
            np.array([own.positive[kept], theirs.positive[of_positives[kept]]]),
            np.array([own.unlabeled[others], on_host(other.score_rows_like_honest(unlabeled))]),
            np.array([by_population, theirs.unlabeled[scored]]),
            own.positive_weights[kept],
            own.unlabeled_weights[others],
            weights,
            positive_rows,
            unlabeled_rows,
            negative_rows,
            _units(pu.positive, positive_rows, pu),
            _units(negative, negative_rows, pu),
            single,
            own.labelled_share,
        )

    def against_negatives(self, fit: int = 1) -> HonestScores:
        """Positives and negatives, half of either."""
        weights = self.positive_weights, self.negative_weights
        return HonestScores(self.positive[fit], self.negative[fit], *weights, 0.5)

    def against_population(
        self, scores: tuple[FloatArray, FloatArray, FloatArray], prior: float, weight: float
    ) -> HonestScores:
        """One score of positives and the population, of which negatives are members in the single-sample scenario.

        In the case-control scenario they are a second sample of it where they are a random choice, together with as
        many of the positives as the prior says; ``weight`` says how far they count.
        """
        positive, unlabeled, negative = scores
        weight = 1.0 if self.negatives_in_population else weight
        share = self.labelled_share
        n_known, n_unlabeled = weight * self.negative_weights.sum(), self.unlabeled_weights.sum()
        if not self.negatives_in_population:
            n_positives = n_known * prior / max(1 - prior, _CLOSEST)
            share = float(n_positives / (n_positives + n_known + n_unlabeled))
        if not weight:
            negative, weights, rows = unlabeled[:0], unlabeled[:0], self.unlabeled_rows[:0]
        else:
            weights, rows = weight * self.negative_weights, self.negative_rows
        return HonestScores(
            positive,
            np.concatenate([unlabeled, negative]),
            self.positive_weights,
            np.concatenate([self.unlabeled_weights, weights]),
            share,
            self.positive_rows,
            np.concatenate([self.unlabeled_rows, rows]),
        )

    def of_fit(self, fit: int, prior: float, weight: float = 0.0) -> HonestScores:
        """The score of one of the fits, of positives and population."""
        return self.against_population((self.positive[fit], self.unlabeled[fit], self.negative[fit]), prior, weight)

    def log_inverses(self, maps: Maps, prior: float, n_known: float | None) -> Samples:
        """Logs of 1 / P(y = 1 | score) of positives, unlabeled rows and negatives by both fits, each (2, n).

        ``n_known`` is how many rows the fit to positives and negatives had, where its scores leave out each row.
        """
        of_known = [maps[1], maps[1], maps[1]]
        if n_known is not None and isinstance(maps[1], PlainRatio):
            of_known[0] = maps[1].without(self.positive_units, n_known, is_positive=True)
            of_known[2] = maps[1].without(self.negative_units, n_known, is_positive=False)
        positive, unlabeled, negative = (
            np.array([maps[0].log_inverse(scores[0], prior), known.log_inverse(scores[1], prior)])
            for scores, known in zip((self.positive, self.unlabeled, self.negative), of_known, strict=True)
        )
        return positive, unlabeled, negative

    def without_traces(self, n_known: float | None) -> TwoScores:
        """The same, but that by the second fit a score no longer tells whether its row was left out.

        Where negatives are few, most rows are far from all of them: they score the share of positives in that fit, and
        positives, each left out, that of one positive fewer. A difference as small as that would tell them all apart.
        It is taken out, where it is known, and scores are rounded to twice its size.
        """
        if not len(self.unlabeled[1]):
            return self
        n_positive, of_negatives, of_positives = max(float(self.positive_weights.sum()), 2.0), 0.0, 0.0
        if n_known is not None:
            of_negatives = float(np.log(n_known / (n_known - 1)))
            of_positives = of_negatives - float(np.log(n_positive / (n_positive - 1)))
        step, top = 2 / n_positive, self.unlabeled[1].max()

        def rounded(scores: FloatArray, left_out: float = 0.0) -> FloatArray:
            own, theirs = scores
            return np.array([own, top + step * np.round((theirs + left_out - top) / step)])

        return replace(
            self,
            positive=rounded(self.positive, of_positives),
            unlabeled=rounded(self.unlabeled),
            negative=rounded(self.negative, of_negatives),
        )

    def mixture(self) -> Adaptation | None:
        """The unlabeled rows as a mixture of positives and negatives; None where they are too few to tell."""
        if len(self.unlabeled[1]) < FEWEST_ROWS:
            return None
        known = self.against_negatives()
        return adaptation(known, calibrate(known, 0.5), 0.5, self.unlabeled[1])

    def population_prior(self, among_unlabeled: float) -> float:
        """The prior, if positives have this share among the unlabeled rows."""
        if not self.negatives_in_population:
            return among_unlabeled
        n_positive, n_unlabeled = self.positive_weights.sum(), self.unlabeled_weights.sum()
        total = n_positive + n_unlabeled + self.negative_weights.sum()
        return float((n_positive + among_unlabeled * n_unlabeled) / total)


def _units(known: Sample, rows: np.ndarray, pu: PUSample) -> FloatArray:
    """How many of the known observations, effective ones where weights are no counts, each row leaves out."""
    samples = [sample for sample in (pu.positive, pu.negative) if sample is not None]
    in_effect = sum(sample.n_effective for sample in samples) / sum(sample.total for sample in samples)
    return np.asarray(np.minimum(1, known.weights_of(known.places_of(rows))) * in_effect)


def best_eta(two: TwoScores, inverses: tuple[FloatArray, FloatArray, FloatArray], prior: float, weight: float) -> float:
    """The mean of all shares, each counted by the likelihood of its honest scores; near 1 with few negatives.

    ``inverses`` are logs of 1 / P of positives, unlabeled rows and negatives by both fits, each (2, n).
    """
    likelihoods = []
    few = min(two.positive_weights.sum(), two.negative_weights.sum())
    for eta in ETAS:
        positive, unlabeled, negative = (mixed(float(eta), of[0], of[1], prior) for of in inverses)
        population = two.against_population((positive, unlabeled, negative), prior, 0.0).against_unlabeled()
        found = 2 * population.n_positive * IsotonicRatio.fit(population).log_likelihood()
        if weight:
            known = HonestScores(positive, negative, two.positive_weights, two.negative_weights)
            found += 2 * weight * few * IsotonicRatio.fit(known).log_likelihood()
        likelihoods.append(found)
    n_negative = two.negative_weights.sum()
    return float(1 - n_negative / (n_negative + HALF_OF_SCORE_AT) * (1 - softmax(likelihoods) @ ETAS))


def known_negatives(
    model: Any, other: Any, two: TwoScores, p_value: float | None, n_known: float | None
) -> tuple[KnownNegatives, HonestScores]:
    """Let known negatives into a fitted classifier's prior and score; and its honest scores with them.

    ``p_value`` is that of `check_of_choice`; ``n_known`` as for `TwoScores.log_inverses`.
    """
    mixture = two.mixture()
    weight = weight_of(model.negatives_are, p_value)
    if model.prior_estimator_ is not None and mixture is not None and weight:
        model.prior_estimator_ = NegativesPrior.of(model.prior_estimator_, mixture, two, weight)
        model.prior_ = model.prior_estimator_.prior_
    prior = float(np.clip(model.prior_, _CLOSEST, 1 - _CLOSEST))
    maps: Maps
    if model._score_is_ratio:
        maps = PlainRatio(prior), PlainRatio(other.prior_)
    else:
        maps = Line.fit(two.of_fit(0, prior), prior), Line.fit(two.against_negatives(), 0.5)
    judged = two if model._score_is_ratio else two.without_traces(n_known)  # ratios know of rows that are left out
    eta = best_eta(judged, judged.log_inverses(maps, prior, n_known), prior, weight)
    inverses = two.log_inverses(maps, prior, n_known)
    positive, unlabeled, negative = (mixed(eta, of[0], of[1], prior) for of in inverses)
    n_negatives = float(two.negative_weights.sum())
    found = KnownNegatives(
        other, eta, weight, p_value, n_negatives, negative, prior, maps[0], maps[1], model.honest_scores_
    )
    return found, two.against_population((positive, unlabeled, negative), prior, weight)


def _places(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted row is first found among the rows, or -1."""
    order = np.argsort(rows, kind="stable")
    first = np.minimum(np.searchsorted(rows[order], wanted), len(rows) - 1)
    return np.where(rows[order][first] == wanted, order[first], -1)


@dataclass(frozen=True)
class NegativesPrior:
    """A prior that known negatives have a say in: ``share`` is theirs, the rest that of an estimator without them."""

    prior_: float
    low: float
    high: float
    share: float
    without: Any

    @classmethod
    def of(cls, without: Any, mixture: Adaptation, two: TwoScores, weight: float) -> NegativesPrior:
        """From the estimator without negatives and the mixture that the unlabeled rows are."""
        n_negatives = float(two.negative_weights.sum())
        share = weight * n_negatives / (n_negatives + HALF_AT)
        ends = mixture.prior, mixture.low, mixture.high
        value, low, high = (two.population_prior(among_unlabeled) for among_unlabeled in ends)
        return cls((1 - share) * without.prior_ + share * value, low, high, share, without)

    @property
    def labelled_share_(self) -> float:
        """The least that the prior can be."""
        return float(self.without.labelled_share_)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends of an interval: the mean of that of either, as if both erred to the same side."""
        stretch = ndtri((1 + level) / 2) / ndtri(0.975)
        middle = (self.low + self.high) / 2
        theirs = [middle + stretch * (end - middle) for end in (self.low, self.high)]
        ends = [
            (1 - self.share) * end + self.share * own
            for end, own in zip(self.without.interval(level), theirs, strict=True)
        ]
        return float(np.clip(min(ends[0], self.prior_), 0, 1)), float(np.clip(max(ends[1], self.prior_), 0, 1))


def _intercepts(slopes: FloatArray, scores: FloatArray, mass: FloatArray, prior: float) -> FloatArray:
    """The intercept for each slope at which the mean of the logistic curve is the prior; by bisection."""
    lines, low, high = np.outer(slopes, scores), np.full(len(slopes), -500.0), np.full(len(slopes), 500.0)
    for _ in range(50):
        middle = (low + high) / 2
        too_large = expit(middle[:, None] + lines) @ mass > prior
        low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
    return (low + high) / 2
