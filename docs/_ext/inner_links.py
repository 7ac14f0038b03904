"""Every link and picture of the built site that points into it must lead somewhere: python inner_links.py FOLDER."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Where a page points to, and which places it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """Note `href`, `src`, `id` and `name`."""
        for name, value in attrs:
            if value and name in {"href", "src"}:
                self.targets.append(value)
            elif value and name in {"id", "name"}:
                self.places.add(value)


def read(path: Path) -> Page:
    """The page in a file."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(folder: Path) -> Iterator[str]:
    """A line for every link that leads nowhere."""
    written = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts)  # the theme's templates
    pages = {path.resolve(): read(path) for path in written}
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not goal.exists():
                yield f"{path.relative_to(folder.resolve())}: {target}: no such file"
            elif parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].places:
                yield f"{path.relative_to(folder.resolve())}: {target}: no such place on that page"


def main() -> None:
    """Print what is broken, and fail if anything is."""
    found = sorted(set(broken(Path(sys.argv[1]))))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
