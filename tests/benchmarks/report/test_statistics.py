from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks.report.statistics import (
    cluster_interval,
    compare_with,
    differences_by_problem,
    fit_distance,
    friedman,
    geometric_mean,
    holm,
    mean_interval,
    pair_up,
    ratios,
    wilcoxon,
)


def losses(rows: dict[tuple[str, int], list[float]], methods: str = "abc") -> pd.DataFrame:
    index = pd.MultiIndex.from_tuples(rows, names=["problem", "seed"])
    return pd.DataFrame(list(rows.values()), index=index, columns=list(methods))


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


def test_a_single_pair_tells_nothing() -> None:
    assert wilcoxon(np.array([0.3])) == 1.0
    assert wilcoxon(np.arange(1.0, 11.0)) == pytest.approx(2 / 2**10)  # all signs alike


def test_holm_by_hand() -> None:
    # Sorted: 0.01 * 3, 0.02 * 2, and 0.03 * 1 raised to the one before.
    assert holm([0.03, 0.01, 0.02]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    assert len(holm([])) == 0


@pytest.mark.slow
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


@pytest.mark.slow
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


def runs_at(distances: list[float], evaluations: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"distance": distances, "evaluations_to_target": evaluations})


def test_fit_against_the_logarithm() -> None:
    fit = fit_distance(runs_at([1.0, 10.0, 100.0], [5.0, 12.0, 19.0]))
    assert (fit.intercept, fit.slope, fit.rvalue) == pytest.approx((5.0, 7.0, 1.0))
    assert fit_distance(runs_at([3.0, 3.0], [1.0, 2.0])) is None


def test_fit_of_runs_that_all_took_the_same() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = fit_distance(runs_at([1.0, 10.0], [40.0, 40.0]))
    assert fit.slope == 0.0 and math.isnan(fit.rvalue)


def test_an_interval_over_functions_is_as_wide_as_functions_differ() -> None:
    """Seeds that agree say nothing about other functions."""
    rng = np.random.default_rng(0)
    samples = [center + 0.01 * rng.standard_normal(30) for center in (-1.0, 0.0, 1.0, 2.0)]
    low, high = cluster_interval(samples)
    # Means of four draws of {-1, 0, 1, 2} have a standard deviation of 1.118 / 2.
    assert low == pytest.approx(0.5 - 1.96 * 0.559, abs=0.15)
    assert high == pytest.approx(0.5 + 1.96 * 0.559, abs=0.15)
    seeds_alone = mean_interval(samples)
    assert seeds_alone[1] - seeds_alone[0] < 0.02


def test_an_interval_of_one_function_is_of_its_seeds() -> None:
    sample = np.random.default_rng(1).standard_normal(100)
    low, high = cluster_interval([sample])
    assert high - low == pytest.approx(2 * 1.96 * sample.std() / 10, rel=0.1)
    assert all(map(math.isnan, cluster_interval([sample[:1]])))
    assert all(map(math.isnan, cluster_interval([])))
