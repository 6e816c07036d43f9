"""When the box moves, and what the certificate promises when it does."""

from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import pytest
import torch
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize
from torch import Tensor

from botorch_ubo import (
    Always,
    Context,
    EveryEvaluations,
    ExpandingBounds,
    FirstStep,
    Never,
    RegretBound,
    TheoremBeta,
    Trigger,
)
from tests.helpers import tensor

UNIT = tensor([[0.0], [1.0]])


def wave(X: Tensor) -> Tensor:
    return torch.sin(5 * X).sum(dim=-1, keepdim=True)


def dense(n: int) -> Tensor:
    """``n`` points that exhaust the unit interval."""
    return torch.linspace(0, 1, n, dtype=torch.double).unsqueeze(-1)


def gp(X: Tensor, Y: Tensor | None = None) -> SingleTaskGP:
    Y = wave(X) if Y is None else Y
    model = SingleTaskGP(
        X, Y, torch.full_like(Y, 1e-6), input_transform=Normalize(1, bounds=UNIT)
    )  # fmt: skip
    model.covar_module.lengthscale = 0.3
    return model.eval()


def started(trigger: Trigger, n: int, **kwargs: Any) -> ExpandingBounds:
    """A controller whose box last moved (or whose run began) at ``n`` observations."""
    box = ExpandingBounds.corrected(UNIT, trigger=trigger, num_restarts=4, raw_samples=64, **kwargs)
    box.update(gp(dense(n)))
    return box


@dataclass(frozen=True)
class Says(Trigger):
    """Answers as told and counts how often it was asked."""

    answer: str | None
    asked: list[int] = field(default_factory=list)

    def __call__(self, context: Context) -> str | None:
        self.asked.append(1)
        return self.answer


class TestCombinators:
    @pytest.mark.parametrize(
        ("first", "second", "either", "both"),
        [
            (None, None, None, None),
            ("a", None, "a", None),
            (None, "b", "b", None),
            ("a", "b", "a", "a and b"),
        ],
    )
    def test_truth_table(self, first: Any, second: Any, either: Any, both: Any) -> None:
        context = mock.Mock(spec=Context)
        assert (Says(first) | Says(second))(context) == either
        assert (Says(first) & Says(second))(context) == both

    def test_the_second_is_asked_only_if_it_matters(self) -> None:
        context = mock.Mock(spec=Context)
        second = Says("b")
        (Says("a") | second)(context)
        (Says(None) & second)(context)
        assert second.asked == []
        (Says(None) | second)(context)
        (Says("a") & second)(context)
        assert len(second.asked) == 2

    def test_they_nest(self) -> None:
        context = mock.Mock(spec=Context)
        trigger = (Never() | Always()) & (Says("x") | Never())
        assert trigger(context) == "every step and x"

    def test_the_reason_reaches_the_record(self) -> None:
        box = ExpandingBounds.corrected(UNIT, trigger=Says("tea time") & Always())
        assert box.update(gp(dense(5))).trigger == "tea time and every step"


class TestSchedules:
    def test_first_step_fires_once(self) -> None:
        box = started(FirstStep(), 4)
        assert len(box.history) == 1
        assert box.update(gp(dense(5))) is None and box.update(gp(dense(6))) is None

    def test_every_evaluations_counts_from_the_last_move(self) -> None:
        box = started(EveryEvaluations(2), 4)
        moved = [box.update(gp(dense(n))) is not None for n in range(5, 11)]
        assert moved == [False, True, False, True, False, True]
        assert box.history[0].trigger == "2 evaluations since the last move"

    def test_every_evaluations_fires_after_a_larger_batch(self) -> None:
        box = started(EveryEvaluations(3), 4)
        assert box.update(gp(dense(9))) is not None
        assert box.update(gp(dense(11))) is None

    def test_every_evaluations_times_the_dimension(self) -> None:
        bounds = tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
        box = ExpandingBounds.corrected(bounds, trigger=EveryEvaluations(2, times_dimension=True))
        generator = torch.Generator().manual_seed(0)
        X = torch.rand(12, 3, generator=generator, dtype=torch.double)
        moved = []
        for n in (4, 8, 9, 10):
            model = SingleTaskGP(X[:n], wave(X[:n])).eval()
            moved.append(box.update(model) is not None)
        assert moved == [False, False, False, True]


class TestRegretBound:
    @pytest.mark.parametrize(("epsilon", "possible_from"), [(0.05, 5), (0.02, 8), (0.3, 2)])
    def test_impossible_before_the_slack_allows_it(
        self, epsilon: float, possible_from: int
    ) -> None:
        """For t_local < epsilon^(-1/2) nothing is optimised: the slack alone decides."""
        box = started(RegretBound(), 10, epsilon=epsilon)
        with mock.patch(
            "botorch_ubo.context.maximize_acquisition", side_effect=AssertionError("optimised")
        ):
            for t_local in range(2, possible_from):
                assert box.update(gp(dense(9 + t_local))) is None
                assert box.trace[-1].regret_bound is None
            with pytest.raises(AssertionError, match="optimised"):
                box.update(gp(dense(9 + possible_from)))

    def test_equals_a_search_by_brute_force(self) -> None:
        box = started(RegretBound(), 4)
        model = gp(dense(10))  # t_local = 7
        context = box.context(model)
        assert context.t_local == 7
        grid = torch.linspace(0, 1, 4001, dtype=torch.double).reshape(-1, 1, 1)
        with torch.no_grad():
            posterior = model.posterior(grid.squeeze(-2))
            data = model.posterior(dense(10))
        root = context.beta**0.5
        upper = posterior.mean + root * posterior.variance.sqrt()
        lower = data.mean - root * data.variance.clamp_min(1e-12).sqrt()
        slack = float(wave(dense(10)).std()) / 49
        assert context.regret_bound == pytest.approx(
            float(upper.max() - lower.max()) + slack, abs=1e-5
        )

    def test_exhausted_box_moves_and_is_certified(self) -> None:
        X = dense(16)
        box = started(RegretBound(), 10)
        assert box.certificate is None
        record = box.update(gp(X))
        assert record.trigger == "regret bound at or below epsilon"
        assert record.regret_bound <= record.epsilon
        certificate = box.certificate
        assert certificate.bounds == ((0.0,), (1.0,)) == record.old_bounds
        assert certificate.regret_bound == record.regret_bound
        assert certificate.num_observations == 16
        assert certificate.confidence is None  # beta is scaled by 1/5
        assert "nothing is claimed beyond the box" in str(certificate)
        # What it promises is true: the named point is evaluated and epsilon-optimal in the box.
        best = tensor([list(certificate.best_X)])
        assert (X == best).any()
        truth = wave(torch.linspace(0, 1, 4001, dtype=torch.double).unsqueeze(-1)).max()
        assert truth - float(wave(best)) <= certificate.epsilon
        assert float(wave(best)) >= certificate.best_value - 1e-9
        # The box that follows is not certified.
        assert box.bounds[1] > 1.5 and certificate.bounds == ((0.0,), (1.0,))

    def test_unscaled_beta_carries_a_probability(self) -> None:
        box = started(RegretBound(), 10, beta=TheoremBeta(delta=0.05, scale=1.0))
        box.update(gp(dense(16)))
        assert box.certificate.confidence == pytest.approx(0.95)
        assert "probability at least 0.95" in str(box.certificate)

    def test_certificate_of_a_minimisation_is_in_the_objectives_sign(self) -> None:
        boxes = [started(RegretBound(), 10)]
        other = ExpandingBounds.corrected(UNIT, trigger=RegretBound(), maximize=False)
        for n in (10, 16):
            boxes[0].update(gp(dense(n)))
            other.update(gp(dense(n), -wave(dense(n))))
        assert other.certificate.best_value == pytest.approx(-boxes[0].certificate.best_value)
        assert other.certificate.best_X == boxes[0].certificate.best_X

    def test_box_with_a_gap_in_the_data_stays(self) -> None:
        box = started(RegretBound(), 10)
        X = 0.6 + torch.cat([dense(10), dense(6) ** 2 + 1e-3]) / 2.6  # nothing around the peak
        assert box.update(gp(X)) is None
        assert box.certificate is None
        assert box.trace[-1].regret_bound > box.trace[-1].epsilon

    def test_the_candidates_own_bound_can_only_help_it_fire(self) -> None:
        """`include_candidate`, as published: an unevaluated point counts as well."""
        X = torch.cat([dense(10) / 2, dense(6) / 4])
        for X_next in (dense(16), X, dense(24)):
            strict, loose = started(RegretBound(), 10), started(RegretBound(True), 10)
            fired = strict.update(gp(X_next)), loose.update(gp(X_next))
            assert fired[1] is not None or fired[0] is None

    def test_included_candidate_fires_where_the_data_alone_do_not(self) -> None:
        """Between two data the posterior is certain, but neither datum is near the maximum."""
        X = torch.cat([tensor([[0.24], [0.39]]), 0.5 + dense(14) / 2])
        box, published = started(RegretBound(), 10), started(RegretBound(True), 10)
        model = gp(X)
        context = box.context(model)
        x, value = context.ucb_maximizer
        with torch.no_grad():
            own = value - float(context.lcb(x.unsqueeze(-2))) + context.slack
        assert own <= context.epsilon < context.regret_bound  # else the example says nothing
        assert box.update(model) is None
        assert published.update(model) is not None
        # The promise is about evaluated points, so no certificate comes of it.
        assert published.certificate is None
