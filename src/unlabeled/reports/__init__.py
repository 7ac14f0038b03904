"""The report on a model: one page that a person shows, and coded checks for pipelines.

The page is self-contained: pictures, style and script are in it, and nothing is fetched. It needs
``pip install 'unlabeled[report]'``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from unlabeled.deciding.thresholds import Costs
from unlabeled.files import written_whole
from unlabeled.reports.checks import run_checks
from unlabeled.reports.content import Content, make_content
from unlabeled.reports.findings import CHECKS, SEVERITIES, Check
from unlabeled.reports.page import render
from unlabeled.reports.subject import Subject

__all__ = ["CHECKS", "SEVERITIES", "Check", "Report", "report"]


@dataclass(frozen=True)
class Report:
    """A report on a model and its tables; everything in it is computed when it is asked for.

    Notebooks show it as it is; `save` writes the page.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, report
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> found = report(WMMDClassifier(prior=0.5).fit(data.X, data.y))
    >>> [check.code for check in found.failing("error")]
    []
    """

    subject: Subject
    other: Subject | None = None
    costs: Costs = field(default_factory=Costs)
    title: str = "Report"

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """All checks, the gravest first."""
        return run_checks(self.subject, self.other)

    @cached_property
    def content(self) -> Content:
        """What the page tells."""
        return make_content(self.subject, self.other, self.checks, self.costs, self.title)

    @cached_property
    def html(self) -> str:
        """The page."""
        return render(self.content)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, whole or not at all.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from unlabeled import WMMDClassifier, report
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(random_state=0)
        >>> found = report(WMMDClassifier(prior=0.5).fit(data.X, data.y))
        >>> with TemporaryDirectory() as folder:
        ...     found.save(Path(folder) / "report.html").stat().st_size > 10_000
        True
        """
        page = self.html
        with written_whole(path) as part:
            part.write_text(page, encoding="utf-8")
        return Path(path)

    def failing(self, *limits: str) -> list[Check]:
        """The checks that one of some limits speaks of: a code that has found something, or a severity to reach.

        Examples
        --------
        >>> from unlabeled import WMMDClassifier, report
        >>> from unlabeled.datasets import make_gaussians
        >>> data = make_gaussians(random_state=0)
        >>> found = report(WMMDClassifier(prior=0.95).fit(data.X, data.y))
        >>> "PU101" in [check.code for check in found.failing("PU101", "error")]  # a prior near 1
        True
        """
        for limit in limits:
            if limit not in CHECKS and limit not in SEVERITIES[2:]:
                raise ValueError(
                    f"{limit!r} is neither a code ({', '.join(CHECKS)}) nor one of {list(SEVERITIES[2:])}."
                )
        return [
            check
            for check in self.checks
            if any(
                check.at_least(limit) if limit in SEVERITIES else check.code == limit and check.is_finding
                for limit in limits
            )
        ]

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither disturbs the other."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" style="width: 100%; height: 80vh; border: 1px solid #8888" '
            f'title="{escape(self.title)}"></iframe>'
        )


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    new: Any = None,
    costs: Costs | None = None,
    title: str | None = None,
    source: str = "",
) -> Report:
    """A report on a fitted model: what it learned, what to expect of it, and coded checks.

    Parameters
    ----------
    model : classifier, or pipeline that ends with one
        Fitted; or a search over such, for its best estimator.
    X : array or data frame of shape (n_samples, n_features), optional
        The table that it was fitted to, or another, with ``y`` or without. Without a table the report shows what the
        model alone knows.
    y : array of shape (n_samples,), optional
        Which rows are labelled, as the model was told.
    new : array or data frame, optional
        Another table, to be compared with the first.
    costs : Costs, optional
        What errors cost, for the threshold explorer; by default 1 each. They can be changed in the page.
    title : str, optional
        The heading of the page.
    source : str, optional
        What the table is called.

    Returns
    -------
    report : Report
        ``save(path)`` writes the page, ``checks`` are the checks, and a notebook shows it as it is.

    Notes
    -----
    Of a long table some rows are scored: 2,000 labelled and 8,000 others. Estimates are from the honest scores of the
    training rows, which the model keeps. A model that keeps none is fitted anew without each of five folds.

    Examples
    --------
    >>> from unlabeled import WMMDClassifier, report
    >>> from unlabeled.datasets import make_gaussians
    >>> data = make_gaussians(random_state=0)
    >>> model = WMMDClassifier(prior=0.5).fit(data.X, data.y)
    >>> found = report(model)
    >>> [check.severity for check in found.checks if check.code == "PU101"]
    ['ok']
    """
    if not isinstance(costs, Costs | None):
        raise TypeError(f"costs must be Costs(false_positive, false_negative), as in Costs(1, 20); got {costs!r}.")
    subject = Subject.of(model, X, y, source=source)
    other = None
    if new is not None:
        other = Subject.of(model, new, after=subject)
    heading = title or f"Report on a {type(subject.classifier).__name__}"
    return Report(subject, other, Costs() if costs is None else costs, heading)
