"""Small pictures as SVG, without a plotting library: for the report, and for what notebooks show of a classifier.

Colours are classes, so that a page decides them (`STYLE`), for a light and a dark screen alike. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from unlabeled.arrays import FloatArray

#: Both are in the units of the picture, which is scaled to the width that there is: small, so that text stays large.
WIDTH, HEIGHT = 440, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 20, 10, 42
_FEWEST_TICKS, _MOST_TICKS = 4, 7

#: The look of the pictures; the colours are set by whoever shows them.
STYLE = """
.picture { display: block; width: 100%; max-width: 38rem; height: auto; font: 12px system-ui, sans-serif; }
@media (max-width: 40rem) { .picture { font-size: 14px; } }
.picture text { fill: var(--ink-soft); }
.picture .axis, .picture .tick { stroke: var(--line); stroke-width: 1; fill: none; }
.picture .grid { stroke: var(--line); stroke-width: .5; stroke-dasharray: 2 3; fill: none; }
.picture .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.picture .area { stroke: none; opacity: .18; }
.picture .dots { fill: none; stroke-width: 4; stroke-linecap: round; }
.picture .dots.ring { stroke: var(--ink); stroke-width: 9; }
.picture .dots.large { stroke-width: 7; } .picture .dots.small { stroke-width: 3.2; opacity: .75; }
.picture .line.boundary { stroke: var(--ink); stroke-width: 1.4; }
.picture .marker { stroke: var(--ink); stroke-width: 1.5; stroke-dasharray: 5 3; }
.picture .bar { stroke: none; }
.picture .whisker { stroke-width: 2; fill: none; }
.picture .one { stroke: var(--one); } .picture .two { stroke: var(--two); } .picture .three { stroke: var(--three); }
.picture .four { stroke: var(--ink-soft); }
.picture .area.one, .picture .bar.one { fill: var(--one); } .picture .area.two, .picture .bar.two { fill: var(--two); }
.picture .area.three, .picture .bar.three { fill: var(--three); } .picture .bar.four { fill: var(--ink-soft); }
.picture .shade.one { fill: var(--one); stroke: none; }
.picture .value { fill: var(--ink); font-weight: 600; }
"""
#: Colours on a light screen and on a dark one; each has a contrast of 4.5 or more with the paper where it is text.
LIGHT = (
    "--paper: #ffffff; --raised: #f6f7f9; --ink: #1b2027; --ink-soft: #4d5661; --line: #c9ced6; "
    "--one: #b3430f; --two: #2563a8; --three: #17735a; --link: #1d5aa6"
)
DARK = (
    "--paper: #14171c; --raised: #1d2128; --ink: #eceff3; --ink-soft: #b1bac6; --line: #414a56; "
    "--one: #ff9d66; --two: #7db4f5; --three: #5fd0a8; --link: #8fbcff"
)


@dataclass
class Plot:
    """A picture with two axes, made of marks that are added one after the other.

    Parameters
    ----------
    name : str
        Unique in a page: other elements refer to the picture by it.
    title, description : str
        What it shows, for those who do not see it.
    x, y : pair of float
        The ends of the axes.
    x_label, y_label : str
    x_form, y_form : str
        How numbers at the axes are written, as for `format`.
    """

    name: str
    title: str
    description: str
    x: tuple[float, float]
    y: tuple[float, float]
    x_label: str = ""
    y_label: str = ""
    x_form: str = "g"
    y_form: str = "g"
    height: int = HEIGHT
    _marks: list[str] = field(default_factory=list)

    def line(self, x: Sequence[float] | FloatArray, y: Sequence[float] | FloatArray, kind: str) -> Plot:
        """A line through points; gaps where they are not finite."""
        for part in _finite_runs(np.asarray(x, float), np.asarray(y, float)):
            self._marks.append(f'<path class="line {kind}" d="{self._path(*part)}"/>')
        return self

    def band(self, x: FloatArray, low: FloatArray, high: FloatArray, kind: str) -> Plot:
        """The area between two lines."""
        x, low, high = (np.asarray(values, float) for values in (x, low, high))
        known = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
        if known.any():
            around = np.concatenate([x[known], x[known][::-1]]), np.concatenate([low[known], high[known][::-1]])
            self._marks.append(f'<path class="area {kind}" d="{self._path(*around)}Z"/>')
        return self

    def polygon(self, x: FloatArray, y: FloatArray, kind: str) -> Plot:
        """The area within an outline."""
        self._marks.append(f'<path class="area {kind}" d="{self._path(x, y)}Z"/>')
        return self

    def steps(self, edges: FloatArray, heights: FloatArray, kind: str) -> Plot:
        """A histogram: its outline, and the area below it."""
        x, y = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
        self._marks.append(f'<path class="area {kind}" d="{self._path(x, y)}Z"/>')
        self._marks.append(f'<path class="line {kind}" d="{self._path(x, y)}"/>')
        return self

    def dots(self, x: FloatArray, y: FloatArray, kind: str) -> Plot:
        """Points, all in one path."""
        places = zip(_short(self._across(np.asarray(x))), _short(self._down(np.asarray(y))), strict=True)
        path = "".join(f"M{across} {down}h0" for across, down in places)
        if "ringed" in kind:
            self._marks.append(f'<path class="dots ring" d="{path}"/>')
        self._marks.append(f'<path class="dots {kind}" d="{path}"/>')
        return self

    def whiskers(self, x: FloatArray, low: FloatArray, high: FloatArray, kind: str) -> Plot:
        """Intervals, upright."""
        across, bottom, top = self._across(np.asarray(x)), self._down(np.asarray(low)), self._down(np.asarray(high))
        path = "".join(f"M{a} {b}V{t}" for a, b, t in zip(_short(across), _short(bottom), _short(top), strict=True))
        self._marks.append(f'<path class="whisker {kind}" d="{path}"/>')
        return self

    def upright(self, x: float, label: str = "", name: str = "") -> Plot:
        """A dashed line from the bottom to the top, with a word at it."""
        across = _short(self._across(np.array([np.clip(x, *self.x)])))[0]
        marked = f' id="{name}"' if name else ""
        self._marks.append(
            f'<path class="marker"{marked} d="M{across} {_TOP}V{self.height - _BOTTOM}"/>'
            + (self._word(float(across), label) if label else "")
        )
        return self

    def region(self, outlines: Sequence[FloatArray], kind: str, opacity: float) -> Plot:
        """The area within closed outlines (n_points, 2); what lies within two of them is a hole."""
        path = "".join(f"{self._path(*outline.T)}Z" for outline in outlines)
        if path:
            self._marks.append(
                f'<path class="shade {kind}" fill-rule="evenodd" fill-opacity="{opacity:g}" d="{path}"/>'
            )
        return self

    def svg(self) -> str:
        """The picture."""
        title, about = f"{self.name}-title", f"{self.name}-about"
        return (
            f'<svg class="picture" id="{self.name}" role="img" aria-labelledby="{title} {about}" '
            f'viewBox="0 0 {WIDTH} {self.height}" data-x0="{self.x[0]!r}" data-x1="{self.x[1]!r}" '
            f'data-left="{_LEFT}" data-right="{WIDTH - _RIGHT}">'
            f'<title id="{title}">{escape(self.title)}</title><desc id="{about}">{escape(self.description)}</desc>'
            f"{self._axes()}{''.join(self._marks)}</svg>"
        )

    # --- places ---

    def _across(self, x: FloatArray) -> FloatArray:
        return _LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (WIDTH - _LEFT - _RIGHT)

    def _down(self, y: FloatArray) -> FloatArray:
        bottom = self.height - _BOTTOM
        return bottom - (y - self.y[0]) / (self.y[1] - self.y[0]) * (bottom - _TOP)

    def _path(self, x: FloatArray, y: FloatArray) -> str:
        across = self._across(np.clip(x, *self.x))
        down = self._down(np.clip(y, *self.y))
        places = [f"{a} {d}" for a, d in zip(_short(across), _short(down), strict=True)]
        moved = [here for here, before in zip(places, [None, *places[:-1]], strict=True) if here != before]
        return "M" + "L".join(moved) if len(moved) > 1 else f"M{places[0]}h0"

    def _word(self, across: float, label: str) -> str:
        end = across > WIDTH * 0.6
        anchor, gap = ("end", -5) if end else ("start", 5)
        return (
            f'<text class="value" x="{across + gap:.1f}" y="{_TOP + 11}" text-anchor="{anchor}">{escape(label)}</text>'
        )

    def _axes(self) -> str:
        bottom, right = self.height - _BOTTOM, WIDTH - _RIGHT
        parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>']
        for value in nice_ticks(*self.x):
            place = self._across(np.array([value]))[0]
            words = escape(format(value, self.x_form))
            parts.append(f'<text x="{place:.1f}" y="{bottom + 15}" text-anchor="middle">{words}</text>')
            parts.append(f'<path class="tick" d="M{place:.1f} {bottom}v4"/>')
        for value in nice_ticks(*self.y):
            place = self._down(np.array([value]))[0]
            words = escape(format(value, self.y_form))
            parts.append(f'<text x="{_LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{words}</text>')
            parts.append(f'<path class="grid" d="M{_LEFT} {place:.1f}H{right}"/>')
        middle, upright = (_LEFT + right) / 2, (_TOP + bottom) / 2
        parts.append(f'<text x="{middle}" y="{self.height - 6}" text-anchor="middle">{escape(self.x_label)}</text>')
        parts.append(
            f'<text x="11" y="{upright}" transform="rotate(-90 11 {upright})" text-anchor="middle">'
            f"{escape(self.y_label)}</text>"
        )
        return "".join(parts)


def nice_ticks(low: float, high: float) -> list[float]:
    """Round numbers between two ends, four to seven of them."""
    span = high - low
    if not np.isfinite(span) or span <= 0:
        return [low]
    for step in (10.0 ** int(np.floor(np.log10(span))) * factor for factor in (1, 0.5, 0.25, 0.2, 0.1, 0.05)):
        first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
        if last - first + 1 >= _FEWEST_TICKS:
            every = max(1, -(-(last - first + 1) // _MOST_TICKS))
            return [round(place * step, 12) + 0.0 for place in range(first, last + 1, every)]
    return [low, high]


def _short(values: FloatArray) -> list[str]:
    """Numbers with one decimal, or none where they are whole."""
    return [f"{value:.1f}".removesuffix(".0") for value in np.nan_to_num(values)]


def _finite_runs(x: FloatArray, y: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    known = np.isfinite(x) & np.isfinite(y)
    ends = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    return [(x[start:end], y[start:end]) for start, end in zip(ends[::2], ends[1::2], strict=True)]
