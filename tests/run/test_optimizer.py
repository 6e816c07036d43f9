"""UnboundedOptimizer: asking and telling."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError

from botorch_ubo.run.trials import Trial
from tests.support.objectives import bowl
from tests.support.optimizing import make, started


class TestAsk:
    def test_initial_design_is_about_the_box_however_it_is_asked_for(self) -> None:
        together = [trial.X for trial in make().ask(6)]
        optimizer = make()
        one_by_one = [optimizer.ask().X for _ in range(6)]
        assert together == one_by_one
        assert len(set(together)) == 6
        assert all(-1 <= a <= 1 and 0 <= b <= 3 for a, b in together[:3])
        assert all(-3 <= a <= 3 and -3 <= b <= 6 for a, b in together)

    def test_seeds(self) -> None:
        assert make(seed=1).ask().X != make(seed=2).ask().X

    def test_numbers(self) -> None:
        optimizer = make()
        assert optimizer.ask(0) == []
        assert isinstance(optimizer.ask(), Trial)
        assert [trial.id for trial in optimizer.ask(2)] == [1, 2]
        with pytest.raises(InputDataError, match="whole number `n` >= 0; got -1"):
            optimizer.ask(-1)

    def test_a_batch_across_the_end_of_the_initial_design(self) -> None:
        optimizer = make()
        for trial in optimizer.ask(4):
            optimizer.tell(trial, bowl(trial.X))
        points = [trial.X for trial in optimizer.ask(4)]
        assert points[:2] == [trial.X for trial in make().ask(6)][4:]
        assert len(set(points)) == 4
        assert optimizer.box.history

    def test_without_results_it_goes_on_filling_the_box(self) -> None:
        optimizer = make()
        assert len({trial.X for trial in optimizer.ask(20)}) == 20
        assert not optimizer.box.history

    @pytest.mark.slow
    def test_batches_spread(self) -> None:
        optimizer = started()
        points = torch.tensor([trial.X for trial in optimizer.ask(4)])
        assert torch.pdist(points).min() > 0.05

    def test_asking_again_proposes_something_else(self) -> None:
        optimizer = started()
        first, second = optimizer.ask(), optimizer.ask()
        assert math.dist(first.X, second.X) > 0.05
        assert len(optimizer.pending) == 2

    def test_one_dimension_and_a_design_of_one(self) -> None:
        optimizer = make([(0, 1)], num_initial=1)
        for _ in range(4):
            trial = optimizer.ask()
            optimizer.tell(trial, (trial.X[0] - 3) ** 2)
        assert optimizer.result().best_X[0] > 1

    def test_random_state_of_torch_is_left_alone(self) -> None:
        torch.manual_seed(7)
        expected = torch.rand(3)
        torch.manual_seed(7)
        optimizer = started()
        optimizer.ask(2)
        optimizer.result()
        assert torch.equal(torch.rand(3), expected)

    @pytest.mark.slow
    @pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO"])
    def test_proposals_do_not_depend_on_the_random_state_of_torch(self, method: str) -> None:
        """With one point, several, pending and failed ones: samplers draw seeds of their own."""
        points = []
        for seed in (1, 2):
            torch.manual_seed(seed)
            optimizer = started(method=method)
            optimizer.tell_failed(optimizer.ask(), "broke")
            optimizer.ask(2)
            optimizer.ask()
            points.append([trial.X for trial in optimizer.trials])
        assert points[0] == points[1]


class TestTell:
    @pytest.mark.parametrize(
        "value", [2, 2.0, np.float32(2), np.array([2.0]), torch.tensor(2), torch.tensor([[2.0]])]
    )
    def test_values_in_many_forms(self, value: Any) -> None:
        optimizer = make()
        assert optimizer.tell(optimizer.ask(), value).value == 2.0

    @pytest.mark.parametrize("value", [None, "2", [2.0], torch.ones(2)])
    def test_what_is_not_a_number_is_an_error_and_changes_nothing(self, value: Any) -> None:
        optimizer = make()
        trial = optimizer.ask()
        with pytest.raises(InputDataError, match="one number"):
            optimizer.tell(trial, value)
        assert optimizer.pending == (trial,)

    def test_by_id_late_twice_and_out_of_order(self) -> None:
        optimizer = make()
        trials = optimizer.ask(4)
        optimizer.tell(3, 0.3)
        optimizer.tell(trials[0], 0.0)
        optimizer.tell(3, 0.3)
        optimizer.tell_failed(1, "lost")
        optimizer.tell(1, 0.1)  # found after all
        assert [trial.id for trial in optimizer.completed] == [3, 0, 1]
        assert [trial.id for trial in optimizer.pending] == [2]
        assert not optimizer.failed

    def test_foreign_trials(self) -> None:
        optimizer = make()
        with pytest.raises(InputDataError, match="it has none yet"):
            optimizer.tell(0, 1.0)
        optimizer.ask()
        with pytest.raises(InputDataError, match="add_data"):
            optimizer.tell(make(seed=9).ask(), 1.0)

    def test_the_order_of_results_does_not_change_the_next_proposal_much(self) -> None:
        points = []
        for order in (range(6), reversed(range(6))):
            optimizer = make()
            trials = optimizer.ask(6)
            for index in order:
                optimizer.tell(trials[index], bowl(trials[index].X))
            points.append(optimizer.ask().X)
        assert points[0] == pytest.approx(points[1], abs=0.1)

    def test_from_many_threads(self) -> None:
        optimizer = make(num_initial=1000)
        taken: list[Trial] = []

        def work() -> None:
            for _ in range(20):
                trial = optimizer.ask()
                taken.append(optimizer.tell(trial, bowl(trial.X)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(trial.id for trial in taken) == list(range(80))
        assert sorted(trial.order or 0 for trial in optimizer.completed) == list(range(80))
