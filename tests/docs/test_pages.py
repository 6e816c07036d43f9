"""What the site's pages say is true: their code runs, their names exist, their tables are whole."""

from __future__ import annotations

import dataclasses
import pkgutil
import re
from pathlib import Path

import matplotlib
import pytest

import botorch_ubo
from botorch_ubo import ExpandingBounds, available_methods
from botorch_ubo.records import ExpansionRecord
from botorch_ubo.testing import make_data, make_model
from tests.support.blocks import ROOT, blocks_of, run_blocks

matplotlib.use("Agg")

DOCS = ROOT / "docs"
OWN = sorted(path for path in [*DOCS.glob("*.md"), *DOCS.glob("*/*.md")] if path.resolve() == path)
WITH_CODE = [
    path for path in OWN if any(language in ("python", "diff") for language, _ in blocks_of(path))
]


def table(page: str, head: str) -> list[list[str]]:
    """The rows of a table, by the beginning of its head."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (rows,) = re.findall(rf"{re.escape(head)}.*?\n\|[-| :]+\n(.*?)\n\n", text, flags=re.DOTALL)
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", WITH_CODE, ids=lambda path: path.stem)
def test_the_blocks_of_a_page_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ran = [code for code, _ in run_blocks(path)]
    assert len(ran) == sum(language in ("python", "diff") for language, _ in blocks_of(path))


def test_most_guides_have_code():
    assert len(WITH_CODE) >= 14


def test_every_method_is_listed_with_its_words():
    listed = {row[0].strip("`"): row[1] for row in table("methods.md", "| name | what it does |")}
    assert listed == {method.name: method.description for method in available_methods()}


def test_every_field_of_a_record_is_explained():
    rows = table("guides/records.md", "| field | says |")
    named = re.findall(r"`(\w+)`", "\n".join(row[0] for row in rows))
    assert set(named) == {field.name for field in dataclasses.fields(ExpansionRecord)}


def test_the_details_of_a_box_are_as_listed():
    bounds, X, Y = make_data(2)
    (row,) = [row for row in table("guides/records.md", "| field | says |") if "details" in row[0]]
    listed = set(re.findall(r"`(\w+)`", row[1]))
    assert listed
    for method in ("EI-Turns", "GPUCB-UBO"):
        box = ExpandingBounds(bounds, method=method)
        box.update(make_model(X, Y, bounds))
        listed -= set(box.history[0].details)
    assert not listed


def test_the_names_of_the_notation_exist():
    rows = table("how_it_works.md", "| paper | name | where |")
    assert len(rows) >= 10
    for _, name, where in rows:
        place = pkgutil.resolve_name(f"botorch_ubo.{where.strip('`')}")
        known = {*dir(place), *getattr(place, "__annotations__", {})}
        assert name.strip("`") in known, where


def test_every_public_name_has_its_place_in_the_api():
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("api/*.md"))
    documented = set(re.findall(r"auto\w+:: botorch_ubo\.(?:\w+\.)*(\w+)", text))
    elsewhere = {
        # members of modules that are documented whole
        *("LowerConfidenceBound", "UnboundedUpperConfidenceBound", "PublishedBox", "TheoremBox"),
        *("methods", "register_reach"),
    }
    assert set(botorch_ubo.__all__) - documented == elsewhere


def test_nothing_of_the_machine_it_was_written_on():
    for path in OWN:
        assert not re.search(r"(?<![\w.])/(tmp|work|root|home)/", path.read_text()), path
