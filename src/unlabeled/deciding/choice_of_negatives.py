"""How known negatives were chosen: what people say of it, and a check.

Are the negatives a random choice? Then every region with a share b of them has at least b of all negatives among its
rows, and of these the population holds at least 1 - prior. That is the test of labels at random with the classes
exchanged (`unlabeled.deciding.top_counts`), at a prior that is given or at the upper end of the interval of one that
was estimated. It goes by two fits to half of the rows each, which score the other half.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from unlabeled.arrays import on_host
from unlabeled.deciding.adapting import LEVEL
from unlabeled.deciding.scores import HonestScores
from unlabeled.deciding.top_counts import Share, TopCounts, p_value_of_half
from unlabeled.labels import share_of_choice
from unlabeled.samples import PUSample, order_by_values

#: With fewer negatives or unlabeled rows nothing is said of how they were chosen.
FEWEST_TO_CHECK = 10
#: Tables that are simulated for the p-value.
N_SIMULATED = 1_999
#: So many unlabeled rows are enough to check them by.
MOST_TO_CHECK = 10_000


class NegativesWarning(UserWarning):
    """Known negatives do not look like a random choice of all negatives."""


def check_choice(choice: object) -> None:
    """Refuse what says nothing of how negatives were chosen."""
    share_of_choice(choice, names=("auto",))


def halves(known: PUSample) -> list[tuple[PUSample, PUSample]]:
    """Positives and negatives, half of either to fit to and the other half to score; and the other way round."""
    rng, parts = np.random.RandomState(0), []
    for sample in (known.positive, known.unlabeled):
        order = order_by_values(sample.rows)[rng.permutation(len(sample))]  # whatever order the rows came in
        parts.append(np.array_split(order, 2))
    first, second = (known.take(*places) for places in zip(*parts, strict=True))
    return [(first, second), (second, first)]


def check_of_choice(fitted_to: Callable[[PUSample], Any], pu: PUSample, most: float) -> float | None:
    """How probable so few unlabeled rows where known negatives lie are, if these are a random choice of all negatives.

    ``most`` is the largest share of positives in the population, and ``fitted_to`` makes a classifier that tells the
    first sample from the second. The smaller p-value of two halves is doubled. None where rows are too few to tell.
    """
    if pu.negative is None or min(len(pu.negative), len(pu.unlabeled)) < FEWEST_TO_CHECK:
        return None
    single = pu.positives_in_population
    others = pu.positive.after(pu.unlabeled) if single else pu.unlabeled
    null = Share(1 - most, labelled_in_population=single)
    totals = round(pu.negative.n_effective), round(others.n_effective)
    p_values = []
    for half, rest in halves(PUSample(pu.negative, others, "single-sample")):
        model = fitted_to(half)
        held = rest.take(np.arange(len(rest.positive)), _some(len(rest.unlabeled)))
        negative, other = (on_host(model.score_rows(sample.rows)) for sample in (held.positive, held.unlabeled))
        scores = HonestScores(negative, other, held.positive.effective_weights, held.unlabeled.effective_weights)
        p_values.append(p_value_of_half(TopCounts.of(scores), null, *totals, (N_SIMULATED, 0)))
    return min(1.0, 2 * min(p_values))


def _some(n_rows: int) -> np.ndarray:
    return np.sort(np.random.RandomState(0).permutation(n_rows)[:MOST_TO_CHECK])


def weight_of(choice: str | float, p_value: float | None) -> float:
    """How far negatives are taken for a random choice, from what was said of them and what the check says."""
    looks_selected = p_value is not None and p_value < LEVEL
    if looks_selected and choice != "selected":
        warnings.warn(
            f"The known negatives do not look like a random choice of all negatives (p = {p_value:.2g}): where they "
            "lie there are too few unlabeled rows; or the prior is too small, as it comes out where labels were not "
            "given at random. "
            + (
                "Negatives therefore have no say in the prior. If you know that they are a random choice: "
                "negatives_are='random'."
                if choice == "auto"
                else "If negatives were picked, say so: negatives_are='selected'."
            ),
            NegativesWarning,
            stacklevel=6,
        )
    share = share_of_choice(choice, names=("auto",))
    return float(not looks_selected) if share is None else share
