"""Wide figures scroll by themselves on a phone, where their letters would be too small to read: `site.css` says how."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

#: Figures of more pixels have several panels.
MOST_PIXELS = 800
#: Wider than this on its page, in rem; what its author wants smaller is one picture of many pixels.
MOST_REM = 36
WANTED = re.compile(r"width: (\d+)rem")
IMAGE = re.compile(r'<img\b[^>]*?\bsrc="(?P<address>[^"]+\.png)"[^>]*>')


def width(picture: Path) -> int:
    """How many pixels wide a PNG file is, by its header; 0 where there is no such file."""
    return int.from_bytes(picture.read_bytes()[16:20], "big") if picture.is_file() else 0


def let_scroll(app: Any, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:  # noqa: ARG001
    """Put every wide figure of a page into a box that scrolls."""
    pictures = {PurePosixPath(name).name: Path(app.srcdir, path) for path, (_, name) in app.env.images.items()}
    gallery = Path(app.srcdir, "gallery")

    def boxed(found: re.Match[str]) -> str:
        name = PurePosixPath(found["address"]).name
        places = (pictures.get(name, gallery), gallery / "images" / name, gallery / "pitfalls" / "images" / name)
        wanted = WANTED.search(found[0])
        is_small = wanted is not None and int(wanted[1]) <= MOST_REM
        is_wide = not is_small and max(width(place) for place in places) > MOST_PIXELS
        return f'<span class="wide-figure" tabindex="0">{found[0]}</span>' if is_wide else found[0]

    if "body" in context:
        context["body"] = IMAGE.sub(boxed, context["body"])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("html-page-context", let_scroll)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
