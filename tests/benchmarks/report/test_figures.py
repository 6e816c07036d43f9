from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from benchmarks.report.figures import (
    choose_styles,
    draw_critical_difference,
    draw_curves,
    draw_distances,
    draw_growth,
)
from benchmarks.report.statistics import friedman
from tests.support.made_records import make_record, summarize_records

STYLES = choose_styles("O", ["A", "B"])


def colors(path: Path) -> set[tuple[int, ...]]:
    """Those that a picture has, to the nearest 16."""
    pixels = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3) // 16
    return set(map(tuple, np.unique(pixels, axis=0).tolist()))


def has_line(path: Path, method: str) -> bool:
    text = STYLES[method]["color"]
    wanted = tuple(int(text[i : i + 2], 16) // 16 for i in (1, 3, 5))
    return wanted in colors(path)


def test_oracle_is_black_and_lines_differ() -> None:
    styles = choose_styles("o", [*"abcdefghijklo"])
    assert styles["o"]["color"] == "black"
    assert len({str(style) for style in styles.values()}) == 13


def test_a_method_keeps_its_line_whoever_else_is_there() -> None:
    few = choose_styles("o", ["HuBO-EI", "EI-Turns"])
    many = choose_styles("o", ["x", "CMA-ES", "EI-Turns", "GPUCB-UBO", "HuBO-EI", "y"])
    assert all(few[name] == many[name] for name in ("HuBO-EI", "EI-Turns"))
    assert len({str(style) for style in many.values()}) == 7


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_curves(statistic: str, tmp_path: Path) -> None:
    records = [make_record(method=m, seed=s) for m in "AB" for s in range(2)]
    rows = summarize_records(*records, make_record("levy3", "A"))
    draw_curves(rows, ["A"], STYLES, statistic, tmp_path / "x.png")
    assert has_line(tmp_path / "x.png", "A") and not has_line(tmp_path / "x.png", "B")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_growth_where_there_are_boxes(tmp_path: Path) -> None:
    rows = summarize_records(make_record(method="A", boxes=[]), make_record(method="B"))
    assert draw_growth(rows, ["A", "B"], STYLES, tmp_path / "x.png")
    assert has_line(tmp_path / "x.png", "B") and not has_line(tmp_path / "x.png", "A")
    assert not draw_growth(rows, ["A"], STYLES, tmp_path / "y.png")
    assert not (tmp_path / "y.png").exists()


@pytest.mark.slow
def test_distances(tmp_path: Path) -> None:
    records = [
        make_record(f"far_smooth2_d{d}", "A", s, (10, 20, 5, 0.01), distance=float(d), target=2.9)
        for d in (1, 10)
        for s in range(2)
    ]
    draw_distances(summarize_records(*records), ["A", "B"], STYLES, ["A"], tmp_path / "x.png")
    assert has_line(tmp_path / "x.png", "A") and not has_line(tmp_path / "x.png", "B")


@pytest.mark.slow
def test_critical_difference(tmp_path: Path) -> None:
    table = pd.DataFrame([[1.0, 2.0, 3.0]] * 8, columns=list("ABC"))
    draw_critical_difference(
        table.rank(axis=1).mean(), friedman(table), choose_styles("O", "ABC"), tmp_path / "x.png"
    )
    assert has_line(tmp_path / "x.png", "A") and has_line(tmp_path / "x.png", "B")
