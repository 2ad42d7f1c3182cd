"""The page in a real browser."""

import re

import pytest
from browser import PLOT, Browser, needs_browser
from markup_reader import HOSTILE
from sample_report import sample_report

from kmcf.report import Axis, Chart, Frame, MapChart, MapPath, Player, Report, Section, Series

pytestmark = needs_browser
FIRST = "document.querySelector('figure.chart')"
FIGURES = "[...document.querySelectorAll('figure:has(.canvas)')]"
INK = (
    "(f => { const c = " + PLOT + "(f).export('png', true).canvas, p = c.getContext('2d');"
    "return p.getImageData(0, 0, c.width, c.height).data.filter((a, k) => k % 4 === 3 && a > 0).length; })"
)
"""A function that counts the pixels that BokehJS has drawn in a figure."""
AT = (
    "(f => (x, y) => { f.scrollIntoView({block: 'center', behavior: 'instant'}); const p = " + PLOT + "(f),"
    "b = f.querySelector('.canvas').getBoundingClientRect();"
    "return [b.left + p.frame.x_scale.compute(x), b.top + p.frame.y_scale.compute(y)]; })"
)
"""A function that returns where in the window a value lies."""
TOOLTIP = (
    "(() => { const found = []; const look = (node) => { for (const e of node.children) {"
    "if (e.classList.contains('bk-tooltip-content')) found.push(e.innerText); if (e.shadowRoot) look(e.shadowRoot);"
    "look(e); } }; look(document.body); return found; })()"
)
"""The words of BokehJS' tooltips."""


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return sample_report().write(tmp_path_factory.mktemp("page") / "report.html")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 700, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_it_loads_without_complaints_and_fits(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.errors == []
    assert [address for address in browser.requests if not address.startswith("data:")] == [page.as_uri()]
    assert browser.overflow() <= 0
    assert min(browser.evaluate(f"{FIGURES}.map({INK})")) > 2000
    assert len(browser.heights_of_figures()) == 6
    assert min(browser.heights_of_figures()) > 150
    assert browser.evaluate("document.querySelector('img').naturalWidth") == 60


def test_without_script_words_tables_and_numbers_are_there(browser, page):
    browser.open(page, width=360, script=False)
    try:
        assert browser.evaluate("document.querySelectorAll('figure noscript p').length") == 6
        assert browser.evaluate("document.querySelector('.table').getBoundingClientRect().height") > 100
        assert browser.evaluate("document.querySelectorAll('details table').length") == 4
        assert browser.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
        assert browser.overflow() <= 0
    finally:
        browser.open(page)


def test_letters_are_readable_on_a_phone(browser, page):
    browser.open(page, width=360)
    letters = browser.evaluate(
        f"{FIGURES}.flatMap(f => {PLOT}(f).model.below.concat({PLOT}(f).model.left)).flatMap(axis =>"
        "[axis.major_label_text_font_size, axis.axis_label_text_font_size])"
    )
    assert set(letters) == {"12px"}
    # Nothing is scaled down to fit: a pixel of the drawing is a pixel of the page.
    assert browser.evaluate(f"{FIGURES}.every(f => {PLOT}(f).bbox.width <= f.querySelector('.canvas').clientWidth)")


@pytest.mark.slow
def test_labels_of_an_axis_do_not_overlap(browser, page):
    for width in (1200, 360):
        browser.open(page, width=width)
        policies = browser.evaluate(
            f"{FIGURES}.flatMap(f => {PLOT}(f).model.below.concat({PLOT}(f).model.left))"
            ".map(axis => axis.major_label_policy.type)"
        )
        assert policies == ["NoOverlap"] * 12


@pytest.mark.slow
def test_maps_have_one_scale_at_every_width(browser, page):
    for width in (1200, 360):
        browser.open(page, width=width)
        scales = browser.evaluate(
            f"[...document.querySelectorAll('#map figure')].map({PLOT}).map(p => [p.frame.x_scale, p.frame.y_scale]"
            ".map(s => Math.abs(s.compute(1) - s.compute(0))))"
        )
        assert len(scales) == 2
        for x, y in scales:
            assert x == pytest.approx(y, rel=1e-6)


@pytest.mark.slow
def test_pressing_the_legend_hides_a_series(browser, page):
    browser.open(page)
    before = browser.evaluate(f"{INK}({FIRST})")
    browser.click("figure.chart .legend button:nth-child(2)")
    assert browser.evaluate(f"{INK}({FIRST})") < before - 500
    assert browser.evaluate(f"{FIRST}.querySelector('.legend button:nth-child(2)').ariaPressed") == "false"
    browser.click("figure.chart .legend button:nth-child(2)")
    assert browser.evaluate(f"{INK}({FIRST})") == before


def point_at(browser, figure, x, y):
    left, top = browser.evaluate(f"{AT}({figure})({x}, {y})")
    browser.point(left - 2, top)
    browser.point(left, top)
    browser.wait_for(f"{TOOLTIP}.length")
    return [re.sub(r"\s+", " ", line).strip() for line in browser.evaluate(f"{TOOLTIP}")[0].splitlines()]


def test_pointing_at_a_value_tells_it(browser, page):
    browser.open(page)
    words = point_at(browser, FIRST, 200, 0.8707)
    assert words == ["KMCF", "number of examples n: 200", "RMSE of the posterior mean (m): 0.8707 [0.8507, 0.8907]"]
    browser.point(1, 1)
    browser.wait_for(f"{TOOLTIP}.length === 0")


@pytest.mark.slow
def test_hostile_names_are_shown_as_they_are(browser, tmp_path):
    hostiles = [*HOSTILE, "$$x^2$$", "@x{safe} $name"]
    sections = []
    for hostile in hostiles:
        series = [Series(hostile, [0, 1], [1, 2], [0, 1], [2, 3]), Series("s", [0, 1], [5, 6])]
        chart = Chart(hostile, Axis(hostile, hostile, categories=[hostile, "b"]), Axis(hostile), series)
        path = MapChart(hostile, [MapPath(hostile, [[0, 0], [1, 1]], [1, 2])], unit=hostile, axes=(hostile, hostile))
        sections.append(Section("s", [chart, path]))
    sections.append(Section("p", [Player(hostiles[0], [Frame(hostiles[0], [[0, 0]], [1.0])], unit=hostiles[0])]))
    browser.open(Report("r", "c", sections).write(tmp_path / "r.html"))
    for k, hostile in enumerate(hostiles):
        told = point_at(browser, f"document.querySelectorAll('section')[{k}].querySelector('figure')", 0, 1)
        assert told[0] == re.sub(r"\s+", " ", hostile).strip()
        browser.point(1, 1)
        browser.wait_for(f"{TOOLTIP}.length === 0")
    assert browser.errors == []
    assert [address for address in browser.requests if not address.startswith(("data:", "file:"))] == []
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


def test_arrow_keys_walk_through_the_points(browser, page):
    browser.open(page)
    browser.evaluate(f"{FIRST}.querySelector('.canvas').focus()")
    told = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Escape"):
        browser.press(key)
        told.append(
            browser.evaluate(
                f"(t => t.hidden ? null : t.innerText.split('\\n').slice(0, 2))({FIRST}.querySelector('.told'))"
            )
        )
    assert told == [
        ["KMCF", "number of examples n: 100"],
        ["KMCF", "number of examples n: 200"],
        ["kNN-PF", "number of examples n: 200"],
        None,
    ]


@pytest.mark.slow
def test_paper_gets_pictures_that_fit(browser, page):
    browser.open(page)
    browser.print()
    assert (
        browser.evaluate("[...document.querySelectorAll('.canvas > img')].map(i => i.naturalWidth > 300)") == [True] * 6
    )
    assert browser.errors == []


def test_pressing_a_heading_sorts(browser, page):
    browser.open(page)
    column = "[...document.querySelectorAll('#errors--3 tbody tr')].map(r => r.cells[{0}].textContent)"
    browser.click("#errors--3 th:nth-child(2) button")
    assert browser.evaluate(column.format(0)) == ["3a", "1a", "2a"]
    browser.click("#errors--3 th:nth-child(2) button")
    assert browser.evaluate(column.format(0)) == ["2a", "1a", "3a"]
    browser.click("#errors--3 th:nth-child(4) button")
    browser.click("#errors--3 th:nth-child(4) button")
    assert browser.evaluate(column.format(0)) == ["2a", "1a", "3a"]


@pytest.mark.slow
def test_the_player_plays_to_the_end_and_steps(browser, page):
    browser.open(page)
    state = "[document.querySelector('.slider').value, document.querySelector('.moment').textContent]"
    truth = (
        f"(p => [...p.model.renderers.find(r => r.data_source.name === 'truth').data_source.data.x])"
        f"({PLOT}(document.querySelector('.player')))"
    )
    first = browser.evaluate(truth)
    assert len(first) == 1
    browser.click(".play")
    assert browser.evaluate("document.querySelector('.play').ariaLabel") == "Pause"
    browser.wait_for("document.querySelector('.slider').value === '11'")
    browser.wait_for("document.querySelector('.play').ariaLabel === 'Play'")
    assert browser.evaluate(state) == ["11", "t = 11 s, error 0.11 m"]
    browser.evaluate("document.querySelector('.slider').focus()")
    browser.press("ArrowLeft")
    assert browser.evaluate(state) == ["10", "t = 10 s, error 0.10 m"]
    assert browser.evaluate(truth) != first
    assert browser.errors == []


def test_every_control_can_be_reached_and_has_a_name(browser, page):
    browser.open(page)
    nameless = browser.evaluate(
        "[...document.querySelectorAll('button, input, select, [role=img], [role=group], img, [role=region]')]"
        ".filter(e =>"
        "!(e.ariaLabel || e.alt || e.textContent.trim() || e.labels?.length)).length"
    )
    assert nameless == 0
    assert browser.evaluate("document.querySelectorAll('[tabindex=\"-1\"]').length") == 0
