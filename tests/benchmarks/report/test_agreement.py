from __future__ import annotations

import math

import pytest

from benchmarks.report.agreement import write_agreement
from benchmarks.runs.table import tabulate
from tests.support.made_records import make_record


def runs(final: dict[str, list[float]], method: str = "EI-Turns"):
    """A seed for each regret; the initial one is 10."""
    return tabulate(
        make_record(name, method, seed, (10.0, 20.0, regret))
        for name, regrets in final.items()
        for seed, regret in enumerate(regrets)
    )


def cells(text: str, name: str) -> list[str]:
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_differences_by_hand():
    first = runs({"beale": [1.0, 1.0], "levy3": [1.0, 1.0, 1.0]})
    second = runs({"beale": [0.1, 1.0], "levy3": [1.0, 1.0]})  # the third has no partner
    text = write_agreement(first, second)
    # -1 and 0: mean -0.5, SD sqrt(0.5), standard error 0.5
    assert cells(text, "beale") == ["2", "-1.000", "-1.500", "-0.500 [-1.480, +0.480]", "0.71"]
    assert cells(text, "levy3")[0] == "2" and cells(text, "levy3")[3].startswith("+0.000 ")
    # Each problem counts once: the mean is -0.25, its error half of 0.5.
    assert cells(text, "mean over functions")[3] == "-0.250 [-0.740, +0.240]"
    assert "MISSED" in text and "half its width is 0.490" in text


@pytest.mark.parametrize(("shift", "verdict"), [(0.01, "met"), (0.2, "MISSED")])
def test_the_interval_must_be_within(shift, verdict):
    regrets = [10 ** (-1 + 0.001 * (-1) ** i) for i in range(20)]
    worse = [regret * 10**shift for regret in regrets]
    text = write_agreement(runs({"beale": regrets}), runs({"beale": worse}))
    assert f"Interval within ±0.05: {verdict}" in text
    assert math.isclose(float(cells(text, "beale")[3].split()[0]), shift, abs_tol=1e-3)
