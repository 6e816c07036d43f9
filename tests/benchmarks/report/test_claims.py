from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.problems.mnist import PAPER
from benchmarks.report import statistics
from benchmarks.report.claim_figures import FoundWithin, Promised, Reaches, count_expansions
from benchmarks.report.claim_tests import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_RUN,
    REPRODUCED,
    Better,
    Similar,
    Slower,
)
from benchmarks.report.claims import CLAIMS, judge_claims, write_claims
from benchmarks.report.study import Study
from benchmarks.runs.records import Record
from tests.support.made_records import METADATA, make_record, summarize_records

UBO, PROBLEMS, SEEDS = "GPUCB-UBO", ("beale", "levy3", "hartmann3"), range(12)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "RESAMPLES", 999)


def runs(
    method: str, level: Callable[[str], float], problems: tuple[str, ...] = PROBLEMS, **values: Any
) -> list[Record]:
    """Runs that end at about ``10 ** level`` of the initial regret, with a spread over seeds."""
    made = []
    for problem in problems:
        rng = np.random.default_rng([len(problem), *method.encode()])
        for seed in SEEDS:
            end = 10.0 * 10 ** (level(problem) + 0.05 * rng.standard_normal())
            regrets = [10.0, 20.0, *[9.0] * 19, end]
            made.append(make_record(problem, method, seed, regrets, **values))
    return made


def judge(test: Any, *groups: list[Record]) -> Any:
    return test.judge(summarize_records(*(r for group in groups for r in group)), UBO)


def test_better_everywhere() -> None:
    test = Better(("EI-H",), PROBLEMS, everywhere=True)
    ours, theirs = runs(UBO, lambda p: -2), runs("EI-H", lambda p: -1)
    found = judge(test, ours, theirs)
    assert found.word == REPRODUCED
    assert "12 seeds" in found.measured and "3 better and 0 worse of 3" in found.measured
    # One function on which it is worse contradicts.
    worse = runs("EI-H", lambda p: -3 if p == "beale" else -1)
    assert judge(test, ours, worse).word == CONTRADICTED
    # One that cannot be told from chance leaves it open.
    level = runs("EI-H", lambda p: -2 if p == "beale" else -1)
    assert judge(test, ours, level).word == INCONCLUSIVE


def test_better_on_most_allows_one_to_be_worse() -> None:
    test = Better(("EI-H",), PROBLEMS)
    ours = runs(UBO, lambda p: -2)
    slightly = runs("EI-H", lambda p: -2.1 if p == "beale" else -1)
    # Two of three are better, but functions as clusters do not exclude zero.
    assert judge(test, ours, slightly).word == INCONCLUSIVE
    same = runs("EI-H", lambda p: -1.5 if p == "beale" else -1)
    assert judge(test, ours, same).word == REPRODUCED
    most = runs("EI-H", lambda p: -1 if p == "beale" else -3)
    assert judge(test, ours, most).word == CONTRADICTED


def test_every_other_must_be_beaten() -> None:
    test = Better(("EI-H", "EI-Q"), PROBLEMS)
    ours, beaten = runs(UBO, lambda p: -2), runs("EI-H", lambda p: -1)
    level = runs("EI-Q", lambda p: -2)
    assert judge(test, ours, beaten, level).word == INCONCLUSIVE


def test_what_lacks_runs_is_not_reproduced() -> None:
    test = Better(("EI-H", "EI-Q"), PROBLEMS)
    ours, theirs = runs(UBO, lambda p: -2), runs("EI-H", lambda p: -1)
    found = judge(test, ours, theirs)
    assert found.word == INCONCLUSIVE and "lacking: EI-Q on beale" in found.measured
    assert judge(test, ours).word == NOT_RUN


def test_few_seeds_decide_nothing() -> None:
    few = [r for r in (*runs(UBO, lambda p: -2), *runs("EI-H", lambda p: -1)) if r.seed < 4]
    found = judge(Better(("EI-H",), PROBLEMS, everywhere=True), few)
    assert found.word == INCONCLUSIVE and "too few for any of 3 tests" in found.measured


def test_holm_counts_the_family() -> None:
    """Seven seeds all one way have p = 1/64: enough for two tests, not for twelve."""
    others = tuple(f"M{i}" for i in range(4))
    ours = [r for r in runs(UBO, lambda p: -2) if r.seed < 7]
    theirs = [r for m in others for r in runs(m, lambda p: -1) if r.seed < 7]
    assert judge(Better(("M0",), ("beale", "levy3"), True), ours, theirs).word == REPRODUCED
    assert judge(Better(others, PROBLEMS, True), ours, theirs).word == INCONCLUSIVE


def test_similar() -> None:
    test = Similar("GPUCB-FBO", PROBLEMS)
    ours = runs(UBO, lambda p: -2)
    assert judge(test, ours, runs("GPUCB-FBO", lambda p: -2.05)).word == REPRODUCED
    assert judge(test, ours, runs("GPUCB-FBO", lambda p: -2.18)).word == INCONCLUSIVE
    assert judge(test, ours, runs("GPUCB-FBO", lambda p: -2.5)).word == CONTRADICTED


def taking(method: str, seconds: float, **values: Any) -> list[Record]:
    phases = {"fit": [0.0] * 20, "geometry": [0.0] * 20, "acquisition": [seconds] * 20}
    return runs(method, lambda p: -1, seconds=phases, **values)


@pytest.mark.parametrize(
    ("seconds", "word"), [(2.5, REPRODUCED), (1.2, CONTRADICTED), (9.0, CONTRADICTED)]
)
def test_slower(seconds: float, word: str) -> None:
    test = Slower("GPUCB-FBO", 2, 3, PROBLEMS)
    assert judge(test, taking(UBO, 1.0), taking("GPUCB-FBO", seconds)).word == word


def test_shares_of_seconds_are_no_seconds() -> None:
    together = taking(UBO, 1.0, metadata={**METADATA, "batched": 12})
    test = Slower("GPUCB-FBO", 2, 3, PROBLEMS)
    assert judge(test, together, taking("GPUCB-FBO", 2.5)).word == NOT_RUN


def test_expansions_are_changes_of_the_box() -> None:
    nan = float("nan")
    assert count_expansions([]) == count_expansions([0.0, 0.0]) == 0
    assert count_expansions([0.5, 0.5, 0.7]) == 2
    assert count_expansions([nan, 0.5, 0.5]) == 1


def test_boxes_figure() -> None:
    def run(seed: int, *times: int) -> Record:
        boxes = [{"t": t, "bounds": [[0.0, 0.0], [2.0 + t, 2.0 + t]]} for t in times]
        regrets = [10.0, 20.0, *[9.0] * 10, 0.01]
        return make_record("beale", UBO, seed, regrets, boxes=boxes)

    test = FoundWithin("beale")
    assert judge(test, [run(0, 0), run(1, 0, 3)]).word == REPRODUCED
    found = judge(test, [run(0, 0), run(1, 0)])
    assert found.word == INCONCLUSIVE and "2 of 2 runs get there" in found.measured
    assert judge(test, runs("EI-H", lambda p: -1)).word == NOT_RUN


def test_accuracies_count_at_the_papers_size_only() -> None:
    def made(accuracy: float, **preset: Any) -> list[Record]:
        size = {**json.loads(json.dumps(asdict(PAPER))), **preset}
        metadata = {**METADATA, "problem": {"preset": size}}
        values = [0.5, 0.5, *[0.6] * 11, accuracy, 0.999]
        return [
            make_record(
                "mnist_mlp", UBO, seed, values, metadata=metadata, optimal_value=None,
                Y=[v + 0.001 * seed for v in values],
            )
            for seed in range(4)
        ]  # fmt: skip

    test = Reaches("mnist_mlp", 0.978, 12)
    assert judge(test, made(0.98)).word == REPRODUCED
    assert judge(test, made(0.9)).word == CONTRADICTED
    found = judge(test, made(0.98, epochs=1))
    assert found.word == NOT_RUN and "none with the paper's images" in found.measured


@pytest.mark.parametrize(
    ("right", "word"), [(200, REPRODUCED), (19, INCONCLUSIVE), (100, CONTRADICTED)]
)
def test_a_probability_is_judged_by_searches_of_known_functions(
    tmp_path: Path, right: int, word: str
) -> None:
    """200 of 200, 19 of 20 and 100 of 200 certificates, of which nine in ten are promised."""
    given = 20 if right == 19 else 200
    cell = {
        "level": "theorem", "factor": 1.0, "paths": 200, "certificates": given, "right": right,
        "held": right, "evaluations": 900, "root": 800.0,
    }  # fmt: skip
    searches = tmp_path / "calibration.json"
    blocks = [{"case": name, "block": 0, "cells": [cell, {**cell, "factor": 0.2, "right": 0}]}
              for name in ("d = 1, 5", "d = 1, 5, fitted")]  # fmt: skip
    some = runs(UBO, lambda p: -2)
    assert judge(Promised(UBO, searches), some).word == NOT_RUN
    searches.write_text(json.dumps({"settings": {"delta": 0.1}, "blocks": blocks}))
    found = judge(Promised(UBO, searches), some)
    assert found.word == word and f"known {right} of {given}" in found.measured
    assert "on 200 paths" in found.measured
    assert judge(Promised("another", searches), some).word == NOT_RUN


def test_the_section_has_every_claim_and_another_budget_does_not_count() -> None:
    records = [*runs(UBO, lambda p: -2), *runs("GPUCB-FBO", lambda p: -1)]
    study = Study(summarize_records(*records), "LogEI-oracle", "EI-UBO")
    text = write_claims(study)
    assert text.startswith("## What the paper says") and text.count("\n| ") >= len(CLAIMS)
    assert all(f"| {claim.text} |" in text for claim in CLAIMS)
    verdicts = {claim.text: found.word for claim, found in judge_claims(study).items()}
    assert verdicts["similar to GPUCB-FBO on Beale, Eggholder and Levy3"] == CONTRADICTED
    assert verdicts["better than all seven on Ackley10"] == NOT_RUN
    for record in records:
        record.budget += 1
    later = Study(summarize_records(*records), "LogEI-oracle", "EI-UBO")
    assert {found.word for found in judge_claims(later).values()} == {NOT_RUN}
    assert "Runs of another budget, which do not count here: paper 72." in write_claims(later)
