"""Figures, tables and pages out of a results file, beside the paper's own numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from unlabeled.experiments.pages import accuracy, accuracy_figure, figures, readings, tables, theory_figures
from unlabeled.experiments.pages.claims import CLAIMS
from unlabeled.experiments.pages.labels import METHOD_LABELS, OUR_METHODS
from unlabeled.experiments.pages.page import Block, Heading, Picture, TableBlock, Text, as_html, as_markdown
from unlabeled.experiments.pages.rows import Rows

TITLE = "The paper's experiments, reproduced"
INTRODUCTION = (
    "Kwon, Kim, Sugiyama and Paik, *Principled analytic classifier for positive-unlabeled learning via weighted "
    "integral probability metric*, Machine Learning 109 (2020), arXiv:1901.09503. "
    "Every figure and table below comes from the rows in "
    "results.jsonl beside this page (packed where it is large), written by `unlabeled reproduce`; "
    "`unlabeled reproduce report` makes the page of them. The paper's five methods are in its configuration "
    "(`.paper(...)`), LOG and DH as their authors released them where the text is silent, tADJ in the reading that "
    "comes nearest to its tables; all methods meet on the same draws."
)

#: File name, heading, caption, and what draws it.
_Drawn = tuple[str, str, Callable[[Rows], Figure | None]]
FIGURES: tuple[_Drawn, ...] = (
    (
        "figure1",
        (
            "Figure 1: boundaries of WMMD on two moons, each the draw of median accuracy. {draws} The numbers of rows "
            "are those that the classifier keeps; those that chose gamma are drawn too."
        ),
        figures.boundaries,
    ),
    (
        "figure2",
        (
            "Figure 2: two Gaussians, prior known: accuracy (a, b) and AUC (c, d), its upper left once more, larger. "
            "{draws} Bands: one standard error."
        ),
        partial(figures.sweeps, prior="known"),
    ),
    (
        "figure3",
        (
            "Figure 3: two Gaussians, prior estimated (LOG, DH and NNPU: KM1, WMMD: density-based, ours: auto): "
            "accuracy (a, b) and AUC (c, d), its upper left once more, larger. {draws} Bands: one standard error."
        ),
        partial(figures.sweeps, prior="estimated"),
    ),
    (
        "appendix_e",
        (
            "Appendix E: the Gaussian kernel (dashed) and the inverse one (solid): accuracy (a, b) and AUC (c, d), its "
            "upper left once more, larger. {draws} Bands: one standard error."
        ),
        figures.kernels,
    ),
    (
        "theory_estimation",
        "Theory: the estimation error on the Gaussians against five bounds of it. {draws} Bars: two standard errors.",
        theory_figures.estimation,
    ),
    (
        "theory_rate",
        (
            "Theory: the excess risk with the theorem's bandwidth, and its predicted rate (dashed), laid through the "
            "last sizes. {draws} Bars: two standard errors."
        ),
        theory_figures.rates,
    ),
    (
        "theory_sharper",
        "Theory: where the paper's bound is sharper than Kiryo's. Formulas, no draws.",
        theory_figures.sharper,
    ),
)


def write_report(rows: Iterable[dict[str, Any]], folder: Path) -> list[Path]:
    """Write README.md, index.html and the figures of these rows into a folder; answers with the pages.

    Where there are rows of our own methods on the real data, `write_accuracy` adds its page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    indexed = Rows(rows)
    with_accuracy = accuracy.has_rows(indexed)
    links = [
        *(["[What explains the gaps](remarks.md)"] if (folder / "remarks.md").exists() else []),
        *([f"[{accuracy.TITLE}](accuracy.md)"] if with_accuracy else []),
    ]
    blocks = [
        Heading(TITLE, 1),
        Text(INTRODUCTION),
        *map(Text, links),
        *_claims(indexed),
        *_pictures(indexed, folder, FIGURES),
        *_tables(indexed),
    ]
    pages = {"README.md": as_markdown(blocks), "index.html": as_html(blocks, folder, TITLE)}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    written = [folder / name for name in pages]
    return [*written, _write_accuracy(indexed, folder)] if with_accuracy else written


def write_accuracy(rows: Iterable[dict[str, Any]], folder: Path) -> Path:
    """Write accuracy.md, our methods against the paper's five, and its figure into a folder; answers with the page."""
    folder.mkdir(parents=True, exist_ok=True)
    return _write_accuracy(Rows(rows), folder)


def _write_accuracy(rows: Rows, folder: Path) -> Path:
    figure = accuracy_figure.dots(rows)
    if figure is None or not accuracy.has_rows(rows):
        raise ValueError(
            f"there are no rows of {', '.join(OUR_METHODS)} on real data; run `unlabeled reproduce accuracy` first."
        )
    _save(figure, folder, accuracy.FIGURE)
    page = folder / "accuracy.md"
    page.write_text(as_markdown(accuracy.blocks(rows)), encoding="utf-8")
    return page


def _claims(rows: Rows) -> list[Block]:
    verdicts = [(claim, claim.check(rows)) for claim in CLAIMS]
    checked = [(claim, verdict) for claim, verdict in verdicts if verdict is not None]
    lines = [
        [claim.where, claim.text, "held" if verdict.held else "**not held**", verdict.numbers]
        for claim, verdict in checked
    ]
    theirs = [verdict.held for claim, verdict in checked if not claim.is_ours]
    left = len(CLAIMS) - len(checked)
    summary = f"{sum(theirs)} of {len(theirs)} statements of the paper hold in these rows."
    if left:
        summary += f" For {left} more there are no rows yet."
    header = ["where", "the paper says", "here", "numbers"]
    return [
        Heading("What the paper says, and what came out"),
        Text(summary),
        *([TableBlock(header, lines, prose=True)] if lines else []),
    ]


def _differences(rows: Rows) -> list[Block]:
    table = readings.explained(rows)
    if table is None:
        return []
    text = Text(readings.summary(readings.differences(rows)))
    return [Heading("Cells that differ from the paper"), text, table]


def _pictures(rows: Rows, folder: Path, drawn: Sequence[_Drawn]) -> list[Block]:
    blocks: list[Block] = [Heading("Figures")]
    for name, caption, draw in drawn:
        figure = draw(rows)
        if figure is None:
            blocks.append(Text(f"{caption.split(':')[0]}: no rows yet."))
            continue
        _save(figure, folder, name)
        blocks.append(Picture(name, caption.format(draws=_draws(rows, name))))
    return blocks


#: Which rows of the Gaussians a figure shows.
_SHOWN = {
    "figure2": ("known", "rbf"),
    "figure3": ("estimated", "rbf"),
    "appendix_e": ("known", "inverse"),
}
#: Experiment and data set of the figures of WMMD alone.
_SHOWN_OF_WMMD = {
    "figure1": ("moons", "make_moons"),
    "theory_estimation": ("theory", "gaussians"),
    "theory_rate": ("theory", "margin"),
}


def _draws(rows: Rows, name: str) -> str:
    """How many draws each method has at each point of a figure."""
    if name in _SHOWN_OF_WMMD:
        experiment, dataset = _SHOWN_OF_WMMD[name]
        groups = (rows.group(experiment, dataset, "wmmd", setting) for setting in rows.settings(experiment))
        found = sorted({len(group.metrics) for group in groups if group.metrics})
        return f"Draws: {' to '.join(map(str, dict.fromkeys((found[0], found[-1]))))}." if found else ""
    if name not in _SHOWN:
        return ""
    prior, kernel = _SHOWN[name]
    counts: dict[str, list[str]] = {}
    for method, label in (METHOD_LABELS | {ours: ours for ours in OUR_METHODS}).items():
        points = figures.sweep(rows, method, "n_unlabeled", {"prior": prior, "kernel": kernel})
        points += figures.sweep(rows, method, "true_prior", {"prior": prior, "kernel": kernel})
        numbers = sorted({len(group.metrics) for _, group in points})
        if numbers:
            counts.setdefault(" to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1])))), []).append(label)
    parts = [f"{', '.join(labels)} {number}" for number, labels in counts.items()]
    return f"Draws: {'; '.join(parts)}." if parts else ""


def _save(figure: Figure, folder: Path, name: str) -> None:
    figure.savefig(folder / f"{name}.png", dpi=110)
    with mpl.rc_context({"svg.hashsalt": name}):  # the same rows give the same file
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def _tables(rows: Rows) -> list[Block]:
    made = [
        ("Table 1: training times", tables.training_times(rows)),
        ("Table 2: the data sets", tables.data_sets(rows)),
        *(
            (
                f"Table {table[-1]}: real data, {tables.METRICS[metric]}, prior {prior}",
                tables.real_data(rows, table, metric),
            )
            for table, prior in (("table3", "known"), ("table4", "estimated"))
            for metric in tables.METRICS
        ),
    ]
    blocks: list[Block] = []
    for heading, table in made:
        blocks += [Heading(heading), Text("No rows yet.") if table is None else table]
    for heading, others in readings.tables(rows):
        blocks += [Heading(heading), others]
    blocks += _differences(rows)
    remarks = dict.fromkeys(note for prior in ("known", "estimated") for note in tables.notes(rows, prior))
    return blocks + ([Heading("Notes"), *map(Text, remarks)] if remarks else [])
