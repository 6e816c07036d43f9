from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from botorch.exceptions.errors import InputDataError
from hypothesis import given, settings
from hypothesis import strategies as st

from botorch_ubo.run.claims import Claims
from botorch_ubo.run.ledger import Ledger
from botorch_ubo.run.replay import Replay, trial_events
from botorch_ubo.run.storage.events import Event
from botorch_ubo.run.trials import Trial

FREE = torch.tensor([[-math.inf] * 2, [math.inf] * 2], dtype=torch.double)


def ledger_of(*points: tuple[float, float]) -> Ledger:
    ledger = Ledger()
    for point in points:
        ledger = ledger.propose(point)
    return ledger


THREE = ledger_of((0.0, 0.0), (1.0, 0.0), (2.0, 0.0))


class TestResults:
    def test_every_change_is_a_new_ledger(self) -> None:
        after = THREE.complete(0, 1.0, None)
        assert [trial.status for trial in THREE.trials] == ["pending"] * 3
        assert [trial.status for trial in after.trials] == ["completed", "pending", "pending"]

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_any_order(self, order: tuple[int, ...]) -> None:
        ledger = THREE
        for index in order:
            ledger = ledger.complete(index, 10.0 * index, None)
        assert [trial.id for trial in ledger.completed] == list(order)
        X, Y, variance = ledger.data()
        assert X[:, 0].tolist() == list(order)
        assert Y[:, 0].tolist() == [10.0 * index for index in order]
        assert variance is None
        assert not ledger.pending

    def test_the_same_result_twice_counts_once(self) -> None:
        once = THREE.complete(1, 2.0, 0.5)
        assert once.complete(1, 2.0, 0.5) is once
        failed = once.fail(0, "why")
        assert failed.fail(0, "another reason") is failed
        assert failed.failed[0].reason == "why"

    def test_two_different_results_are_an_error(self) -> None:
        once = THREE.complete(1, 2.0, 0.5)
        for value, variance in ((3.0, 0.5), (2.0, 0.6)):
            with pytest.raises(InputDataError, match=r"one result for trial 1; got .*add_data"):
                once.complete(1, value, variance)

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, -1e150])
    def test_a_value_that_is_not_finite_is_a_failure(self, value: float) -> None:
        ledger = THREE.complete(0, value, None)
        assert ledger.failed[0].reason == f"the value is {value}"
        assert ledger.failed[0].value is None
        assert not ledger.completed

    def test_a_late_value_replaces_a_failure_and_comes_last(self) -> None:
        ledger = THREE.fail(0, "timeout").complete(1, 1.0, None).complete(0, 5.0, None)
        assert [trial.id for trial in ledger.completed] == [1, 0]
        assert ledger.completed[1].reason == ""
        assert not ledger.failed

    def test_a_failure_does_not_replace_a_value(self) -> None:
        ledger = THREE.complete(0, 5.0, None)
        with pytest.raises(InputDataError, match="trial 0 to be pending; it is completed with 5"):
            ledger.fail(0, "timeout")
        with pytest.raises(InputDataError, match="trial 0 to be pending"):
            ledger.complete(0, math.nan, None)

    def test_a_stale_copy_of_a_trial_will_do(self) -> None:
        stale = THREE.trials[2]
        assert THREE.complete(0, 1.0, None).complete(stale, 2.0, None).completed[1].id == 2

    @pytest.mark.parametrize(
        "trial", [3, -1, 1.0, None, "0", True, Trial(id=0, X=(9.0, 9.0)), Trial(id=7, X=(0.0, 0.0))]
    )
    def test_a_foreign_trial_is_an_error(self, trial: object) -> None:
        with pytest.raises(InputDataError, match=r"trial of this run \(ids 0 to 2\).*add_data"):
            THREE.complete(trial, 1.0, None)

    def test_an_empty_ledger_says_that_it_is_empty(self) -> None:
        with pytest.raises(InputDataError, match="it has none yet"):
            Ledger().fail(0, "why")
        with pytest.raises(InputDataError, match="Expected a completed trial"):
            Ledger().data()

    def test_numpy_ids(self) -> None:
        assert THREE.complete(np.int64(2), 1.0, None).completed[0].id == 2


class TestNoise:
    def test_data_are_the_callers_to_change(self) -> None:
        ledger = THREE.complete(0, 1.0, None)
        ledger.data()[1].zero_()
        assert ledger.data()[1].tolist() == [[1.0]]
        assert ledger.complete(1, 2.0, None).data()[1].tolist() == [[1.0], [2.0]]

    def test_variances_reach_the_data(self) -> None:
        _, _, variance = THREE.complete(0, 1.0, 0.0).complete(2, 1.0, 4.0).data()
        assert variance.tolist() == [[0.0], [4.0]]

    @pytest.mark.parametrize("variance", [-1.0, math.nan, math.inf])
    def test_a_variance_is_finite_and_not_negative(self, variance: float) -> None:
        with pytest.raises(InputDataError, match="finite variance >= 0"):
            THREE.complete(0, 1.0, variance)

    def test_all_or_none(self) -> None:
        with pytest.raises(InputDataError, match="Expected no variance"):
            THREE.complete(0, 1.0, None).complete(1, 1.0, 0.1)
        with pytest.raises(InputDataError, match="Expected a variance"):
            THREE.complete(0, 1.0, 0.1).complete(1, 1.0, None)

    def test_a_failure_needs_none(self) -> None:
        ledger = THREE.complete(0, 1.0, 0.1).complete(1, math.nan, None)
        assert len(ledger.failed) == 1


class TestCheck:
    LEDGER = THREE.complete(2, 1.0, None).fail(0, "why").complete(0, 2.0, None)

    def test_whatever_a_run_leads_to(self) -> None:
        assert self.LEDGER.check(FREE) is self.LEDGER
        assert Ledger().check(FREE) == Ledger()

    def test_refuses_trials_that_do_not_belong_together(self) -> None:
        first, second, third = self.LEDGER.trials
        for trials in (
            [second, first, third],
            [first, first, third],
            [first, second, replace(third, order=first.order)],
            [first, second, replace(third, variance=1.0)],
            [first, replace(second, X=(0.0,)), third],
        ):
            with pytest.raises(InputDataError, match="the trials of one run"):
                Ledger(tuple(trials)).check(FREE)

    def test_refuses_trials_beyond_the_limits(self) -> None:
        limits = torch.tensor([[-math.inf, -1.0], [1.9, 1.0]], dtype=torch.double)
        with pytest.raises(InputDataError, match="hard limits"):
            self.LEDGER.check(limits)

    def test_what_was_told_since(self) -> None:
        assert [trial.id for trial in self.LEDGER.told_since(THREE)] == [2, 0]
        assert [trial.id for trial in self.LEDGER.told_since(THREE.complete(2, 1.0, None))] == [0]
        assert self.LEDGER.told_since(self.LEDGER) == []


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["propose", "complete", "fail", "nan"]),
        st.integers(0, 6),
        st.floats(-2, 2).map(lambda x: round(x, 1)),
    ),
    max_size=30,
)


@given(EVENTS)
@settings(max_examples=150)
def test_whatever_happens_nothing_is_lost_or_counted_twice(
    events: list[tuple[str, int, float]],
) -> None:
    ledger, values = Ledger(), {}
    halfway = ledger
    for count, (kind, index, number) in enumerate(events):
        before = ledger
        halfway = ledger if count == len(events) // 2 else halfway
        try:
            if kind == "propose":
                ledger = ledger.propose((number, -number))
            elif kind == "complete":
                ledger = ledger.complete(index, number, None)
                values.setdefault(index, number)
            else:
                ledger = (
                    ledger.fail(index, kind)
                    if kind == "fail"
                    else ledger.complete(index, math.nan, None)
                )
        except InputDataError:
            assert ledger is before
        # What one ledger hands to the next is what that would have found.
        fresh = Ledger(ledger.trials)
        for name in ("pending", "completed", "failed", "last_order"):
            assert getattr(ledger, name) == getattr(fresh, name)
        if ledger.completed:
            for mine, own in zip(ledger.data()[:2], fresh.data()[:2], strict=True):
                assert torch.equal(mine, own)
    assert {trial.id: trial.value for trial in ledger.completed} == values
    assert len(ledger.completed) + len(ledger.failed) + len(ledger.pending) == len(ledger)
    # The same again from events, also in two goes.
    for first in (Ledger(), halfway):
        texts = [(event.kind, event.to_text()) for event in trial_events(first, ledger)]
        events = [Event.from_text(*text) for text in texts]
        again = Replay.of(first, Claims(), events)
        assert Ledger(tuple(again.trials)).check(FREE) == ledger
        assert again.last_order == ledger.last_order
