"""The dashboard in a real browser: the command is started on a free port, Chromium looks at it.

Screenshots are kept below TOURNEY_SCREENSHOTS where that is set, for people to look at.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.unit.dashboard.synthetic import FAULTY, make_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser]

CHROMIUM = "/usr/bin/chromium"
PAGES = {
    "runs": "/",
    "leaderboard": "/runs/four",
    "leaderboard-by-places": "/runs/live?headline=placement&refresh=60",
    "analysis": "/runs/four/analysis",
    "analysis-of-two": "/runs/duel/analysis",
    "match": "/runs/four/matches/6?step=22",
    "match-of-a-seat": "/runs/duel/matches/5?step=30&seat=1",
    "match-of-another-game": "/runs/rams/matches/0?step=30",
    "matches": "/runs/duel/matches",
    "faults": "/runs/four/faults",
    "api": "/api",
}
WIDTHS = (1280, 360, 320)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    bots = ("memory", "flat-6", "flat-4", "chance", FAULTY)
    make_run(folder / "duel", deals=10)
    make_run(folder / "four", bots=bots, seats=4, deals=12, rules={"rounds": 2}, history=6)
    make_run(folder / "live", deals=20, play=90, finish=False, history=10)
    make_run(folder / "rams", game_name="rams", rules={}, bots=("ada", "bo"), deals=1)
    return folder


@pytest.fixture(scope="module")
def address(results: Path) -> Iterator[str]:
    code = "from tourney.cli.main import main; main()"
    server = subprocess.Popen(
        [sys.executable, "-c", code, "serve", str(results), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    line = server.stderr.readline()
    try:
        yield next(word for word in line.split() if word.startswith("http://")).rstrip("/")
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="group browser not installed")
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no {CHROMIUM}: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield found
        found.close()


class Watch:
    """What a page must not do: complain, break the policy, ask anybody else."""

    def __init__(self, page: "Page", address: str) -> None:
        self.complaints: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._asked(request.url, address))

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((f"{address}/", "data:")):
            self.complaints.append(f"outside request: {url}")


def wait_for_step(page: "Page", step: str) -> None:
    # Playwright's own waiting for an expression would need eval, which the policy forbids.
    page.locator(".where b", has_text=re.compile(f"^{step}$")).wait_for()


def keep(page: "Page", name: str) -> None:
    if folder := os.environ.get("TOURNEY_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_fit_and_keep_to_themselves(
    browser: "Browser", address: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
    page = context.new_page()
    watch = Watch(page, address)
    for name, path in PAGES.items():
        page.goto(f"{address}{path}")
        widest = page.evaluate("document.documentElement.scrollWidth")
        assert widest <= width, f"{name} is {widest} px wide"
        assert watch.complaints == [], name
        keep(page, f"{name}-{scheme}-{width}")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(
    browser: "Browser", address: str, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    for name, path in PAGES.items():
        page.goto(f"{address}{path}")
        assert page.evaluate(FAINT_TEXT) == [], name
    context.close()


# Texts whose contrast with the nearest opaque ground is below WCAG's 4.5 to 1.
FAINT_TEXT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (css) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = css; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const layer = rgba(getComputedStyle(at).backgroundColor);
      layers.push(layer);
      if (layer[3] === 255) break;
    }
    return layers.reverse().reduce(
      (under, over) => under.map((v, i) => v + (over[i] - v) * (over[3] / 255)));
  };
  const faint = [];
  for (const node of document.querySelectorAll("main *:not(svg *)")) {
    const own = [...node.childNodes].some((c) => c.nodeType === 3 && c.data.trim());
    if (!own || node.closest(".hush, .off") || !node.getClientRects().length) continue;
    const [a, b] = [light(rgba(getComputedStyle(node).color)), light(ground(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(`${node.tagName}.${node.className} ${contrast.toFixed(2)}`);
  }
  return [...new Set(faint)];
}"""


def test_a_match_is_stepped_with_the_keyboard(browser: "Browser", address: str) -> None:
    page = browser.new_page()
    watch = Watch(page, address)
    page.goto(f"{address}/runs/duel/matches/5?step=3&seat=1")
    for key, step in (("ArrowRight", 4), ("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 0)):
        page.keyboard.press(key)
        page.wait_for_url(f"**/runs/duel/matches/5?step={step}&seat=1")
        wait_for_step(page, str(step))
        assert page.title() == f"Match 5, step {step} – tourney"
    page.go_back()
    page.wait_for_url("**step=4&seat=1")
    wait_for_step(page, "4")
    page.keyboard.press("PageDown")
    page.locator(".where b").filter(has_not_text="4").wait_for()
    page.keyboard.press("End")
    page.locator(".told").filter(has_text="is over").wait_for()
    assert watch.complaints == []
    page.close()


def test_focus_stays_on_the_button_that_was_pressed(browser: "Browser", address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/runs/duel/matches/5")
    page.locator("#go-next").focus()
    for step in ("1", "2", "3"):
        page.keyboard.press("Enter")
        wait_for_step(page, step)
        assert page.evaluate("document.activeElement.id") == "go-next"
    page.close()


def test_everything_works_without_javascript(browser: "Browser", address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("link", name="four", exact=True).click()
    assert page.locator(".history polyline").count() == 5
    page.get_by_role("link", name="by places", exact=True).click()
    assert page.url.endswith("?headline=placement")
    page.get_by_role("link", name="by wins", exact=True).click()
    page.get_by_role("link", name="Analysis", exact=True).click()
    assert page.get_by_role("heading", level=1).inner_text() == "Analysis"
    page.get_by_role("link", name="four", exact=True).click()
    page.get_by_role("link", name="Matches", exact=True).click()
    page.get_by_role("link", name="6", exact=True).click()
    page.locator("#go-next").click()
    page.get_by_role("link", name="Public", exact=True).click()
    page.locator("#go-fault").click()
    assert page.locator(".told .fault").inner_text() == "crashed"
    assert page.url.endswith("seat=public#replay")
    context.close()
