"""When the box moves, and which numbers were compared."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import torch
from botorch.models import SingleTaskGP

from botorch_ubo import (
    Always,
    Context,
    EveryEvaluations,
    FirstStep,
    Never,
    RegretBound,
    Trigger,
    Verdict,
)
from botorch_ubo.policies import confidence
from tests.support.controlled import corrected
from tests.support.exhausted import LINE, dense, interpolating, started, wave
from tests.support.gps import tensor


@dataclass(frozen=True)
class Says(Trigger):
    """Answers as told and counts how often it was asked."""

    answer: str | None
    compared: dict[str, float] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def __call__(self, context: Context) -> Verdict:
        self.asked.append(1)
        return Verdict(self.answer is not None, self.answer or "", self.compared)


def reason(verdict: Verdict) -> str | None:
    return verdict.reason if verdict.fires else None


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
        assert reason((Says(first) | Says(second))(context)) == either
        assert reason((Says(first) & Says(second))(context)) == both

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
        assert reason(trigger(context)) == "every step and x"

    def test_the_reason_reaches_the_record(self) -> None:
        box = corrected(LINE, trigger=Says("tea time") & Always())
        assert box.update(interpolating(dense(5))).trigger == "tea time and every step"

    @pytest.mark.parametrize("answers", [(None, "b"), (None, None)])
    def test_what_either_compared_is_kept(self, answers: tuple[str | None, str | None]) -> None:
        context = mock.Mock(spec=Context)
        first, second = Says(answers[0], {"x": 1.0}), Says(answers[1], {"y": 2.0})
        assert (first | second)(context).compared == {"x": 1.0, "y": 2.0}
        assert (first & second)(context).compared == {"x": 1.0}  # the second was not asked
        assert (Says("a", {"x": 1.0}) & second)(context).compared == {"x": 1.0, "y": 2.0}
        assert (Says("a", {"x": 1.0}) | second)(context).compared == {"x": 1.0}


class TestSchedules:
    def test_first_step_fires_once(self) -> None:
        box = started(FirstStep(), 4)
        assert len(box.history) == 1
        assert (
            box.update(interpolating(dense(5))) is None
            and box.update(interpolating(dense(6))) is None
        )

    def test_every_evaluations_counts_from_the_last_move(self) -> None:
        box = started(EveryEvaluations(2), 4)
        moved = [box.update(interpolating(dense(n))) is not None for n in range(5, 11)]
        assert moved == [False, True, False, True, False, True]
        assert box.history[0].trigger == "2 evaluations since the last move"

    def test_every_evaluations_fires_after_a_larger_batch(self) -> None:
        box = started(EveryEvaluations(3), 4)
        assert box.update(interpolating(dense(9))) is not None
        assert box.update(interpolating(dense(11))) is None

    def test_every_evaluations_times_the_dimension(self) -> None:
        bounds = tensor([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
        box = corrected(bounds, trigger=EveryEvaluations(2, times_dimension=True))
        generator = torch.Generator().manual_seed(0)
        X = torch.rand(12, 3, generator=generator, dtype=torch.double)
        moved = []
        for n in (4, 8, 9, 10):
            model = SingleTaskGP(X[:n], wave(X[:n])).eval()
            moved.append(box.update(model) is not None)
        assert moved == [False, False, False, True]

    def test_evaluations_are_compared(self) -> None:
        box = started(EveryEvaluations(3), 4)
        verdict = EveryEvaluations(3)(box.context(interpolating(dense(6))))
        assert not verdict.fires and verdict.compared == {"evaluations": 2.0, "period": 3.0}
        verdict = EveryEvaluations(3)(box.context(interpolating(dense(8))))
        assert verdict.fires and verdict.compared == {"evaluations": 4.0, "period": 3.0}


def made_up(slack: float, epsilon: float, bound: float = 9.0) -> Any:
    """A context whose UCB is at most 1.0, at a point where its LCB is 0.2."""
    confidence = SimpleNamespace(
        slack=slack,
        beta=4.0,
        regret_bound=bound,
        ucb_maximizer=(tensor([[0.5]]), 1.0),
        lcb=lambda X: tensor([0.2]),
    )
    return SimpleNamespace(confidence=confidence, epsilon=epsilon)


class TestComparedByHand:
    @pytest.mark.parametrize(("epsilon", "fires"), [(0.85, False), (1.0, False), (1.15, True)])
    def test_the_candidates_bound_has_the_slack(self, epsilon: float, fires: bool) -> None:
        """1.0 - 0.2 + 0.3 = 1.1; without the slack 0.8, and all three would fire."""
        verdict = RegretBound(include_candidate=True)(made_up(slack=0.3, epsilon=epsilon))
        assert verdict.fires == fires
        assert verdict.compared == {
            "regret_bound": 9.0, "epsilon": epsilon, "beta": 4.0,
            "candidate_bound": pytest.approx(1.1),
        }  # fmt: skip

    def test_the_smaller_of_the_two_counts(self) -> None:
        assert RegretBound(True)(made_up(0.3, epsilon=0.9, bound=0.5)).fires
        assert not RegretBound(True)(made_up(0.3, epsilon=0.9, bound=0.95)).fires

    @pytest.mark.parametrize(("bound", "fires"), [(0.49, True), (0.5, True), (0.51, False)])
    def test_at_or_below_epsilon(self, bound: float, fires: bool) -> None:
        verdict = RegretBound()(made_up(slack=0.1, epsilon=0.5, bound=bound))
        assert verdict.fires == fires and bool(verdict.reason) == fires
        assert verdict.compared == {"regret_bound": bound, "epsilon": 0.5, "beta": 4.0}

    @pytest.mark.parametrize("include_candidate", [True, False])
    def test_the_slack_alone_can_rule_it_out(self, include_candidate: bool) -> None:
        context = SimpleNamespace(confidence=SimpleNamespace(slack=0.3), epsilon=0.2)
        verdict = RegretBound(include_candidate)(context)
        assert not verdict.fires and verdict.compared == {"slack": 0.3, "epsilon": 0.2}


class TestRegretBound:
    @pytest.mark.parametrize(("epsilon", "possible_from"), [(0.05, 5), (0.02, 8), (0.3, 2)])
    def test_impossible_before_the_slack_allows_it(
        self, epsilon: float, possible_from: int
    ) -> None:
        """For t_local < epsilon^(-1/2) nothing is optimised: the slack alone decides."""
        box = started(RegretBound(), 10, epsilon=epsilon)
        with mock.patch.object(
            confidence, "maximize_acquisition", side_effect=AssertionError("optimised")
        ):
            for t_local in range(2, possible_from):
                assert box.update(interpolating(dense(9 + t_local))) is None
                assert box.trace[-1].regret_bound is None
            with pytest.raises(AssertionError, match="optimised"):
                box.update(interpolating(dense(9 + possible_from)))

    def test_box_with_a_gap_in_the_data_stays(self) -> None:
        box = started(RegretBound(), 10)
        X = 0.6 + torch.cat([dense(10), dense(6) ** 2 + 1e-3]) / 2.6  # nothing around the peak
        assert box.update(interpolating(X)) is None
        assert box.certificate is None
        assert box.trace[-1].regret_bound > box.trace[-1].epsilon

    def test_the_candidates_own_bound_can_only_help_it_fire(self) -> None:
        """`include_candidate`, as published: an unevaluated point counts as well."""
        X = torch.cat([dense(10) / 2, dense(6) / 4])
        for X_next in (dense(16), X, dense(24)):
            strict, loose = started(RegretBound(), 10), started(RegretBound(True), 10)
            fired = strict.update(interpolating(X_next)), loose.update(interpolating(X_next))
            assert fired[1] is not None or fired[0] is None

    def test_included_candidate_fires_where_the_data_alone_do_not(self) -> None:
        """Between two data the posterior is certain, but neither datum is near the maximum."""
        X = torch.cat([tensor([[0.24], [0.39]]), 0.5 + dense(14) / 2])
        box, published = started(RegretBound(), 10), started(RegretBound(True), 10)
        model = interpolating(X)
        context = box.context(model)
        bounds = context.confidence
        x, value = bounds.ucb_maximizer
        with torch.no_grad():
            own = value - float(bounds.lcb(x.unsqueeze(-2))) + bounds.slack
        assert own <= context.epsilon < bounds.regret_bound  # else the example says nothing
        assert RegretBound(True)(context).compared["candidate_bound"] == pytest.approx(own)
        assert box.update(model) is None
        assert published.update(model) is not None
        # The promise is about evaluated points, so no certificate comes of it.
        assert published.certificate is None

    def test_the_trace_has_what_was_compared_and_nothing_else(self) -> None:
        box = started(FirstStep() | RegretBound(), 10)
        assert (box.history[0].beta, box.history[0].regret_bound) == (None, None)
        assert (box.trace[0].beta, box.trace[0].regret_bound) == (None, None)
        box.load_state_dict({**box.state_dict(), "bounds": [[0.0], [1.0]]})
        context = box.context(interpolating(dense(15)))
        verdict = RegretBound()(context)
        box.update(interpolating(dense(15)))
        assert box.trace[-1].beta == verdict.compared["beta"]
        bound = context.view.to_raw_difference(verdict.compared["regret_bound"])
        assert box.trace[-1].regret_bound == bound
