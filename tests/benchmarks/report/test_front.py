"""The results on the front page: ratios to those who know, ranks on real models."""

from __future__ import annotations

import pytest

from benchmarks.report import statistics
from benchmarks.report.front import write_front
from benchmarks.report.study import Study
from benchmarks.runs.records import Record
from botorch_ubo.methods import DEFAULT_METHOD as DEFAULT
from tests.support.made_records import runs_ending_at, summarize_records


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 99)


def front(*groups: list[Record]) -> str:
    records = [record for group in groups for record in group]
    return write_front(Study(summarize_records(*records), "LogEI-oracle", DEFAULT))


def test_ratios_by_kind_of_function() -> None:
    text = front(
        runs_ending_at(DEFAULT, beale=0.1, fam_chirp1=0.4, plain_cone1=0.2),
        runs_ending_at("same-told", beale=0.05, fam_chirp1=0.1, plain_cone1=0.2),
        runs_ending_at("EI-Roaming", fam_chirp1=0.8),
    )
    assert "| itself, told the domain |" in text and "| the default of 0.1.0 |" in text
    rows = {line.split(" | ")[0]: line for line in text.splitlines()}
    assert "| 4.00 [4.00, 4.00] (1) |" in rows["| unseen: generated functions"]
    assert rows["| unseen: generated functions"].endswith("| 0.50 [0.50, 0.50] (1) |")
    assert "| 1.00 [1.00, 1.00] (1) |" in rows["| unseen: plateaus"]
    assert "| 2.00 [1.00, 4.00] (2) |" in rows["| unseen: all"]
    assert "| 2.00 [2.00, 2.00] (1) |" in rows["| in sample: all"]


def test_ranks_on_real_models() -> None:
    text = front(
        runs_ending_at(DEFAULT, beale=0.1, tune_ridge=0.1, tune_sgd=0.2),
        runs_ending_at("same-told", beale=0.1, tune_ridge=0.05, tune_sgd=0.3),
        runs_ending_at("CMA-ES", tune_ridge=0.9, tune_sgd=0.9),
    )
    expected = f"* Mean ranks on 2 scikit-learn models from wrong boxes, 2 seeds: {DEFAULT} 1.50, "
    assert expected + "same-told 1.50, CMA-ES 3.00." in text


def test_without_records_of_it() -> None:
    assert (
        front(runs_ending_at("CMA-ES", beale=0.1)) == "No records of what the front page is about."
    )
