"""The report in a real browser: the explorer says what Python computes, nothing leaves the page, everybody can use it.

The browser is Chromium as the system has it (Debian: ``apt-get install chromium``), driven by Playwright.
"""

import json
import os
import shutil
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from unlabeled import Costs, WMMDClassifier, report
from unlabeled.datasets import make_gaussians
from unlabeled.displays.threshold_table import ThresholdTable
from unlabeled.reports.content import SHOWN, threshold_cells, told_as_money

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
EVIL = "<script>document.title = 'broken'</script>"
COSTS = Costs(2, 9)


@pytest.fixture(scope="module")
def browser():
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        missing = (
            pytest.fail if os.environ.get("CI") else pytest.skip
        )  # where it is installed, it must not go unnoticed
        missing("no browser: none of chromium, chromium-browser and google-chrome is in PATH")
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def found():
    data = make_gaussians(80, 300, prior=0.3, separation=3, random_state=1)
    words = np.random.default_rng(0).choice(["<img src=x onerror='document.title=1'>", "plain"], len(data.X))
    frame = pd.DataFrame({EVIL: data.X[:, 0], "b": data.X[:, 1], "words": words})
    with threadpool_limits(1, user_api="openmp"):
        model = WMMDClassifier(0.4, random_state=0).fit(frame, data.y)
        about = report(model, frame, data.y, new=frame.assign(b=frame["b"] + 3), costs=COSTS, title="A title")
        about.html  # noqa: B018
    return about


@pytest.fixture(scope="module")
def address(found, tmp_path_factory):
    return found.save(tmp_path_factory.mktemp("page") / "report.html").as_uri()


@pytest.fixture
def opened(browser, address):
    """Open the page under some conditions; what went wrong in it is told at the end."""
    contexts, wrong, asked = [], [], []

    def open_page(**conditions):
        contexts.append(browser.new_context(**conditions))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong
    assert {url for url in asked if not url.startswith("data:")} == {address}


@pytest.fixture(scope="module")
def table(found):
    return ThresholdTable.of(found.subject.evidence)


def move(page, place):
    page.locator("#threshold").evaluate(
        "(slider, place) => { slider.value = place; slider.dispatchEvent(new Event('input')); }", str(place)
    )


def shown(page):
    return {name: page.locator(f"#now-{name}").text_content() for name in ("threshold", *SHOWN)}


def test_the_slider_says_what_python_computes(opened, table):
    page = opened()
    for place in (table.chosen, 0, 40, len(table.rows) - 1):
        move(page, place)
        cells = threshold_cells(table.rows[place], COSTS)
        assert shown(page) == {name: cells[name] for name in ("threshold", *SHOWN)}
        cost = table.rows[place].cost(COSTS)
        numbers = json.loads(page.locator("#now-cost").get_attribute("data-cost"))
        assert numbers == pytest.approx([cost.value, cost.low, cost.high])


def test_costs_can_be_changed(opened, table):
    page = opened()
    page.fill("#cost-false", "3")
    page.fill("#cost-missed", "50")
    move(page, 25)
    cost = table.rows[25].cost(Costs(3, 50))
    numbers = json.loads(page.locator("#now-cost").get_attribute("data-cost"))
    assert numbers == pytest.approx([cost.value, cost.low, cost.high])
    assert page.locator("#now-cost").text_content() == told_as_money(cost)
    for price in ("0.5", "0.013", "1234.5"):  # halves, small and large amounts
        page.fill("#cost-false", price)
        page.fill("#cost-missed", price)
        now = told_as_money(table.rows[25].cost(Costs(float(price), float(price))))
        assert page.locator("#now-cost").text_content() == now
    page.click("#cheapest")
    assert int(page.input_value("#threshold")) == table.cheapest(Costs(3, 50))
    page.click("#in-use")
    assert int(page.input_value("#threshold")) == table.chosen


def test_the_line_in_the_picture_follows(opened, table):
    page = opened()
    x = [float(page.locator("#thresholds").get_attribute(f"data-{name}")) for name in ("x0", "x1", "left", "right")]
    move(page, 10)
    path = page.locator("#threshold-line").get_attribute("d")
    across = x[2] + (table.rows[10].threshold - x[0]) / (x[1] - x[0]) * (x[3] - x[2])
    assert float(path[1:].split()[0]) == pytest.approx(across, abs=0.06)


def test_the_keyboard_suffices(opened, table):
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.focus("#threshold")
    page.keyboard.press("ArrowRight")
    assert page.locator("#now-recall").text_content() == threshold_cells(table.rows[table.chosen + 1], COSTS)["recall"]
    assert "recall" in page.locator("#threshold").get_attribute("aria-valuetext")
    reached = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"cost-false", "cost-missed", "cheapest", "in-use"} <= reached
    outline = page.evaluate("""() => {
        const button = document.getElementById('theme');
        button.focus({focusVisible: true});
        return getComputedStyle(button).outlineStyle; }""")
    assert outline != "none"


def test_text_of_the_table_does_nothing(opened):
    page = opened()
    assert page.title() == "A title"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert page.get_by_text(EVIL).count() > 0


def test_it_is_useful_without_javascript(opened, table):
    page = opened(java_script_enabled=False)
    assert not page.locator(".explorer").is_visible()
    assert not page.locator("#theme").is_visible()
    rows = page.locator("table.numbers tbody tr")
    assert rows.count() == len(table.some())
    assert rows.first.is_visible()
    assert threshold_cells(table.rows[table.chosen], COSTS)["precision"] in page.locator("tr.chosen").text_content()
    assert page.locator("#scores").is_visible()


def test_links_stay_in_the_frame_that_a_notebook_shows(browser, found, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>notebook</title>{found._repr_html_()}", encoding="utf-8")
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto(notebook.as_uri())
    page.frames[1].click("nav a[href='#explorer']")
    frame = page.frames[1]
    assert frame.url == "about:srcdoc"
    for _ in range(100):  # the page's policy lets no text be waited for in it
        if frame.evaluate("scrollY") > 200:
            break
        page.wait_for_timeout(50)
    assert frame.evaluate("scrollY") > 200
    frame.locator("#threshold").press("ArrowRight")
    assert frame.evaluate("document.getElementById('explorer').contains(document.activeElement)")
    page.close()


# Contrast by WCAG 2: of each piece of text with what is behind it, and how large the text is.
CONTRAST = """() => {
  function parts(colour) { return (colour.match(/[\\d.]+/g) || []).map(Number); }
  function linear(v) { return v <= 255 * .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4; }
  function light(c) { const [r, g, b] = c.map(linear);
    return .2126 * r + .7152 * g + .0722 * b; }
  function behind(e) { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c; } return [255, 255, 255]; }
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.getClientRects().length) continue;
    if (e.closest('script, title, desc')) continue;
    const style = getComputedStyle(e);
    const ink = parts(e.closest('svg') ? style.fill : style.color), paper = behind(e);
    const [a, b] = [light(ink.slice(0, 3)), light(paper.slice(0, 3))].sort((x, y) => y - x);
    found.push([(a + .05) / (b + .05), walker.currentNode.textContent.trim().slice(0, 40)]);
  }
  return found;
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_can_be_read(opened, theme):
    page = opened(color_scheme=theme)
    contrasts = page.evaluate(CONTRAST)
    assert len(contrasts) > 100
    assert min(contrasts)[0] >= 4.5, min(contrasts)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    assert min(page.evaluate(CONTRAST))[0] >= 4.5


def test_pictures_and_fields_have_names(opened):
    page = opened()
    unnamed = page.evaluate("""() => [...document.querySelectorAll('svg')].filter(svg =>
        !svg.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id).textContent.trim()))
        .length""")
    assert unnamed == 0
    assert page.evaluate("[...document.querySelectorAll('input')].every(field => field.labels.length === 1)")
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(heading => Number(heading.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_it_fits_a_phone(opened, width):
    page = opened(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = page.evaluate("""() => Math.min(...[...document.querySelectorAll('svg text')]
        .filter(text => text.getClientRects().length)
        .map(text => text.ownerSVGElement.getScreenCTM().a * parseFloat(getComputedStyle(text).fontSize)))""")
    assert small >= 8
