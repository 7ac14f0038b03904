"""A method of ours against the best of the paper's five, on the same draws."""

from __future__ import annotations

from dataclasses import dataclass

from unlabeled.experiments.pages.labels import RIVAL_LABELS
from unlabeled.experiments.pages.real_data import Place, groups_on_same_data, is_judged
from unlabeled.experiments.pages.rows import Group, Mean, Rows, paired_difference, paired_p_value

LEVEL = 0.05
BETTER, TIED, WORSE, UNTESTED, UNJUDGED = "better", "tied", "worse", "not tested", "not judged"


@dataclass(frozen=True)
class Comparison:
    """Our mean, the best of the five and its mean, and what a paired t-test says of the difference.

    ``best`` is None where none of the five has a result, ``difference`` where no draw is common to both. Where too few
    rows were left to test on, nothing is ``judged``.
    """

    ours: Mean | None
    best: str | None = None
    theirs: Mean | None = None
    difference: Mean | None = None
    p_value: float | None = None
    judged: bool = True

    @property
    def n_common(self) -> int:
        """Draws that both have."""
        return 0 if self.difference is None else self.difference.n_draws

    @property
    def points(self) -> str:
        """The difference in points; empty where there is none."""
        return "" if self.difference is None else in_points(self.difference.value, "+")

    @property
    def verdict(self) -> str:
        """Better or worse where the test tells the two apart, else tied; not tested with fewer than two draws."""
        if self.difference is None or self.p_value is None:
            return UNTESTED
        if not self.judged:
            return UNJUDGED
        if self.p_value >= LEVEL:
            return TIED
        return BETTER if self.difference.value > 0 else WORSE


def in_points(difference: float, sign: str = "") -> str:
    """A difference in points with one digit, or two where one would show nothing; never minus nothing."""
    points = 100 * difference
    digits = 1 if abs(points) >= 0.05 else 2
    return f"{round(points, digits) + 0.0:{sign}.{digits}f}"


def compare(rows: Rows, place: Place, method: str, metric: str) -> Comparison:
    """One of our methods with the best of the five."""
    group, rivals = groups_on_same_data(rows, place, method, RIVAL_LABELS)
    best = best_of(rivals, metric)
    if best is None:
        return Comparison(group.mean(metric))
    return Comparison(
        group.mean(metric),
        best,
        rivals[best].mean(metric),
        paired_difference(group, rivals[best], metric),
        paired_p_value(group, rivals[best], metric),
        is_judged(rows, place.dataset),
    )


def best_of(groups: dict[str, Group], metric: str) -> str | None:
    """The method of the highest mean over the draws it has. One draw is no mean where others have more."""
    means = {name: mean for name, group in groups.items() if (mean := group.mean(metric)) is not None}
    several = {name: mean for name, mean in means.items() if mean.n_draws > 1}
    return max(several or means, key=lambda name: means[name].value, default=None)
