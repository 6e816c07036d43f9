"""Thousands of data handed in: work that grows with their number, not with its square."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.errors import InputDataError

from botorch_ubo import UnboundedOptimizer
from botorch_ubo.run import ledger as ledger_module
from botorch_ubo.run.ledger import Ledger


class _Calls:
    """Counts calls of functions, Python's and C's, while it is entered."""

    def __enter__(self) -> _Calls:
        self.count = 0
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: Any, event: str, argument: object) -> None:
        self.count += event in ("call", "c_call")


def _handed_in(n: int, checkpoint: Path | None, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Calls of ``add_data`` of ``n`` points, and ledgers made, each a copy of all trials."""
    made = 0

    class Counted(Ledger):
        def __init__(self, *args: Any) -> None:
            nonlocal made
            made += 1
            super().__init__(*args)

    optimizer = UnboundedOptimizer([(0.0, 1.0)], seed=0, checkpoint=checkpoint)
    X, Y = [[i / n] for i in range(n)], [float(i) for i in range(n)]
    with monkeypatch.context() as patch:
        patch.setattr(ledger_module, "Ledger", Counted)
        with _Calls() as calls:
            assert len(optimizer.add_data(X, Y)) == n
    return calls.count, made


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
def test_twice_the_data_are_twice_the_work(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{n}.db" if kept else None for n in (400, 800, 1600)]
    found = [
        _handed_in(n, path, monkeypatch) for n, path in zip((400, 800, 1600), paths, strict=True)
    ]
    calls, made = zip(*found, strict=True)
    assert calls[2] - calls[1] < 2.2 * (calls[1] - calls[0])
    assert len(set(made)) == 1 and made[0] <= 3


def test_a_step_does_not_look_through_all_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of a ``tell``, an ``ask`` and the data between them, with 200 and 800 trials."""

    def calls(n: int) -> int:
        ledger = Ledger().add([(float(i),) for i in range(n)], [0.0] * n, [None] * n)
        ledger.data(), ledger.pending, ledger.failed
        with _Calls() as counted:
            after = ledger.propose((1.0,))
            assert after.pending and not after.told_since(ledger)
            told = after.complete(n, 2.0, None)
            assert len(told.data()[0]) == n + 1 and not told.pending
            assert told.told_since(after) == [told.trials[n]]
        return counted.count

    assert calls(800) <= calls(200) + 5


class TestAdd:
    def test_as_if_one_by_one(self) -> None:
        points, values = [(0.0,), (1.0,), (2.0,)], [3.0, math.nan, 5.0]
        ledger = Ledger().propose((9.0,)).complete(0, 1.0, None)
        many = ledger.add(points, values, [None] * 3)
        alone = ledger
        for point, value in zip(points, values, strict=True):
            alone = alone.add([point], [value], [None])
        assert many == alone and many.last_order == 3
        assert [trial.status for trial in many.trials] == [
            "completed", "completed", "failed", "completed"
        ]  # fmt: skip
        assert [trial.asked for trial in many.trials] == [True, False, False, False]
        assert many.trials[2].reason == "the value is nan"

    def test_noise_is_given_for_all_or_for_none(self) -> None:
        ledger = Ledger().propose((9.0,)).complete(0, 1.0, None)
        with pytest.raises(InputDataError, match="no variance"):
            ledger.add([(0.0,)], [1.0], [0.5])
        with pytest.raises(InputDataError, match="finite variance"):
            Ledger().add([(0.0,)], [1.0], [-0.5])
