"""Hard limits that change in mid-run: recorded, respected from then on, data stay data."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo import CheckpointError, ExpandingBounds, UnboundedOptimizer
from tests.support.objectives import bowl
from tests.support.optimizing import BOX, FAST, make, started

METHODS = [
    "EI-Roaming",
    *(
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            "GPUCB-UBO",
            "GPUCB-UBO (as published)",
            "EI-Vanilla",
            "HuBO-EI",
            "TuRBO-1",
            "HD-HuBO-EI",
            "EI-VarCap",
            "EI-Q",
        )
    ),
]


class TestOptimizer:
    @pytest.mark.parametrize("method", METHODS)
    def test_narrower(self, method: str) -> None:
        """All data but a few lie beyond the new limits, and go on to count."""
        optimizer = started(method=method)
        optimizer.ask()
        optimizer.set_hard_limits({0: (0.2, 0.6), 1: (None, 1.0)})
        assert (optimizer.box.bounds[:, 0] >= 0.2).all()
        assert (optimizer.box.bounds[1] <= torch.tensor([0.6, 1.0])).all()
        for _ in range(3):
            trial = optimizer.ask()
            assert 0.2 <= trial.X[0] <= 0.6
            assert trial.X[1] <= 1.0
            optimizer.tell(trial, bowl(trial.X))
        result = optimizer.result()
        assert len(result.Y) == 9
        assert result.hard_limits.tolist() == [[0.2, -math.inf], [0.6, 1.0]]

    def test_wider(self) -> None:
        optimizer = make(hard_limits=[(-1, 1), (0, 3)])
        for _ in range(8):
            trial = optimizer.ask()
            optimizer.tell(trial, bowl(trial.X))
        assert optimizer.box.bounds[1, 0] <= 1.0
        optimizer.set_hard_limits(None)
        for _ in range(3):
            trial = optimizer.ask()
            optimizer.tell(trial, bowl(trial.X))
        assert optimizer.box.bounds[1, 0] > 1.0
        (record,) = optimizer.box.limits
        assert record.old_limits == ((-1.0, 0.0), (1.0, 3.0))
        assert record.hard_limits == ((-math.inf,) * 2, (math.inf,) * 2)
        assert record.old_bounds == record.new_bounds

    def test_before_the_first_design_is_done(self) -> None:
        optimizer = make()
        optimizer.ask(2)
        optimizer.set_hard_limits({0: (5.0, 6.0)})  # beyond the whole first box
        points = [trial.X for trial in optimizer.ask(6)]
        assert all(5.0 <= x <= 6.0 for x, _ in points)
        assert len(set(points)) == 6

    def test_data_beyond_are_refused_from_then_on(self) -> None:
        optimizer = make(data=([[0.9, 1.0]], [1.0]))
        optimizer.set_hard_limits({0: (-1.0, 0.5)})
        with pytest.raises(InputDataError, match="hard limits"):
            optimizer.add_data([[0.9, 1.0]], [1.0])
        assert len(optimizer.completed) == 1

    @pytest.mark.parametrize("limits", [{0: (1, 0)}, {7: (0, 1)}, [(0, 1)], {0: (math.nan, 1)}])
    def test_bad_limits_change_nothing(self, limits: object) -> None:
        optimizer = started()
        state = optimizer.box.state_dict()
        with pytest.raises(InputDataError, match="hard_limits"):
            optimizer.set_hard_limits(limits)
        assert optimizer.box.state_dict() == state

    def test_assigning_says_how(self) -> None:
        optimizer = make()
        for thing in (optimizer, optimizer.box):
            with pytest.raises(AttributeError, match=r"set_hard_limits\({0: \(0, 1\)}\)"):
                thing.hard_limits = {0: (0, 1)}
        assert optimizer.hard_limits.isinf().all()

    def test_resumed(self, tmp_path: Path) -> None:
        path = tmp_path / "run.db"
        first = {0: (-1.5, 1.5)}
        optimizer = make(checkpoint=path, hard_limits=first)
        for _ in range(7):
            trial = optimizer.ask()
            optimizer.tell(trial, bowl(trial.X))
        narrow = {0: (-0.5, 0.5)}  # cuts into the first box
        optimizer.set_hard_limits(narrow)
        again = make(checkpoint=path, hard_limits=narrow)
        assert again.trials == optimizer.trials
        assert again.box.state_dict() == optimizer.box.state_dict()
        with pytest.raises(
            CheckpointError,
            match=r"hard_limits was {0: \(-0.5, 0.5\)}, is {0: \(-1.5, 1.5\)}.*"
            "changed in the course of the run already",
        ):
            make(checkpoint=path, hard_limits=first)
        opened = UnboundedOptimizer.open(path, writable=True)
        opened.set_hard_limits(None)
        assert make(checkpoint=path).hard_limits.isinf().all()


class TestController:
    def test_a_state_brings_its_limits_back(self) -> None:
        optimizer = started()
        optimizer.ask()
        box = optimizer.box
        box.set_hard_limits({0: (-0.5, 0.5)})
        state = json.loads(json.dumps(box.state_dict()))
        other = ExpandingBounds(box.initial_bounds, maximize=False, **FAST)
        other.load_state_dict(state)
        assert other.hard_limits[:, 0].tolist() == [-0.5, 0.5]
        assert other.state_dict() == box.state_dict()
        assert other.context(optimizer.fit()).n == 6  # data beyond are data
        third = ExpandingBounds(
            box.initial_bounds, maximize=False, hard_limits={0: (-2, None)}, **FAST
        )
        with pytest.raises(InputDataError, match="began with, or those that it ends with"):
            third.load_state_dict(state)

    def test_the_same_limits_are_no_change(self) -> None:
        box = make(BOX).box
        state = box.state
        box.set_hard_limits(None)
        assert box.state is state
