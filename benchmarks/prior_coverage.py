"""How often the 95 % interval of the prior holds it: `PUClassifier` on all development tables.

    UNLABELED_DATA_HOME=folder python benchmarks/prior_coverage.py [--draws 2] [--first 100] [--tables HIGGS]
                                                                   [--out prior_coverage.jsonl]

The tables are those of ``development.py``: classes that overlap everywhere (HIGGS, the logistic model), that lie around
each other (the shell), rare ones, real ones. What the limits rest on was chosen on draws 0 to 3; other draws say what
came of it. Rows of results go to a file, and a run that was stopped goes on where it was. The rows behind the table of
``docs/accuracy`` are kept there: ``--out docs/accuracy/prior_coverage.jsonl.xz`` makes it of these.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable
from itertools import product

import numpy as np
from development import RULES, tables
from resumable import filled, wanted

from unlabeled import PUClassifier
from unlabeled.priors import PriorWarning
from unlabeled.results import Row, read_rows

RARE = ("small-groups", "shifted", "fraud")
OVERLAPPING = ("logistic", "HIGGS")


def run(row: Row) -> dict[str, float]:
    """The share of positives among the unlabeled rows of one draw, its estimate and interval; and if it was warned."""
    data = tables(small=False)[row["dataset"]](row["draw"])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = PUClassifier().fit(data.X, data.y)
    low, high = model.prior_estimator_.interval()
    warned = any(issubclass(each.category, PriorWarning) for each in told)
    prior = float(np.mean(data.unlabeled_truth))
    return {"prior": prior, "estimate": float(model.prior_), "low": low, "high": high, "warned": float(warned)}


def groups(name: str) -> Iterable[str]:
    """The groups that a table belongs to."""
    made = re.fullmatch(r"(.+)-(\d+)-([\d.]+)", name)
    rule, n_positive, prior = made.groups() if made else (name, "", "")
    if rule in RARE:
        yield f"rare, {n_positive} positives"
    elif n_positive == "100" and rule in RULES:
        yield f"six rules, prior {prior}"
    if rule in (*OVERLAPPING, "shell"):
        yield rule
    if n_positive == "1000" or name.startswith(("skin", "HIGGS")):
        yield "1,000 positives"
    if not made or not (rule in RARE or n_positive in {"100", "1000"}):
        yield "other tables"
    yield "all"


def lines(rows: Iterable[Row]) -> Iterable[str]:
    """The table of all groups, line by line."""
    found: dict[str, list[dict[str, float]]] = defaultdict(list)
    for row in rows:
        for group in groups(row["dataset"]):
            found[group].append(row["metrics"])
    yield "| | fits | holds | mean width | prior below it | above it | no lower end | warned | error of the estimate |"
    yield "|---|" + "---:|" * 8
    order = [*(name for name in found if name.startswith("six")), *(name for name in found if name.startswith("rare"))]
    for group in dict.fromkeys([*order, *(name for name in found if name != "all"), "all"]):
        yield line(group, found[group])


def line(group: str, fits: list[dict[str, float]]) -> str:
    """Coverage and width in a group."""
    prior, estimate, low, high, warned = (
        np.array([fit[name] for fit in fits]) for name in ("prior", "estimate", "low", "high", "warned")
    )
    below, above = np.mean(prior < low - 1e-9), np.mean(prior > high + 1e-9)
    values = (1 - below - above, np.mean(high - low), below, above, np.mean(low <= 1e-9), warned.mean())
    error = np.abs(estimate - prior).mean()
    return f"| {group} | {len(fits)} | " + " | ".join(f"{value:.2f}" for value in values) + f" | {error:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--tables", nargs="+", choices=tables(small=False), default=list(tables(small=False)))
    parser.add_argument("--out", default="prior_coverage.jsonl")
    options = parser.parse_args()
    draws = range(options.first, options.first + options.draws)
    rows = [wanted("prior coverage", name, "PUClassifier", {}, draw) for draw, name in product(draws, options.tables)]
    print("\n".join(lines(read_rows(options.out) if options.out.endswith(".xz") else filled(options.out, rows, run))))


if __name__ == "__main__":
    main()
