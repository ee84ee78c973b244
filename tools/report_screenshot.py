"""Takes the README's picture from a real report: `.venv/bin/python tools/report_screenshot.py
results/<suite>/report.html`.

Needs a Chromium that is already installed. The picture is the first time line of the page.
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).resolve().parent.parent / "docs" / "images" / "report.png"
CHROMIUM = "/usr/bin/chromium"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


def main(report: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_page(viewport={"width": 1100, "height": 900}, device_scale_factor=1.5)
        page.goto(report.resolve().as_uri())
        top = page.get_by_role("heading", name="Where the time goes").bounding_box()
        bottom = page.locator("tr.total").first.bounding_box()
        assert top is not None
        assert bottom is not None
        page.screenshot(
            path=TARGET,
            full_page=True,
            clip={"x": 10, "y": top["y"] - 30, "width": 1080, "height": bottom["y"] + bottom["height"] - top["y"] + 50},
        )
        browser.close()
    print(f"wrote {TARGET.relative_to(Path.cwd())}, {TARGET.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
