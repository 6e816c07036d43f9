"""Certificates: what they promise, in whose sign, and by which count of steps."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import Always, ConstantBeta, Never, RegretBound
from botorch_ubo.controller.certify import as_whole_box, certify
from botorch_ubo.strategies import FixedBox, HypercubeBoxes
from tests.support.controlled import build, corrected
from tests.support.exhausted import LINE, dense, interpolating, started, wave
from tests.support.gps import tensor


def grid() -> Tensor:
    return torch.linspace(0, 1, 4001, dtype=torch.double).unsqueeze(-1)


class TestOfTheTrigger:
    def test_exhausted_box_moves_and_is_certified(self) -> None:
        X = dense(16)
        box = started(RegretBound(), 10)
        assert box.certificate is None
        record = box.update(interpolating(X))
        assert record.trigger == "regret bound at or below epsilon"
        assert record.regret_bound <= record.epsilon and record.beta > 0
        certificate = box.certificate
        assert certificate.bounds == ((0.0,), (1.0,)) == record.old_bounds
        assert certificate.regret_bound == record.regret_bound
        assert certificate.beta == record.beta == box.trace[-1].beta
        assert certificate.num_observations == 16
        assert certificate.confidence is None
        assert "without a probability" in str(certificate)
        assert "nothing is claimed beyond the box" in str(certificate)
        # What it promises is true: the named point is evaluated and epsilon-optimal in the box.
        best = tensor([list(certificate.best_X)])
        assert (X == best).any()
        assert wave(grid()).max() - float(wave(best)) <= certificate.epsilon
        assert float(wave(best)) >= certificate.best_value - 1e-9
        # The box that follows is not certified.
        assert box.bounds[1] > 1.5 and certificate.bounds == ((0.0,), (1.0,))

    def test_a_schedule_that_has_proven_a_probability_passes_it_on(self) -> None:
        class Proven(ConstantBeta):
            confidence = 0.95

        box = started(RegretBound(), 10, beta=Proven(4.0))
        box.update(interpolating(dense(16)))
        assert box.certificate.confidence == pytest.approx(0.95)
        assert "probability at least 0.95" in str(box.certificate)

    def test_of_a_minimisation_is_in_the_objectives_sign(self) -> None:
        up = started(RegretBound(), 10)
        down = corrected(LINE, trigger=RegretBound(), maximize=False)
        for n in (10, 16):
            up.update(interpolating(dense(n)))
            down.update(interpolating(dense(n), -wave(dense(n))))
        assert down.certificate.best_value == pytest.approx(-up.certificate.best_value)
        assert down.certificate.best_X == up.certificate.best_X


class TestOnDemand:
    def test_it_changes_nothing_and_needs_no_trigger_that_compares(self) -> None:
        box = started(Never(), 10)
        before = box.state_dict()
        certificate = box.certify(interpolating(dense(16)))
        assert certificate.bounds == ((0.0,), (1.0,)) and box.certificate is None
        assert box.state_dict() == before
        asked = started(RegretBound(), 10)
        asked.update(interpolating(dense(16)))
        assert asked.certificate == certificate

    def test_none_where_something_is_left_to_find(self) -> None:
        box = started(Never(), 10)
        assert box.certify(interpolating(dense(11))) is None  # the slack alone is too large
        gap = 0.6 + torch.cat([dense(10), dense(6) ** 2 + 1e-3]) / 2.6
        assert box.certify(interpolating(gap)) is None

    def test_a_box_that_moves_at_every_step_is_judged_by_the_steps_of_the_run(self) -> None:
        """By those since the last move it would always be at its first step."""
        box = build("EI-Vanilla", LINE, strategy=FixedBox(), trigger=Always())
        for n in (10, 16):
            assert box.update(interpolating(dense(n))) is not None
        model = interpolating(dense(16))
        context = box.context(model)
        assert (context.t, context.t_local) == (7, 1)
        assert context.confidence.slack > context.epsilon  # 1 / 1^2, were the steps the box's
        assert certify(context) is None
        judged = as_whole_box(context)
        assert judged.t_local == judged.t == 7
        assert judged.confidence.slack == pytest.approx(context.unit / 49)
        certificate = box.certify(model)
        assert certificate is not None
        bound = judged.confidence.regret_bound
        assert certificate.regret_bound == judged.view.to_raw_difference(bound)
        assert bound <= context.epsilon

    def test_the_default_is_certified_too(self) -> None:
        limits = torch.stack([LINE[0], LINE[1]])
        box = build("EI-Roaming", LINE, hard_limits=limits)
        for n in (10, 13, 16):
            box.update(interpolating(dense(n)))
        assert len(box.history) == 3 and box.certificate is None
        assert box.certify(interpolating(dense(16))).bounds == ((0.0,), (1.0,))

    def test_all_of_the_box_is_judged_where_parts_of_it_are_searched(self) -> None:
        """A cube in a corner is exhausted long before the box is."""
        box = build("HD-HuBO", LINE, strategy=HypercubeBoxes(side=0.05), max_growth=1e-9)
        for n in (10, 16):
            box.update(interpolating(dense(n) / 2))
        model = interpolating(dense(16) / 2)
        context = box.context(model)
        assert context.search_boxes.dim() == 3
        judged = as_whole_box(context)
        assert judged.search_boxes.shape == (2, 1)
        parts = context.with_state(
            replace(context.state, num_at_expansion=context.state.num_initial)
        )
        assert judged.confidence.regret_bound > parts.confidence.regret_bound

    def test_before_the_first_update(self) -> None:
        box = corrected(LINE)
        context = as_whole_box(box.context(interpolating(dense(16))))
        assert (context.t, context.t_local) == (1, 1)
        assert box.certify(interpolating(dense(16))) is None


def test_single_precision() -> None:
    def single(n: int) -> SingleTaskGP:
        X = dense(n).float()
        model: Any = SingleTaskGP(
            X, wave(X), torch.full_like(X, 1e-4), input_transform=Normalize(1, bounds=LINE.float())
        )
        model.covar_module.lengthscale = 0.3
        return model.eval()

    box = corrected(LINE.float(), trigger=Never(), epsilon=0.1)
    box.update(single(6))
    certificate = box.certify(single(14))
    assert certificate is not None and len(certificate.best_X) == 1
