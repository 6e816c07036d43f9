"""UnboundedOptimizer and evaluations that fail: they keep proposals away and hold the box."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from botorch_ubo import ExpandingBounds, ExpansionRecord, UnboundedOptimizer
from botorch_ubo.controller.failures import failing_sides
from botorch_ubo.records import Side
from botorch_ubo.run.arguments import as_bounds
from botorch_ubo.run.trials import as_tensor
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST, make, started


def failing(optimizer: UnboundedOptimizer) -> list[Side]:
    completed, failed = optimizer.completed, optimizer.failed
    return failing_sides(as_tensor(completed), as_tensor(failed)) if failed else []


class TestFailures:
    def test_are_kept_with_their_reason_and_stay_out_of_the_model(self) -> None:
        optimizer = started()
        for outcome in (math.nan, math.inf, -math.inf):
            assert optimizer.tell(optimizer.ask(), outcome).status == "failed"
        optimizer.tell_failed(optimizer.ask(), "sample broke")
        assert [trial.reason for trial in optimizer.failed] == [
            "the value is nan",
            "the value is inf",
            "the value is -inf",
            "sample broke",
        ]
        assert optimizer.fit().train_targets.shape == (6,)

    def test_repel_the_next_proposal(self) -> None:
        optimizer = started()
        failed = []
        for _ in range(4):
            trial = optimizer.ask()
            optimizer.tell_failed(trial, "broke")
            failed.append(trial.X)
        for a, b in itertools.combinations(failed, 2):
            assert math.dist(a, b) > 0.01

    def test_never_move_the_box(self) -> None:
        optimizer = started()
        trial = optimizer.ask()
        box, moves = optimizer.box.bounds, len(optimizer.box.history)
        for _ in range(4):
            optimizer.tell_failed(trial, "broke")
            trial = optimizer.ask()
        assert torch.equal(optimizer.box.bounds, box)
        assert len(optimizer.box.history) == moves

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO"])
    def test_the_box_does_not_keep_growing_where_evaluations_fail(self, method: str) -> None:
        """The minimum is beyond x0 = 1.2, where everything fails; elsewhere the box may grow."""
        optimizer = make(method=method, seed=1)
        held_at = None
        for _ in range(16):
            trial = optimizer.ask()
            if held_at is not None:
                assert optimizer.box.bounds[1, 0] <= held_at
            if trial.X[0] > 1.2:
                optimizer.tell_failed(trial, "beyond 1.2")
            else:
                optimizer.tell(trial, (trial.X[0] - 4) ** 2 + (trial.X[1] - 1.5) ** 2)
            if (0, "upper") in failing(optimizer) and held_at is None:
                held_at = float(optimizer.box.bounds[1, 0])
        assert held_at is not None
        result = optimizer.result()
        assert "held back by failed evaluations on dimension 0, upper side" in result.advice
        assert len(optimizer.failed) < 12
        # It does not give up on what works either: the first design came to 0.69.
        assert result.best_X[0] > 0.8

    def test_a_first_design_that_fails_is_followed_by_another(self) -> None:
        optimizer = make()
        for trial in optimizer.ask(6):
            optimizer.tell_failed(trial, "broke")
        more = optimizer.ask(2)
        assert all(-3 <= trial.X[0] <= 3 for trial in more)
        assert not optimizer.box.history
        optimizer.tell(more[0], bowl(more[0].X))
        assert math.dist(optimizer.ask().X, more[1].X) > 0


FAR = [[5.0, 1.0], [6.0, 2.0]]  # beyond the box's upper face in the first dimension only
HELD = (0, "upper")


def with_failures(**options: Any) -> UnboundedOptimizer:
    """An initial design of successes, and two failures beyond them; nothing asked for yet."""
    optimizer = started(**options)
    optimizer.add_data(FAR, [math.nan, math.inf])
    return optimizer


class TestTheBoxIsHeld:
    @pytest.mark.parametrize(
        "method", ["EI-Roaming", "GPUCB-UBO", pytest.param("EI-UBO", marks=pytest.mark.slow)]
    )
    def test_exactly_as_by_update(self, method: str) -> None:
        optimizer = with_failures(method=method, seed=3)
        completed = as_tensor(optimizer.completed)
        values = torch.tensor([[trial.value] for trial in optimizer.completed], dtype=torch.double)
        for _ in range(2):
            optimizer.ask()
        box = ExpandingBounds(as_bounds(BOX), method=method, maximize=False, seed=3, **FAST)
        model = box.fit(completed, values)
        record = box.update(model, X_failed=as_tensor(optimizer.failed))
        assert record is not None
        assert optimizer.box.history == (record,)
        assert optimizer.box.state_dict() == box.state_dict()
        assert failing_sides(completed, torch.tensor(FAR).double()) == [HELD]
        assert set(record.held) <= {HELD}
        assert box.bounds[1, 0] <= BOX[0][1]

    @pytest.mark.parametrize("method", ["GPUCB-UBO", "EI-UBO"])
    def test_and_not_without_failures(self, method: str) -> None:
        free, held = started(method=method), with_failures(method=method)
        for optimizer in (free, held):
            optimizer.ask()
        assert free.box.history[0].held == ()
        assert held.box.history[0].held == (HELD,)
        assert free.box.bounds[1, 0] > BOX[0][1] == held.box.bounds[1, 0]
        others = torch.ones(2, 2, dtype=torch.bool)
        others[1, 0] = False
        assert torch.equal(free.box.bounds[others], held.box.bounds[others])

    def test_on_expand_is_asked_once_per_planned_move_and_sees_what_is_held(self) -> None:
        plans: list[ExpansionRecord] = []
        optimizer = with_failures(on_expand=plans.append)
        for _ in range(2):
            optimizer.ask()  # with the same data: no other move
        assert [plan.held for plan in plans] == [(HELD,)]
        assert plans[0].new_bounds[1][0] == BOX[0][1]
        trial = optimizer.pending[0]
        optimizer.tell(trial, bowl(trial.X))
        optimizer.ask()
        assert len(plans) == 2
        assert optimizer.box.history == tuple(plans)  # accepted as planned

    def test_on_expand_refuses_or_shrinks_what_is_left_of_the_plan(self) -> None:
        refused = with_failures(method="GPUCB-UBO", on_expand=lambda record: False)
        wide = torch.tensor([[-1.0, -9.0], [9.0, 9.0]])
        shrunk = with_failures(method="GPUCB-UBO", on_expand=lambda record: wide)
        for optimizer, decision in ((refused, "refused"), (shrunk, "shrunk")):
            optimizer.ask()
            assert optimizer.box.history[0].decision == decision
            assert optimizer.box.history[0].held == (HELD,)
        assert refused.box.bounds.tolist() == as_bounds(BOX).tolist()
        assert shrunk.box.bounds[:, 0].tolist() == [-1.0, 1.0]  # an answer does not free a side
        assert shrunk.box.bounds[1, 1] > BOX[1][1]
