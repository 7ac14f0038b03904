"""Where to draw the line between positive and negative, on the scale of the score.

As users write it: ``"calibrated"``, ``"prevalence"``, ``"bayes"``, a number, or one of the values below, which say what
is wanted. All are read off honest scores of positives and population; none needs a negative.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real

import numpy as np

from unlabeled.arrays import FloatArray
from unlabeled.deciding.calibration import Calibration
from unlabeled.deciding.clusters import cut_between
from unlabeled.deciding.isotonic import ROUNDING, tied
from unlabeled.deciding.scores import HonestScores

#: Policies under which a probability of 1/2 lies at the threshold.
CALIBRATING = ("calibrated", "prevalence", "bayes")


@dataclass(frozen=True)
class Costs:
    """Positive where that costs less on average: P(y = 1 | x) > false_positive / (false_positive + false_negative).

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import Costs, WMMDClassifier
    >>> model = WMMDClassifier(threshold=Costs(false_positive=1, false_negative=20)).fit(data.X, data.y)
    >>> few = WMMDClassifier(threshold=Costs(false_positive=20, false_negative=1)).fit(data.X, data.y)
    >>> bool((model.predict(data.test) == 1).sum() > (few.predict(data.test) == 1).sum())
    True
    """

    false_positive: float = 1.0
    false_negative: float = 1.0

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            value = getattr(self, name)
            if not (isinstance(value, Real) and 0 < float(value) < np.inf):
                raise ValueError(f"{name} must be a cost above 0; got {value!r}.")

    def place(self, scores: HonestScores, calibration: Calibration) -> float:  # noqa: ARG002
        """The threshold.

        Examples
        --------
        >>> from unlabeled import Costs, WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> model = WMMDClassifier(prior=0.5, threshold=Costs(1, 20)).fit(data.X, data.y)
        >>> bool(model.threshold_ == model.threshold.place(model.honest_scores_, model.calibration_))
        True
        """
        return calibration.score_of(self.false_positive / (self.false_positive + self.false_negative))


@dataclass(frozen=True)
class TargetRecall:
    """The highest threshold that at least this share of the labelled positives exceeds, each scored without itself.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import TargetRecall, WMMDClassifier
    >>> model = WMMDClassifier(threshold=TargetRecall(0.9)).fit(data.X, data.y)
    >>> round(float((model.predict(data.test) == 1)[data.test_truth].mean()), 2)  # recall on new rows
    0.83
    """

    share: float

    def __post_init__(self) -> None:
        _check_share(self.share)

    def place(self, scores: HonestScores, calibration: Calibration) -> float:  # noqa: ARG002
        """The threshold.

        Examples
        --------
        >>> from unlabeled import TargetRecall, WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> model = WMMDClassifier(prior=0.5, threshold=TargetRecall(0.9)).fit(data.X, data.y)
        >>> bool(model.threshold_ == model.threshold.place(model.honest_scores_, model.calibration_))
        True
        """
        return between(scores.positive, scores.positive_mass, self.share)


@dataclass(frozen=True)
class TargetPrecision:
    """The lowest threshold above which at least this share of the population is expected to be positive.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import TargetPrecision, WMMDClassifier
    >>> model = WMMDClassifier(threshold=TargetPrecision(0.95)).fit(data.X, data.y)
    >>> flagged = model.predict(data.test) == 1
    >>> round(float(data.test_truth[flagged].mean()), 2)  # precision on new rows
    1.0
    """

    share: float

    def __post_init__(self) -> None:
        _check_share(self.share)

    def place(self, scores: HonestScores, calibration: Calibration) -> float:
        """The threshold; the one of the highest precision, with a warning, where none is high enough.

        Examples
        --------
        >>> from unlabeled import TargetPrecision, WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> model = WMMDClassifier(prior=0.5, threshold=TargetPrecision(0.8)).fit(data.X, data.y)
        >>> bool(model.threshold_ == model.threshold.place(model.honest_scores_, model.calibration_))
        True
        """
        values, place = _tied(scores.population)
        mass = np.bincount(place, scores.population_mass)[::-1]  # rows of equal score are flagged together
        positives = np.bincount(place, scores.population_mass * calibration.probability(scores.population))[::-1]
        expected = np.cumsum(positives) / np.cumsum(mass)  # falls with each score
        n_above = int(np.searchsorted(-expected, -self.share, side="right"))
        if n_above == 0:
            warnings.warn(
                f"No threshold reaches a precision of {self.share:g}; the highest possible is about "
                f"{expected[0]:.2g}, above the highest score of the population.",
                stacklevel=2,
            )
            return float(scores.population.max())
        return _below(values, len(values) - n_above)


@dataclass(frozen=True)
class TwoClusters:
    """A cut between two clusters of the population's scores, whatever the prior.

    For labels that were not given at random. If easy cases were labelled first, the order of the scores stays right
    (Kato, Teshima and Honda, 2019), but the estimated prior is too small, and with it the threshold too high. This one
    asks neither prior nor labelled positives. It lies in the middle between two: the cut for which the means of the
    scores below and above are farthest apart (Otsu, 1979), and the one where two Gaussians that are fitted to them are
    equally dense; in both the outer twentieth of the scores at either end is drawn in, so that a few that lie far out
    make no cluster. It suits classes that part the scores; where one class is rare, or the negatives are several
    clusters, it may cut through the larger ones.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled import TwoClusters, WMMDClassifier
    >>> model = WMMDClassifier(threshold=TwoClusters()).fit(data.X, data.y)
    >>> round(float(((model.predict(data.test) == 1) == data.test_truth).mean()), 2)  # accuracy on new rows
    0.92
    """

    def place(self, scores: HonestScores, calibration: Calibration) -> float:  # noqa: ARG002
        """The threshold.

        Examples
        --------
        >>> from unlabeled import TwoClusters, WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> model = WMMDClassifier(prior=0.5, threshold=TwoClusters()).fit(data.X, data.y)
        >>> bool(model.threshold_ == model.threshold.place(model.honest_scores_, model.calibration_))
        True
        """
        values, place = _tied(scores.population)
        if len(values) == 1:
            return _below(values, 0)
        return cut_between(values, np.asarray(np.bincount(place, scores.population_mass), dtype=np.float64))


@dataclass(frozen=True)
class Balanced:
    """The cut for balanced accuracy, the mean of recall and specificity: positive where P(y = 1 | x) > prior.

    There a row is more probable among the positives than among the negatives. A cut at 1/2 is best for accuracy, which
    counts the larger class more.

    Parameters
    ----------
    clusters : float from 0 to 1, default=0
        How far to go from that cut, which rests on the labels, to the one of `TwoClusters`, which rests on the rows
        alone, where both classes are equally large; with another prior 4 prior (1 - prior) as far, since a small
        cluster is hard to see. With few labels the first cut comes out too high, and more so where easy cases were
        labelled first. Halfway, 0.5, is recommended wherever labels are few or may be biased and the prior is not
        known; ``docs/bias.md`` has the measurements. With a prior that you know take 0.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, prior=0.2, separation=3, random_state=0)
    >>> from unlabeled import Balanced, WMMDClassifier
    >>> recalls = []
    >>> for threshold in ("calibrated", Balanced()):
    ...     model = WMMDClassifier(0.2, threshold=threshold).fit(data.X, data.y)
    ...     recalls.append((model.predict(data.test) == 1)[data.test_truth].mean())
    >>> bool(recalls[0] < recalls[1])  # of the smaller class more are found
    True
    """

    clusters: float = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.clusters, Real) and 0 <= float(self.clusters) <= 1):
            raise ValueError(f"clusters must be a number from 0 to 1; got {self.clusters!r}.")

    def place(self, scores: HonestScores, calibration: Calibration) -> float:
        """The threshold.

        Examples
        --------
        >>> from unlabeled import Balanced, WMMDClassifier
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(50, 200, random_state=0)
        >>> model = WMMDClassifier(prior=0.5, threshold=Balanced()).fit(data.X, data.y)
        >>> bool(model.threshold_ == model.threshold.place(model.honest_scores_, model.calibration_))
        True
        """
        prior = float(scores.population_mass @ calibration.probability(scores.population))
        by_labels = calibration.score_of(prior)
        if not self.clusters:
            return by_labels
        share = self.clusters * 4 * prior * (1 - prior)
        return (1 - share) * by_labels + share * TwoClusters().place(scores, calibration)


Policy = str | float | Costs | TargetRecall | TargetPrecision | TwoClusters | Balanced


_POLICIES = (Costs, TargetRecall, TargetPrecision, TwoClusters, Balanced)


def check_threshold(threshold: object) -> None:
    """Refuse what is not a threshold policy."""
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool) and np.isfinite(float(threshold))
    is_name = isinstance(threshold, str) and threshold in CALIBRATING
    if not (is_number or is_name or isinstance(threshold, _POLICIES)):
        raise ValueError(
            f"threshold={threshold!r} is not known; use one of {list(CALIBRATING)}, a number on the scale of "
            "score_samples, or Costs, TargetRecall, TargetPrecision, TwoClusters or Balanced of "
            "unlabeled.deciding.thresholds."
        )


def place_threshold(threshold: Policy, scores: HonestScores, prior: float, calibration: Calibration) -> float:
    """The threshold that a policy comes to, on the scale of the score."""
    if threshold == "bayes":
        return float(-np.log(2 * prior))
    if threshold == "prevalence":
        return between(scores.population, scores.population_mass, prior)
    if threshold == "calibrated":
        return calibration.score_of(0.5)
    if isinstance(threshold, _POLICIES):
        return threshold.place(scores, calibration)
    return float(threshold)


def between(scores: FloatArray, weights: FloatArray, share: float) -> float:
    """The highest threshold that at least this share of the weight exceeds, halfway to the next score."""
    values, place = _tied(scores)
    above = np.cumsum(np.bincount(place, weights)[::-1])[::-1]  # at or above each value
    enough = np.flatnonzero(above >= share * weights.sum() * (1 - 1e-12))
    return _below(values, int(enough[-1]) if len(enough) else 0)


def _tied(scores: FloatArray) -> tuple[FloatArray, np.ndarray]:
    """Different scores and each one's place: no threshold may fall between copies of a row.

    In large samples sums are taken in float32, and scores of copies differ by some 1e-8.
    """
    return tied(scores, max(ROUNDING, min(1e-7, 1e-5 * float(np.std(scores)))))


def _below(values: FloatArray, place: int) -> float:
    """A threshold that one of the ascending values exceeds, and none of those before it."""
    if place == 0:
        return float(np.nextafter(values[0], -np.inf))
    middle = (values[place - 1] + values[place]) / 2
    return float(middle if values[place - 1] <= middle < values[place] else values[place - 1])


def _check_share(share: object) -> None:
    if not (isinstance(share, Real) and 0 < float(share) <= 1):
        raise ValueError(f"The target must be a share above 0 and at most 1; got {share!r}.")
