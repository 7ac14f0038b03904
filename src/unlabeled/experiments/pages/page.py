"""A page is a list of blocks; it can be written as Markdown with files beside it, or as one HTML file."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; }
table { border-collapse: collapse; font-size: .86rem; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, table.prose td, table.prose th { text-align: left; }
table.prose td { white-space: normal; vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
img { max-width: 100%; }
figcaption, caption { color: #444; text-align: left; }
code { background: #f3f3f3; padding: 0 .2em; }
"""


@dataclass(frozen=True)
class Heading:
    """A heading of level 1 to 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph; ``**bold**`` and ```code``` are understood."""

    text: str


@dataclass(frozen=True)
class TableBlock:
    """A table; ``prose`` for cells that are sentences."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    prose: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure that lies beside the page as NAME.png and NAME.svg."""

    name: str
    caption: str


Block = Heading | Text | TableBlock | Picture


def as_markdown(blocks: Sequence[Block]) -> str:
    """The page in Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading(text, level):
            return "#" * level + " " + text
        case Text(text):
            return text
        case Picture(name, caption):
            return f"![{caption}]({name}.png)\n\n*{caption}*"
        case TableBlock(header, rows, caption, prose):
            align = "---" if prose else "--:"
            lines = [header, ["---"] + [align] * (len(header) - 1), *rows]
            table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
            return f"*{caption}*\n\n{table}" if caption else table


def as_html(blocks: Sequence[Block], folder: Path, title: str) -> str:
    """The page as one file, its pictures inside it."""
    body = "\n".join(_html(block, folder) for block in blocks)
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{html.escape(title)}</title>'
    )
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{_inline(text)}</h{level}>"
        case Text(text):
            return f"<p>{_inline(text)}</p>"
        case Picture(name, caption):
            data = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
            image = f'<img alt="{html.escape(caption, quote=True)}" src="data:image/png;base64,{data}">'
            return f"<figure>{image}<figcaption>{_inline(caption)}</figcaption></figure>"
        case TableBlock(header, rows, caption, prose):
            head = _html_row(header, "th")
            body = "\n".join(_html_row(cells, "td") for cells in rows)
            described = f"<caption>{_inline(caption)}</caption>" if caption else ""
            kind = ' class="prose"' if prose else ""
            return f"<table{kind}>{described}<thead>{head}</thead><tbody>\n{body}\n</tbody></table>"


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{_inline(cell)}</{tag}>" for cell in cells) + "</tr>"


def _inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    text = re.sub(r"`(.+?)`", r"<code>\1</code>", text)
    return re.sub(r"\[(.+?)\]\((.+?)\)", r'<a href="\2">\1</a>', text)
