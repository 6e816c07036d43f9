"""Runs on problems of several outcomes: one JSON file each, what is there is not run again."""

import json
import os
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.methods.outcomes import make_outcome_contender
from benchmarks.problems import constrained, multi
from benchmarks.problems.outcomes import OutcomeProblem, outcome_start
from benchmarks.runs.metadata import collect_metadata

OUTCOME_SUITES: dict[str, dict[str, OutcomeProblem]] = {
    "constrained": constrained.PROBLEMS,
    "multi": multi.PROBLEMS,
}


def find_outcome_problem(name: str) -> tuple[str, OutcomeProblem]:
    """The suite of a problem, and the problem."""
    for suite, problems in OUTCOME_SUITES.items():
        if name in problems:
            return suite, problems[name]
    raise KeyError(f"expected one of {[n for s in OUTCOME_SUITES.values() for n in s]}; got {name}")


def run_outcomes(
    name: str, method: str, seed: int, output: Path, budget: int | None = None
) -> dict[str, Any]:
    """Run a method on a problem, unless its record is there, and return the record."""
    path = output / f"{name}__{method.replace(' ', '_')}__{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    record = _run(name, method, seed, budget)
    output.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(record) + "\n")
    os.replace(part, path)
    return record


def read_outcomes(output: Path) -> list[dict[str, Any]]:
    """All records of a directory."""
    return [json.loads(path.read_text()) for path in sorted(output.glob("*.json"))]


def first_evaluations(record: dict[str, Any], count: int) -> dict[str, Any]:
    """A record as it was after so many evaluations beyond the initial points, or fewer."""
    if record["status"] != "completed" or record["budget"] <= count:
        return record
    initial, (_, problem) = record["num_initial"], find_outcome_problem(record["problem"])
    X, Y = (record[key][: initial + count] for key in ("X", "Y"))
    feasible = problem.feasible(torch.tensor(Y[initial:], dtype=torch.double))
    return {
        **record,
        "budget": count,
        "X": X,
        "Y": Y,
        "measure": record["measure"][: count + 1],
        "infeasible": int((~feasible).sum()),
    }


def _run(name: str, method: str, seed: int, budget: int | None) -> dict[str, Any]:
    suite, problem = find_outcome_problem(name)
    start = outcome_start(problem, seed, budget)
    began = time.perf_counter()
    X, Y = start.X, problem.outcomes(start.X)
    record: dict[str, Any] = {
        "suite": suite,
        "problem": name,
        "method": method,
        "seed": seed,
        "num_initial": len(X),
        "budget": start.budget,
        "start_box": start.box.tolist(),
        "status": "completed",
        "metadata": collect_metadata(),
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of single fits and searches, of which there are many
            contender = make_outcome_contender(method, problem, start, seed)
            for _ in range(start.budget):
                x = contender.suggest(X, Y).detach()
                X, Y = torch.cat([X, x]), torch.cat([Y, problem.outcomes(x)])
        record["bounds"] = contender.bounds.tolist()
    except Exception:
        record |= {"status": "failed", "error": traceback.format_exc()}
    record |= {
        "X": X.tolist(),
        "Y": Y.tolist(),
        "measure": list(_measure(problem, Y, len(start.X))),
        "infeasible": int((~problem.feasible(Y[len(start.X) :])).sum()),
        "seconds": round(time.perf_counter() - began, 1),
    }
    return record


def _measure(problem: OutcomeProblem, Y: Tensor, initial: int) -> Iterator[float | None]:
    """Regret of the best feasible point, or what lacks of the hypervolume, after each step."""
    for n in range(initial, len(Y) + 1):
        if problem.is_multi:
            assert problem.max_hypervolume is not None
            yield max(problem.max_hypervolume - problem.hypervolume(Y[:n]), 0.0)
        else:
            regret = problem.regret(Y[:n])
            yield regret if regret < float("inf") else None
