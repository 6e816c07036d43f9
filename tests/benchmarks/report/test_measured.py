"""Tables of the commands that measure, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.report.measured import (
    format_endurance,
    format_gpu,
    format_quality,
)

SETTINGS = {"delta": 0.1, "epsilon": 0.05, "lengthscale": 0.5, "max_evaluations": 40}


class TestQuality:
    def test_shares_and_verdicts(self) -> None:
        row = {"problem": "beale", "dim": 2, "search": 0.0}
        losses = [(0.0, 0.0), (0.04, 0.6), (0.7, 2.0), (0.0, 0.0)]
        rows = [{**row, "fit": fit, "ten_others": others} for fit, others in losses]
        table = format_quality(rows)
        assert "| beale | 2 | 4 | 75% |" in table
        assert "fits within 0.05: 75%, target 95%: MISSED" in table
        assert "searchs" not in table and "searches within 0.01: 100%" in table
        assert "fits that lose more than 0.5: 1 of 4" in table
        assert "in place of a fit: 50% within 0.05, 2 of 4 lose more than 0.5, the" in table


class TestEndurance:
    def steps(self, last_memory: float, slowest: float, late: float = 0.1) -> pd.DataFrame:
        """200 steps of 1 s, 0.1 s apart from the model and 100 MiB, but for the last."""
        rows = [(i, i > 18, 1.0, 0.1 if i < 150 else late, 100.0) for i in range(1, 200)]
        rows.append((200, True, slowest, late, last_memory))
        columns = ["number", "suggested", "seconds", "apart", "peak_memory"]
        return pd.DataFrame(rows, columns=columns).set_index("number")

    def test_targets_met(self) -> None:
        text = format_endurance(self.steps(last_memory=110.0, slowest=2.0))
        assert (
            "median 1.00 (first half 1.00, second 1.00), slowest 2.00 (at evaluation 200)" in text
        )
        assert "slowest / median: 2.00, target 3.0: met" in text
        assert "memory at the end / at 50: 1.10, target 1.25: met" in text
        assert "by quarters: 100.00, 100.00, 100.00, 100.00; of all 200" in text
        assert "apart from the model, last / first: 1.00, target 1.5: met" in text

    def test_targets_missed(self) -> None:
        text = format_endurance(self.steps(last_memory=130.0, slowest=3.5, late=0.2))
        assert "slowest / median: 3.50, target 3.0: MISSED" in text
        assert "memory at the end / at 50: 1.30, target 1.25: MISSED" in text
        assert "apart from the model, last / first: 2.00, target 1.5: MISSED" in text


class TestGpu:
    def timing(self, n: int, device: str, **values: Any) -> dict[str, Any]:
        usual = {
            "stage": "fit", "n": n, "dim": 2, "dtype": "double", "device": device,
            "seconds": [n * 1e-3] * 3, "peak_memory": 100.0, "error": None,
        }  # fmt: skip
        return {**usual, **values}

    def test_without_a_gpu_nothing_is_claimed(self) -> None:
        text = format_gpu([self.timing(32, "cpu"), self.timing(64, "cpu")], [])
        assert "| 64 | 2 | double | 64.0 [64.0, 64.0] | 100 | – | – | – |" in text
        assert "no GPU figure has been measured" in text and "No other device" in text

    def test_side_by_side(self) -> None:
        fast = self.timing(256, "cuda", seconds=[0.1], peak_memory=9.0)
        text = format_gpu([self.timing(256, "cpu"), fast], [])
        row = "| 256 | 2 | double | 256.0 [256.0, 256.0] | 100 | 100.0 [100.0, 100.0] | 9 | 2.56 |"
        assert row in text

    def test_stages_have_their_own_columns(self) -> None:
        search = self.timing(64, "cpu", stage="search", q=4, restarts=10)
        text = format_gpu([self.timing(32, "cpu"), search], [])
        assert "| n | dim | dtype | q | restarts | cpu ms |" in text
        assert "| 64 | 2 | double | 4 | 10 | 64.0 [64.0, 64.0] |" in text

    def test_failures_and_inequality_show(self) -> None:
        failed = self.timing(32, "cuda", seconds=[], error="OutOfMemoryError: sorry")
        unequal = {
            "device": "cuda",
            "n": 8,
            "dim": 2,
            "dtype": "double",
            "box": 0.5,
            "equal": False,
        }
        text = format_gpu([self.timing(32, "cpu"), failed], [unequal])
        assert "OutOfMemoryError: sorry" in text
        assert "| cuda | 8 | 2 | double | 5.0e-01 | False |" in text
