"""Every page of the built site is opened as wide as a phone: python on_a_phone.py FOLDER.

It fails on a page that is wider than the screen, on what a page complains of in its console, and on a request that
leaves the site. Without a browser it says so, and does nothing; where CI is set that is an error.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PHONE = {"width": 390, "height": 844}
#: The widest element, for whoever has to mend it, and by how much it is too wide; nothing where the page fits.
TOO_WIDE = """() => {
    const room = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= room + 1) return "";
    const all = [...document.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > room + 1);
    const worst = all.sort((a, b) => b.getBoundingClientRect().right - a.getBoundingClientRect().right)[0];
    const name = worst ? `<${worst.tagName.toLowerCase()} class="${worst.className}">` : "the page";
    return `${document.documentElement.scrollWidth - room} pixels too wide: ${name}`;
}"""


def pages_of(folder: Path) -> list[Path]:
    """What was written for people: not the theme's templates."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def wrong(driver: Any, program: str, folder: Path) -> Iterator[str]:
    """A line for everything that is wrong with a page."""
    browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
    page = browser.new_context(viewport=PHONE, is_mobile=True, device_scale_factor=2).new_page()
    told: list[str] = []
    page.on("console", lambda message: told.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: told.append(f"asks for {request.url}") if leaves(request.url) else None)
    for path in pages_of(folder):
        told.clear()
        page.goto(path.resolve().as_uri(), wait_until="load")
        told += [found for frame in page.frames if (found := frame.evaluate(TOO_WIDE))]
        yield from (f"{path.relative_to(folder)}: {words}" for words in told)
    browser.close()


def leaves(url: str) -> bool:
    """Whether an address is none of the site's own files."""
    return url.partition(":")[0] not in {"file", "data", "blob", "about"}


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415
    except ModuleNotFoundError:
        program = None
    if program is None:
        told = f"Pages were not opened: there is no Playwright, or none of {', '.join(BROWSERS)}."
        sys.stdout.write(f"{told}\n")
        sys.exit(1 if os.environ.get("CI") else 0)
    with sync_playwright() as driver:
        found = list(wrong(driver, program, Path(sys.argv[1])))
    sys.exit("\n".join(found) if found else 0)


if __name__ == "__main__":
    main()
