"""Boxes, points and tables as people see them."""

from __future__ import annotations

from botorch_ubo.records.display import as_table, format_box, format_point


def test_boxes() -> None:
    assert format_box([[0.0, -1.0], [1.0, 2.5]]) == "[0, 1] x [-1, 2.5]"
    many = format_box([[0.0] * 20, [1.0] * 20])
    assert many == "[0, 1] x [0, 1] x [0, 1] x [0, 1] x ... (20 dimensions)"


def test_points() -> None:
    assert format_point((1 / 3, 2.0)) == "(0.333333, 2)"
    assert format_point([0.0] * 50).endswith("... 50 in all)")


def test_tables_escape() -> None:
    table = as_table("A <b>", [("x", "1 < 2 & 3")])
    assert "<caption>A &lt;b&gt;</caption>" in table
    assert "1 &lt; 2 &amp; 3" in table
