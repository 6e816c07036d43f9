"""One move of the box: nested, capped, within limits, and written down."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import pytest

from botorch_ubo import Context, Proposal, Strategy
from botorch_ubo.models import default_model
from tests.support.by_hand import random_data, rbf_model, unit_box
from tests.support.controlled import build, corrected, optimizer_with_data
from tests.support.gps import tensor


@pytest.mark.parametrize("method", ["EI-UBO", "GPUCB-UBO (as published)", "HuBO-EI", "HD-HuBO"])
def test_growth_cap(method: str) -> None:
    """For boxes that grow and for boxes that travel."""
    optimizer = optimizer_with_data(max_growth=0.25, method=method)
    optimizer.ask()
    lower, upper = optimizer.box.bounds
    assert (lower >= -0.25 - 1e-9).all()
    assert (upper <= 1.25 + 1e-9).all()
    assert optimizer.box.history[0].capped


@dataclass(frozen=True)
class Hop(Strategy):
    """A small box in the middle of the first one, then a box that is as large, far away."""

    nested: ClassVar[bool] = False

    def propose(self, context: Context) -> Proposal:
        first = context.state.num_initial is None
        lower, upper = (0.45, 0.55) if first else (10.0, 11.0)
        return Proposal(tensor([[lower] * context.d, [upper] * context.d]))


def test_a_box_that_has_shrunk_may_go_as_far_as_the_first_one() -> None:
    """Two sides of the first box beyond the face at 0.55, not two of 0.1."""
    X, Y = random_data(4)
    box = build("HuBO-EI", unit_box(), strategy=Hop(), max_growth=2.0)
    box.update(rbf_model(X[:3], Y[:3]))
    assert box.bounds.tolist() == [pytest.approx([0.45, 0.45]), pytest.approx([0.55, 0.55])]
    record = box.update(rbf_model(X, Y))
    assert record is not None and record.capped == ((0, "upper"), (1, "upper"))
    assert box.bounds[1].tolist() == pytest.approx([2.55, 2.55])


class TestLogging:
    def test_one_line_per_expansion(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, logger="botorch_ubo"):
            optimizer = optimizer_with_data()
            optimizer.ask()
            optimizer.ask()  # the same data: no other expansion
        lines = [record for record in caplog.records if record.levelno == logging.INFO]
        assert len(lines) == 1
        assert lines[0].getMessage() == str(optimizer.box.history[0])
        assert "\n" not in lines[0].getMessage()

    def test_quiet_by_default_and_root_untouched(self) -> None:
        logger = logging.getLogger("botorch_ubo")
        assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
        assert logger.level == logging.NOTSET
        assert logger.propagate

    def test_a_box_that_cannot_move_is_not_announced(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        bounds = tensor([[0.0], [1.0]])
        box = corrected(bounds, hard_limits=bounds)
        X = tensor([[0.1], [0.5], [0.8]])
        with caplog.at_level(logging.INFO, logger="botorch_ubo"):
            box.update(default_model(X, X.square(), bounds).eval())
        assert not caplog.records
