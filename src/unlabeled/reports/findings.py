"""What a check is, what it finds, and the list of all checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps

from unlabeled.reports.subject import Subject

#: Where the pages are.
DOCUMENTATION = "https://unlabeled.readthedocs.io/en/latest/"
#: Of many columns so many are named.
MOST_SHOWN = 3
#: From harmless to grave. "skipped" says that a check needs what is not there.
SEVERITIES = ("skipped", "ok", "info", "warning", "error")


@dataclass(frozen=True)
class Check:
    """What a check has found.

    Attributes
    ----------
    code : str
        Such as "PU101"; it stays.
    severity : {"skipped", "ok", "info", "warning", "error"}
    title : str
        What is checked, in a few words.
    sentence : str
        What was found.
    remedy : str
        What to do; empty where nothing need be done.
    link : str
        The page that explains the check.

    Examples
    --------
    >>> from unlabeled.reports import Check
    >>> Check("PU101", "warning", "prior near 1", "The prior is 0.97.", "Give it.", "checks.html#pu101").is_finding
    True
    """

    code: str
    severity: str
    title: str
    sentence: str
    remedy: str
    link: str

    @property
    def is_finding(self) -> bool:
        """Whether there is something to tell."""
        return SEVERITIES.index(self.severity) >= SEVERITIES.index("info")

    def at_least(self, severity: str) -> bool:
        """Whether it is as grave as this, or graver.

        Examples
        --------
        >>> from unlabeled.reports import Check
        >>> Check("PU203", "warning", "a title", "A sentence.", "", "a link").at_least("info")
        True
        """
        return SEVERITIES.index(self.severity) >= SEVERITIES.index(severity)

    def as_dict(self) -> dict[str, str]:
        """For machines.

        Examples
        --------
        >>> from unlabeled.reports import Check
        >>> Check("PU203", "ok", "a title", "A sentence.", "", "a link").as_dict()["code"]
        'PU203'
        """
        return asdict(self)


@dataclass(frozen=True)
class Finding:
    """What a check answers: how grave it is, what was found and what to do."""

    severity: str
    sentence: str
    remedy: str = ""


CheckFunction = Callable[[Subject], Check]
#: All checks, by code.
CHECKS: dict[str, CheckFunction] = {}


def check(code: str, title: str) -> Callable[[Callable[[Subject], Finding]], CheckFunction]:
    """Put a check into the list."""

    def register(look: Callable[[Subject], Finding]) -> CheckFunction:
        @wraps(look)
        def checked(subject: Subject) -> Check:
            found = look(subject)
            link = f"{DOCUMENTATION}checks.html#{code.lower()}"
            return Check(code, found.severity, title, found.sentence, found.remedy, link)

        CHECKS[code] = checked
        return checked

    return register


NO_SCORES = Finding("skipped", "This model keeps no scores of the rows it was fitted to; give that table, with labels.")
NO_TABLE = Finding("skipped", "It needs a table; give the one that the model was fitted to, or another.")
WEIGHTED = Finding("skipped", "The model was fitted with weights, which the report does not know.")
NO_LABELS = Finding("skipped", "It needs a table with labels, such as the one that the model was fitted to.")
