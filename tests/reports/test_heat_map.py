"""Protects the heat map of the page: that it says how long and what became of it, and has room for that."""

from in_chromium import open_page, until
from playwright.sync_api import Browser

from reports.result import ReportResult

WIDE_HEAT_MAP = """() => {
    const heat = document.querySelector('.heat'), before = heat.rows[0].cells.length - 1, columns = before + 12;
    for (const row of heat.rows)
        while (row.cells.length <= columns) row.append(row.lastElementChild.cloneNode(true));
    const each = (parseFloat(getComputedStyle(heat).getPropertyValue('--least')) - 160) / before;
    heat.style.cssText = `--least: ${160 + each * columns}px`;
    const figures = [...heat.querySelectorAll('td b')];
    for (const figure of figures) figure.textContent = '\u2265 18.89 s';
    return figures.filter(figure => figure.offsetWidth > figure.closest('td').clientWidth).length;
}"""
"""How many figures are wider than their cells, with twelve more columns."""


def test_no_figure_of_the_heat_map_is_wider_than_its_cell(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    """However many columns there are: `≥ 18.89 s` is the widest of them."""
    page = open_page(browser, built, page_messages)
    over = page.evaluate(WIDE_HEAT_MAP)
    assert over == 0


def test_the_heat_map_says_how_long_and_what_became_of_it(
    browser: Browser, built: ReportResult, page_messages: list[str]
) -> None:
    page = open_page(browser, built, page_messages)
    cells = page.locator(".heat tr", has_text="sarama 1.60.1").locator("td")
    assert "13.61 s" not in cells.first.inner_text()
    [slow] = [text for text in cells.all_inner_texts() if "case" in text]
    assert float(slow.split(" s")[0]) > 13
    assert "\u2717" in slow
    page.locator(".heat tr", has_text="kafka-go").locator("a").first.click()
    until(page, "location.hash.includes('client=kafka-go')")
    clients = page.locator(".times tr[data-verdict]:visible").evaluate_all(
        "rows => [...new Set(rows.map(row => row.dataset.client))]"
    )
    assert clients == ["kafka-go 0.4.50"]
    assert page.locator("#chips button").all_inner_texts() == ["kafka-go 0.4.50 \u2715", "blackhole \u2715"]
