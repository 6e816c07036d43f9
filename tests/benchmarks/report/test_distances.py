from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.report.distances import evaluation_ratios, evaluations_table
from tests.support.made_records import make_record, summarize_records


def far_rows(evaluations: dict[tuple[str, int], int]) -> pd.DataFrame:
    """Runs of a method and seed that reach their target at an evaluation of 20."""
    records = []
    for (method, seed), count in evaluations.items():
        regrets = [10.0, 20.0, *[5.0] * (count - 1), 0.05][:22]
        values = {"budget": 20, "distance": 10.0, "target": 2.9}
        records.append(make_record("far_smooth2_d10", method, seed, regrets, **values))
    return summarize_records(*records)


def test_evaluations_are_compared_over_common_seeds() -> None:
    oracle, method = {("o", 0): 4, ("o", 1): 8, ("o", 2): 18}, {("m", 0): 6, ("m", 1): 9}
    rows = far_rows({**oracle, **method, ("m", 3): 20})
    found = evaluation_ratios(rows, "o")
    assert found is not None
    assert found.loc["far_smooth2_d10", "m"] == pytest.approx(15 / 12)  # seeds 0 and 1
    assert found.loc["far_smooth2_d10", "o"] == pytest.approx(1.0)
    assert evaluation_ratios(rows, "absent") is None


def test_runs_that_never_reach_the_target_are_counted() -> None:
    rows = far_rows({("o", 0): 4, ("o", 1): 6, ("m", 0): 10, ("m", 1): 99})
    table = evaluations_table(rows, ["o", "m", "absent"], "o", "distance").splitlines()
    assert table[2] == "| o | 5.0 (1.00) | – | – | – |"
    assert table[3] == "| m | 15.0 (3.00) †1 | – | – | – |"
    assert table[4] == "| absent | – | – | – | – |"
