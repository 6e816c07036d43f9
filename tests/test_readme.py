"""The README is true: its code runs, its names exist, its picture is there."""

from __future__ import annotations

import dataclasses
import pkgutil
import re
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from botorch_ubo import ExpandingBounds
from botorch_ubo.records import ExpansionRecord
from botorch_ubo.testing import make_data, make_model

matplotlib.use("Agg")

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def side(diff: str, drop: str) -> str:
    """One side of a diff: without the lines that start with ``drop``, and without the marks."""
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] != drop)


def run(code: str, namespace: dict[str, Any]) -> None:
    exec(compile(code, "README.md", "exec"), namespace)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> list[tuple[str, ExpandingBounds | None]]:
    """Run all blocks in their order, as a reader would, and keep the box after each."""
    namespace: dict[str, Any] = {}
    boxes = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("readme"))
        run("import torch; torch.manual_seed(0)", namespace)
        for language, code in BLOCKS:
            if language == "diff":
                run(side(code, "+"), dict(namespace))
                code = side(code, "-")
            elif language != "python":
                continue
            run(code, namespace)
            boxes.append((code, namespace.get("box")))
        assert Path("best.png").stat().st_size > 0
    return boxes


@pytest.mark.slow
def test_every_block_runs(finished):
    assert len(finished) == sum(language in ("python", "diff") for language, _ in BLOCKS) >= 7


@pytest.mark.slow
def test_the_loop_moves_its_box_beyond_the_first(finished):
    box = next(box for code, box in finished if code.startswith("box = ExpandingBounds(bounds)"))
    assert box.history[0].strategy == "TurnsBox"
    assert (box.bounds[1] > box.initial_bounds[1]).all()
    assert len(box.trace) == 5


@pytest.mark.slow
def test_hard_limits_hold(finished):
    box = next(box for code, box in finished if "hard_limits={0:" in code)
    assert box.bounds[0, 0] >= 0 and box.bounds[1, 1] <= 2.5
    assert (0, "lower") in box.history[-1].stopped_by_limit


def test_two_lines_change():
    ((_, diff),) = [block for block in BLOCKS if block[0] == "diff"]
    assert sum(line[0] == "+" for line in diff.splitlines()) == 2
    assert sum(line[0] == "-" for line in diff.splitlines()) == 1


def test_every_field_of_a_record_is_explained():
    (table,) = re.findall(r"\| field \| says \|\n(.*?)\n\n", README, flags=re.DOTALL)
    named = re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()))
    assert set(named) == {field.name for field in dataclasses.fields(ExpansionRecord)}


def test_the_names_of_the_notation_exist():
    (table,) = re.findall(r"\| paper \| name \| where \|\n\|.*?\n(.*?)\n\n", README, re.DOTALL)
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()]
    assert len(rows) >= 10
    for _, name, where in rows:
        place = pkgutil.resolve_name(f"botorch_ubo.{where.strip('`')}")
        known = {*dir(place), *getattr(place, "__annotations__", {})}
        assert name.strip("`") in known, where


def test_the_details_of_a_box_are_as_listed():
    bounds, X, Y = make_data(2)
    (row,) = [line for line in README.splitlines() if line.startswith("| `details`")]
    listed = set(re.findall(r"`(\w+)`", row)) - {"details"}
    for method in ("EI-Turns", "GPUCB-UBO"):
        box = ExpandingBounds(bounds, method=method)
        box.update(make_model(X, Y, bounds))
        listed -= set(box.history[0].details)
    assert not listed


def test_the_commands_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"(?:`|^    )make (\w+)", README, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_pictures_and_links_exist():
    for target in re.findall(r"\]\((?!https?://)([^)]+)\)", README):
        assert (ROOT / target).is_file(), target
    assert (ROOT / "docs" / "growing_box.png").stat().st_size < 200_000


def test_nothing_of_the_machine_it_was_written_on():
    assert not re.search(r"(?<![\w.])/(tmp|work|root|home)/", README)
