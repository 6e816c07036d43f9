from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.report.calibration import (
    cheapest_factor,
    coverage_by,
    format_calibration,
    tabulate_cells,
)
from benchmarks.report.claim_figures import CALIBRATION
from benchmarks.runs import calibration
from benchmarks.runs.calibration import CASES, CHOICE, JUDGEMENT, Case, search_block
from botorch_ubo import CalibratedBeta

SETTINGS = {"delta": 0.1, "epsilon": 0.05}
SURE, FITTED, OTHER = "d = 1, 5", "d = 1, 20, fitted", "d = 1, 20, Matern 5/2"


def test_a_high_level_is_right_where_a_low_one_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CASES, "wide", Case(1, 20, num_paths=12))
    levels = (("theorem", 1.0), ("calibrated", 1.0), ("calibrated", 0.02))
    monkeypatch.setattr(calibration, "LEVELS", levels)
    sure, enough, hasty = search_block(("wide", 0), SETTINGS)["cells"]
    assert sure["right"] == sure["certificates"] == sure["held"] == sure["paths"] == 12
    assert enough["right"] >= 11 and enough["evaluations"] < sure["evaluations"]
    assert hasty["right"] <= 9 and hasty["held"] < 6


@pytest.mark.slow
@pytest.mark.parametrize("fitted", [False, True])
def test_a_box_that_grows_has_several_certificates(
    monkeypatch: pytest.MonkeyPatch, fitted: bool
) -> None:
    growing = Case(1, 5, growing=True, fitted=fitted, num_paths=1, max_evaluations=30)
    monkeypatch.setitem(CASES, "grows", growing)
    monkeypatch.setattr(calibration, "LEVELS", (("calibrated", 0.5),))
    found = search_block(("grows", 0), SETTINGS)
    assert found == search_block(("grows", 0), SETTINGS)
    (cell,) = found["cells"]
    assert cell["held"] is None and 1 <= cell["certificates"] <= 3


def test_the_halves_have_other_kernels_and_other_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {half: {c.kernel for c in CASES.values() if c.half == half}
               for half in (CHOICE, JUDGEMENT)}  # fmt: skip
    assert kernels[CHOICE] == {"RBF"} and len(kernels[JUDGEMENT]) == 4
    assert {case.dim for case in CASES.values()} == {1, 2, 3, 4}
    seen = []
    monkeypatch.setattr(calibration, "make_task", lambda case, seeds: seeds)
    monkeypatch.setattr(calibration, "search_together", lambda task, *_: seen.append(task) or [
        {"regret": None, "epsilon": None, "held": True, "evaluations": 1, "root": 1.0}
    ])  # fmt: skip
    for name in (SURE, OTHER):
        search_block((name, 1), SETTINGS)
    assert seen[0] == [*range(50, 100)] and not set(seen[0]) & set(seen[-1])


def made(case: str, level: str, factor: float, right: int, wrong: int) -> dict[str, Any]:
    count = right + wrong
    cell = {
        "level": level, "factor": factor, "paths": count, "certificates": count, "right": right,
        "held": right, "evaluations": 9 * count, "root": 2.0 * count,
    }  # fmt: skip
    return {"case": case, "block": 0, "cells": [cell]}


BLOCKS = [
    made(SURE, "calibrated", 2.0, 20, 0), made(SURE, "calibrated", 1.0, 19, 1),
    made(SURE, "calibrated", 0.5, 15, 5), made(FITTED, "calibrated", 2.0, 20, 0),
    made(FITTED, "calibrated", 1.0, 10, 10), made(OTHER, "calibrated", 1.0, 19, 1),
    made(OTHER, "theorem", 1.0, 20, 0), made(FITTED, "theorem", 1.0, 18, 2),
]  # fmt: skip


def test_the_cheapest_factor_is_chosen_on_one_half_and_judged_on_the_other() -> None:
    by_case = coverage_by(tabulate_cells(BLOCKS), ["case", "half", "model", "level", "factor"])
    assert cheapest_factor(by_case) == 1.0
    text = format_calibration(BLOCKS)
    assert "1 is the smallest factor on the calibrated level that keeps 90% in every case" in text
    # Clopper and Pearson's interval of 19 of 20.
    assert (
        "- Other kernels, hyper-parameters known: 19 of 20 certificates (0.950 [0.751, 0.999]; 20 "
        "paths) right after 9 evaluations; no case is below 90% by its interval. The theorem's "
        "level: 20 of 20 certificates (1.000 [0.832, 1.000]; 20 paths) after 9." in text
    )
    assert f"below 90% by the interval: {FITTED}: 10 of 20. The theorem's level: 18 of 20" in text
    assert "- Other kernels, another one fitted: no certificates." in text
    bad = [made(SURE, "calibrated", 2.0, 1, 1)]
    assert "None of the factors keeps 90%" in format_calibration(bad)


def test_the_packages_level_is_what_the_committed_searches_chose() -> None:
    blocks = json.loads(CALIBRATION.read_text())["blocks"]
    assert {block["case"] for block in blocks} == set(CASES)
    columns = ["case", "half", "model", "level", "factor"]
    assert cheapest_factor(coverage_by(tabulate_cells(blocks), columns)) == CalibratedBeta().scale


def test_a_larger_factor_that_fails_rules_smaller_ones_out() -> None:
    blocks = [made(SURE, "calibrated", 2.0, 20, 0), made(SURE, "calibrated", 1.0, 10, 10),
              made(SURE, "calibrated", 0.5, 20, 0)]  # fmt: skip
    by_case = coverage_by(tabulate_cells(blocks), ["case", "half", "model", "level", "factor"])
    assert cheapest_factor(by_case) == 2.0


def test_a_search_without_a_certificate_is_counted_and_not_covered() -> None:
    block = made(SURE, "theorem", 1.0, 1, 0)
    block["cells"][0]["paths"] = 2
    row = coverage_by(tabulate_cells([block]), ["case", "level"]).iloc[0]
    assert (row["paths"], row["certificates"], row["right"]) == (2, 1, 1)
    assert row["evaluations"] == 4.5


@pytest.mark.slow
def test_the_command_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(CASES, SURE, Case(1, 5, num_paths=4))
    monkeypatch.setattr(Case, "block", 2)
    monkeypatch.setattr(calibration, "LEVELS", (("theorem", 0.2), ("calibrated", 0.1)))
    output = tmp_path / "calibration.json"
    words = ["calibration", "--cases", SURE, "--output", str(output)]
    assert main([*words, "--blocks", "1"]) == 0
    first = json.loads(output.read_text())["blocks"]
    assert main(words) == 0
    both = json.loads(output.read_text())["blocks"]
    assert both[:1] == first and [block["block"] for block in both] == [0, 1]
    assert output.with_suffix(".png").stat().st_size > 0
    text = output.with_suffix(".md").read_text()
    assert text.startswith("# Certificates as beta")
    output.with_suffix(".md").unlink()
    assert main([*words, "--report-only"]) == 0
    assert output.with_suffix(".md").read_text() == text
    with pytest.raises(SystemExit, match="settings"):
        main([*words, "--epsilon", "0.5"])
    for bad in (["--delta", "0.7"], ["--epsilon", "nan"], ["--epsilon", "-1"]):
        with pytest.raises(SystemExit, match="between 0 and 1/2, and a positive"):
            main([*words, *bad])
    content = json.loads(output.read_text())
    content["metadata"]["code"], content["blocks"] = "f00", content["blocks"][:1]
    output.write_text(json.dumps(content))
    with pytest.raises(SystemExit, match="it is of f00"):
        main(words)
    with pytest.raises(SystemExit, match="at least one block"):
        main(["calibration", "--cases", OTHER, "--output", str(output), "--report-only"])
