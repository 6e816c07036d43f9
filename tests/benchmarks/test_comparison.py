from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

pytest.importorskip("scikit_posthocs", reason="needs pip install '.[benchmarks]'")

import pandas as pd

from benchmarks.analysis import summarize
from benchmarks.comparison import (
    compare_with,
    differences_by_problem,
    fit_distance,
    friedman,
    geometric_mean,
    holm,
    mean_interval,
    pair_up,
    rank,
    ratios,
)
from benchmarks.distances import evaluation_ratios, evaluations_table
from tests.benchmarks.made_records import make_record


def losses(rows: dict[tuple[str, int], list[float]], methods: str = "abc") -> pd.DataFrame:
    index = pd.MultiIndex.from_tuples(rows, names=["problem", "seed"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(methods))


def test_ranks_average_ties() -> None:
    table = losses({("p", 0): [-2.0, -1.0, -1.0], ("p", 1): [-4.0, -4.0, -4.0]})
    assert rank(table).to_numpy().tolist() == [[1.0, 2.5, 2.5], [2.0, 2.0, 2.0]]
    assert rank(table).mean().to_list() == [1.5, 2.25, 2.25]


def test_methods_that_lack_runs_are_left_out_and_named() -> None:
    nan = math.nan
    paired = pair_up(
        losses({("p", 0): [1.0, 2.0, 3.0], ("p", 1): [1.0, 2.0, nan], ("q", 7): [1.0, nan, nan]})
    )
    assert paired.table.columns.to_list() == ["a", "b"]
    assert paired.lacking == {"c": 1}
    # One method has run further than the others: its surplus goes, not the others.
    assert paired.dropped == [("q", 7)]
    assert len(paired.table) == 2


def test_nothing_in_common() -> None:
    paired = pair_up(losses({("p", 0): [1.0, math.nan], ("p", 1): [math.nan, 1.0]}, "ab"))
    assert paired.table.empty and len(paired.dropped) == 2
    assert rank(paired.table).empty


def test_ratios_to_the_oracle() -> None:
    table = losses(
        {
            ("p", 0): [-1.0, -2.0, -1.0],
            ("p", 1): [-3.0, -2.0, math.nan],
            ("q", 0): [-1.0, -3.0, -1.0],
        }
    )
    found = ratios(table, "a")
    assert found.loc["p"].to_list() == pytest.approx([1.0, 1.0, 1.0])  # c over seed 0 alone
    assert found.loc["q"].to_list() == pytest.approx([1.0, 0.01, 1.0])
    assert geometric_mean(found).to_list() == pytest.approx([1.0, 0.1, 1.0])
    assert differences_by_problem(table, "c", "a")["p"].tolist() == [0.0]


def test_the_geometric_mean_needs_every_problem() -> None:
    table = losses({("p", 0): [-1.0, -2.0], ("q", 0): [-1.0, math.nan]}, "ab")
    assert math.isnan(geometric_mean(ratios(table, "a"))["b"])


def test_interval_resamples_within_problems() -> None:
    # The problems differ, their seeds do not: there is nothing to be uncertain about.
    low, high = mean_interval([np.full(5, 1.0), np.full(5, 3.0)])
    assert low == high == pytest.approx(2.0)
    low, high = mean_interval([np.array([0.0, 1.0, 2.0, 3.0])])
    assert 0.0 < low < 1.5 < high < 3.0
    assert mean_interval([np.array([0.0, 1.0, 2.0, 3.0])]) == (low, high)
    assert all(math.isnan(end) for end in mean_interval([np.array([1.0]), np.array([1.0, 2.0])]))


def test_holm_by_hand() -> None:
    # Sorted: 0.01 * 3, 0.02 * 2, and 0.03 * 1 raised to the one before.
    assert holm([0.03, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert len(holm([])) == 0


def test_compared_with_the_default() -> None:
    # b is worse on all ten seeds of p: two-sided exact p is 2 / 2**10, times 2 by Holm.
    rows = {("p", seed): [-2.0, -1.0 + 0.01 * seed, -2.0] for seed in range(10)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_with(losses(rows), "a")
    assert found.index.to_list() == ["b", "c"]
    b, c = found.loc["b"], found.loc["c"]
    assert b["difference"] == pytest.approx(1.045)
    assert b["low"] < b["difference"] < b["high"]
    assert b["p"] == pytest.approx(2 / 2**10) and b["p_holm"] == pytest.approx(4 / 2**10)
    assert (b["better"], b["worse"]) == (0, 1)
    assert c["difference"] == 0.0 and c["p"] == 1.0 and (c["better"], c["worse"]) == (0, 0)


def test_compared_by_means_of_problems_not_of_runs() -> None:
    rows = {("p", seed): [0.0, 1.0] for seed in range(3)} | {("q", 0): [0.0, -1.0]}
    assert compare_with(losses(rows, "ab"), "a").loc["b", "difference"] == pytest.approx(0.0)


def test_one_seed_or_one_method_compares_without_a_crash() -> None:
    found = compare_with(losses({("p", 0): [1.0, 2.0]}, "ab"), "a")
    assert found.loc["b", "p"] == 1.0 and math.isnan(found.loc["b", "low"])
    assert compare_with(losses({("p", 0): [1.0]}, "a"), "a").empty


def test_friedman_needs_three_methods_that_differ() -> None:
    different = {("p", seed): [1.0, 2.0, 3.0] for seed in range(8)}
    test = friedman(losses(different))
    assert test is not None
    assert test.statistic == pytest.approx(16.0)  # n (k - 1): all blocks agree
    assert test.pairs.loc["a", "c"] < 0.05 < test.pairs.loc["a", "b"]
    assert friedman(losses({key: row[:2] for key, row in different.items()}, "ab")) is None
    assert friedman(losses({("p", 0): [1.0, 2.0, 3.0]})) is None
    assert friedman(losses({("p", seed): [1.0, 1.0, 1.0] for seed in range(3)})) is None


def test_fit_against_the_logarithm() -> None:
    fit = fit_distance(np.array([1.0, 10.0, 100.0]), np.array([5.0, 12.0, 19.0]))
    assert fit is not None
    assert (fit.intercept, fit.slope, fit.r_squared) == pytest.approx((5.0, 7.0, 1.0))
    assert fit(np.array([1000.0]))[0] == pytest.approx(26.0)
    assert fit_distance(np.array([3.0, 3.0]), np.array([1.0, 2.0])) is None


def test_fit_of_runs_that_all_took_the_same() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_distance(np.array([1.0, 10.0]), np.array([40.0, 40.0]))
    assert fit is not None and fit.slope == 0.0 and math.isnan(fit.r_squared)


def far_rows(evaluations: dict[tuple[str, int], int]) -> pd.DataFrame:
    """Runs of a method and seed that reach their target at an evaluation of 20."""
    records = []
    for (method, seed), count in evaluations.items():
        regrets = [10.0, 20.0, *[5.0] * (count - 1), 0.05][:22]
        values = {"budget": 20, "distance": 10.0, "target": 2.9}
        records.append(make_record("far_smooth2_d10", method, seed, regrets, **values))
    return summarize(records)


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
