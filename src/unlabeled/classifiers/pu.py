"""The classifier to start with: several scores, weighed by how well each tells labelled from unlabeled rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from unlabeled.arrays import FloatArray
from unlabeled.classifiers.least_squares import LeastSquaresPUClassifier
from unlabeled.classifiers.score_wmmd import ScoreWMMDClassifier
from unlabeled.classifiers.weighing import Comparison, combined
from unlabeled.classifiers.wmmd import WMMDClassifier
from unlabeled.deciding.choice_of_negatives import check_choice
from unlabeled.deciding.decision import ScoreDecisions
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.thresholds import Policy, check_threshold
from unlabeled.engines.threads import at_most_threads, n_threads
from unlabeled.priors import PriorEstimator, ResolvedPrior, check_prior, reads_scores, resolve_prior
from unlabeled.priors.estimator import check_max_evaluations
from unlabeled.priors.limits import warn_unless_limited
from unlabeled.priors.scar import told_once
from unlabeled.samples import PUSample
from unlabeled.scoring.cross_fitting import check_can_score, check_n_folds
from unlabeled.stages import stage


class PUClassifier(ScoreDecisions, BaseEstimator):
    """Classifier from positive and unlabeled data that finds out how to score them; start here.

    `WMMDClassifier` scores by distances and `LeastSquaresPUClassifier` by a ratio fitted in a kernel's space, both in
    closed form. `ScoreWMMDClassifier` scores by boosted trees, or another classifier that you give. All are fitted, and
    all give every row a score that the row itself took no part in. The score is a weighted mean of theirs; how well
    mixtures of these scores tell labelled from unlabeled rows decides the weights, and a score of little weight is
    left out. No negatives are needed for that: whatever ranks positives higher above the population also ranks them
    higher above the negatives.

    Parameters
    ----------
    prior : float in (0, 1), name or prior estimator, default="auto"
        P(y = 1) in the population. If it is known, give it.
    estimator : classifier or None, default=None
        What learns the learned score. None: boosted trees, or a logistic regression where X is sparse, see
        `ScoreWMMDClassifier`.
    parts : dict, optional
        Further scores to weigh, by name: classifiers of this library that keep ``honest_scores_``, or any other
        classifier with scores, of which a `ScoreWMMDClassifier` is made. They are cloned, and parameters that both have
        (prior, scenario, engine, the rows that are scored) are those from here. Under the names "wmmd", "least-squares"
        and "score" they replace what has this name; "drop" leaves it out. `set_params` and searches reach into them:
        ``parts__NAME`` is the part itself, ``parts__NAME__C`` its parameter C.
    threshold : {"calibrated", "prevalence", "bayes"}, float or policy, default="calibrated"
        What the score must exceed, see `WMMDClassifier`. "bayes" speaks of a single ratio, so with it the best of
        the scores is used alone.
    n_folds : int, default=5
        Folds of the cross-fitting.
    scenario : {"case-control", "single-sample"}, default="case-control"
        Whether the unlabeled rows are a sample of the population, or labelled and unlabeled rows together.
    engine : {"auto", "triton", "tree", "numba", "reference"}, default="auto"
        How kernel sums are computed.
    max_evaluations : int or None, default=10000
        The most rows of each sample that are scored by distances, to weigh the scores and to smooth, and that a ratio
        is fitted to.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Threads for the kernel sums, the fitted ratio and the default trees; an estimator of yours sees to its own.
    pos_label : optional
        The value of y that marks labelled positives, where numbers or words do not say it; see `fit`.
    verbose : bool, default=False
        Print what `fit` is doing, and how long it took.
    negative : optional
        The value of y that marks rows known to be negative, see Notes of `PUClassifier`; None: there are none.
    negatives_are : {"auto", "random", "selected"} or float in [0, 1], default="auto"
        How far the known negatives are a random choice of all negatives, and so have a say in the prior. "auto":
        random, unless a check contradicts it.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The value that marks unlabeled rows, and the one that marks positives.
    chosen_ : str
        The names of the parts in use, with "+" between them.
    reason_ : str
        Why, in a sentence.
    comparison_ : Comparison
        The log-likelihood of each part alone, and the shares that follow from those of their mixtures.
    parts_ : dict
        The fitted classifiers in use, by "wmmd", "least-squares", "score" and the names of ``parts``.
    weights_ : dict
        What their scores are multiplied by: the shares of the comparison, in units of each one's spread.
    prior_, threshold_ : float
    prior_estimator_ : prior estimator or None
        The fitted estimator, where one was asked for: its ``interval()`` says how sure the prior is.
    known_negatives_ : KnownNegatives or None
        How known negatives enter the score, and whether they look like a random choice; None without any.
    honest_scores_ : HonestScores
        Scores of positives and unlabeled rows by parts that had not seen them, and which rows these are.
    n_features_in_ : int
    n_missing_ : array of shape (`n_features_in_`,)
        How many values of each feature were missing (NaN) in `fit`.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Where X had string column names.
    encoder_ : TableEncoder or None
        What makes features of a data frame with columns that are not numbers (`unlabeled.tables`); names and numbers
        of features are then those of its columns.

    Notes
    -----
    Missing values (NaN) and sparse tables are taken as they are: the notes of the classifiers say how. An
    ``estimator`` of yours is given them too.

    A prior that is estimated from scores is estimated from those of the mixture, which tell more than those of a part.
    Where they say nothing of how small it may be, there is a `PriorWarning`.

    Rows that are known to be negative (``negative``) are learned from by a second fit of the same classifier, to
    positives and negatives; `unlabeled.deciding.known_negatives` says how both make one score. Some tens of them are
    worth it. Negatives that were picked rather than drawn are of use too, if that is said (``negatives_are``). In the
    single-sample scenario they are rows of the population, in the case-control scenario they came on top of it.
    `predict` then answers with their value, and `classes_` has it first.

    Examples
    --------
    >>> from unlabeled import PUClassifier
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = PUClassifier(prior=0.5).fit(data.X, data.y)
    >>> model.predict([[2.0, 1.0], [-2.0, -1.0]])
    array([1, 0])
    """

    _takes_missing = True
    _takes_sparse = True
    _takes_tensors = True
    # What models that were saved before have.
    verbose: bool = False
    parts: dict[str, Any] | None = None

    def __init__(
        self,
        prior: float | str | PriorEstimator = "auto",
        *,
        estimator: Any = None,
        parts: dict[str, Any] | None = None,
        threshold: Policy = "calibrated",
        n_folds: int = 5,
        scenario: str = "case-control",
        engine: str = "auto",
        max_evaluations: int | None = 10_000,
        random_state: int | np.random.RandomState | None = 0,
        n_jobs: int | None = None,
        pos_label: Any = None,
        negative: Any = None,
        negatives_are: str | float = "auto",
        verbose: bool = False,
    ) -> None:
        self.prior = prior
        self.estimator = estimator
        self.parts = parts
        self.threshold = threshold
        self.n_folds = n_folds
        self.scenario = scenario
        self.engine = engine
        self.max_evaluations = max_evaluations
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.pos_label = pos_label
        self.negative = negative
        self.negatives_are = negatives_are
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 (the name is scikit-learn's)
        """Parameters by name; with ``deep`` also ``parts__NAME``, and ``parts__NAME__PARAMETER`` of those given.

        Examples
        --------
        >>> from unlabeled import PUClassifier, WMMDClassifier
        >>> model = PUClassifier(parts={"wmmd": WMMDClassifier(kernel="inverse")})
        >>> model.get_params()["parts__wmmd__kernel"]
        'inverse'
        """
        found: dict[str, Any] = super().get_params(deep=deep)
        for name, part in self._given_parts().items() if deep else ():
            found[f"parts__{name}"] = part
            if hasattr(part, "get_params") and not isinstance(part, type):
                found |= {f"parts__{name}__{key}": value for key, value in part.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of given parts as ``parts__NAME__PARAMETER``.

        Examples
        --------
        >>> from unlabeled import PUClassifier, WMMDClassifier
        >>> model = PUClassifier(parts={"wmmd": WMMDClassifier()})
        >>> model.set_params(parts__wmmd__kernel="inverse").parts["wmmd"].kernel
        'inverse'
        """
        inside = {key.removeprefix("parts__"): params.pop(key) for key in list(params) if key.startswith("parts__")}
        super().set_params(**params)
        # Whole parts first: a parameter is meant for the part that takes the place of another.
        for key, value in sorted(inside.items(), key=lambda item: item[0] not in self._given_parts()):
            self._set_inside(key, value)
        return self

    def _given_parts(self) -> dict[str, Any]:
        return dict(self.parts) if isinstance(self.parts, Mapping) else {}

    def _set_inside(self, key: str, value: Any) -> None:
        """Replace a given part, or set a parameter of it. The dict that was given stays as it is."""
        parts = self._given_parts()
        if key in parts:
            self.parts = parts | {key: value}
            return
        owners = [name for name in parts if key.startswith(f"{name}__") and hasattr(parts[name], "set_params")]
        if not owners:
            raise ValueError(
                f"Invalid parameter 'parts__{key}': of the classifiers in parts, {sorted(parts)}, none has this name "
                "and parameters. Give the classifier in parts first, also one of the usual names, such as "
                "parts={'wmmd': WMMDClassifier()}."
            )
        owner = max(owners, key=len)
        parts[owner].set_params(**{key.removeprefix(f"{owner}__"): value})

    def _fit(self, pu: PUSample, prior: ResolvedPrior | None = None) -> Self:
        self._check_parameters(pu)
        described = self._described_parts()
        if prior is None and not reads_scores(self.prior):  # estimated from the rows, the same for all parts
            prior = resolve_prior(self.prior, pu, engine=self.engine, n_jobs=self.n_jobs)
        with told_once(), at_most_threads(n_threads(self.n_jobs)):
            parts = self._fitted_parts(described, pu, prior)
            honest = {name: part.honest_scores_ for name, part in parts.items()}
            with stage("weighing"):
                self.comparison_ = Comparison.of(tuple(parts), HonestScores.stacked(list(honest.values())))
                shares = self.comparison_.in_use(alone=self.threshold == "bayes")
                self.weights_, scores = combined([honest[name] for name in shares], shares)
            with stage("prior"):
                self.prior_, self.prior_estimator_ = prior or resolve_prior(self.prior, pu, scores)
                if self.prior_estimator_ is not None and self.prior_estimator_.reads_scores:
                    warn_unless_limited(self.prior_estimator_.interval(), scores)
        self.parts_ = {name: parts[name] for name in shares}
        self.chosen_ = "+".join(shares)
        self.reason_ = reason(self.comparison_, shares, described)
        with stage("calibration"):
            self._decide(scores)
        return self

    def _check_parameters(self, pu: PUSample) -> None:
        check_threshold(self.threshold)
        check_choice(self.negatives_are)
        check_n_folds(self.n_folds)
        check_max_evaluations(self.max_evaluations)
        self._check_estimator()
        check_prior(self.prior, pu)

    def _check_estimator(self) -> None:
        if self.estimator is not None:
            check_can_score(self.estimator)

    def score_rows(self, rows: FloatArray) -> FloatArray:
        """Log of p(x | y = 1) / p(x) at validated rows, or a weighted mean of several such logs."""
        if len(self.parts_) == 1:
            return next(iter(self.parts_.values())).score_rows(rows)
        return np.asarray(sum(self.weights_[name] * part.score_rows(rows) for name, part in self.parts_.items()))

    def score_rows_like_honest(self, rows: FloatArray) -> FloatArray:
        """The same of scores that are made as the honest scores of the training rows were."""
        parts = self.parts_.items()
        return np.asarray(sum(self.weights_[name] * part.score_rows_like_honest(rows) for name, part in parts))

    def _checks_negatives_by(self, both: PUSample) -> Any:
        """Distances tell it as well, and sooner."""
        how: dict[str, Any] = {
            "scenario": both.scenario,
            "engine": self.engine,
            "n_jobs": self.n_jobs,
            "random_state": self._seed(),
        }
        return WMMDClassifier(both.labelled_share, smoothing=0, **how).fit_sample(both)

    def _described_parts(self) -> dict[str, Part]:
        """The scores to weigh, by name: the usual ones, and those that were given."""
        given = {} if self.parts is None else self.parts
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise ValueError(f"parts must be a dict from names to classifiers, or to 'drop'; got {given!r}.")
        usual = self._usual_parts()
        found = usual | {name: _given(name, part) for name, part in given.items() if not _is_drop(part)}
        dropped = {name for name, part in given.items() if _is_drop(part)}
        if unknown := sorted(dropped - set(usual)):
            raise ValueError(f"parts={unknown} cannot be dropped: there are only {list(usual)}.")
        if not (kept := {name: part for name, part in found.items() if name not in dropped}):
            raise ValueError(f"All of {list(usual)} were dropped; keep one of them, or give another in parts.")
        return kept

    def _usual_parts(self) -> dict[str, Part]:
        return PARTS

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _fitted_parts(self, described: dict[str, Part], pu: PUSample, prior: ResolvedPrior | None) -> dict[str, Any]:
        shared: dict[str, Any] = {
            "prior": self.prior,
            "threshold": "bayes" if self.threshold == "bayes" else "calibrated",  # the policy is for the final score
            "scenario": pu.scenario,
            "engine": self.engine,
            "max_evaluations": self.max_evaluations,
            "random_state": self._seed(),  # the same rows are scored by all
            "n_jobs": self.n_jobs,
            "pos_label": self.pos_label,
            "negative": None,  # both fits, to the population and to known negatives, are of all parts
        }
        fitted = {}
        for name, part in described.items():
            classifier = part.make(self)
            known = classifier.get_params(deep=False)
            classifier.set_params(**{key: value for key, value in shared.items() if key in known})
            fitted[name] = self._fitted_part(classifier, pu, prior)
            fitted[name]._speak_as(self)
        return fitted

    def _fitted_part(self, classifier: Any, pu: PUSample, prior: ResolvedPrior | None) -> Any:
        return classifier.fit_sample(pu, prior=prior)


@dataclass(frozen=True)
class Part:
    """A score that `PUClassifier` weighs: what it goes by, in words, and how its classifier is made.

    The classifier has `fit_sample`, `honest_scores_` and `score_rows`. It is given those parameters of the
    `PUClassifier` that it has too.
    """

    words: str
    make: Callable[[PUClassifier], Any]


#: The scores that are weighed.
PARTS: dict[str, Part] = {
    "wmmd": Part("distances", lambda _: WMMDClassifier()),
    "least-squares": Part("the fitted ratio", lambda _: LeastSquaresPUClassifier()),
    "score": Part("the learned score", lambda model: ScoreWMMDClassifier(model.estimator, n_folds=model.n_folds)),
}


def _given(name: str, classifier: Any) -> Part:
    """A part of the user's own."""
    if not hasattr(classifier, "get_params") or isinstance(classifier, type):
        raise ValueError(f"parts[{name!r}] must be a classifier, or 'drop'; got {classifier!r}.")
    if isinstance(classifier, ScoreDecisions):
        return Part(f"{name!r}", lambda _: clone(classifier))
    check_can_score(classifier)
    return Part(f"{name!r}", lambda model: ScoreWMMDClassifier(clone(classifier), n_folds=model.n_folds))


def _is_drop(part: object) -> bool:
    return isinstance(part, str) and part == "drop"


def reason(comparison: Comparison, shares: dict[str, float], described: dict[str, Part]) -> str:
    """Why these scores are in use, in a sentence."""
    alone = [
        f"{likelihood:.4f} of {described[name].words}"
        for name, likelihood in zip(comparison.names, comparison.log_likelihoods, strict=True)
    ]
    numbers = f"log-likelihood alone {_enumerated(alone)}"
    words = _capitalised(_enumerated([described[name].words for name in shares]))
    if len(shares) > 1:
        return f"{words} count {_enumerated([f'{share:.0%}' for share in shares.values()])}: {numbers}."
    return f"{words} alone: labelled rows are told from unlabeled ones best so; {numbers}."


def _enumerated(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _capitalised(words: str) -> str:
    return words[0].upper() + words[1:]
