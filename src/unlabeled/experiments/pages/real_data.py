"""Where the rows of the real data are: a method's draws on a data set, and several methods' on the same data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unlabeled.experiments.pages import paper
from unlabeled.experiments.pages.labels import METHOD_LABELS, OUR_METHODS
from unlabeled.experiments.pages.rows import Group, Rows, Setting

EXPERIMENT = "real data"
PRIORS = {"known": "known", "estimated": "unknown"}
LAYOUTS = ("paper", "indexed")
#: The size of rows that say nothing of a size: all that there is.
WHOLE = 0
#: Fewer rows to test on decide nothing. The least of the paper's is 60.
LEAST_TEST_ROWS = 50


@dataclass(frozen=True)
class Place:
    """A data set with one layout of its columns, and whether methods were told the prior."""

    dataset: str
    prior: str
    layout: str = "paper"

    @property
    def label(self) -> str:
        """The data set's name, and its layout where that is not the paper's."""
        return self.dataset if self.layout == "paper" else f"{self.dataset}, {self.layout}"

    def setting(self, method: str, size: int = WHOLE) -> Setting:
        """What a method's rows here say. tADJ uses no prior: what it does with a known one serves for both."""
        return (
            {"prior": "known" if method.startswith("tadj") else self.prior}
            | ({} if self.layout == "paper" else {"layout": self.layout})
            | ({} if size == WHOLE else {"n_unlabeled": size})
        )


def places(prior: str) -> list[Place]:
    """Every data set of the paper in every layout."""
    return [Place(name, prior, layout) for name in paper.data_sets() for layout in LAYOUTS]


def groups_at(rows: Rows, place: Place) -> dict[str, Group]:
    """Each paper method's draws; rows of reduced size where there are no others."""
    return {method: group_at(rows, place, method) for method in METHOD_LABELS}


def group_at(rows: Rows, place: Place, method: str) -> Group:
    """One method's draws; rows of reduced size where there are no others."""
    return _group(rows, place, method, _size(rows, place, method))


def groups_on_same_data(rows: Rows, place: Place, method: str, others: Iterable[str]) -> tuple[Group, dict[str, Group]]:
    """A method's draws, and those of others on the same data: rows of another size are other data."""
    size = _size(rows, place, method)
    return _group(rows, place, method, size), {other: _group(rows, place, other, size) for other in others}


def is_judged(rows: Rows, dataset: str) -> bool:
    """Whether verdicts may hang on a data set: not where so few rows were left to test on that nothing is decided."""
    return count(rows, dataset, "n_test", LEAST_TEST_ROWS) >= LEAST_TEST_ROWS


def count(rows: Rows, dataset: str, of: str, otherwise: int) -> int:
    """A number of Table 2, of the data as they were at hand."""
    found = rows.group("data sets", dataset, "count", {}).metrics.get(0, {})
    return int(found.get(of, otherwise))


def our_methods_in(rows: Rows, experiment: str) -> list[str]:
    """Those of our own methods that an experiment has rows for."""
    return [method for method in OUR_METHODS if method in rows.methods(experiment)]


def _group(rows: Rows, place: Place, method: str, size: int) -> Group:
    return rows.group(EXPERIMENT, place.dataset, method, place.setting(method, size))


def _size(rows: Rows, place: Place, method: str) -> int:
    """All rows where a method was run on all, else the largest size it was run on."""
    reduced = {int(setting.get("n_unlabeled", WHOLE)) for setting in rows.settings(EXPERIMENT)} - {WHOLE}
    sizes = [WHOLE, *sorted(reduced, reverse=True)]
    return next((size for size in sizes if _group(rows, place, method, size).is_there), WHOLE)
