from __future__ import annotations

import pytest

from benchmarks.problems import families
from benchmarks.report import statistics
from benchmarks.report.headline import FLOORS, group_of, log_ratios, write_headline
from benchmarks.report.study import Study
from benchmarks.runs.records import Record
from tests.support.made_records import runs_ending_at, summarize_records

DEFAULT, TOLD, SPREAD = "EI-Turns", "same-told", "same-told-spread"
UNSEEN = next(iter(families.HALVES[families.JUDGE]))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 99)


def study(*groups: list[Record]) -> Study:
    records = [record for group in groups for record in group]
    return Study(summarize_records(*records), "LogEI-oracle", DEFAULT)


def test_unseen_functions_stand_apart() -> None:
    assert group_of(families.JUDGE) == "unseen"
    assert group_of("paper") == group_of(families.LOOK) == "in sample"
    text = write_headline(
        study(
            runs_ending_at(DEFAULT, beale=0.1, levy3=0.1, **{UNSEEN: 0.4}),
            runs_ending_at(TOLD, beale=0.05, levy3=0.05, **{UNSEEN: 0.1}),
            runs_ending_at(SPREAD, beale=0.1, levy3=0.1, **{UNSEEN: 0.1}),
        )
    )
    paper = "| in sample: The paper's protocol | 2.00 [2.00, 2.00] (2 functions, 2 seeds) | 1.00"
    assert paper in text
    judged = "| unseen: Families to judge by | 4.00 [4.00, 4.00] (1 functions, 2 seeds) | 4.00"
    assert judged in text
    methods = text.split("The same of every method")[1]
    assert f"| {TOLD} | – | 0.50 [0.50, 0.50] | – | 1.00 [1.00, 1.00] |" in methods


def test_a_floor_hides_what_is_below_it() -> None:
    found = study(runs_ending_at(DEFAULT, beale=1e-5), runs_ending_at(TOLD, beale=1e-3))
    rows = found.rows("paper")
    logs = [float(log_ratios(rows, DEFAULT, TOLD, floor)[0].mean()) for floor in FLOORS]
    assert logs == pytest.approx([0, 0, -1, -2, -2])
    line = "| in sample, to same-told | 1.00 [1.00, 1.00] | 1.00 [1.00, 1.00] | 0.10 [0.10, 0.10] |"
    assert line in write_headline(found)


def test_without_references_nothing_is_said() -> None:
    assert "nothing tells it" in write_headline(study(runs_ending_at(DEFAULT, beale=0.1)))
