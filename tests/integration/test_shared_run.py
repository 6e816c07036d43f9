"""Processes that share one run file: both ask, both tell, neither loses or repeats a trial."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from botorch.exceptions.warnings import BotorchWarning

from benchmarks.torture.shared_run import BUDGET, start
from botorch_ubo import UnboundedOptimizer, minimize
from botorch_ubo.run.owner import start_work
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are POSIX")


@pytest.mark.slow
def test_four_processes_a_reader_and_random_kills(tmp_path: Path) -> None:
    evaluated = tmp_path / "evaluated"
    evaluated.mkdir()
    kills, reads, *codes = map(int, start(tmp_path / "run.db", evaluated).split())
    assert kills >= 8
    assert reads >= 8  # in between, and nobody minded
    assert set(codes) == {0}
    run = UnboundedOptimizer.open(tmp_path / "run.db")
    assert [trial.id for trial in run.trials] == list(range(BUDGET))  # none lost, none doubled
    assert len({trial.X for trial in run.trials}) == BUDGET  # none proposed twice
    assert {trial.status for trial in run.trials} == {"completed"}
    begun, ended = (
        Counter(file.read_text() for file in evaluated.glob(f"*.{what}"))
        for what in ("begun", "ended")
    )
    assert set(begun) == {repr(list(trial.X)) for trial in run.trials}
    # A trial is evaluated once, and again for each process that was killed while it had it.
    assert begun.total() <= BUDGET + kills
    assert ended.total() <= BUDGET + kills
    assert run.box.history
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["run.db"]


def make(path: Path, **options: Any) -> UnboundedOptimizer:
    return UnboundedOptimizer(BOX, num_initial=4, checkpoint=path, **{**FAST, **options})


class TestTwoOptimizers:
    """The same in one process, step by step."""

    def test_ask_and_tell_in_turns(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        for number in range(8):
            one, other = (first, second) if number % 2 else (second, first)
            trial = one.ask()
            assert trial.id == number
            other.tell(trial.id, bowl(trial.X))  # which it has not asked for
        first.refresh()
        second.refresh()
        assert first.trials == second.trials == make(path).trials
        assert first.box.state_dict() == second.box.state_dict()
        assert len({trial.X for trial in first.trials}) == 8
        whole = UnboundedOptimizer(BOX, num_initial=4, **FAST)
        for _ in range(8):
            trial = whole.ask()
            whole.tell(trial, bowl(trial.X))
        assert [it.X for it in whole.trials] == [it.X for it in first.trials]

    def test_a_proposal_that_was_overtaken_is_made_anew(self, tmp_path: Path) -> None:
        """The other proposes while this one computes: not the same point, and not the same id."""
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        for _ in range(5):
            trial = first.ask()
            first.tell(trial, bowl(trial.X))
        plan, calls = first._plan, []

        def overtaken(ledger: Any, count: int) -> Any:
            points = plan(ledger, count)
            calls.append(len(ledger))
            if len(calls) <= 2:
                second.ask()
            return points

        first._plan = overtaken
        trial = first.ask()
        assert calls == [5, 6, 7]
        assert trial.id == 7
        run = make(path)
        assert len({it.X for it in run.trials}) == 8
        assert run.box.state_dict() == first.box.state_dict()

    def test_one_that_is_always_overtaken_has_its_turn_at_last(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        plan, calls = first._plan, []

        def overtaken(ledger: Any, count: int) -> Any:
            calls.append(len(ledger))
            if len(calls) <= 3:
                second.ask()
            return plan(ledger, count)

        first._plan = overtaken
        assert first.ask().id == 3
        assert calls == [0, 1, 2, 3]

    def test_results_that_come_in_meanwhile_do_not_void_a_proposal(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        trial = first.ask()
        plan, calls = first._plan, []

        def told(ledger: Any, count: int) -> Any:
            calls.append(len(ledger))
            second.tell(trial.id, 1.0)
            return plan(ledger, count)

        first._plan = told
        assert first.ask().id == 1
        assert calls == [1]
        assert first.completed[0].value == 1.0

    def test_two_results_for_one_trial(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        trial = first.ask()
        second.refresh()
        first.tell(trial, 1.0)
        second.tell(trial, 1.0)  # the same: once
        with pytest.raises(Exception, match=r"one result for trial 0; got 2\.0"):
            second.tell(trial, 2.0)
        assert [it.value for it in make(path).completed] == [1.0]

    def test_limits_that_one_sets_are_the_others_too(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        first.set_hard_limits({0: (-0.5, 0.5)})
        trial = second.ask()
        assert second.hard_limits[:, 0].tolist() == [-0.5, 0.5]
        assert -0.5 <= trial.X[0] <= 0.5

    def test_pending_trials_of_one_at_work_are_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first, second = make(path), make(path)
        trials = first.ask(2)
        start_work(first.journal.owner)
        second.refresh()
        assert second.journal.adopt() == []
        first.journal.release()
        assert second.journal.adopt() == trials
        assert make(path).journal.claims.owners == dict.fromkeys([0, 1], second.journal.owner)

    def test_pending_trials_of_another_machine_are_left_to_it_unless_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "run.db"
        arguments: dict[str, Any] = {"num_initial": 4, "checkpoint": path, **FAST}
        with monkeypatch.context() as patched:
            patched.setattr("socket.gethostname", lambda: "elsewhere")
            make(path).ask()
        with pytest.warns(BotorchWarning, match=r"1 pending.*take_over=True"):
            result = minimize(bowl, BOX, budget=3, **arguments)
        assert [it.status for it in result.trials] == ["pending", "completed", "completed"]
        result = minimize(bowl, BOX, budget=3, take_over=True, **arguments)
        assert {it.status for it in result.trials} == {"completed"}

    def test_a_reader_disturbs_nobody(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        writer = make(path)
        for number in range(6):
            reader = UnboundedOptimizer.open(path)
            trial = writer.ask()
            reader.refresh()
            assert reader.pending == (trial,)
            writer.tell(trial, bowl(trial.X))
            assert len(UnboundedOptimizer.open(path).completed) == number + 1
            reader.refresh()
            assert reader.box.state_dict() == writer.box.state_dict()
