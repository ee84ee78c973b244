"""A page in a real browser that tells what it should not do."""

from pathlib import Path
from time import perf_counter
from urllib.parse import quote

from playwright.sync_api import Browser, Page

from reports.result import ReportResult

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
Tables = dict[str, list[dict[str, object]]]


def open_page(
    browser: Browser,
    built: ReportResult | Path | str,
    page_messages: list[str],
    *,
    width: int = 1440,
    scheme: str = "light",
    **other: object,
) -> Page:
    """A new window; `page_messages` takes what the page says on the console and asks of the network."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        permissions=["clipboard-read", "clipboard-write"],
        **other,
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.on("console", lambda message: page_messages.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: page_messages.append(f"error: {error}"))
    page.on("dialog", lambda dialog: page_messages.append(f"dialog: {dialog.message}"))
    page.on(
        "request",
        lambda request: (
            page_messages.append(f"request: {request.url}") if request.is_navigation_request() is False else None
        ),
    )
    page.goto(built if isinstance(built, str) else address_of(built if isinstance(built, Path) else built.page))
    return page


def address_of(file: Path) -> str:
    return "file://" + quote(str(file))


def until(page: Page, true: str, *, within_s: float = 20.0) -> None:
    """Look once a frame whether the expression is true. Playwright's own waiting evaluates text inside the page from
    the second look on, which the page's policy forbids."""
    ends_s = perf_counter() + within_s
    while not page.evaluate(true):
        assert perf_counter() < ends_s, f"never true: {true}"
        page.evaluate("new Promise((next) => requestAnimationFrame(next))")
    # What the page does because of it comes as an event, which waits in line: the address changes before the view.
    page.evaluate("new Promise((next) => setTimeout(next))")
