from __future__ import annotations

import re

import numpy as np
import pytest

from benchmarks.report.comparison import write_comparison
from benchmarks.report.statistics import sample_interval
from tests.support.made_records import make_record, summarize_records

PROBLEMS = ("fam_warp1", "fam_mesa2", "fam_mesa3")


def runs(method: str, final: dict[str, float], **values: object) -> list:
    """Two seeds of each problem, the second twice as bad; the initial regret is 10."""
    return [
        make_record(name, method, seed, (10.0, 20.0, regret * (seed + 1)), **values)
        for name, regret in final.items()
        for seed in (0, 1)
    ]


def test_interval_is_over_functions() -> None:
    low, high = sample_interval(np.array([0.0, 1.0]))
    assert (low, high) == (0.0, 1.0)  # each of four resamples has a chance of a quarter
    assert sample_interval(np.array([2.0, 2.0, 2.0])) == (2.0, 2.0)
    assert all(np.isnan(sample_interval(np.array([2.0]))))


def test_differences_by_hand() -> None:
    base = dict.fromkeys(PROBLEMS, 1.0)
    better = {"fam_warp1": 0.1, "fam_mesa2": 0.1, "fam_mesa3": 1.0}
    text = write_comparison(
        summarize_records(*runs("A", base), *runs("B", better, X=[[0.5, -3.5]] * 3)), "A"
    )
    row = next(line for line in text.splitlines() if line.startswith("| B"))
    # L of A: the mean of log10(0.1) and log10(0.2) on each; B is -1, -1 and 0 from it.
    cells = [cell.strip() for cell in row.split("|")[2:]]
    assert cells[:4] == ["-1.52", "-0.67 [-1.00, +0.00]", "0.22", "2 / 0"]
    assert cells[4:7] == ["-0.85", "1.17", "3.50"]  # two ties of six runs; sides beyond the box
    assert "| B | -0.67 |\n" in text  # by dimension, which made records say is 2
    assert "| fam_mesa2 | -1.85 | -0.85 |" in text


def test_the_judging_half_asks_for_its_entry() -> None:
    look = summarize_records(*runs("A", {"fam_mesa2": 1.0}), *runs("B", {"fam_mesa2": 0.5}))
    judge = summarize_records(*runs("A", {"fam_chirp1": 1.0}), *runs("B", {"fam_chirp1": 0.5}))
    assert "README" not in write_comparison(look, "A")
    entry = write_comparison(judge, "A").splitlines()[-1]
    assert re.fullmatch(r"\| \d{4}-\d\d-\d\d \| 0123abc \| 2 seeds against A \| B -0\.30 \|", entry)


def test_failures_are_named_and_a_missing_baseline_too() -> None:
    failed = make_record("fam_mesa2", "B", status="failed", error="ValueError: no")
    text = write_comparison(summarize_records(*runs("A", {"fam_mesa2": 1.0}), failed), "A")
    assert "failed: fam_mesa2, B, seed 0: ValueError: no" in text
    assert "No finished runs of C" in write_comparison(
        summarize_records(*runs("A", {"fam_mesa2": 1.0})), "C"
    )


@pytest.mark.parametrize(("evaluations", "ratio"), [(2, "1.00"), (4, "2.00")])
def test_far_compares_evaluations(evaluations: int, ratio: str) -> None:
    regrets = [10.0, 10.0, *[5.0] * (evaluations - 1), 0.05]
    records = [
        make_record("far_smooth2_d30", name, regrets=values, target=2.9)
        for name, values in (("A", (10.0, 10.0, 5.0, 0.05)), ("B", regrets))
    ]
    text = write_comparison(summarize_records(*records), "A")
    row = next(line for line in text.splitlines() if line.startswith("| B"))
    assert ("| 2.00 |" in row) == (ratio == "2.00")


def test_problems_without_a_known_optimum_have_a_table_of_best_values() -> None:
    records = [
        make_record(problem, method, regrets=(20.0, 20.0, regret), optimal_value=optimum)
        for problem, optimum in (("mixed_hills", 3.0), ("mixed_svc", None))
        for method, regret in (("A", 1.0), ("B", 5.0))
    ]
    text = write_comparison(summarize_records(*records), "A")
    assert "| mixed_svc | – | – |" in text
    assert text.splitlines()[-1] == "| mixed_svc | 2.000 | -2.000 |"


def test_tuning_counts_shares_of_the_way() -> None:
    """The optimum is 3, the start at -7: a regret of 1 leaves a tenth of the way."""
    values = {"start_value": -7.0, "distance": 2.5}
    records = [
        make_record("tune_ridge", name, regrets=(20.0, 20.0, regret), **values)
        for name, regret in (("A", 1.0), ("B", 5.0))
    ]
    text = write_comparison(summarize_records(*records), "A")
    rows = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("|")}
    assert "| 90% (0; 9.0) | 50% (0; 9.0) |" in rows["| tune_ridge"]
    assert "| -7.00 | 3.00 | 2.5 |" in rows["| tune_ridge"]
    assert "| B | +0.50 | +0.40 |" in text and "| ratio |" not in text
