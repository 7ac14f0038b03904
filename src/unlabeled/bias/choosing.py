"""What to use when labels may not have been given at random: from what is known, and from the test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from unlabeled.bias.scar_test import ScarTest
from unlabeled.classifiers import PropensityEMClassifier, PropensityWMMDClassifier, PUClassifier
from unlabeled.classifiers.propensity_wmmd import Propensity
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


def choose_classifier(
    test: ScarTest, *, propensity: Propensity | None = None, columns: Sequence[str | int] | None = None
) -> Choice:
    """The classifier for a table, by how its labels were given.

    Parameters
    ----------
    test : ScarTest
        Fitted to the table; its scenario, its values for positives and known negatives and its prior are handed on.
    propensity : float, callable or `PropensityEMClassifier`, optional
        P(labelled | x, y = 1) where it is known, as for `PropensityWMMDClassifier`.
    columns : sequence of str or int, optional
        The columns that labelling depends on, where these are known.

    Returns
    -------
    choice : Choice
        ``estimator``, to be fitted, and ``reason``.

    Notes
    -----
    What is known of labelling is worth more than any test, so it comes first. Of columns a propensity is learned, and
    positives are weighted by one over it: the `PropensityEMClassifier` that learns it ranks a little better by itself,
    but with few labels it finds far fewer of the positives (``docs/bias.md``). Where nothing is known the test
    decides between the default and the default's ranking with a threshold that does not trust the prior. Where the
    test is silent labels may be biased all the same: see its notes. Classifiers with propensities take no known
    negatives.

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
    shared: dict[str, Any] = {"scenario": test.scenario, "pos_label": test.pos_label}
    prior = "auto" if test.prior is None else test.prior
    if propensity is not None:
        estimator: Any = PropensityWMMDClassifier(propensity, prior=prior, **shared)
        return Choice(estimator, "The propensity is known: positives are weighted by one over it.")
    if columns is not None:
        estimator = PropensityWMMDClassifier(PropensityEMClassifier(columns), prior=prior, **shared)
        why = (
            "The columns that labelling depends on are known: positives are weighted by one over what is learned of it."
        )
        return Choice(estimator, why)
    shared["negative"] = test.negative
    if not test.rejects_:
        return Choice(PUClassifier(prior, **shared), f"{test.verdict_} The default is for labels at random.")
    if test.prior is not None:
        estimator = PUClassifier(prior, threshold="prevalence", **shared)
        why = "The ranking may be right, and with the prior that you know as many are flagged as there are positives."
        return Choice(estimator, f"{test.verdict_} {why}")
    why = (
        "The ranking may be right all the same (if easy cases were labelled first), the prior is not: the threshold is "
        "placed halfway between the one for balanced accuracy and the cut between two clusters of scores."
    )
    return Choice(PUClassifier(prior, threshold=Balanced(clusters=0.5), **shared), f"{test.verdict_} {why}")
