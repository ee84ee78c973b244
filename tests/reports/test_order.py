"""Protects the order of tables in a real browser: headings as buttons, from the keyboard, in the address, on paper."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from in_chromium import until
from playwright.sync_api import Locator, Page

from reports.result import ReportResult

pytestmark = [pytest.mark.spark, pytest.mark.browser]
Open = Callable[..., Page]
CLIENTS = "[data-sort=scenarios] > details > summary > :nth-child(2)"


def figures(cells: Locator) -> list[float]:
    """What the cells of a column are sorted by; nothing where it is not known."""
    return [float(text) for text in cells.evaluate_all("cells => cells.map(cell => cell.dataset.n)") if text]


def took(page: Page) -> list[float]:
    return figures(page.locator("#runs tbody tr td:nth-child(4)"))


def test_a_heading_sorts_from_the_keyboard_there_and_back(opened_page: Open, built: ReportResult) -> None:
    page = opened_page(built.page)
    page.locator("#runs > summary").click()
    at_first = took(page)
    heading = page.locator("#runs th[data-by=took]")
    heading.locator("button").focus()
    for direction, expected in (
        ("descending", sorted(at_first, reverse=True)), ("ascending", sorted(at_first)), (None, at_first),
    ):  # fmt: skip
        page.keyboard.press("Enter")
        assert heading.get_attribute("aria-sort") == direction
        assert took(page) == expected
        assert page.evaluate("document.activeElement.textContent") == "took", "the focus stays"
    assert len(set(at_first)) > 3
    assert sorted(at_first) != at_first


def test_a_link_shows_filters_and_order(opened_page: Open, built: ReportResult) -> None:
    page = opened_page(built.page)
    page.locator("#runs > summary").click()
    page.locator("#runs th[data-by=took] button").click()
    page.locator(".head [data-by=client] button").click()
    page.locator(".counts a[data-show=fail]").click()
    until(page, "location.hash.includes('show=fail')")
    link, seen, clients = page.url, took(page), page.locator(CLIENTS).all_inner_texts()
    assert "sort=-runs.took%2Cscenarios.client" in link
    other = opened_page(link)
    assert took(other) == seen == sorted(seen, reverse=True)
    assert other.locator(CLIENTS).all_inner_texts() == clients == sorted(clients)
    assert "“Scenarios” by client, ascending; “Single runs” by took, descending" in other.locator("#shown").inner_text()
    assert other.locator("#runs tr[data-verdict=pass]:visible").count() == 0
    other.go_back()
    other.goto(link.split("#")[0] + "#sort=-runs.nothing,none.took,runs&at=runs")
    other.reload()
    assert other.locator("[aria-sort]").count() == 0, "an order that nobody knows is none"
    other.goto(link)
    other.get_by_role("link", name="all", exact=True).click()
    until(other, "!document.querySelector('[aria-sort]')")


def test_a_list_that_goes_on_below_is_sorted_as_one(opened_page: Open, rich: Path) -> None:
    page = opened_page(rich)
    parts = page.locator("table.outages")
    sizes = [parts.nth(place).locator("tbody tr").count() for place in range(2)]
    names = page.locator("table.outages tbody th > b")
    at_first = names.all_text_contents()
    for _ in range(2):
        parts.first.locator("th[data-by=case] button").click()
        assert [parts.nth(place).locator("tbody tr").count() for place in range(2)] == sizes
        assert parts.nth(1).locator("th[aria-sort]").count() == 1
    told = names.all_text_contents()
    heals = [int(name.removeprefix("heal-")) for name in told if name.startswith("heal-")]
    assert heals == sorted(heals, reverse=True), "as numbers, over both parts"
    assert sorted(told) == sorted(at_first)
    assert min(heals) == heals[-1] != max(heals)


def test_a_sorted_row_says_its_case_itself(opened_page: Open, built: ReportResult) -> None:
    """A case's second measure stands below the first without its name: apart from it, it needs one."""
    page = opened_page(built.page)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    names = page.locator(".list .times tr.again th .case")
    shown = "cases => cases.filter(one => one.getBoundingClientRect().width > 5).length"
    assert names.count() > 3
    assert names.evaluate_all(shown) == 0
    page.locator(".list .times th[data-by=verdict] button").first.click()
    assert names.evaluate_all(shown) == names.count()


def test_what_is_not_known_comes_last_either_way(opened_page: Open, built: ReportResult) -> None:
    page = opened_page(built.page)
    cells = page.locator(".tried tbody td:nth-child(3)")
    for _ in range(2):
        page.locator(".tried th[data-by=attempts] button").first.click()
        told = cells.evaluate_all("cells => cells.map(cell => cell.dataset.n !== '')")
        assert told.count(False) > 0
        assert told == sorted(told, reverse=True)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_on_a_telephone_the_order_can_be_chosen_and_axe_is_pleased(opened_page: Open, rich: Path, scheme: str) -> None:
    page = opened_page(rich, width=360, scheme=scheme, reduced_motion="reduce", bypass_csp=True)
    for name in ("outages", "attempts", "groups"):
        button = page.locator(f"[data-sort={name}] [data-by=case] button").first
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 24
        button.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("th[aria-sort=ascending]").count() >= 3
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_headings_stay_on_paper_and_without_scripts(opened_page: Open, built: ReportResult) -> None:
    page = opened_page(built.page)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".list .times thead th", has_text="bound").first.is_visible()
    still = opened_page(built.page, java_script_enabled=False)
    assert still.locator(".sort").count() == 0
    still.locator("#runs > summary").click()
    assert still.locator("#runs th", has_text="took").is_visible()
