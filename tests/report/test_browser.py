"""The page in a real browser."""

import pytest
from browser import Browser, needs_browser
from sample_report import sample_report

pytestmark = needs_browser
VISIBLE = (
    "[...document.querySelectorAll('{0}')].map(e => e.getBoundingClientRect())"
    ".filter(b => b.width > 100 && b.height > 20).length"
)
FIRST = "document.querySelector('figure.chart')"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return sample_report().write(tmp_path_factory.mktemp("page") / "report.html")


@pytest.mark.parametrize("width", [1200, 700, 360])
@pytest.mark.parametrize("dark", [False, True])
def test_it_loads_without_complaints_and_fits(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.errors == []
    assert [address for address in browser.requests if not address.startswith("data:")] == [page.as_uri()]
    assert browser.overflow() <= 0
    assert browser.evaluate(VISIBLE.format("svg.drawing")) == 6
    assert browser.evaluate("document.querySelector('img').naturalWidth") == 60


def test_without_script_everything_is_there(browser, page):
    browser.open(page, width=360, script=False)
    try:
        assert browser.evaluate(VISIBLE.format("svg.drawing")) == 6
        assert browser.evaluate("document.querySelectorAll('figure.player circle').length") > 50
        assert browser.evaluate("getComputedStyle(document.querySelector('.controls')).display") == "none"
        assert browser.overflow() <= 0
    finally:
        browser.open(page)


def test_letters_are_readable_on_a_phone(browser, page):
    browser.open(page, width=360)
    heights = browser.evaluate(
        "[...document.querySelectorAll('svg.drawing .frame text')].map(e => e.getBoundingClientRect())"
        ".filter(b => b.width > 0).map(b => Math.min(b.width, b.height))"
    )
    assert len(heights) > 20
    assert sorted(heights)[len(heights) // 2] >= 6


def test_labels_of_an_axis_do_not_overlap(browser, page):
    for width in (1200, 360):
        browser.open(page, width=width)
        overlaps = browser.evaluate(
            "[...document.querySelectorAll('svg.drawing')].filter(s => s.getClientRects().length).flatMap(s => {"
            "const b = [...s.querySelectorAll('.frame text')].map(e => e.getBoundingClientRect());"
            "return b.flatMap((p, i) => b.slice(i + 1).filter(q => p.left < q.right - 1 && q.left < p.right - 1 &&"
            "p.top < q.bottom - 3 && q.top < p.bottom - 3));}).length"
        )
        assert overlaps == 0


def test_pressing_the_legend_hides_a_series(browser, page):
    browser.open(page)
    shown = f"{FIRST}.querySelector('.wide [data-series=\"1\"]').getBoundingClientRect().width > 0"
    assert browser.evaluate(shown)
    browser.click("figure.chart .legend button:nth-child(2)")
    assert not browser.evaluate(shown)
    assert browser.evaluate(f"{FIRST}.querySelector('.legend button:nth-child(2)').ariaPressed") == "false"
    browser.click("figure.chart .legend button:nth-child(2)")
    assert browser.evaluate(shown)


def test_pointing_at_a_value_tells_it(browser, page):
    browser.open(page)
    x, y = browser.evaluate(
        f"(() => {{{FIRST}.scrollIntoView(); const s = {FIRST}.querySelector('.wide');"
        "const n = s.dataset.scales.split(' ').map(Number), b = s.getBoundingClientRect(), z = b.width / 720;"
        "const f = (v, [low, high, start, end, log]) => start + (end - start) *"
        "(log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));"
        "return [b.left + z * f(200, n.slice(0, 5)), b.top + z * f(0.8707, n.slice(5))];})()"
    )
    browser.point(x, y)
    words = browser.evaluate(f"{FIRST}.querySelector('.tooltip').innerText.split('\\n')")
    assert words == ["KMCF", "number of examples n: 200", "RMSE of the posterior mean (m): 0.8707 [0.8507, 0.8907]"]
    browser.point(1, 1)
    assert browser.evaluate(f"{FIRST}.querySelector('.tooltip').hidden")


def test_arrow_keys_walk_through_the_points(browser, page):
    browser.open(page)
    browser.evaluate(f"{FIRST}.querySelector('.canvas').focus()")
    told = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "Escape"):
        browser.press(key)
        told.append(
            browser.evaluate(
                f"(t => t.hidden ? null : t.innerText.split('\\n').slice(0, 2))({FIRST}.querySelector('.tooltip'))"
            )
        )
    assert told == [
        ["KMCF", "number of examples n: 100"],
        ["KMCF", "number of examples n: 200"],
        ["kNN-PF", "number of examples n: 200"],
        None,
    ]


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


def test_the_player_plays_to_the_end_and_steps(browser, page):
    browser.open(page)
    state = "[document.querySelector('.slider').value, document.querySelector('.moment').textContent]"
    first = browser.evaluate("document.querySelector('.player .layer4 path').getAttribute('transform')")
    browser.click(".play")
    assert browser.evaluate("document.querySelector('.play').ariaLabel") == "Pause"
    browser.wait_for("document.querySelector('.slider').value === '11'")
    browser.wait_for("document.querySelector('.play').ariaLabel === 'Play'")
    assert browser.evaluate(state) == ["11", "t = 11 s, error 0.11 m"]
    browser.evaluate("document.querySelector('.slider').focus()")
    browser.press("ArrowLeft")
    assert browser.evaluate(state) == ["10", "t = 10 s, error 0.10 m"]
    assert browser.evaluate("document.querySelector('.player .layer4 path').getAttribute('transform')") != first
    assert browser.errors == []


def test_every_control_can_be_reached_and_has_a_name(browser, page):
    browser.open(page)
    nameless = browser.evaluate(
        "[...document.querySelectorAll('button, input, select, svg[role=img], img, [role=region]')].filter(e =>"
        "!(e.ariaLabel || e.alt || e.textContent.trim() || e.labels?.length)).length"
    )
    assert nameless == 0
    assert browser.evaluate("document.querySelectorAll('[tabindex=\"-1\"]').length") == 0
