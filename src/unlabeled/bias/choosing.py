"""What to use when labels may not have been given at random: from what is known, and from the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from sklearn.utils.validation import check_is_fitted

from unlabeled.bias.scar_test import ScarTest
from unlabeled.classifiers import PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier
from unlabeled.classifiers.propensity_em import places_of_columns
from unlabeled.classifiers.propensity_wmmd import Propensity, check_propensity
from unlabeled.deciding.thresholds import Balanced


@dataclass(frozen=True)
class Choice:
    """An unfitted classifier, and why this one.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.bias import ScarTest, choose_classifier
    >>> choice = choose_classifier(ScarTest(prior=0.5).fit(data.X, data.y), columns=[1])
    >>> type(choice.estimator).__name__
    'PropensityWMMDClassifier'
    """

    estimator: Any
    reason: str


def _check_no_negatives(test: ScarTest, **known: object) -> None:
    """Refuse to choose a classifier with propensities for a table that it could not be fitted to."""
    given = [name for name, value in known.items() if value is not None]
    if given and test.unlabeled_label_ is not None:
        raise ValueError(
            f"The table has known negatives ({test.negative!r}), which classifiers with propensities do not take. "
            f"Leave out {' and '.join(given)}; or make these rows unlabeled, np.where(y == {test.negative!r}, "
            f"{test.unlabeled_label_!r}, y), and test them without negative=."
        )


def _check_known(test: ScarTest, propensity: Propensity | None, columns: Sequence[str | int] | None) -> None:
    """Refuse what could not be fitted to the table of the test, while it is fresh in mind."""
    if propensity is not None and columns is not None:
        raise ValueError("propensity and columns were both given, and of columns another one is learned: give one.")
    if propensity is not None:
        check_propensity(propensity)
    if columns is not None:
        places_of_columns(columns, test.n_features_in_, getattr(test, "feature_names_in_", ()), test.encoder_)


def choose_classifier(
    test: ScarTest, *, propensity: Propensity | None = None, columns: Sequence[str | int] | None = None
) -> Choice:
    """The classifier for a table, by how its labels were given.

    Parameters
    ----------
    test : ScarTest
        Fitted to the table; its scenario, its values for positives and known negatives and its prior are handed on.
    propensity : float, callable or `PropensityEMClassifier`, optional
        P(labelled | x, y = 1) where it is known, as for `PropensityWMMDClassifier`; a number means labels at random.
    columns : sequence of str or int, optional
        The columns that labelling depends on, where these are known.

    Returns
    -------
    choice : Choice
        ``estimator``, to be fitted, and ``reason``.

    Notes
    -----
    What is chosen came nearest to the same classifier with all labels in balanced accuracy, on the whole over the ways
    to label of ``docs/bias.md``. Where accuracy or costs are what counts, set another threshold.

    What is known of labelling is worth more than any test, so it comes first. Of columns a propensity is learned, and
    positives are weighted by one over it: the `PropensityEMClassifier` that learns it ranks a little better by itself,
    but with few labels it finds far fewer of the positives. A propensity that is a number says that labels are random,
    and weights that are all alike are of no use. A function is taken to differ from row to row in a way that spoils the
    ranking; where it only rises with P(y = 1 | x), easy cases first, leave it out.

    The prior decides on the threshold: one that you know is trusted, `Balanced()`; else the clusters of the scores have
    half of the say, ``Balanced(clusters=0.5)``, whatever the test says. With few labels it is silent on most biases,
    and where it is not, nothing that it says made a better threshold; it is for people, in ``reason``. Classifiers with
    propensities take no known negatives.

    Examples
    --------
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(60, 200, 100, separation=3, random_state=0)
    >>> from unlabeled.bias import ScarTest, choose_classifier
    >>> test = ScarTest(prior=0.5).fit(data.X, data.y)
    >>> type(choose_classifier(test).estimator).__name__
    'PUClassifier'
    >>> type(choose_classifier(test, columns=[1]).estimator.propensity).__name__
    'PropensityEMClassifier'
    """
    check_is_fitted(test)
    _check_no_negatives(test, propensity=propensity, columns=columns)
    _check_known(test, propensity, columns)
    known = test.prior is not None
    shared: dict[str, Any] = {
        "prior": test.prior if known else "auto",
        "threshold": Balanced() if known else Balanced(clusters=0.5),
        "scenario": test.scenario,
        "pos_label": test.pos_label,
    }
    if columns is not None and propensity is None:
        propensity = PropensityEMClassifier(columns)
    if propensity is not None and not isinstance(propensity, Real):
        return Choice(PropensityWMMDClassifier(propensity, **shared), f"{_WEIGHTED} {_threshold_in_words(known)}")
    why = test.verdict_ if propensity is None else "The propensity is the same for all: labels are random."
    return Choice(PUClassifier(negative=test.negative, **shared), f"{why} {_threshold_in_words(known)}")


_WEIGHTED = "It is known what labelling depends on: positives are weighted by one over their propensity."


def _threshold_in_words(known: bool) -> str:  # noqa: FBT001
    if known:
        return "The threshold is the one for balanced accuracy at the prior that you know."
    return (
        "The prior is not known, and an estimate is too small where labels are few or biased: the threshold is placed "
        "between the one for balanced accuracy and the cut between two clusters of scores."
    )
