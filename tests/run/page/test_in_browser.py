"""Pages in a real browser: they load, draw, do not complain, fit a phone, and follow a run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.chrome.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run.page import write_page
from botorch_ubo.run.page.write import watch
from tests.support.browser import chromium, complaints
from tests.support.recorded_runs import RUNS, long_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("pages of runs")]

# Parallel coordinates are drawn by WebGL, here without a graphics card.
WEBGL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")
DRAW_ALL = """
document.querySelectorAll("details").forEach((it) => { it.open = true; });
window.dispatchEvent(new Event("beforeprint"));
"""
COUNT = """
const all = [...document.querySelectorAll(".plot")];
return [all.length, all.filter((it) => it.querySelector(".main-svg")).length,
        document.documentElement.scrollWidth, window.innerWidth,
        document.querySelectorAll(".plot.unavailable").length];
"""


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile"), *WEBGL) as browser:
        yield browser


def open_page(window: WebDriver, page: Path, width: int = 1200) -> None:
    window.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    window.get(page.as_uri())


def look(window: WebDriver) -> tuple[int, int, int, int, int]:
    window.execute_script(DRAW_ALL)
    WebDriverWait(window, 120).until(
        lambda it: it.execute_script(COUNT)[0] == sum(it.execute_script(COUNT)[1::3])
    )
    return tuple(window.execute_script(COUNT))


def serious(window: WebDriver) -> list[str]:
    """Complaints but for those of a graphics driver about its own speed."""
    return [it for it in complaints(window) if "GL Driver Message" not in it]


@pytest.mark.parametrize("kind", RUNS)
def test_pages_draw_without_a_complaint_and_fit(
    kind: str, window: WebDriver, tmp_path: Path
) -> None:
    run = RUNS[kind]()
    page = write_page_of(run, tmp_path)
    for width in (1200, 390):
        open_page(window, page, width)
        total, drawn, needed, there, _ = look(window)
        assert total == drawn and (total > 0) == bool(run.trials)
        assert needed <= there  # nothing makes the page wider than the window
        assert serious(window) == []


def write_page_of(run: object, folder: Path) -> Path:
    return write_page(run, folder / "run.html")  # type: ignore[arg-type]


def test_a_hundred_thousand_evaluations(window: WebDriver, tmp_path: Path) -> None:
    page = write_page_of(long_run(100_000), tmp_path)
    assert page.stat().st_size < 9e6
    open_page(window, page)
    total, drawn, *_ = look(window)
    assert total == drawn == 9
    assert "of 100,000 evaluations are drawn" in window.find_element("tag name", "main").text
    # The mouse finds a point and says what it is.
    hover = """
    const plot = document.querySelector(".plot");
    const trace = plot.data.findIndex((it) => it.name === "initial points");
    Plotly.Fx.hover(plot, [{curveNumber: trace, pointNumber: 5}]);
    return plot.querySelector(".hoverlayer").textContent;
    """
    assert "trial " in window.execute_script(hover)
    assert serious(window) == []


def test_figures_are_drawn_when_they_come_near(window: WebDriver, tmp_path: Path) -> None:
    open_page(window, write_page_of(RUNS["named"](), tmp_path))
    WebDriverWait(window, 120).until(lambda it: it.execute_script(COUNT)[1] > 0)
    total, drawn, *_ = window.execute_script(COUNT)
    assert 0 < drawn < total
    window.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    WebDriverWait(window, 120).until(
        lambda it: it.execute_script(
            "return [...document.querySelectorAll('.plot')].pop().dataset.drawn === 'yes'"
        )
    )


def test_without_webgl_the_page_says_so(tmp_path: Path) -> None:
    page = write_page_of(RUNS["flat"](), tmp_path)
    with chromium(tmp_path / "profile", "--disable-3d-apis") as window:
        open_page(window, page)
        total, drawn, _, _, unavailable = look(window)
        assert (drawn, unavailable) == (total - 1, 1)
        assert "needs WebGL" in window.find_element("css selector", ".unavailable").text


def test_a_page_follows_a_run_by_itself(window: WebDriver, tmp_path: Path) -> None:
    path, page, end = tmp_path / "run.db", tmp_path / "run.html", threading.Event()
    optimizer = UnboundedOptimizer([(0.0, 1.0)], checkpoint=path)
    optimizer.tell(optimizer.ask(), 3.0)
    thread = threading.Thread(target=watch, args=(path, page, 0.5, lambda: not end.is_set()))
    thread.start()
    try:
        WebDriverWait(window, 120).until(lambda _: page.exists())
        open_page(window, page)
        assert _best(window) == "3"
        optimizer.tell(optimizer.ask(), 2.0)  # the writer is not disturbed
        WebDriverWait(window, 120).until(lambda it: _best(it) == "2")
    finally:
        end.set()
        thread.join()
    assert "data-refresh" not in page.read_text().partition("<main>")[0]


def _best(window: WebDriver) -> str | None:
    return window.execute_script(
        "const it = document.querySelector('.tile b'); return it && it.textContent;"
    )
