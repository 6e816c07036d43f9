"""The command ``speed``: what it measures and how it judges."""

from __future__ import annotations

import pytest

pytest.importorskip("optuna")
pytest.importorskip("greenlet")

from benchmarks import speed


def test_verdicts_by_hand() -> None:
    seconds = {"default": [9.0, 0.05, 0.05], "plain": [9.0, 0.1, 0.1], "optuna": [9.0, 0.04, 0.04]}
    table = speed.format_table([{"problem": "beale", "dim": 2, "seconds": seconds}])
    # authors: 1.2 / 0.25 * 100 ms = 480 ms
    assert "| 50 (50) | 100 (100) | 40 (40) | 480 | 0.80 MISSED | 9.6 met |" in table
    seconds = {**seconds, "default": [9.0, 0.03, 0.03], "plain": [9.0, 0.05, 0.05]}
    table = speed.format_table([{"problem": "hartmann6", "dim": 6, "seconds": seconds}])
    assert "1.33 met | 5.6 MISSED" in table


def test_every_suggestion_of_every_method_is_timed() -> None:
    measured = speed.measure("beale", seed=0, budget=2)
    assert {key: len(values) for key, values in measured["seconds"].items()} == {
        "default": 2,
        "plain": 2,
        "optuna": 2,
    }
    assert all(value > 0 for values in measured["seconds"].values() for value in values)
