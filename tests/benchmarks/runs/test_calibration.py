from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.report.calibration import (
    cheapest_scale,
    coverage_by,
    format_calibration,
    tabulate_certificates,
)
from benchmarks.runs.calibration import CASES, search_case

SETTINGS = {"delta": 0.1, "epsilon": 0.05, "max_evaluations": 30}
SURE, FITTED = "d = 1, 5 length-scales", "d = 1, 20, fitted"


def test_the_theorems_beta_is_right_where_a_tiny_one_is_wrong() -> None:
    wide = "d = 1, 20 length-scales"
    sure, hasty = (search_case((wide, 0, scale), SETTINGS) for scale in (1.0, 0.005))
    (right,), (wrong,) = sure["certificates"], hasty["certificates"]
    assert right["regret"] <= right["epsilon"] and sure["held"]
    assert wrong["regret"] > wrong["epsilon"] and not hasty["held"]
    assert hasty["evaluations"] < sure["evaluations"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["d = 1, 5, growing", FITTED, "d = 1, 20, noise 0.1"])
def test_every_kind_of_case_runs_and_is_repeatable(name: str) -> None:
    found = search_case((name, 1, 0.005), SETTINGS)
    assert found == search_case((name, 1, 0.005), SETTINGS)
    assert (found["held"] is None) == CASES[name].growing
    assert len(found["certificates"]) <= (3 if CASES[name].growing else 1)
    assert found["certificates"] or found["evaluations"] == SETTINGS["max_evaluations"]


def made(case: str, scale: float, right: int, wrong: int) -> list[dict[str, Any]]:
    regrets = [0.0] * right + [1.0] * wrong
    return [
        {
            "case": case, "path": path, "scale": scale, "evaluations": 9, "held": True,
            "sqrt_beta": 1.0, "certificates": [{"regret": regret, "epsilon": 0.1}],
        }
        for path, regret in enumerate(regrets)
    ]  # fmt: skip


def test_the_cheapest_factor_is_chosen_where_all_is_assumed_and_checked_elsewhere() -> None:
    searches = [*made(SURE, 1.0, 20, 0), *made(SURE, 0.2, 19, 1), *made(SURE, 0.05, 10, 10)]
    searches += [*made(FITTED, 1.0, 20, 0), *made(FITTED, 0.2, 20, 0)]
    frame = tabulate_certificates(searches)
    pooled = coverage_by(frame, ["assumed", "scale"])
    assert cheapest_scale(pooled, coverage_by(frame, ["case", "assumed", "scale"])) == 0.2
    text = format_calibration(searches)
    assert "0.2 keeps 90% in every case there. In the others it keeps it too: 20 of 20" in text
    # Clopper and Pearson's interval of 19 of 20.
    assert "0.95 [0.75, 1.00]" in text
    worse = [s for s in searches if s["case"] == SURE] + made(FITTED, 0.2, 10, 10)
    assert f"It does not carry over to the others: {FITTED}: 10 of 20." in format_calibration(worse)
    assert "None of the factors" in format_calibration(made(SURE, 1.0, 1, 1))


def test_a_search_without_a_certificate_is_counted_and_not_covered() -> None:
    never = made(SURE, 1.0, 2, 0)
    never[0]["certificates"] = []
    row = coverage_by(tabulate_certificates(never), ["case", "scale"]).iloc[0]
    assert (row["paths"], row["certificates"], row["right"]) == (2, 1, 1)


def test_the_command_goes_on_where_it_stopped(tmp_path: Path) -> None:
    output = tmp_path / "calibration.json"
    words = ["calibration", "--cases", SURE, "--scales", "0.005", "--output", str(output)]
    assert main([*words, "--paths", "1"]) == 0
    first = json.loads(output.read_text())["searches"]
    assert main([*words, "--paths", "2"]) == 0
    both = json.loads(output.read_text())["searches"]
    assert both[:1] == first and len(both) == 2
    assert output.with_suffix(".png").stat().st_size > 0
    assert output.with_suffix(".md").read_text().startswith("# Certificates as beta")
    with pytest.raises(SystemExit, match="settings"):
        main([*words, "--paths", "1", "--epsilon", "0.5"])
