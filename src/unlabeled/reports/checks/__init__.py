"""Checks of a model and its table, each with a stable code, a sentence, a remedy and a page.

A check is a function from a `Subject` to a `Check`. Its code, title and page stay the same, whatever it finds; what it
finds is its severity and its sentence. Codes are never given to another check: 1 the prior, 2 labels, 3 what was
learned, 4 the table, 5 another table. Each of these is a file here.
"""

from __future__ import annotations

from unlabeled.reports.checks import labels, learned, other_table, prior, table
from unlabeled.reports.findings import CHECKS, SEVERITIES, Check
from unlabeled.reports.subject import Subject

__all__ = ["labels", "learned", "other_table", "prior", "run_checks", "table"]

#: How codes of checks begin that compare another table with the first.
OF_ANOTHER_TABLE = "PU5"


def run_checks(subject: Subject, other: Subject | None = None) -> tuple[Check, ...]:
    """All checks of a model and its table, the gravest first; those of another table are of ``other``, if given."""
    found = [
        check(other if other is not None and code.startswith(OF_ANOTHER_TABLE) else subject)
        for code, check in CHECKS.items()
    ]
    return tuple(sorted(found, key=lambda check: (-SEVERITIES.index(check.severity), check.code)))
