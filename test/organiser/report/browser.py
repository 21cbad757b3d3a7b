"""Chromium, Debian's package, which opens reports without a network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_MOST_MILLISECONDS = 300_000
"""A busy machine takes a minute for a page that takes two seconds otherwise."""
EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser")
WIDTHS = (390, 1440)


def require_browser() -> str:
    """Return the browser's path; skip where there is none, but with EVALUATION_REQUIRE_BROWSER=1 fail."""
    if EXECUTABLE is None:
        if os.environ.get("EVALUATION_REQUIRE_BROWSER") == "1":
            pytest.fail("EVALUATION_REQUIRE_BROWSER=1, but chromium is not installed")
        pytest.skip("chromium is not installed")
    return EXECUTABLE


# Texts that reach beyond the drawing, and neighbouring labels of an axis that lie on each other. Only upright
# and level labels are compared, since a slanted one fills a small part of its box.
_UNREADABLE = r"""() => {
  const found = [], slanted = (text) => /rotate[(](?!-90)/.test(text.getAttribute("transform") ?? "");
  for (const figure of document.querySelectorAll("figure.chart")) {
    const svg = figure.querySelector(".drawing svg"), name = figure.dataset.chart;
    if (!svg) continue;
    const edge = svg.getBoundingClientRect();
    const seen = (text) => text.textContent.trim() && text.getAttribute("opacity") !== "0";
    for (const text of [...svg.querySelectorAll("text")].filter(seen)) {
      const box = text.getBoundingClientRect();
      const inside = box.left >= edge.left - 1 && box.right <= edge.right + 1
        && box.top >= edge.top - 1 && box.bottom <= edge.bottom + 1;
      if (!inside) found.push(`${name}: ${text.textContent} is cut off`);
    }
    for (const labels of svg.querySelectorAll(".role-axis-label")) {
      const texts = [...labels.querySelectorAll("text")].filter((text) => seen(text) && !slanted(text));
      texts.slice(1).forEach((text, i) => {
        const [a, b] = [texts[i], text].map((one) => one.getBoundingClientRect());
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 1 && high > 3) found.push(`${name}: ${texts[i].textContent}, ${text.textContent} collide`);
      });
    }
  }
  return found;
}"""


class OpenPage:
    """A report in the browser: Playwright's page, and its errors."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: (self.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def open(self, path: Path) -> None:
        """Open a file, unfold it and wait until all its figures are drawn or have failed."""
        self.page.goto(path.resolve().as_uri(), timeout=_MOST_MILLISECONDS)
        self.page.wait_for_selector("html[data-state=drawn]", state="attached", timeout=_MOST_MILLISECONDS)
        self.page.evaluate("document.getElementById('unfold')?.click()")

    def redraw(self, width: int) -> None:
        """Draw all figures again in a window of another width, and in the other theme.

        A third of the time of opening the page again, which reads and compiles its programs.
        """
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.evaluate(
            """() => {
              const figures = document.querySelectorAll("figure.chart");
              for (const figure of figures) figure.dataset.state = "waiting";
              document.documentElement.dataset.state = "drawing";
            }"""
        )
        self.page.click("#theme")
        self.page.wait_for_selector("html[data-state=drawn]", state="attached", timeout=_MOST_MILLISECONDS)

    def states(self) -> dict[str, str]:
        """Return the state of every figure by name: drawn, failed or waiting."""
        found: dict[str, str] = self.page.eval_on_selector_all(
            "figure.chart",
            "all => Object.fromEntries(all.map(one => [one.dataset.chart, one.dataset.state]))",
        )
        return found

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        wider: int = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return wider

    def unreadable(self) -> list[str]:
        """Return the texts that a figure's edge cuts off, and labels of one axis that collide."""
        found: list[str] = self.page.evaluate(_UNREADABLE)
        return found

    def problems(self, figures: int) -> list[str]:
        """Return the problems of an opened report with a number of figures."""
        states = self.states()
        found = [f"{name}: {state}" for name, state in states.items() if state != "drawn"]
        found += [] if len(states) == figures else [f"{len(states)} figures, expected {figures}"]
        found += [
            f"requested {url}" for url in self.requests if not url.startswith(("file:", "data:", "blob:"))
        ]
        return found + self.unreadable() + self.errors


@contextmanager
def browser() -> Iterator[Any]:
    """Start the browser with name resolution off; skip where there is none."""
    executable = require_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-gpu"]
        started = playwright.chromium.launch(executable_path=executable, args=arguments)
        try:
            yield started
        finally:
            started.close()


def opened(started: Any, path: Path, width: int = 1440, **options: Any) -> OpenPage:
    """Open a report in a window of its own."""
    context = started.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
    page = OpenPage(context.new_page())
    page.open(path)
    return page
