"""The site builds without a warning, and every page opens in a browser without a complaint."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.blocks import ROOT
from tests.support.browser import chromium, complaints, served

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]  # one build for all of them


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
            *("-d", output / "doctrees", "docs", output / "html"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return output / "html"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


def pages(site: Path) -> list[str]:
    return sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))


def test_all_pages_are_there(site: Path) -> None:
    found = set(pages(site))
    assert {"index.html", "start.html", "changelog.html", "results/report.html"} <= found
    for notebook in (ROOT / "tutorials").glob("*.ipynb"):
        assert f"tutorials/{notebook.stem}.html" in found
    for guide in (ROOT / "docs" / "guides").glob("*.md"):
        assert f"guides/{guide.stem}.html" in found


def test_every_link_within_the_site_leads_somewhere(site: Path, window: WebDriver) -> None:
    broken = []
    for page in pages(site):
        window.get((site / page).as_uri())
        links = window.execute_script(
            "return [...document.querySelectorAll('a[href], img[src]')].map(e => e.href || e.src)"
        )
        for link in links:
            target, _, _ = link.partition("#")
            if target.startswith("file://") and not Path(target[7:].partition("?")[0]).exists():
                broken.append(f"{page}: {link}")
    assert not broken


def test_every_page_opens_without_a_complaint(site: Path, window: WebDriver) -> None:
    found = {}
    with served(site) as address:
        for page in pages(site):
            window.get(f"{address}/{page}")
            if messages := complaints(window):
                found[page] = messages
    assert not found


def test_formulas_are_set(site: Path, window: WebDriver) -> None:
    with served(site) as address:
        window.get(f"{address}/how_it_works.html")
        WebDriverWait(window, 30).until(
            lambda it: len(it.find_elements(By.TAG_NAME, "mjx-container")) > 40
        )
        assert not window.find_elements(By.CSS_SELECTOR, "mjx-merror")


def test_a_search_finds(site: Path, window: WebDriver) -> None:
    with served(site) as address:
        window.get(f"{address}/search.html?q=logarithmic")
        WebDriverWait(window, 30).until(
            lambda it: it.find_elements(By.CSS_SELECTOR, "#search-results a[href*=log_parameters]")
        )
