"""A page in a real browser that tells what it should not do."""

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Literal
from urllib.parse import quote
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, Page

from reports.result import ReportResult

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
Tables = dict[str, list[dict[str, object]]]


@dataclass
class Window:
    """A page with whatever it says on the console and asks of the network."""

    page: Page
    messages: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, browser: Browser, **other: object) -> "Window":
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **other)
        window = cls(context.new_page())
        page = window.page
        page.set_default_timeout(20_000)
        page.on("console", lambda message: window.messages.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: window.messages.append(f"error: {error}"))
        page.on("dialog", lambda dialog: window.messages.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: (
                window.messages.append(f"request: {request.url}") if request.is_navigation_request() is False else None
            ),
        )
        return window


KEPT: WeakKeyDictionary[Browser, Window] = WeakKeyDictionary()
"""The one window that a browser opens again and again: a new one takes longer than most tests do in it."""


def open_page(
    browser: Browser,
    built: ReportResult | Path | str,
    page_messages: list[str],
    *,
    width: int = 1440,
    scheme: Literal["light", "dark"] = "light",
    reduced_motion: Literal["reduce", "no-preference"] = "no-preference",
    **other: object,
) -> Page:
    """The page, loaded anew; `page_messages` takes what it says on the console and asks of the network. What was open
    before is gone, except from windows with `other` settings, which are new."""
    window = Window.of(browser, **other) if other else KEPT.get(browser) or Window.of(browser)
    page = window.page
    if not other:
        KEPT[browser] = window
        page.goto("about:blank")  # or an address that differs in its fragment alone would load nothing
    window.messages = page_messages
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(media="null", color_scheme=scheme, reduced_motion=reduced_motion)
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
