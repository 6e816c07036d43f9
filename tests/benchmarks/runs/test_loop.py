from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from benchmarks.methods.contender import Clock
from benchmarks.methods.registry import GROUPS
from benchmarks.problems.problem import Sources, make_start
from benchmarks.problems.registry import find_problem
from benchmarks.runs import loop
from benchmarks.runs.loop import run_one
from benchmarks.runs.records import PHASES, Record
from benchmarks.runs.table import tabulate
from tests.support.authors_files import write_authors_run


class Scripted:
    """Proposes the given points, and remembers what it was told."""

    def __init__(self, points: list[list[float]]) -> None:
        self.points, self.told = points, torch.empty(0)
        self.bounds: Tensor | None = torch.tensor([[-9.0, -9.0], [9.0, 9.0]])

    def suggest(self, X: Tensor, Y: Tensor, clock: Clock) -> Tensor:
        self.told = Y
        with clock.phase("acquisition"):
            return torch.tensor([self.points.pop(0)], dtype=torch.double)


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(*points: list[float]) -> Scripted:
        contender = Scripted(list(points))
        monkeypatch.setitem(GROUPS["outside"], "Scripted", lambda *_: contender)
        return contender

    return use


def test_record_of_a_run(scripted: Any) -> None:
    scripted([3.0, 0.5], [100.0, 0.0])
    record = run_one("beale", "Scripted", 0, budget=2)
    assert record.status == "ok" and record.error is None
    assert record.X[-2:] == [[3.0, 0.5], [100.0, 0.0]]
    assert record.Y[-2] == pytest.approx(0.0, abs=1e-12)
    assert record.inside == [True] * 7 + [False]
    assert record.boxes == [{"t": 0, "bounds": [[-9.0, -9.0], [9.0, 9.0]]}]
    assert set(record.seconds) == set(PHASES)
    assert all(len(values) == 2 for values in record.seconds.values())
    assert record.Y_observed is None and record.num_initial == 6 and record.budget == 2
    assert record.metadata["threads"] == 1 and record.metadata["device"] == "cpu"
    assert Record.from_json(record.to_json()) == record


def test_start_is_the_same_for_every_method() -> None:
    first, second = (run_one("hartmann3_noisy", m, 1, budget=1) for m in ("EI-Vanilla", "CMA-ES"))
    assert first.X[:9] == second.X[:9] and first.start_box == second.start_box
    assert first.Y_observed is not None and second.Y_observed is not None
    assert first.Y_observed[:9] == second.Y_observed[:9] != first.Y[:9]
    noise = [o - y for r in (first, second) for o, y in zip(r.Y_observed[9:], r.Y[9:], strict=True)]
    assert noise[0] == pytest.approx(noise[1])  # that of the tenth evaluation, wherever it is


def test_method_sees_the_noise(scripted: Any) -> None:
    contender = scripted([0.5, 0.5, 0.5])
    record = run_one("hartmann3_noisy", "Scripted", 0, budget=1)
    assert record.Y_observed is not None
    assert contender.told.flatten().tolist() == record.Y_observed[:-1]


def test_run_ends_at_the_target(scripted: Any) -> None:
    optimizer = find_problem("far_smooth2_d30", 2).optimizer
    assert optimizer is not None
    scripted([0.0, 0.0], optimizer.tolist(), [5.0, 5.0])
    record = run_one("far_smooth2_d30", "Scripted", 2)
    assert len(record.X) == 6 + 2 and record.budget == 40 and record.distance == 30
    initial = max(record.Y[:6])
    assert record.target == pytest.approx(1 - 0.01 * (1 - initial))


def test_failing_method_gives_a_record_with_its_evaluations(scripted: Any) -> None:
    scripted([1.0, 1.0])  # and then no more points
    record = run_one("beale", "Scripted", 0)
    assert record.status == "failed" and record.error is not None
    assert "IndexError: pop from empty list" in record.error and "Traceback" in record.error
    assert len(record.X) == 7 and record.seconds["acquisition"] != []
    assert Record.from_json(record.to_json()) == record


def test_infinite_value_is_a_failure(scripted: Any) -> None:
    scripted([1e200, 1e200])
    record = run_one("beale", "Scripted", 0)
    assert record.status == "failed" and "finite" in (record.error or "")
    assert len(record.X) == 6
    record.to_json()


def test_unknown_problem_is_the_callers_error() -> None:
    with pytest.raises(KeyError, match="beale"):
        run_one("beal", "EI-UBO", 0)


def test_authors_run_is_converted(tmp_path: Path) -> None:
    write_authors_run(tmp_path)
    record = run_one("ref_beale", "authors", 0, Sources(reference=tmp_path), budget=7)
    assert record.Y == [-1.0, -2.0, -3.0] and record.inside == [True, True, False]
    assert record.boxes == [{"t": 0, "bounds": [[-1.0, -2.0], [2.0, 4.0]]}]
    assert record.seconds["acquisition"] == [1.5] and record.budget == 1
    ours = run_one("ref_beale", "EI-Vanilla", 0, Sources(reference=tmp_path))
    assert ours.X[:2] == record.X[:2] and len(ours.X) == 3
    with pytest.raises(ValueError, match="ref_beale"):
        run_one("beale", "authors", 0, Sources(reference=tmp_path))


@pytest.mark.parametrize("method", ["EI-Roaming", "LogEI-oracle", "CMA-ES", "Optuna-GP-told"])
def test_failed_evaluations_are_kept_and_endured(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One half of the domain fails, and some of the initial points lie there."""
    beale = find_problem("beale", 0)
    limit = float(make_start(beale, 0).X[:, 0].median())

    def function(X: Tensor) -> Tensor:
        return torch.where(X[:, 0] > limit, torch.nan, beale.function(X))

    failing = replace(beale, function=function, may_fail=True)
    monkeypatch.setattr(loop, "find_problem", lambda *_: failing)
    record = run_one("beale", method, 0, budget=4)
    assert record.status == "ok", record.error
    assert [y is None for y in record.Y] == [x[0] > limit for x in record.X]
    assert None in record.Y[:6] and len(record.Y) == 10
    row = next(tabulate([Record.from_json(record.to_json())]).itertuples())
    assert row.best[-1] == row.picked == record.best
    assert row.failed_share == sum(y is None for y in record.Y[6:]) / 4
