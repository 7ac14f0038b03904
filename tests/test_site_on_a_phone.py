"""The script that opens every page of the site finds what is wrong with one."""

import runpy
import shutil
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "docs" / "_ext" / "on_a_phone.py"
if not PATH.exists():
    pytest.skip("docs are not part of this distribution", allow_module_level=True)
SCRIPT = runpy.run_path(str(PATH))
PAGE = "<!doctype html><meta name=viewport content='width=device-width'><title>t</title><body>{}</body>"
PAGES = {
    "right": "<p>text</p><div style='overflow:auto'><p style='width:900px'>scrolls</p></div>",
    "wide": "<p class='long' style='width:900px'>text</p>",
    "broken": "<script>undefined.name</script>",
    "asking": "<img src='https://unlabeled.invalid/picture.png'>",
}


def test_what_is_wrong_with_a_page_is_told(tmp_path):
    program = next((path for name in SCRIPT["BROWSERS"] if (path := shutil.which(name))), None)
    if program is None:
        pytest.skip("no browser is in PATH")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    for name, content in PAGES.items():
        (tmp_path / f"{name}.html").write_text(PAGE.format(content), encoding="utf-8")
    with playwright.sync_playwright() as driver:
        found = list(SCRIPT["wrong"](driver, program, tmp_path))
    assert {line.partition(":")[0] for line in found} == {"wide.html", "broken.html", "asking.html"}
    assert any('pixels too wide: <p class="long">' in line for line in found)
    assert any("Cannot read properties of undefined" in line for line in found)
    assert any("asks for https://unlabeled.invalid/picture.png" in line for line in found)


def test_addresses_that_leave_the_site():
    leaves = SCRIPT["leaves"]
    assert leaves("https://example.org/font.woff")
    assert not any(map(leaves, ("file:///site/index.html", "about:srcdoc", "data:,a", "blob:null/1")))
