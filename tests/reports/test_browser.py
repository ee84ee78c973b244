"""Protects the page in a real browser: silent, self-contained, readable on a telephone, usable from the keyboard."""

import shlex
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from in_chromium import Tables, address_of, open_page, until
from playwright.sync_api import Browser
from rich_rows import grown, repeated

from reports.pages.page import write_page
from reports.pages.view import build_page
from reports.result import ReportResult

pytestmark = [pytest.mark.spark, pytest.mark.browser]
WIDTHS = (360, 768, 1440)
CONTRAST = 4.5
"""WCAG 2.2 AA for text of ordinary size."""

LOW_CONTRAST = """
(least) => {
  const channel = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const one of document.querySelectorAll("body *")) {
    const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || one.closest("svg, script, style") || !one.getClientRects().length) continue;
    const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const where = `${one.tagName}.${one.className}: ${one.textContent.trim().slice(0, 40)}`;
    if (ratio < least) low.push(`${ratio.toFixed(2)} ${where}`);
  }
  return [...new Set(low)];
}
"""


ALL_BUT_CONTRAST = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
SIZES = """
() => [...new Set([...document.querySelectorAll("body *")]
  .filter((one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
    && !one.closest("script, style") && one.getClientRects().length)
  .map((one) => getComputedStyle(one).fontSize))]
"""
HAS_OUTLINE = """
() => document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== "none"
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_silent_fits_and_can_be_read(
    browser: Browser, built: ReportResult, page_messages: list[str], width: int, scheme: str
) -> None:
    page = open_page(browser, built, page_messages, width=width, scheme=scheme)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(LOW_CONTRAST, CONTRAST) == []
    assert [line for line in page_messages if not line.startswith("request: data:")] == []


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (360, "dark"),
        (1440, "light"),
        pytest.param(360, "light", marks=pytest.mark.slow),
        pytest.param(1440, "dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing(
    browser: Browser, built: ReportResult, page_messages: list[str], width: int, scheme: str
) -> None:
    """As it opens, and with everything open. Contrast, which takes axe longest, is held above for each of these."""
    page = open_page(
        browser, built, page_messages, width=width, scheme=scheme, reduced_motion="reduce", bypass_csp=True
    )
    for _ in range(2):
        found = Axe().run(page, options=ALL_BUT_CONTRAST)
        assert found.violations_count == 0, found.generate_report()
        page.evaluate(OPEN_ALL)


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), pytest.param(1440, "light", marks=pytest.mark.slow)])
def test_every_section_is_silent_fits_and_pleases_axe(
    browser: Browser, rich: Path, page_messages: list[str], width: int, scheme: str
) -> None:
    page = open_page(browser, rich, page_messages, width=width, scheme=scheme, reduced_motion="reduce", bypass_csp=True)
    page.evaluate(OPEN_ALL)
    assert page.locator(".agreement tr[data-verdict=fail]").count() == 3
    assert page.locator(".curves").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(LOW_CONTRAST, CONTRAST) == []
    assert (page.locator("img").count(), page.locator("script").count()) == (0, 1)
    assert page.get_by_text("<script>alert('x')</script>").count() > 5
    assert [line for line in page_messages if not line.startswith("request: data:")] == []
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_a_violated_limit_has_a_row_of_its_own_and_no_band(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    """Beside the formula of the same measure: the farthest off first, with name, bound, figures and place."""
    page = open_page(browser, built, page_messages)
    card = page.locator("article.attention", has_text="sarama-upgrade-bound")
    first, second, *_ = card.locator("table.times tbody tr").all()
    assert [one.get_attribute("data-verdict") for one in (first, second)] == ["fail", "fail"]
    told = first.inner_text()
    for text in ("soon", "at_most: 3s", "\u2264 3.000 s", "+", "established.scenario.yaml:31"):
        assert text in told
    assert (first.locator("path.band").count(), first.locator("path.tick").count()) == (0, 1)
    assert second.locator("path.band").count() == 1


@pytest.mark.parametrize("copies", [154, 1], ids=["as many cases", "few cases"])
def test_ten_thousand_runs_are_a_small_page(browser: Browser, tables: Tables, tmp_path: Path, copies: int) -> None:
    """Whether they are 154 times as many cases, or the same cases with 154 times as many repeats.

    What makes a page slow to open is held: its bytes and its nodes. `python -m bench page_open` times the opening.
    """
    many = grown(tables, runs=10_000) if copies > 1 else repeated(tables, times=154)
    assert len(many["runs"]) >= 10_000
    file = write_page(build_page(many, (), (), ()), tmp_path / "report.html")
    assert file.stat().st_size < 3 * 1024 * 1024
    page = browser.new_page()
    page.goto(address_of(file))
    assert page.evaluate("document.querySelectorAll('*').length") < 100_000
    page.close()


def test_text_from_records_is_text(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    page.evaluate(OPEN_ALL)
    assert page.locator("h3", has_text="<script>alert('x')</script>").count() >= 1
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert [line for line in page_messages if not line.startswith("request: data:")] == []


def test_what_matters_comes_first(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    assert page.locator("h1").inner_text() == "1 of 13 cases failed; 1 lab error; 1 inconclusive."
    assert page.locator("h2").all_inner_texts()[:4] == [
        "What needs attention",
        "How long callers hang",
        "Claims",
        "Predicted and measured",
    ]
    assert page.locator(".attention h3").first.inner_text() == "sarama-upgrade-bound"
    assert {"REFUTED", "INCONCLUSIVE"} == set(page.locator("summary .stamp").all_inner_texts())
    page.evaluate(OPEN_ALL)
    assert page.locator(".times td", has_text="\u2265 60.000 s").count() >= 1


def test_the_address_holds_the_view(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    """A link with filters, a search and a place shows what its sender saw; more filters are added, and taken away."""
    page = open_page(browser, built, page_messages)
    page.goto(address_of(built.page) + "#show=pass&find=Retry.Max+3&at=times")
    page.reload()
    seen = page.locator(".times tbody tr:visible")
    assert seen.count() > 0
    assert all("Retry.Max 3" in text.replace("\n", " ") for text in seen.locator("th").all_inner_texts() if text)
    assert page.locator("#find").input_value() == "Retry.Max 3"
    assert page.evaluate("document.activeElement.id") == "times"
    page.locator("#find").fill("no such words")
    until(page, "location.hash === '#show=pass&find=no+such+words'")
    assert page.locator(".times tbody tr:visible").count() == 0
    page.get_by_role("link", name="all", exact=True).click()
    until(page, "!location.hash.includes('=')")
    page.locator(".contents").get_by_role("link", name="Claims").click()
    until(page, "location.hash === '#claims'")


def test_a_filter_reaches_time_lines_single_runs_and_other_measures(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    """What is told of other clients goes, and what has nothing left to tell goes with it."""
    page = open_page(browser, built, page_messages)
    assert page.locator("article:has(.timeline)").count() == 2
    page.goto(address_of(built.page) + "#client=sarama+1.60.1")
    page.reload()
    assert page.locator("article:has(.timeline):visible h3").all_inner_texts() == ["sarama-upgrade-bound"]
    assert page.locator("#measures").is_hidden(), "that client has no measure without an expectation"
    rows = page.locator(".times[data-sort] tr[data-verdict]:not([hidden])")
    assert f": {rows.count()} measures." in page.locator("#shown").inner_text(), "each is counted once"
    page.goto(address_of(built.page) + "#client=nobody")
    page.reload()
    assert page.locator("main > section:visible h2").all_inner_texts() == ["How long callers hang", "Everything else"]


def test_a_formula_is_found_from_its_number(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    page.locator("article.attention sup a").first.click()
    until(page, "document.activeElement.matches('.formulas li')")
    assert "Net.ReadTimeout" in page.evaluate("document.activeElement.textContent")


def test_it_does_not_move_for_those_who_asked(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages, reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_the_time_line_names_what_the_formula_lacks(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    page = open_page(browser, built, page_messages)
    assert page.locator(".timeline").count() == 2
    outside = page.locator(".timeline").first.locator(".lane .block.outside")
    assert "Admin.Timeout" in (outside.first.get_attribute("title") or "")
    table = page.locator("#line ~ .card table.terms").first.inner_text()
    assert "8 waits" in table
    assert "not in it" in table


def test_counts_filter_from_the_keyboard(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().replace(/\\s+/g, ' ')"))
        if reached[-1].endswith(" fail"):
            break
    assert reached[0] == "Skip to the results"
    assert reached[-1].endswith(" fail")
    page.keyboard.press("Enter")
    until(page, "document.querySelector('.times tr[data-verdict=pass]').hidden")
    assert page.locator("tr[data-verdict=fail]:visible").count() >= 1
    assert page.locator("tr[data-verdict=pass]:visible").count() == 0
    assert page.locator("article.attention:visible").count() == 1
    assert "“fail”" in page.locator("#shown").inner_text()
    page.get_by_role("link", name="all", exact=True).click()
    until(page, "!document.querySelector('.times tr[data-verdict=pass]').hidden")


def test_everything_that_acts_can_be_reached_and_seen_in_focus(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    page = open_page(browser, built, page_messages)
    wanted = page.locator("a:visible, button:visible, summary:visible, [tabindex='0']:visible").count()
    seen = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("[...document.querySelectorAll('*')].indexOf(document.activeElement)"))
        assert page.evaluate(HAS_OUTLINE)
    assert len(seen) >= wanted


def test_the_replay_command_is_copied(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    button = page.locator("article.attention button").first
    button.focus()
    page.keyboard.press("Enter")
    until(page, "document.querySelector('article.attention button').textContent === 'copied'")
    command = page.locator("article.attention .copy code").first.inner_text()
    assert page.evaluate("navigator.clipboard.readText()") == command
    _, name, run_id, flag, folder = shlex.split(command)
    assert (name, flag) == ("replay", "--in")
    assert run_id in (Path(folder) / "runs.jsonl").read_text()


def test_a_failing_card_is_copied_as_a_summary(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    card = page.locator("article.attention").first
    card.get_by_role("button", name="copy summary").click()
    until(page, "[...document.querySelectorAll('article button')].some((one) => one.textContent === 'copied')")
    told = page.evaluate("navigator.clipboard.readText()")
    assert card.locator("h3").inner_text() in told
    assert card.locator(".copy code").inner_text() in told


def test_the_first_screen_names_what_the_longest_hang_waited_for(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    page = open_page(browser, built, page_messages)
    box = page.locator(".cause").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 400
    assert "s" in page.locator(".cause b").inner_text()


def test_on_a_telephone_the_contents_fold_and_the_verdict_is_on_the_first_screen(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    page = open_page(browser, built, page_messages, width=390)
    for place in ("h1", ".cause"):
        box = page.locator(place).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < 800
    assert page.locator(".contents a:visible").count() == 0
    page.locator(".toc > summary").click()
    assert page.locator(".contents a:visible").count() > 4
    wide = open_page(browser, built, page_messages)
    assert wide.locator(".contents a:visible").count() > 4


def test_the_page_has_seven_sizes_of_type_and_none_is_too_small(
    browser: Browser, built: ReportResult, rich: Path, page_messages: list[str]
) -> None:
    seen: set[float] = set()
    for file in (built, rich):
        page = open_page(browser, file, page_messages)
        page.evaluate(OPEN_ALL)
        seen |= {float(size.removesuffix("px")) for size in page.evaluate(SIZES)}
    assert len(seen) <= 7, sorted(seen)
    assert min(seen) >= 12


@pytest.mark.parametrize("words", ["Net.DialTimeout", "2*Net.ReadTimeout", "soon", "out of available brokers"])
def test_the_search_finds_settings_formulas_expectations_and_errors(
    browser: Browser, built: ReportResult, page_messages: list[str], words: str
) -> None:
    page = open_page(browser, built, page_messages)
    page.locator("#find").fill(words)
    until(page, "location.hash.includes('find=')")
    assert page.locator(".times[data-sort] tr[data-verdict]:not([hidden])").count() > 0
    assert page.locator(".times[data-sort] tr[data-verdict][hidden]").count() > 0 or words == "Net.DialTimeout"


def test_headings_are_links_to_themselves(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    headings = page.locator("main h2, article.attention h3, article:has(.timeline) h3")
    for heading in headings.all():
        target = (heading.locator("a").get_attribute("href") or "").removeprefix("#")
        assert page.evaluate("id => document.getElementById(id) !== null", target)
    assert headings.count() > 6


def test_it_says_all_without_scripts(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages, java_script_enabled=False)
    for summary in page.locator(".list > details > summary").all():
        summary.click()
    assert page.locator("tr[data-verdict]:visible").count() > 20
    assert page.locator("button:visible, input:visible").count() == 0


def test_each_picture_is_a_table_too(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages)
    assert page.locator("[role=img]:not([aria-label]), [role=img][aria-label='']").count() == 0
    assert page.locator("svg:not([aria-hidden=true])").count() == 0
    for index in range(page.locator(".timeline").count()):
        card = page.locator(".card", has=page.locator(".timeline")).nth(index)
        assert card.locator("table").count() == 2


def test_it_prints(browser: Browser, built: ReportResult, page_messages: list[str]) -> None:
    page = open_page(browser, built, page_messages, scheme="dark")
    at_first = page.locator("details[open]").count()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 34, 48)"
    page.set_viewport_size({"width": 718, "height": 1000})
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".times tr[data-verdict]:visible").count() > 20
    assert page.locator("button:not(.sort):visible, input:visible").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    assert len(page.pdf(format="A4")) > 20_000
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == at_first
